package race

import (
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

const (
	// supposed is the assumed noise until pairs of runs are known, as a share of the value, and supposedPairs the number
	// of pairs for which it counts.
	supposed      = 0.05
	supposedPairs = 2
	// alike is the share by which runs of one configuration may differ on a quiet machine: less than the margin of an
	// early stop. quietPairs is the number of pairs that show it, of which no pair may differ by more.
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
	// Done reports whether a run finished. A configuration that was only stopped may have been unlucky: the race gives it
	// a second run.
	Done bool
	// Values are the values of its runs, in the order in which they were added. A stopped run counts with its value at the
	// stop.
	Values []float64
}

// Value returns the median of the values of e.
func (e *Entrant) Value() float64 { return stats.Median(e.Values) }

// A Field is the configurations of a study that finished within the limits, or were stopped at the value of the
// incumbent. The zero value is an empty one. It is not safe for concurrent use.
type Field struct {
	runs     *assay.PackedTrials
	entrants []entry           // in the order of their first runs
	roll     assay.ConfigIndex // numbers the entrants
	stopped  int               // runs that were stopped since one ended, or was run again
	differ   []float64         // of runs of one configuration, each with the one before it
	apart    float64           // the greatest of differ
	margin   margin            // to the limits of the goal

	// The cached result of incumbent, valid until the next addition.
	best  *entry
	least float64 // the value of best
	known bool    // best and least are valid
}

// Of returns an empty field of runs that are on a shelf: see [Field.AddFrom]. The race and the answer skip a
// configuration that is closer to one of the bounds than the noise of its metric, unless every configuration is.
func Of(runs *assay.PackedTrials, bounds ...assay.Bound) Field {
	return Field{runs: runs, margin: margin{bounds: bounds}}
}

// at returns the entry of a configuration; nil if it is not in the field. It is valid until a run is added.
func (f *Field) at(c assay.Config) *entry {
	if i, ok := f.roll.Find(c); ok {
		return &f.entrants[i]
	}
	return nil
}

// trial returns the trial of an entry.
func (f *Field) trial(e *entry) assay.Trial {
	t := f.runs.At(int(e.run))
	t.Value = e.own()
	return t
}

// Add adds a run: a trial, or a repeated run of one. It ignores runs that were stopped by a prediction or by the end of
// a budget: their values are too uncertain.
func (f *Field) Add(t assay.Trial) {
	if f.runs == nil {
		f.runs = &assay.PackedTrials{}
	}
	f.AddFrom(f.runs.Put(t), t)
}

// AddFrom adds a run as Add does that is on the shelf of the field under a number, and is not kept a second
// time. t is that run with the value that it is to have.
func (f *Field) AddFrom(number int, t assay.Trial) {
	f.margin.add(t)
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

// Refute adds a run for its validity only, not for its value. Runs that compare the best with the first configuration
// are no part of the race, since the best is chosen before them. A run that neither failed nor broke a limit changes
// nothing.
func (f *Field) Refute(t assay.Trial) {
	if e := f.at(t.Config); e != nil && (t.State == assay.Failed || t.State == assay.Infeasible) {
		e.rest().broken = append(e.rest().broken, t)
	}
}

// Entrant returns the entrant of a configuration; ok is false if it is not in the field.
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

// Quiet reports whether runs of one configuration are known to be alike, so that one run suffices: after one pair that
// is equal, or after three that differ by no more than 2 %.
func (f *Field) Quiet() bool {
	return len(f.differ) > 0 && f.apart == 0 || len(f.differ) >= quietPairs && f.apart <= alike
}

// trusted reports whether the value of e may end other runs.
func (f *Field) trusted(e *entry) bool { return e.runs() > 1 || f.Quiet() }

// incumbent returns the entrant with the least value that may stop other runs; nil if no entrant may. A refuted entrant
// may.
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

// Incumbent returns the least value that may stop other runs: a value that some configuration has reached twice, or
// once if the runs are quiet. It is +Inf if no such value exists.
func (f *Field) Incumbent() float64 {
	_, v := f.incumbent()
	return v
}

// Believe returns a trial of the history for rules that stop runs. Its value is the value of its configuration that may
// stop others, or at least the incumbent's if its configuration has no such value yet.
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
