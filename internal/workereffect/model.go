package workereffect

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// A Model is the estimated effects of the workers of a study. It depends only on the added runs, in their order. It is
// not safe for concurrent use.
type Model struct {
	space  *assay.Space
	target string // the class of which corrected values are

	runs    []run
	configs assay.ConfigIndex
	workers []worker
	index   map[key][]epoch
	classes []string
	signs   [2]bool // a value below 0, or 0, was seen; one above 0
	next    int     // how many runs there are when the effects are estimated again
	version int
	drifted int // the version at which drifts were looked for
	est     estimate
}

// A key names a worker. One that has become another class of machine is another worker.
type key struct{ where, class string }

// A worker is a block.
type worker struct {
	key
	class int
	runs  int // with an exact value
	// looked is how many runs counted when it was last looked for a drift.
	looked int
}

// An epoch is a time from which on a name stands for another worker: see SetAside.
type epoch struct {
	from   time.Time
	worker int
}

// A run is one whose value is exact.
type run struct {
	trial  int64
	config int
	worker int
	x      []float64 // features
	y      float64   // logarithm of the size of the value
	at     time.Time // when it began
	out    bool      // it does not count: see SetAside
}

// An Effect is the estimated effect of a worker.
type Effect struct {
	Where, Class string
	Runs         int     // with an exact value
	Ratio        float64 // of its values to the average worker's of its class
	// Error is the standard deviation of the logarithm of Ratio.
	Error float64
}

// New returns a model without runs. space encodes the features of configurations; nil means that their coordinates are
// the features. target is the class of machines of the corrected values, "" the class of the first run that has one.
func New(space *assay.Space, target string) *Model {
	return &Model{space: space, target: target, index: map[key][]epoch{}}
}

// Add adds a run: a trial, or a repeated run of one. It ignores a run without a worker or without an exact value.
func (m *Model) Add(t assay.Trial) {
	k := key{t.Measurement.Worker, t.Measurement.MachineClass}
	if k.where == "" {
		return
	}
	m.target = cmp.Or(m.target, k.class)
	if t.State != assay.Done && t.State != assay.Infeasible || math.IsNaN(t.Value) || math.IsInf(t.Value, 0) {
		return
	}
	positive := 0
	if t.Value > 0 {
		positive = 1
	}
	if m.signs[positive] = true; t.Value == 0 {
		m.signs = [2]bool{true, true}
	}
	w, known := m.worker(k, t.Started)
	if !known {
		w = len(m.workers)
		m.index[k] = []epoch{{worker: w}}
		class := slices.Index(m.classes, k.class)
		if class < 0 {
			class = len(m.classes)
			m.classes = append(m.classes, k.class)
		}
		m.workers = append(m.workers, worker{key: k, class: class})
	}
	c, _ := m.configs.Number(t.Config)
	m.workers[w].runs++
	m.runs = append(m.runs, run{
		trial: t.ID, config: c, worker: w, x: m.features(t.Config), y: math.Log(math.Abs(t.Value)), at: t.Started,
	})
	m.estimate()
}

// worker returns the worker that had a name when a run began.
func (m *Model) worker(k key, began time.Time) (w int, ok bool) {
	for i, e := range m.index[k] {
		if i == 0 || !began.Before(e.from) {
			w, ok = e.worker, true
		}
	}
	return w, ok
}

// everyPart is the share by which the runs grow until the effects are estimated again: a study of many
// trials spends next to nothing on it.
const everyPart = 50

// estimate estimates the effects anew, if there are enough further runs.
func (m *Model) estimate() {
	if len(m.workers) < 2 || len(m.runs) < m.next {
		return
	}
	m.next = len(m.runs) + 1 + len(m.runs)/everyPart
	m.fit()
}

// fit estimates the effects from all runs that count.
func (m *Model) fit() {
	m.version++
	m.est = estimate{}
	if !m.signs[0] || !m.signs[1] {
		m.est = fitted(m)
	}
}

// Version changes whenever Correct may return another value for the same trial.
func (m *Model) Version() int { return m.version }

// Target returns the class of machines that corrected values are of, "" if that is not known yet.
func (m *Model) Target() string { return m.target }

// Correct returns the value of a trial as it would have been on the average worker of the target class.
// A bound stays one. A trial without a worker, or of one that nothing is known of, has its own.
func (m *Model) Correct(t assay.Trial) float64 {
	if math.IsInf(t.Value, 0) || math.IsNaN(t.Value) {
		return t.Value
	}
	return t.Value / m.factor(key{t.Measurement.Worker, t.Measurement.MachineClass}, t.Started)
}

// Factor returns the ratio of the values of a worker of a class, as it is now, to the values of the average worker of
// the target class; 1 if the worker and class are unknown.
func (m *Model) Factor(where, class string) float64 {
	return m.factor(key{where, class}, time.Unix(1<<40, 0))
}

func (m *Model) factor(who key, began time.Time) float64 {
	if m.est.class == nil {
		return 1
	}
	k := slices.Index(m.classes, who.class)
	target := slices.Index(m.classes, m.target)
	if k < 0 || target < 0 || max(k, target) >= len(m.est.class) {
		return 1
	}
	log := m.est.class[k] - m.est.class[target]
	if w, known := m.worker(who, began); known {
		if w < len(m.est.worker) {
			log += m.est.worker[w]
		}
	}
	return math.Exp(log)
}

// Effects returns the effects of the workers, in the order of classes and names. A worker that was set aside has two:
// before, and since.
func (m *Model) Effects() []Effect {
	var all []Effect
	for i, w := range m.workers {
		if w.runs == 0 {
			continue
		}
		e := Effect{Where: w.where, Class: w.key.class, Runs: w.runs, Ratio: 1, Error: math.NaN()}
		if i < len(m.est.worker) {
			e.Ratio, e.Error = math.Exp(m.est.worker[i]), m.est.off[i]
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b Effect) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Where, b.Where))
	})
	return all
}

// Class returns the ratio of the values of a class of machines to the values of the target class.
func (m *Model) Class(class string) float64 { return m.Factor("", class) }

// features returns the features of a configuration.
func (m *Model) features(c assay.Config) []float64 {
	if m.space == nil || m.space.Dim() != len(c) {
		return slices.Clone(c)
	}
	return m.space.Encode(c)
}
