package assay

import (
	"encoding/binary"
	"iter"
	"math"
	"time"
)

// A PackedTrials keeps ended trials in a sixth of the memory of their values, for callers that hold thousands and look
// at few. A trial taken from it equals the trial that was put there, except for the readings of monotonic clocks. The
// zero value is an empty PackedTrials. It is not safe for concurrent use.
type PackedTrials struct {
	bytes []byte
	ends  []uint32 // where the bytes of each trial end
	names []string // of metrics, workers, classes and signals, the first of them ""
	known map[string]uint64
	whole map[int]Trial // those with something that is rare, which have no bytes
}

// Len returns how many trials there are.
func (s *PackedTrials) Len() int { return len(s.ends) }

// Put adds a trial. Its number is the number of trials before it.
func (s *PackedTrials) Put(t Trial) (number int) {
	number = len(s.ends)
	if packs(t) && len(s.bytes) < math.MaxUint32/2 {
		s.pack(t)
	} else {
		if s.whole == nil {
			s.whole = map[int]Trial{}
		}
		s.whole[number] = t
	}
	s.ends = append(s.ends, uint32(len(s.bytes)))
	return number
}

// packs reports whether a trial has only the common fields.
func packs(t Trial) bool {
	m := t.Measurement
	return m.Curve == nil && m.Missing == nil && m.Failure == nil && m.Stdout == nil && m.Stderr == nil &&
		t.Decision == nil && len(t.Reason) < 1<<16 && packsTime(m.Began) && packsTime(t.Started) && packsTime(t.Ended)
}

// packsTime reports whether a time has nanoseconds since 1970, or is zero, in a place that is known.
func packsTime(t time.Time) bool {
	y := t.Year()
	return none(t) || y > 1700 && y < 2200 && (t.Location() == time.UTC || t.Location() == time.Local)
}

// none reports whether t is the zero time.
func none(t time.Time) bool { return t.IsZero() && t.Location() == time.UTC }

// At returns the trial of a number. The caller owns it.
func (s *PackedTrials) At(number int) Trial {
	if t, ok := s.whole[number]; ok {
		return t
	}
	from := uint32(0)
	if number > 0 {
		from = s.ends[number-1]
	}
	return s.unpack(s.bytes[from:s.ends[number]])
}

// All returns the trials in the order in which they were put there.
func (s *PackedTrials) All() iter.Seq2[int, Trial] {
	return func(yield func(int, Trial) bool) {
		for i := range s.ends {
			if !yield(i, s.At(i)) {
				return
			}
		}
	}
}

// pack appends the bytes of a trial. A new field of Trial or Measurement must be added here, in unpack and, if it is
// rare, in packs instead.
func (s *PackedTrials) pack(t Trial) {
	m := t.Measurement
	s.integer(t.ID)
	s.numbers(t.Config)
	s.bytes = append(s.bytes, byte(t.State))
	s.number(t.Value)
	s.numbers(t.Values)
	s.time(t.Started, time.Time{})
	s.time(m.Began, t.Started)
	s.name(m.Worker)
	s.name(m.MachineClass)
	s.integer(int64(m.Elapsed))
	s.integer(int64(m.ExitCode))
	s.name(m.Signal)
	s.size(len(m.Metrics), m.Metrics == nil)
	for name, x := range m.Metrics {
		s.name(name)
		s.number(x)
	}
	s.size(len(t.Reason), false)
	s.bytes = append(s.bytes, t.Reason...)
	s.integer(int64(t.Attempts))
	s.time(t.Ended, t.Started)
}

func (s *PackedTrials) unpack(b []byte) (t Trial) {
	p := unpacker{b, s.names}
	m := &t.Measurement
	t.ID = p.integer()
	t.Config = p.numbers()
	t.State = State(p.byte())
	t.Value = p.number()
	t.Values = p.numbers()
	t.Started = p.time(time.Time{})
	m.Began = p.time(t.Started)
	m.Worker = p.name()
	m.MachineClass = p.name()
	m.Elapsed = time.Duration(p.integer())
	m.ExitCode = int(p.integer())
	m.Signal = p.name()
	if n, none := p.size(); !none {
		m.Metrics = make(map[string]float64, n)
		for range n {
			name := p.name()
			m.Metrics[name] = p.number()
		}
	}
	n, _ := p.size()
	t.Reason = string(p.take(n))
	t.Attempts = int(p.integer())
	t.Ended = p.time(t.Started)
	return t
}

func (s *PackedTrials) integer(n int64) { s.bytes = binary.AppendVarint(s.bytes, n) }

// size appends a length, or a mark for its absence.
func (s *PackedTrials) size(n int, none bool) {
	if none {
		n = -1
	}
	s.bytes = binary.AppendUvarint(s.bytes, uint64(n+1))
}

func (s *PackedTrials) number(x float64) { s.bytes = packNumber(s.bytes, x) }

func (s *PackedTrials) numbers(all []float64) {
	s.size(len(all), all == nil)
	for _, x := range all {
		s.number(x)
	}
}

// name appends the place of a name among the names.
func (s *PackedTrials) name(name string) {
	if s.known == nil {
		s.known, s.names = map[string]uint64{"": 0}, []string{""}
	}
	at, ok := s.known[name]
	if !ok {
		at = uint64(len(s.names))
		s.known[name] = at
		s.names = append(s.names, name)
	}
	s.bytes = binary.AppendUvarint(s.bytes, at)
}

// time appends 0 for no time, or 1 for one of UTC and 2 for a local one with its nanoseconds since another.
func (s *PackedTrials) time(t, since time.Time) {
	switch {
	case none(t):
		s.bytes = append(s.bytes, 0)
		return
	case t.Location() == time.UTC:
		s.bytes = append(s.bytes, 1)
	default:
		s.bytes = append(s.bytes, 2)
	}
	s.integer(t.UnixNano() - nanos(since)) // the sum of wrapped differences is right
}

// nanos returns the nanoseconds of a time since 1970, 0 for none.
func nanos(t time.Time) int64 {
	if none(t) {
		return 0
	}
	return t.UnixNano()
}

// An unpacker reads the output of the methods of PackedTrials of the same names.
type unpacker struct {
	bytes []byte
	names []string
}

func (p *unpacker) take(n int) []byte {
	b := p.bytes[:n]
	p.bytes = p.bytes[n:]
	return b
}

func (p *unpacker) byte() byte { return p.take(1)[0] }

func (p *unpacker) integer() int64 {
	x, n := binary.Varint(p.bytes)
	p.bytes = p.bytes[n:]
	return x
}

func (p *unpacker) natural() int {
	x, n := binary.Uvarint(p.bytes)
	p.bytes = p.bytes[n:]
	return int(x)
}

func (p *unpacker) size() (n int, none bool) {
	n = p.natural() - 1
	return max(0, n), n < 0
}

func (p *unpacker) number() float64 {
	if n := p.integer(); n != 1 {
		return float64(n / 2)
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(p.take(8)))
}

func (p *unpacker) numbers() []float64 {
	n, none := p.size()
	if none {
		return nil
	}
	all := make([]float64, n)
	for i := range all {
		all[i] = p.number()
	}
	return all
}

func (p *unpacker) name() string { return p.names[p.natural()] }

func (p *unpacker) time(since time.Time) time.Time {
	in := p.byte()
	if in == 0 {
		return time.Time{}
	}
	t := time.Unix(0, p.integer()+nanos(since))
	if in == 1 {
		t = t.UTC()
	}
	return t
}
