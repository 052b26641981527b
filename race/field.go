package race

import (
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/stats"
)

const (
	// supposed is the noise that is assumed before pairs of runs say otherwise, as a
	// share of the value, and supposedPairs how many pairs this counts for.
	supposed      = 0.05
	supposedPairs = 2
	// alike is the share by which runs of one configuration may differ on a quiet
	// machine: less than what an early stop leaves as a margin. quietPairs is how many
	// pairs show it, of which none may differ by more.
	alike      = 0.02
	quietPairs = 3
)

// An Entrant is a configuration with its runs.
type Entrant struct {
	// Trial is the first run of the configuration that was done, or else the one that was
	// stopped, with the value that it was added with.
	Trial assay.Trial
	// Broken are the runs in which it failed or broke a limit though it had not in its first. It is not
	// recommended then.
	Broken []assay.Trial
	// Done is whether a run came to its end. One that was only stopped is no answer, but
	// may have been unlucky: the race gives it a second run.
	Done bool
	// Values are those of its runs, in the order in which they were added. A run that
	// was stopped counts with the value that it had come to.
	Values []float64
}

// Value returns the median of the values of e.
func (e *Entrant) Value() float64 { return stats.Median(e.Values) }

// A Field is the configurations of a study that ran to the end within the limits, or were
// stopped when they had come to the value of the incumbent.
// The zero value is an empty one. It is not safe for concurrent use.
type Field struct {
	runs     *assay.Shelf
	entrants []entry
	roll     assay.Roll // numbers the entrants
	stopped  int        // runs that were stopped since one ended, or was run again
	differ   []float64  // of runs of one configuration, each with the one before it
	apart    float64    // the greatest of differ

	// What incumbent returns, unless something was added since.
	best  *entry
	least float64
	known bool
}

// Of returns an empty field of runs that are on a shelf: see [Field.AddFrom].
func Of(runs *assay.Shelf) Field { return Field{runs: runs} }

// at returns what is known of a configuration; nil if it is not in the field. It is valid until a run is added.
func (f *Field) at(c assay.Config) *entry {
	if i, ok := f.roll.Find(c); ok {
		return &f.entrants[i]
	}
	return nil
}

// trial returns that of an Entrant.
func (f *Field) trial(e *entry) assay.Trial {
	t := f.runs.At(int(e.run))
	t.Value = e.own()
	return t
}

// Add adds a run: a trial, or a repeated run of one. What a prediction stopped, or the end
// of a budget, says too little to matter.
func (f *Field) Add(t assay.Trial) {
	if f.runs == nil {
		f.runs = &assay.Shelf{}
	}
	f.AddFrom(f.runs.Put(t), t)
}

// AddFrom adds a run as Add does that is on the shelf of the field under a number, and is not kept a second
// time. t is that run with the value that it is to have.
func (f *Field) AddFrom(number int, t assay.Trial) {
	e := f.at(t.Config)
	switch t.State {
	case assay.Failed, assay.Infeasible:
		f.Refute(t)
		return
	case assay.Censored:
		if f.stopped++; !t.Stopped() || e == nil && !(t.Value >= f.Incumbent()) {
			return
		}
	case assay.Done:
		f.stopped = 0
	default:
		return
	}
	f.known = false
	if e == nil {
		f.roll.Number(t.Config)
		f.entrants = append(f.entrants, entry{run: int32(number), done: t.State == assay.Done, first: t.Value})
		return
	}
	if e.done && t.State == assay.Done {
		d := difference(e.value(e.runs()-1), t.Value)
		f.differ = append(f.differ, d)
		f.apart = max(f.apart, d)
	}
	e.add(t.Value)
	if !e.done && t.State == assay.Done {
		e.run, e.done, e.more.own = int32(number), true, int32(e.runs()-1)
	}
}

// Refute adds a run that says whether a configuration still works, and nothing of its
// value: those that compare the best with the first configuration are no part of the
// race, since the best is chosen before. One that neither failed nor broke a limit
// changes nothing.
func (f *Field) Refute(t assay.Trial) {
	if e := f.at(t.Config); e != nil && (t.State == assay.Failed || t.State == assay.Infeasible) {
		e.rest().broken = append(e.rest().broken, t)
	}
}

// Entrant returns what is known of a configuration; ok is false if it is not in the field.
func (f *Field) Entrant(c assay.Config) (e Entrant, ok bool) {
	if at := f.at(c); at != nil {
		return f.entrant(at), true
	}
	return e, false
}

func (f *Field) entrant(e *entry) Entrant {
	return Entrant{Trial: f.trial(e), Broken: slices.Clone(e.broken()), Done: e.done, Values: e.values()}
}

// Refuted returns the configurations with runs that broke, in the order in which they were first run.
func (f *Field) Refuted() (all []Entrant) {
	for i := range f.entrants {
		if e := &f.entrants[i]; len(e.broken()) > 0 {
			all = append(all, f.entrant(e))
		}
	}
	return all
}

// difference returns how far apart two values are, as a share of the greater.
func difference(a, b float64) float64 {
	if a == b {
		return 0
	}
	return math.Abs(a-b) / max(math.Abs(a), math.Abs(b))
}

// Noise returns how much runs of one configuration differ, as a share of the value: the
// standard deviation of a normal distribution with the same median difference, so that a
// heavy tail does not count. It is 0 where all were alike.
func (f *Field) Noise() float64 {
	if len(f.differ) > 0 && f.apart == 0 {
		return 0
	}
	d := slices.Clone(f.differ)
	for range supposedPairs {
		d = append(d, supposed*math.Sqrt2*quartile)
	}
	return stats.Median(d) / (math.Sqrt2 * quartile)
}

// quartile is the median of |z| of a standard normal z.
const quartile = 0.6744897501960817

// Quiet reports whether runs of one configuration are known to be alike, so that one run
// says all: after one pair that is equal, or after three that differ by no more than 2 %.
func (f *Field) Quiet() bool {
	return len(f.differ) > 0 && f.apart == 0 || len(f.differ) >= quietPairs && f.apart <= alike
}

// trusted reports whether the value of e may end other runs.
func (f *Field) trusted(e *entry) bool { return e.runs() > 1 || f.Quiet() }

// incumbent returns the entrant with the least value that may end other runs; nil if there
// is none. One that was refuted may.
func (f *Field) incumbent() (best *entry, value float64) {
	if f.known {
		return f.best, f.least
	}
	defer func() { f.best, f.least, f.known = best, value, true }()
	value = math.Inf(1)
	quiet := f.Quiet()
	for i := range f.entrants {
		e := &f.entrants[i]
		if !e.done || e.runs() == 1 && !quiet {
			continue
		}
		if v := e.middle(); v < value {
			best, value = e, v
		}
	}
	return best, value
}

// Incumbent returns the least value that may end other runs, which some configuration
// has reached twice, or once where the runs are quiet. It is +Inf while there is none.
func (f *Field) Incumbent() float64 {
	_, v := f.incumbent()
	return v
}

// Believe returns a trial of the history as a rule that ends runs may see it: with the
// value of its configuration that may end others, and no less than that of the incumbent
// if there is none yet.
func (f *Field) Believe(t assay.Trial) assay.Trial {
	e := f.at(t.Config)
	if t.State != assay.Done || e == nil || !e.done {
		return t
	}
	if e.runs() > 1 {
		t.Value = e.middle()
		return t
	}
	if least := f.Incumbent(); !f.trusted(e) && t.Value < least && !math.IsInf(least, 1) {
		t.Value = least
	}
	return t
}
