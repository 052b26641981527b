package setup

import (
	"math/rand/v2"
	"os"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/internal/workereffect"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/spec"
)

// grace is how long a run has from SIGTERM to SIGKILL: enough to remove its own files.
// Nothing of it is measured.
const grace = time.Second

// mostPairs and mostUntimed are the most pairs of runs at the end of a study that makes as many as it takes to show a
// difference, with a time budget and without one.
const (
	mostPairs   = 200
	mostUntimed = 12
)

// Options are the settings of a study that its definition does not contain. The zero value is good.
type Options struct {
	// Pin keeps runs off this process's own processor where there are 4 or more.
	Pin bool
	// Alone excludes earlier studies, even if the definition has some.
	Alone bool
	// Warn is called for problems that do not end the study. It must be safe for concurrent use; nil drops them.
	Warn func(text string)
	// Runner, if set, makes the runs in place of the runner that the definition
	// names, and Clock is its clock, nil for the machine's. The caller closes it.
	Runner assay.Runner
	Clock  assay.Clock
	// Spool is the directory that a batch system's machines share, in place of the definition's.
	Spool string
}

// A Problem is a definition that has been read and checked: the program, the space, the goal and the search. Its
// fields are not to be changed. It is not safe for concurrent use.
type Problem struct {
	Definition *spec.Study
	Space      *assay.Space
	Goal       assay.Goal
	First      []assay.Config // tried first: the user's default, if any
	Program    *spec.Program  // nil unless a command is run
	Table      *table.Table   // nil unless a table is replayed

	// opts.Warn is never nil in a problem that New has made.
	opts Options
	// makes is the result of the row of its searcher for the options of the definition.
	makes newSearcher
	// searchers is their version: the record's, if the study is resumed.
	searchers int
	// made is by makes, until it is taken. New makes it because only that shows whether
	// the options fit the space.
	made assay.Searcher
	// stopper is nil if no run is to be stopped.
	stopper assay.Stopper
	// born is when the study was made, once it is open.
	born time.Time
}

// New checks a definition and builds everything that can be wrong with it before
// anything is started or written. An error is of the class usage if the definition is
// at fault; its text begins with the place in the study file, if there is one.
//
// A definition of a recorded table is completed with the parameters of the table: def is
// changed, and belongs to the problem from then on.
//
// The program of a command has to be there only if the study's runner is on this machine;
// one of Options.Runner may run it anywhere.
func New(def *spec.Study, o Options) (*Problem, error) {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	p := &Problem{Definition: def, opts: o}
	if def.Placement.Class == spec.Anywhere {
		target := "the class of the first trial that ends"
		if def.Placement.Target != "" {
			target = "the class " + def.Placement.Target
		}
		o.Warn("class: any: measurements of several machine classes are hard to compare; the recommended configuration " +
			"has run on " + target + ", where five of the leading configurations run again at the end")
	}
	if _, err := runnerOf(def); err != nil && o.Runner == nil {
		return nil, err
	}
	if err := p.readSpace(); err != nil {
		return nil, err
	}
	if err := p.readMethod(); err != nil {
		return nil, err
	}
	if def.Mode() != spec.ModeCommand {
		return p, nil
	}
	var err error
	if p.Program, err = def.Program(); err != nil {
		return nil, usageError(err)
	}
	if row, _ := runnerOf(def); !row.here || o.Runner != nil {
		return p, nil
	}
	return p, checkHere(p)
}

// readSpace reads the table, if any, and makes the space, the goal and the first configurations. The table comes
// first, because it completes the parameters of the definition.
func (p *Problem) readSpace() (err error) {
	def := p.Definition
	if def.Mode() == spec.ModeTable {
		if p.Table, err = readTable(def); err != nil {
			return err
		}
	}
	if p.Space, err = def.Space(); err != nil {
		return err
	}
	if p.Goal, err = def.Goal(); err != nil {
		return err
	}
	c, given, err := def.Default(p.Space)
	if err != nil {
		return usageError(err)
	}
	if !given && def.Mode() == spec.ModeOnline {
		c, given = p.Space.Draw(newRand(0)) // the ranks run something from the start
	}
	if given {
		p.First = []assay.Config{c}
	}
	if def.Mode() == spec.ModeOnline && p.Space.Size().N == 1 {
		return usagef("%s: nothing to tune: the space has one configuration", def.File())
	}
	return nil
}

// readMethod makes the searcher and the stopper. The space must have been read. Flaws of the searcher are reported
// before flaws of the stopper.
func (p *Problem) readMethod() (err error) {
	def := p.Definition
	if p.Goal.Several() {
		if def, err = forFront(def); err != nil {
			return err
		}
	}
	p.searchers = spec.Searchers
	if p.makes, err = readSearcher(def); err != nil {
		return err
	}
	if p.made, err = p.make(); err != nil {
		return err
	}
	stopper, err := readStopper(p.Definition)
	if err != nil {
		return err
	}
	if p.stopper = stopper(p.Definition, p.Space); p.Goal.Several() {
		p.stopper = frontStopper(p.Definition, p.Goal, p.Space)
	}
	if err := checkFollowed(p.Definition, p.stopper); err != nil {
		return err
	}
	p.stopper = stopAtLevel(p.stopper, p.Goal.Level)
	return nil
}

// algorithm returns the searcher that the definition names: the one that New made,
// and another like it when that one has been taken. It learns the limits of the goal, if it can.
func (p *Problem) algorithm() (assay.Searcher, error) {
	s := p.made
	if p.made = nil; s == nil {
		var err error
		if s, err = p.make(); err != nil {
			return nil, err
		}
	}
	if auto, ok := assay.As[*search.Auto](s); ok {
		if p.searchers == 1 {
			auto.CountLarge()
		}
		if p.searchers < 3 {
			auto.StepShort()
		}
	}
	if bounds := p.Goal.Bounds(); len(bounds) > 0 {
		if l, ok := assay.As[assay.LimitLearner](s); ok {
			l.LearnLimits(bounds)
		}
	}
	return s, nil
}

// A wrapper wraps the algorithm of a searcher, within all that a study adds.
// An error of it ends the making of the searcher.
type wrapper func(assay.Searcher) (assay.Searcher, error)

// searcher returns the searcher of the problem with its wrappers: wrap (if not nil) next to the algorithm, then
// enqueued configurations, the first configurations, no configuration twice, repeated runs, and the correction of
// workers. The package comment has the reasons for this order. Each call makes a new one.
func (p *Problem) searcher(wrap wrapper) (assay.Searcher, error) {
	s, err := p.algorithm()
	if err != nil {
		return nil, err
	}
	learner, learns := assay.As[*costmodel.ActiveLearner](s)
	f, follows := p.stopper.(assay.CurveStopper)
	presume := byPosterior(p.Definition.Stop.Rule) || follows && f.Follows()
	switch {
	case p.Goal.Level != nil:
		s = search.Fidelity(s, search.FidelityOptions{Space: p.Space, Level: *p.Goal.Level, ImputeStopped: presume})
	case presume:
		s = search.ImputeStopped(s)
	}
	if wrap != nil {
		if s, err = wrap(s); err != nil {
			return nil, err
		}
	}
	s = search.Given(s)
	if len(p.First) > 0 {
		s = search.First(s, p.First...)
	}
	s = search.CorrectWorkers(repeated(search.Cache(s), p.Definition.Repeat), workereffect.New(p.Space, ""))
	if learns {
		s = learner.Around(s)
	}
	if p.Goal.Several() {
		s = search.Values(s, p.Goal)
	}
	return s, nil
}

// Preview returns the first configurations that a study would try, at most n, as far as they do not depend on
// measurements: it reports no results to the searcher. This is not the searcher of the study. Earlier studies on record
// are not read.
func (p *Problem) Preview(n int) ([]assay.Config, error) {
	known, err := p.Known()
	if err != nil {
		return nil, err
	}
	s, err := p.shippedSearcher(known)
	if err != nil {
		return nil, err
	}
	var first []assay.Config
	for range n {
		ps, err := s.Ask(1)
		if err != nil || len(ps) == 0 {
			break
		}
		first = append(first, ps[0].Config)
	}
	return first, nil
}

// readTable reads the recorded table of a study and resolves the study with it.
// The definition is changed: it gets the parameters and the digest of the table.
func readTable(st *spec.Study) (*table.Table, error) {
	var given []assay.Param
	for _, p := range st.Params {
		given = append(given, p.Param())
	}
	if info, err := os.Stat(st.Replay.File); err == nil && info.IsDir() {
		return nil, usagef("%sit is a directory, not a table: %s", st.At("replay.file"), st.Replay.File)
	}
	t, err := table.Open(table.Spec(*st.Replay), given...)
	if err != nil {
		return nil, usageError(err)
	}
	if err := st.Resolve(t.Params, t.Configs, t.Digest); err != nil {
		return nil, err
	}
	if t, err = t.Under(st.Parameters()); err != nil {
		return nil, usageError(err)
	}
	st.Configs = t.Configs
	return t, nil
}

// job returns the run of a configuration as data. It names neither the study nor the
// attempt: that is for the loop.
func (p *Problem) job(c assay.Config) (assay.Job, error) {
	j := assay.Job{Config: c, Interval: p.Interval(), Limit: p.Definition.Timeout, Grace: grace, Dir: p.Definition.Dir}
	if p.Definition.App != "" {
		j.Dir = "" // it is the workers'
	}
	if p.Program != nil {
		j.Argv, j.Env = p.Program.Argv(c), p.Program.Env(c)
		j.Secrets = p.Definition.SecretVariables()
		j.Resources, j.Data = p.Definition.Workbench.Resources(p.Space, c), p.Program.Data(c)
		j.Traces = p.Definition.Workbench.Followed(p.Space, c)
		j.Prepare, j.Cleanup, j.Warmup = p.Program.Prepare(c), p.Program.Cleanup(c), p.Definition.Warmup
		j.Metrics = p.Program.Metrics(c)
		j.Setup, j.Service = p.Program.Setup(c), p.Program.Service(c)
		j.Files, j.Verify = p.Program.Files(c), p.Program.Verify(c)
		j.Inputs, j.Shared = p.Definition.Staged.Stage()
		j.Outputs = p.Definition.Outputs
	}
	return j, nil
}

// Interval is how often a run is observed: the setting of the study, or ten times a second (more often if runs are
// short: see study.Study.Finest). For a table, where observing costs no time of the study, it is a fiftieth of a
// median run.
func (p *Problem) Interval() time.Duration {
	if p.Definition.Stop.Interval > 0 {
		return p.Definition.Stop.Interval
	}
	if p.Table != nil {
		return max(p.Table.MedianElapsed()/50, time.Microsecond)
	}
	return observeEvery
}

// newRand returns the random source of a seed. The second word of the state is fixed, so that one number determines
// the whole sequence.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
