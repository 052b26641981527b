package setup

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/batch"
	"github.com/assay-run/assay/model"
	"github.com/assay-run/assay/stop"
)

// Walltimes limits the time of the jobs of a study, from the times of its runs so far: as long as the stopping rule
// would let a run go on, or else as long as all but one in a hundred are expected to take. It is safe for concurrent
// use.
type Walltimes struct {
	space   *assay.Space
	goal    assay.Goal
	stopper assay.Stopper // nil if no run is stopped

	mu      sync.Mutex
	history []assay.Trial
	longest map[string]time.Duration // of a configuration, by its Key
	fitted  int                      // trials that the model has seen
	model   *model.AFTModel
	doubled map[string]time.Duration // the next time of runs that were cut off, by the Key of their configuration
}

// newWalltimes returns walltimes without any trial.
func newWalltimes(space *assay.Space, goal assay.Goal, stopper assay.Stopper) *Walltimes {
	return &Walltimes{
		space: space, goal: goal, stopper: stopper, longest: map[string]time.Duration{}, doubled: map[string]time.Duration{},
	}
}

const (
	// modelled is from how many trials on their times are modelled.
	modelled = 8
	// quantile of the times that the model expects, and above is how much more is asked.
	quantile = 0.99
	above    = 1.3
	// secondTry is how much more a run has that was cut and whose outcome could not be used.
	secondTry = 2
)

// learn takes in a trial that has ended.
func (w *Walltimes) learn(t assay.Trial) {
	if t.State == assay.Failed || t.State == assay.Withdrawn || t.Measurement.Elapsed <= 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t.Measurement.Stdout, t.Measurement.Stderr = nil, nil
	w.history = append(w.history, t)
	key := t.Config.Key()
	w.longest[key] = max(w.longest[key], t.Measurement.Elapsed)
}

// Bound returns how long a run may take for its outcome to be of use, and whether anything is known of that. again
// marks a run that repeats another one of its configuration: no rule stops it.
func (w *Walltimes) Bound(c assay.Config, again bool) (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := c.Key()
	if d := w.doubled[key]; d > 0 {
		return d, true
	}
	if again && w.longest[key] > 0 {
		return scaled(w.longest[key], secondTry), true
	}
	if d, ok := w.rule(c); ok {
		return d, true
	}
	return w.expected(c)
}

func scaled(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

// rule returns the time at which the stopping rule ends a run, if it ends runs by their time.
//
// The rule is asked about runs of increasing time. It ends a run at the first time at which it returns a stop, and no
// rule here takes that back later.
func (w *Walltimes) rule(c assay.Config) (time.Duration, bool) {
	if w.stopper == nil || !w.goal.Grows || w.goal.Metric != "elapsed" || w.goal.Maximize {
		return 0, false
	}
	best, ok := assay.Best(w.history)
	if !ok {
		return 0, false
	}
	stops := func(d time.Duration) bool {
		m := assay.Measurement{Elapsed: d, Metrics: map[string]float64{"elapsed": d.Seconds()}}
		return w.stopper.Decide(w.history, assay.Trial{
			Proposal: assay.Proposal{ID: math.MaxInt64, Config: c}, Measurement: m, Value: d.Seconds(),
		}).Stop
	}
	low := best.Measurement.Elapsed
	high := scaled(low, 1.05)
	for n := 0; !stops(high); n++ {
		if n > 60 { // forty times the best: it does not go by time
			return 0, false
		}
		low, high = high, scaled(high, 1.07)
	}
	for high-low > max(high/1000, time.Millisecond) {
		if mid := low + (high-low)/2; stops(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high, true
}

// expected returns the time that all but one run in a hundred take according to the trials, and somewhat more.
func (w *Walltimes) expected(c assay.Config) (time.Duration, bool) {
	if len(w.history) < modelled {
		return 0, false
	}
	if w.fitted != len(w.history) {
		d := assay.Data{}
		for _, t := range w.history {
			d.X = append(d.X, w.space.Encode(t.Config))
			d.Y = append(d.Y, t.Measurement.Elapsed.Seconds())
			d.Censored = append(d.Censored, t.State == assay.Censored)
		}
		p, err := model.AFT{Distribution: model.Normal, Scale: spread(d.Y)}.Fit(d)
		w.fitted = len(w.history)
		w.model, _ = p.(*model.AFTModel)
		if err != nil {
			w.model = nil
		}
	}
	if w.model == nil {
		return 0, false
	}
	x := w.space.Encode(c)
	low, high := 1e-3, 1e-3
	for w.model.Survival(x, high) > 1-quantile && high < 1e8 {
		low, high = high, high*2
	}
	for high-low > high/1000 {
		if mid := (low + high) / 2; w.model.Survival(x, mid) > 1-quantile {
			low = mid
		} else {
			high = mid
		}
	}
	return time.Duration(high * above * float64(time.Second)), true
}

// spread returns the standard deviation of the logarithms of times, clamped between the value for runs that are much
// alike and the value for runs that differ by an order of magnitude.
func spread(y []float64) float64 {
	var sum, square float64
	for _, v := range y {
		l := math.Log(v)
		sum += l
		square += l * l
	}
	n := float64(len(y))
	return min(max(math.Sqrt(max(square/n-sum/n*sum/n, 0)), 0.1), 1.5)
}

// again notes that a run was cut off at the end of its job, and reports whether it is worth another one with twice
// the time: once, if its measurements so far do not predict the outcome.
func (w *Walltimes) again(job assay.Job, had time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := job.Config.Key()
	if w.goal.Grows || w.doubled[key] > 0 {
		return false
	}
	w.doubled[key] = scaled(had, secondTry)
	return true
}

// of returns the longest time of the job of a run, 0 for the default of the batch system.
//
// Only the times of the run itself and of its warm-ups are known: with other commands around a run its time is
// unknown.
func (w *Walltimes) of(job assay.Job) time.Duration {
	around := len(job.Prepare) + len(job.Cleanup) + len(job.Verify)
	if around > 0 || job.Setup != nil || job.Service != nil {
		return 0
	}
	bound, known := w.Bound(job.Config, job.ID.Repeat > 0)
	limits := []time.Duration{job.Limit}
	if !known {
		if o, ok := w.stopper.(stop.Opening); ok && o.Limit > 0 && w.goal.Grows {
			limits = append(limits, 8*o.Limit) // the first runs; those after them go on
		}
	}
	for _, l := range limits {
		if l > 0 && (!known || l < bound) {
			bound, known = l, true
		}
	}
	if !known {
		return 0
	}
	return batch.Minutes(bound*time.Duration(1+job.Warmup) + batch.Overhead)
}

// follow lets the walltimes learn from the trials on record, and from the trials of the session.
func (w *Walltimes) follow(past []assay.Event) {
	for _, e := range past {
		switch {
		case e.Told != nil:
			w.learn(*e.Told)
		case e.Checked != nil:
			w.learn(*e.Checked)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.history = slices.Clip(w.history)
}
