package workereffect

import (
	"math"
	"slices"
	"time"
)

const (
	// late is how many runs of a worker show that it has drifted, and away by how many robust standard
	// errors they are off.
	late = 8
	away = 3.0
	// matters is the least change, as a logarithm, that is worth setting a worker aside for.
	matters = 0.01
	// agree is how many of those runs are to be on the same side. A worker is looked at anew after every
	// pause of its runs: looked at after each, one in a few hundred would be off by that much by chance.
	agree = late - 1
	pause = late / 2
	// ofMedian is the standard error of a median, times the root of the number of runs, for runs of deviation 1.
	ofMedian = 1.2533
)

// A Drift is a worker whose last runs differ from its class and from its own earlier runs.
type Drift struct {
	Worker, MachineClass string
	// Ratio is the ratio of its values to its class's, since then.
	Ratio float64
	Since time.Time // when the first of those runs began
	Runs  int       // how many there are
}

// Drift returns the worker that has drifted the most, if any has. It compares the worker's last eight runs, corrected
// for the features, with the runs of the other workers of its class from then on, and with its own earlier runs; a
// worker that was always a little slower has not drifted. It uses only medians and median distances, so that a few bad
// runs are no drift. A worker alone in its class cannot be compared.
func (m *Model) Drift() (d Drift, ok bool) {
	if m.drifted == m.version {
		return d, false
	}
	m.drifted = m.version
	if len(m.est.rest) != len(m.runs) {
		return d, false
	}
	greatest := 0.0
	for w := range m.workers {
		s := m.shift(w)
		if s.score <= greatest {
			continue
		}
		greatest, ok = s.score, true
		onset := m.onset(s)
		d = Drift{
			m.workers[w].where, m.workers[w].key.class, math.Exp(s.by), m.runs[s.runs[onset]].at, len(s.runs) - onset,
		}
	}
	return d, ok
}

// A shift is how far the last runs of a worker are off.
type shift struct {
	score  float64 // 0 if it is no drift
	by     float64 // the logarithm of how far from its class
	before float64 // the same of its earlier runs, if known
	centre float64 // of the class, meanwhile
	runs   []int   // of the worker, those that count
}

// shift returns the shift of a worker.
func (m *Model) shift(w int) (s shift) {
	var others []int
	var among []bool
	s.runs, others, among = m.ofClass(w)
	if len(s.runs) < late || len(others) < late || len(s.runs) < m.workers[w].looked+pause {
		return s
	}
	m.workers[w].looked = len(s.runs)
	window := s.runs[len(s.runs)-late:]
	from := len(others) - late
	for from > 0 && others[from-1] > window[0] {
		from--
	}
	own := func(i int) float64 { return m.est.rest[i] }
	peer := func(i int) float64 { return m.est.rest[i] - m.est.worker[m.runs[i].worker] }
	now, then := each(window, own), each(s.runs[:len(s.runs)-late], own)
	there, once := each(others[from:], peer), each(others[:from], peer)
	last := median(now)
	s.centre = median(there)
	off := slices.Concat(each(now, func(x float64) float64 { return x - last }),
		each(there, func(x float64) float64 { return x - s.centre }))
	noise := max(deviation(off), m.noise(others))
	spread := m.spread(among)
	known := float64(len(then)) * spread
	known /= known + ofMedian*ofMedian*noise*noise
	s.by, s.before = last-s.centre, known*(median(then)-median(once))
	err := ofMedian * noise * math.Sqrt(1/float64(late)+1/float64(len(there)))
	moved := math.Abs(s.by - s.before)
	same := 0
	for _, x := range now {
		if d := x - s.centre; d*s.by > 0 && (d-s.before)*(s.by-s.before) > 0 {
			same++
		}
	}
	if moved < matters || math.Abs(s.by) < away*err || same < agree {
		return s
	}
	// In a class of two, each worker seems to differ from the other. The one that differs from its own past has drifted.
	if n := float64(len(then)); n >= late &&
		math.Abs(last-median(then)) < away*ofMedian*noise*math.Sqrt(1/float64(late)+1/n) {
		return s
	}
	if score := moved / math.Sqrt(err*err+spread*(1-known)); score > away {
		s.score = score
	}
	return s
}

// ofClass returns the runs of a worker, the runs of the others of its class, and which workers made these.
func (m *Model) ofClass(w int) (own, others []int, among []bool) {
	among = make([]bool, len(m.workers))
	for i, r := range m.runs {
		switch {
		case r.out || m.workers[r.worker].class != m.workers[w].class:
		case r.worker == w:
			own = append(own, i)
		default:
			others = append(others, i)
			among[r.worker] = true
		}
	}
	return own, others, among
}

// spread is the variance among workers of a class, shrunk to the variance of similar machines.
func (m *Model) spread(among []bool) float64 {
	spread, peers := alikeWeight*alike*alike, 0
	for p, one := range among {
		if one {
			spread += m.est.worker[p] * m.est.worker[p]
			peers++
		}
	}
	return spread / float64(alikeWeight+peers)
}

// each returns f of each element.
func each[T any](of []T, f func(T) float64) []float64 {
	var out []float64
	for _, x := range of {
		out = append(out, f(x))
	}
	return out
}

// noise returns the deviation of some runs around their workers.
func (m *Model) noise(runs []int) float64 {
	var off []float64
	for _, i := range runs {
		off = append(off, m.est.rest[i]-m.est.worker[m.runs[i].worker])
	}
	return deviation(off)
}

// onset returns from which run of a worker on it has been off: where the runs from there on, at least as many
// as show it, differ the most from those before.
func (m *Model) onset(s shift) (from int) {
	sum, most := 0.0, 0.0
	from = len(s.runs) - late
	middle := (s.by + s.centre + s.before) / 2
	sign := 1.0
	if s.by+s.centre < middle {
		sign = -1
	}
	for k := len(s.runs) - 1; k >= 0; k-- {
		// A run counts for the drift as far as it is nearer to where the worker is now than to where it was.
		sum += min(max(sign*(m.est.rest[s.runs[k]]-middle), -3*math.Abs(s.by-s.before)), 3*math.Abs(s.by-s.before))
		if len(s.runs)-k >= late && sum >= most {
			from, most = k, sum
		}
	}
	return from
}

// SetAside excludes the runs that a worker began since a time. Its later runs count as runs of another, unknown worker
// of its class.
func (m *Model) SetAside(where, class string, since time.Time) {
	k := key{where, class}
	epochs := m.index[k]
	for _, e := range epochs {
		for i := range m.runs {
			if r := &m.runs[i]; r.worker == e.worker && !r.at.Before(since) {
				r.out = true
			}
		}
	}
	c := slices.Index(m.classes, class)
	if c < 0 {
		return
	}
	m.index[k] = append(epochs, epoch{since, len(m.workers)})
	m.workers = append(m.workers, worker{key: k, class: c})
	m.fit()
	m.drifted = m.version
}
