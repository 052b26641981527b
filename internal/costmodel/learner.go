package costmodel

import (
	"fmt"
	"slices"

	"github.com/assay-run/assay"
)

// Options configure an [ActiveLearner]. The zero value chooses runs by error reduction per second, without a target:
// the search ends when every assignment was run.
type Options struct {
	// Target is the mean absolute percentage error, in percent, below which the
	// learner stops, if it has runs of MinRuns assignments to learn from (Algorithm 1,
	// step 4). 0 means that it never stops for accuracy.
	Target  float64
	MinRuns int // 0 means 5, or two more than attributes if that is more

	// Published makes the learner follow Algorithm 1 of the paper with the
	// alternatives that it names; nil is our own way, see [ActiveLearner].
	Published *Published
	// Regression is how the model is fitted. With Published it has no effect.
	Regression Regression

	// LessIsMore names the attributes of which less is more capacity, or which are the
	// amount of data; nil means those with rtt, latency or delay in their name, and those with
	// size, input, bytes, lines or rows that are no resource by another word, such as memory.
	LessIsMore []string
	// Cores names the attribute that is the number of cores of a run, or its share of a core; "" means no such attribute.
	// See [Profile].
	Cores string
	Seed  uint64 // of all random choices
}

// ActiveLearner chooses the assignments to run a program on, so that few runs suffice for a cost model (Shivam, Babu
// and Chase 2006, Algorithm 1). It is an assay.Searcher whose trials are runs of the program. It reads the Config, the
// Measurement.Elapsed and the metrics named at [Profile] of each trial, and ignores the trial's value. If another
// searcher that merges or skips runs wraps it, see [ActiveLearner.Around]; for recorded runs, see [Recall].
//
// By default it first runs the assignment in the middle of the space. Each further run is the one with the largest
// expected reduction of the error over the whole space per second of run time, by the fitted [Model]: acceleration by
// cost, not by count. No assignment is run twice. With [Options.Published] it follows the paper.
//
// A failed trial, or one without a time, is not a fast run: it marks an assignment on which the program fails. The time
// of a trial that was stopped early is ignored.
//
// It ends with ErrDone if the two-part stop rule of [Options] holds or no assignment is left. Cost of an Ask: up to
// 1,024 assignments are compared, with n² operations each for n runs, after a fit; see [Surface].
type ActiveLearner struct {
	space *assay.Space // of the assignments
	attrs []attribute  // its parameters
	opts  Options      // as given
	plan  plan         // chooses the runs and fits the model

	proposals assay.Ledger[pick] // outstanding, with their picks
	runs      []Run              // for training, in the order of their results
	tests     []Run              // finished runs for the error only
	failed    []assay.Config     // assignments of failed runs
	seen      map[string][]Run   // by configuration that was run: its runs to the end
	known     evidence           // of single runs; nil if each run is an outcome of its own
	steps     []Step             // one for each trial
	spent     float64            // run time of all trials, s
	done      bool               // the search has ended
	levels    Levels             // see Levels
	model     *Model             // fitted to runs and failed; nil if it has to be
}

var (
	_ assay.Searcher = (*ActiveLearner)(nil)
	_ assay.Observer = (*ActiveLearner)(nil)
)

// A plan chooses the runs and their roles in training. The learner keeps the record and the stop rule, and calls a plan
// from one goroutine.
type plan interface {
	// next returns the next assignment. False means no assignment before another outcome is known, or ever if nothing is
	// outstanding. It has no lasting effect if it returns false.
	next(l *ActiveLearner) (pick, bool)
	// told is called after every outcome.
	told(l *ActiveLearner, p pick)
	// fit returns the model of the known runs.
	fit(l *ActiveLearner) (*Model, error)
	// error estimates the current error in predicting the total time, in percent, and NaN if
	// it cannot.
	error(l *ActiveLearner) float64
	// observed returns the roles of a run of c that the plan did not choose.
	observed(c assay.Config) roles
}

// A role is the purpose of a run.
type role uint8

const (
	forTraining role = iota // the model is fitted to it
	forOrder                // its outcome orders predictors and attributes
	forError                // the error is computed on it
)

// roles are the purposes of a run, by role. One run may have several: a corner of the space can be a row of the
// screening and the reference.
type roles [3]bool

// A pick is an assignment and its roles. It is kept with the proposal until its trial has a result.
type pick struct {
	config assay.Config // the assignment
	roles  roles        // the purposes of the run
	// of is a note of the plan for the outcome.
	of Part
}

// An outcome is the result of one run. ok and failed exclude each other. A run that was stopped early is neither, and
// records only that its assignment was tried.
type outcome struct {
	run     Run     // only its Config unless ok
	ok      bool    // it ran to its end
	failed  bool    // the program failed
	seconds float64 // that it took
}

// A Step is the progress of learning after one more trial.
//
// Spent counts failed and stopped runs too: their time was paid for.
type Step struct {
	Trial  int          // number of trials so far, from 1
	Runs   int          // how many assignments the model is fitted to
	Spent  float64      // total run time of all trials so far, s
	Error  float64      // estimate of the current error, percent; NaN if undefined
	Config assay.Config // of the trial
}

// NewActiveLearner returns an ActiveLearner of the space. It panics if an option
// is negative or names no attribute.
func NewActiveLearner(space *assay.Space, opts Options) *ActiveLearner {
	if !(opts.Target >= 0) || opts.MinRuns < 0 {
		panic(fmt.Sprintf("costmodel: options out of range: %+v", opts))
	}
	for _, name := range slices.Concat(opts.LessIsMore, []string{opts.Cores}) {
		if name != "" && space.Index(name) < 0 {
			panic(fmt.Sprintf("costmodel: no attribute %q", name))
		}
	}
	l := &ActiveLearner{
		space: space, attrs: attributesOf(space, opts.LessIsMore), opts: opts,
		seen: map[string][]Run{},
	}
	if opts.Published != nil {
		l.plan = newPublished(l, *opts.Published)
	} else {
		l.plan = &accelerated{}
	}
	return l
}

// Ask implements [assay.Searcher].
//
// It returns fewer than n proposals, or none and no error, where the plan needs an outcome
// first.
func (l *ActiveLearner) Ask(n int) ([]assay.Proposal, error) {
	if n < 1 {
		panic(fmt.Sprintf("costmodel: ask for %d proposals", n))
	}
	var ps []assay.Proposal
	for len(ps) < n && !l.done {
		p, ok := l.plan.next(l)
		if !ok {
			break
		}
		ps = append(ps, l.proposals.Propose(p.config, p))
	}
	if len(ps) == 0 && (l.done || l.proposals.Len() == 0) {
		l.done = true
		return nil, assay.ErrDone
	}
	return ps, nil
}

// Tell implements [assay.Searcher]. It returns an error for a trial of another configuration than the one proposed.
func (l *ActiveLearner) Tell(trials ...assay.Trial) error {
	if err := l.proposals.Check(trials...); err != nil {
		return err
	}
	for _, t := range trials {
		// All are checked before any is taken, so that an error changes nothing.
		if asked := l.proposals.About(t.ID).config; !t.Config.Equal(asked) {
			return l.otherConfig(t, asked)
		}
	}
	for _, t := range trials {
		p := l.proposals.Take(t.ID)
		l.take(p, t)
		l.plan.told(l, p)
		l.record(p.config)
	}
	return nil
}

// text writes a configuration for people; as bare numbers if it is not of the space.
func (l *ActiveLearner) text(c assay.Config) string {
	if l.space.Check(c) != nil {
		return fmt.Sprint([]float64(c))
	}
	return l.space.Text(c)
}

// Observe implements [assay.Observer]: the model is fitted to the trials too, and
// their assignments are not proposed. Trials of no member of the space are ignored. A
// trial of an assignment on which the error is computed is one more of these, and is
// not trained on.
func (l *ActiveLearner) Observe(trials ...assay.Trial) error {
	if err := l.space.CheckObserved(trials...); err != nil {
		return err
	}
	for _, t := range trials {
		if c, ok := l.space.Member(t.Config); ok {
			l.take(pick{config: c, roles: l.plan.observed(c)}, t)
		}
	}
	return nil
}

// take files a reported run. Inside [ActiveLearner.Around] the single runs are already known as they were measured: the
// trials from the wrappers then only add the roles of the assignment. If no single run of the assignment is known, a
// wrapper answered without a run.
func (l *ActiveLearner) take(p pick, t assay.Trial) {
	if l.known == nil {
		l.spent += t.Measurement.Elapsed.Seconds()
		l.file(l.outcomeOf(p.config, t), p.roles)
		return
	}
	if l.known[p.config.Key()] == nil {
		l.measure(p.config, t)
	}
	l.assign(p)
}

// outcomeOf reads a trial of c. An infeasible trial ran to its end and breaks a limit of its
// metrics: its time is as good as any. A measurement that [Profile] refuses, such as one
// without a time, teaches nothing.
func (l *ActiveLearner) outcomeOf(c assay.Config, t assay.Trial) outcome {
	o := outcome{run: Run{Config: c}, failed: t.State == assay.Failed, seconds: t.Measurement.Elapsed.Seconds()}
	if t.State == assay.Done || t.State == assay.Infeasible {
		var cores float64
		if i := l.space.Index(l.opts.Cores); i >= 0 {
			cores = l.attrs[i].number(c[i])
		}
		if r, err := Profile(c, t.Measurement, cores); err == nil {
			o.run, o.ok = r, true
			if off, ok := t.Measurement.Metrics["levels_off"]; ok {
				l.levels.Verified++
				if off > 0 {
					l.levels.Off++
				}
			}
		}
	}
	return o
}

// Levels reports how closely the runs matched the proposed assignments. Their metric "levels_off" is the number of
// levels that were not reached.
type Levels struct {
	Verified int // runs that have that metric
	Off      int // of them, those that were not on their assignment in every level
}

// Levels returns the levels of all finished runs so far.
func (l *ActiveLearner) Levels() Levels { return l.levels }

// file adds an outcome for its roles. seen has a key for each assignment that was run, finished or not: it is not
// proposed again.
func (l *ActiveLearner) file(o outcome, r roles) {
	l.model = nil
	c := o.run.Config
	if o.failed {
		l.failed = append(l.failed, c)
	}
	k := c.Key()
	if !o.ok {
		if _, ran := l.seen[k]; !ran {
			l.seen[k] = nil
		}
		return
	}
	l.seen[k] = append(l.seen[k], o.run)
	l.serve(o.run, r)
}

// serve adds a run to the lists of its roles.
func (l *ActiveLearner) serve(run Run, r roles) {
	l.model = nil
	if r[forTraining] {
		l.runs = append(l.runs, run)
	}
	if r[forError] {
		l.tests = append(l.tests, run)
	}
}

// record adds a step and applies the stop rule (Algorithm 1, step 4): the error is below the
// target, and there are runs of enough assignments to believe it. A NaN error is below
// nothing.
func (l *ActiveLearner) record(c assay.Config) {
	s := Step{Trial: len(l.steps) + 1, Runs: assignments(l.runs), Spent: l.spent, Error: l.plan.error(l), Config: c}
	l.steps = append(l.steps, s)
	if l.opts.Target > 0 && s.Error < l.opts.Target && s.Runs >= l.least() {
		l.done = true
	}
}

// assignments returns the number of distinct assignments of the runs. Repetitions do not count for the stop rule: they
// show the noise of an assignment, not how the time depends on it.
func assignments(runs []Run) int {
	return len(byAssignment(runs, nil))
}

// least returns how many assignments the stop rule asks for: by default five, or two more than attributes. Fewer
// leave no degree of freedom to estimate an error by.
func (l *ActiveLearner) least() int {
	if l.opts.MinRuns > 0 {
		return l.opts.MinRuns
	}
	return max(5, len(l.attrs)+2)
}

// Progress returns a step for each trial, in order. For a learner made by [Recall], it returns a step for each recorded
// assignment. The caller does not change them.
func (l *ActiveLearner) Progress() []Step { return l.steps }

// Converged reports whether the stop rule holds: the estimated error is below
// the target and there are runs of as many assignments as it takes at least.
func (l *ActiveLearner) Converged() bool {
	if len(l.steps) == 0 {
		return false
	}
	s := l.steps[len(l.steps)-1]
	return l.opts.Target > 0 && s.Error < l.opts.Target && s.Runs >= l.least()
}

// Model returns the model of all runs so far. It returns an error that matches
// assay.ErrTooFew before the first of them.
func (l *ActiveLearner) Model() (*Model, error) {
	if l.model == nil {
		if len(l.runs) == 0 {
			return nil, fmt.Errorf("no run: %w", assay.ErrTooFew)
		}
		m, err := l.plan.fit(l)
		if err != nil {
			return nil, err
		}
		l.model = m
	}
	return l.model, nil
}

// visited reports whether c was run or is being run.
func (l *ActiveLearner) visited(c assay.Config) bool {
	if _, ok := l.seen[c.Key()]; ok {
		return true
	}
	for _, p := range l.proposals.Outstanding() {
		if p.config.Equal(c) {
			return true
		}
	}
	return false
}

// extreme returns the assignment of the least or the highest capacity in every
// attribute, or the admissible one nearest to it.
func (l *ActiveLearner) extreme(best bool) assay.Config {
	c := make(assay.Config, len(l.attrs))
	for i, a := range l.attrs {
		lo, hi := a.ends()
		if c[i] = lo; best {
			c[i] = hi
		}
	}
	if l.space.Contains(c) {
		return c
	}
	return l.space.Nearest(c)
}

// middle returns the assignment with the middle value of every attribute, or the
// admissible one nearest to it.
func (l *ActiveLearner) middle() assay.Config {
	c := make(assay.Config, len(l.attrs))
	for i, a := range l.attrs {
		// An even number of values takes the lower of the two in the middle.
		if c[i] = a.param.Snap((a.param.Lo + a.param.Hi) / 2); a.param.Count() > 0 {
			c[i] = a.param.At((a.param.Count() - 1) / 2)
		}
	}
	if l.space.Contains(c) {
		return c
	}
	return l.space.Nearest(c)
}
