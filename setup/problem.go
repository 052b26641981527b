package setup

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/block"
	"github.com/assay-run/assay/costmodel"
	"github.com/assay-run/assay/run"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/table"
	"github.com/assay-run/assay/workbench"
)

// grace is how long a run has from SIGTERM to SIGKILL: enough to remove its own files.
// Nothing of it is measured.
const grace = time.Second

// AutoCheck has a study make as many pairs of runs at its end as it takes to tell.
const AutoCheck = -1

// mostPairs and mostUntimed are the most pairs of runs of AutoCheck, with a time budget and without one.
const (
	mostPairs   = 200
	mostUntimed = 12
)

// Options are what a study needs that its definition does not say. The zero value is
// good.
type Options struct {
	// Pin keeps runs off this process's own processor where there are 4 or more.
	Pin bool
	// Check is the number of pairs of runs at the end that compare the best with the first configuration; AutoCheck for
	// as many as it takes to tell, within a fifth of the time budget.
	Check int
	// Alone has no earlier study help, whatever the definition says.
	Alone bool
	// Warn is told what goes wrong without ending the study. It must be safe for
	// concurrent use; nil hears nothing.
	Warn func(text string)
	// Runner, if set, makes the runs in place of the runner that the definition
	// names, and Clock is its clock, nil for the machine's. The caller closes it.
	Runner assay.Runner
	Clock  assay.Clock
	// Spool is the directory that a batch system's machines share, in place of that of the definition.
	Spool string
}

// A Problem is a definition that has been read and checked: what runs, in which
// space, for which goal, and how it is searched. Its fields are not to be changed. It
// is not safe for concurrent use.
type Problem struct {
	Definition *spec.Study
	Space      *assay.Space
	Goal       assay.Goal
	First      []assay.Config // what is tried first: the user's default, if there is one
	Program    *spec.Program  // nil unless a command is run
	Table      *table.Table   // nil unless a table is replayed

	// opts.Warn is never nil in a problem that New has made.
	opts Options
	// makes is what the options of the definition have made of the row of its searcher.
	makes newSearcher
	// searchers is their version: that of the record, if the study goes on.
	searchers int
	// made is by makes, until it is taken. New makes it because only that shows whether
	// the options fit the space.
	made assay.Searcher
	// stopper is nil if no run is to be stopped.
	stopper assay.Stopper
	// walltimes is of a study whose runs are jobs of a batch system, nil otherwise.
	walltimes *Walltimes
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
		o.Warn("class: any: machines of several classes measure what is hard to compare; what is recommended has run on " +
			target + ", where five of the leading configurations run again in the end")
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
	if err := p.checkProgram(); err != nil {
		return p, err
	}
	if err := p.checkTraces(); err != nil {
		return p, err
	}
	if _, _, err := inputsOf(def); err != nil {
		return p, err
	}
	if _, err := sharedOf(def, true); err != nil {
		return p, err
	}
	if err := p.checkData(); err != nil {
		return p, err
	}
	return p, p.checkSetup()
}

// readSpace reads the table, if there is one, and makes the space, the goal and what
// is tried first.
// The table comes first, because it completes the parameters of the definition.
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

// readMethod makes the searcher and the stopper. The space must have been read.
// Flaws of the searcher are told before those of the stopper.
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
	if err := p.checkFollowed(); err != nil {
		return err
	}
	p.stopper = p.stopAtLevel(p.stopper)
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
	if auto, ok := assay.As[*search.Auto](s); ok && p.searchers < 1 {
		auto.CountAll()
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

// searcher returns the searcher of the problem with its wrappers: next to the
// algorithm wrap, if there is one, then what people give, what is tried first, no configuration twice,
// repeated runs, and the workers that
// make them. The package comment says why in this order. Each call makes a new
// one.
func (p *Problem) searcher(wrap wrapper) (assay.Searcher, error) {
	s, err := p.algorithm()
	if err != nil {
		return nil, err
	}
	learner, learns := assay.As[*costmodel.ActiveLearner](s)
	f, follows := p.stopper.(assay.Follower)
	presume := p.Definition.Stop.Rule == posteriorStop || follows && f.Follows()
	switch {
	case p.Goal.Level != nil:
		s = p.withLevels(s, presume)
	case presume:
		s = search.Presume(s)
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
	s = search.Blocks(repeated(search.Cache(s), p.Definition.Repeat), block.New(p.Space, ""))
	if learns {
		s = learner.Around(s)
	}
	if p.Goal.Several() {
		s = search.Values(s, p.Goal)
	}
	return s, nil
}

// Preview returns the first configurations that a study would try, at most n, as far
// as they do not depend on what is measured: it asks and tells nothing. The searcher
// that it asks is not the one of the study. Earlier studies are not looked into.
func (p *Problem) Preview(n int) ([]assay.Config, error) {
	s, err := p.searcher(nil)
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

// checkProgram returns an error if a secret cannot be read, or the program of some configuration is missing. The
// name of the program may hang on a parameter: each value of each parameter is tried
// beside the default, up to 64 of one parameter. Programs that two parameters name
// together may be left out; a run of one that is missing is a failed trial.
func (p *Problem) checkProgram() error {
	if err := run.CheckSecrets(p.Definition.SecretVariables()); err != nil {
		return usageError(fmt.Errorf("%s%w", p.Definition.At("secrets"), err))
	}
	seen := map[string]bool{}
	check := func(c assay.Config) error {
		argv := p.Program.Argv(c)
		if len(argv) == 0 {
			return usagef("the command is empty for %s", p.Space.Text(c))
		}
		argv[0] = assay.InFirstSlot(argv[0])
		if seen[argv[0]] || strings.Contains(argv[0], assay.SetupDir) {
			return nil
		}
		seen[argv[0]] = true
		if _, err := run.LookPath(argv[0], p.Definition.Dir); err != nil {
			return usageError(fmt.Errorf("%s%w", p.Definition.At("command"), err))
		}
		return nil
	}
	return p.eachValue(check)
}

// checkData returns an error if the data set of some configuration is missing, unless the
// setup makes it. The values that are tried are those of [Problem.checkProgram].
func (p *Problem) checkData() error {
	seen := map[string]bool{}
	return p.eachValue(func(c assay.Config) error {
		dir := p.Program.Data(c)
		if dir == "" || seen[dir] || strings.Contains(dir, assay.SetupDir) {
			return nil
		}
		seen[dir] = true
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usagef("%sno directory %s, the data set for %s", p.Definition.At("workbench.data"), dir, p.Space.Text(c))
		}
		return nil
	})
}

// checkTraces returns an error for a trace that its resource cannot follow, at its place.
func (p *Problem) checkTraces() error {
	return p.eachValue(func(c assay.Config) error {
		traces := p.Definition.Traces(p.Space, c)
		for _, resource := range slices.Sorted(maps.Keys(traces)) {
			point, err := workbench.CheckTrace(resource, traces[resource])
			if err == nil {
				continue
			}
			i := p.Space.Index(resource)
			name := p.Space.Params[i].Text(c[i])
			path := "workbench.traces." + name
			if point >= 0 {
				path = fmt.Sprintf("%s[%d]", path, point)
			}
			return usagef("%strace %s: %w", p.Definition.At(path), name, err)
		}
		return nil
	})
}

// eachValue calls f with a configuration, the first to be run if that is known, and with those
// that differ from it in one parameter, up to 64 for each.
func (p *Problem) eachValue(f func(c assay.Config) error) error {
	base, _ := p.Space.Draw(newRand(0))
	if len(p.First) > 0 {
		base = p.First[0]
	}
	if err := f(base); err != nil {
		return err
	}
	for i, q := range p.Space.Params {
		for l := range min(q.Count(), 64) {
			c := base.Clone()
			c[i] = q.At(l)
			if c = p.Space.Rested(c); p.Space.Contains(c) {
				if err := f(c); err != nil {
					return err
				}
			}
		}
	}
	return nil
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
		j.Resources, j.Data = p.Definition.Resources(p.Space, c), p.Program.Data(c)
		j.Traces = p.Definition.Traces(p.Space, c)
		j.Prepare, j.Cleanup, j.Warmup = p.Program.Prepare(c), p.Program.Cleanup(c), p.Definition.Warmup
		j.Metrics = p.Program.Metrics(c)
		j.Setup, j.Service = p.Program.Setup(c), p.Program.Service(c)
		j.Files, j.Verify = p.Program.Files(c), p.Program.Verify(c)
		j.Inputs, j.Shared = p.Definition.Stage()
		j.Outputs = p.Definition.Outputs
	}
	return j, nil
}

// Environment returns the variables that the command needs for a configuration; see
// [spec.Program.Environment].
func (p *Problem) Environment(c assay.Config) []string {
	return p.withFolder(c, p.Program.Environment(c))
}

// Interval is how often a run is observed: as the study says, or ten times a second (and
// more often where runs are short: see study.Study.Finest); of
// a table, where observing costs no time of the study, fifty times in a median run.
func (p *Problem) Interval() time.Duration {
	if p.Definition.Stop.Interval > 0 {
		return p.Definition.Stop.Interval
	}
	if p.Table != nil {
		return max(p.Table.MedianElapsed()/50, time.Microsecond)
	}
	return observeEvery
}

// newRand returns the random source of a seed.
// The second word of the state is fixed, so that one number tells the whole sequence.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
