package costmodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// A Machine is a resource profile ρ (Shivam et al. 2006, §2.3): values by name, in base
// units, as `assay profile --json` writes them (docs/format/profile.md).
type Machine map[string]float64

// ReadMachine reads a profile. It returns a descriptive error for an invalid profile.
func ReadMachine(b []byte) (Machine, error) {
	var j struct {
		Version    int     `json:"version"`
		Attributes Machine `json:"attributes"`
	}
	if err := json.Unmarshal(b, &j); err != nil || j.Version != 1 || len(j.Attributes) == 0 {
		return nil, errors.New("not a profile of assay profile --json")
	}
	return j.Attributes, j.Attributes.check()
}

func (p Machine) check() error {
	for name, x := range p {
		if !(x >= 0) || math.IsInf(x, 1) {
			return fmt.Errorf("%s is %v", name, x)
		}
	}
	return nil
}

// profileNames maps the names in assignments to the names in a profile, where they differ.
var profileNames = map[string]string{"cpu": "cpus", "cores": "cpus", "memory": "memory_size"}

// Attribute returns the value of an attribute of assignments on the machine, under its own name or
// that which profiles have for it. It is where the names of the two meet.
func (p Machine) Attribute(name string) (float64, bool) {
	if x, ok := p[name]; ok {
		return x, true
	}
	x, ok := p[profileNames[name]]
	return x, ok
}

// Fill adds the attributes of the model that at lacks and the machine has: M(G, I, R) of Eq. 2 reads ρ of the
// assignment R. at is as for [Model.PredictAt].
func (p Machine) Fill(m *Model, at map[string]string) {
	for _, q := range m.space.Params {
		if _, given := at[q.Name]; given {
			continue
		}
		if x, ok := p.Attribute(q.Name); ok {
			at[q.Name] = strconv.FormatFloat(x, 'g', -1, 64)
		}
	}
}

// computeSpeeds are the speeds of a profile that computing is in proportion to, each by one
// thread.
var computeSpeeds = [...]string{"integer_speed", "float_speed"}

// speed returns the geometric mean of the speeds that both machines have, the receiver's over than's; ok is false if
// they have none in common. A speed is measured with the machine's share of a processor. whole scales it to a whole
// processor, for models whose runs have several shares.
func (p Machine) speed(than Machine, whole bool) (ratio float64, ok bool) {
	sum, n := 0.0, 0
	for _, name := range computeSpeeds {
		if a, b := p[name], than[name]; a > 0 && b > 0 {
			sum, n = sum+math.Log(a/b), n+1
		}
	}
	if n == 0 {
		return 1, false
	}
	ratio = math.Exp(sum / float64(n))
	if whole {
		ratio *= than.share() / p.share()
	}
	return ratio, true
}

// share returns the share of a processor that one thread has.
func (p Machine) share() float64 {
	if x := p["cpus"]; x > 0 {
		return min(x, 1)
	}
	return 1
}

// LearnedOn returns the model with the machine that its runs were made on, which is saved with
// it: predictions on another machine start from there. nil is one that is not known. m does not
// change.
func (m *Model) LearnedOn(p Machine) (*Model, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	c := *m
	c.machine = p
	return &c, nil
}

// Machine returns the machine that the runs were made on, nil if that is not known.
func (m *Model) Machine() Machine { return m.machine }

// How much less sure a prediction is on another machine, as deviations of the logarithm: by itself, and for
// each factor of e between the speeds. A program is never quite as much faster as the
// kernels of a profile are. Measured on six machines: lab/notes/nimo.md.
const (
	elsewhereDeviation = 0.15
	speedDeviation     = 0.35
)

// PredictOn is [Model.PredictAt] on another machine: M(G, I, R) of Eq. 2 with ρ of the assignment R. The machine's
// attributes fill the attributes that at lacks. ρ scales the parts that the model's attributes do not cover:
//
//   - computing, and other time that is not a wait for data, by the speeds of both machines;
//   - waiting for storage by the rates of both disks, unless the runs have several values of an attribute disk.
//
// Waiting for the network is not scaled: only attributes separate round trips from bandwidth. Nothing is scaled without
// common speeds, or without the machine of the runs.
func (m *Model) PredictOn(at map[string]string, there Machine) (Prediction, error) {
	filled := make(map[string]string, len(m.space.Params))
	for name, text := range at {
		filled[name] = text
	}
	there.Fill(m, filled)
	p, err := m.PredictAt(filled)
	if err != nil || m.machine == nil {
		return p, err
	}
	return p.on(m.slowdown(there)), nil
}

// A slowdown has the factors of the times of the parts on another machine.
type slowdown struct {
	compute, disk float64 // 1 for equal machines
	same          bool    // nothing is known to differ
}

// varied reports whether the runs have different values of an attribute.
func (m *Model) varied(name string) bool {
	i := m.space.Index(name)
	for _, r := range m.runs {
		if i >= 0 && r.Config[i] != m.runs[0].Config[i] {
			return true
		}
	}
	return false
}

// slowdown returns the factors of a machine relative to the machine of the runs.
func (m *Model) slowdown(there Machine) slowdown {
	share := m.varied("cpu") || m.varied("cores")
	s := slowdown{compute: 1, disk: 1}
	if ratio, ok := there.speed(m.machine, share); ok {
		s.compute = 1 / ratio
	}
	if a, b := m.machine["disk"], there["disk"]; a > 0 && b > 0 && !m.varied("disk") {
		s.disk = a / b
	}
	s.same = s.compute == 1 && s.disk == 1
	return s
}

// on returns the prediction with its parts scaled.
func (p Prediction) on(s slowdown) Prediction {
	if s.same {
		return p
	}
	before := p.Seconds
	p.Compute, p.Other = p.Compute*s.compute, p.Other*s.compute
	if p.Split == SplitFull { // else Disk includes waits for the network
		p.Disk *= s.disk
	}
	p.Seconds = p.Compute + p.Network + p.Disk + p.Other
	ratio := p.Seconds / before
	p.Low, p.High = p.Low*ratio, min(p.High*ratio, math.MaxFloat64)
	if p.Low > 0 && !math.IsNaN(p.Deviation) {
		// The half-width of the interval grows as the deviation does.
		more := math.Hypot(elsewhereDeviation, speedDeviation*math.Log(ratio))
		half := math.Hypot(math.Log(p.High/p.Low)/2, 2*more)
		p.Low, p.High = p.Seconds*math.Exp(-half), min(p.Seconds*math.Exp(half), math.MaxFloat64)
		p.Deviation = math.Hypot(p.Deviation, more)
	}
	return p
}
