package assaytest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// SearcherOptions describe the promises of a searcher beyond the contract. The zero value promises nothing more.
type SearcherOptions struct {
	// NoRepeats: no configuration is proposed twice, nor one that was observed.
	NoRepeats bool
	// Exhausts: in a finite space every configuration is proposed once, then ErrDone is returned. It implies NoRepeats.
	Exhausts bool
	// Supports reports whether the searcher works in a space; nil means in all.
	Supports func(*assay.Space) bool
	// Trials is about how many trials a case takes; 0 means 60. Lower it for a searcher that computes much per proposal.
	Trials int
}

// TestSearcher checks every rule of the contract of [assay.Searcher], and of [assay.Observer] and [assay.Resumer] if
// the searcher is one. newSearcher returns a new searcher on the given space; two on the same space must behave alike.
// The spaces of the suite are one point, categories, reals, all kinds mixed, relations, a list, one too large to
// enumerate, and one of many parameters. Each case runs in parallel with others, so that newSearcher may be called at
// any time.
func TestSearcher(t *testing.T, newSearcher func(*assay.Space) assay.Searcher, opts SearcherOptions) {
	t.Helper()
	testSearcherCases(t, slices.Concat(searcherCases, resumerCases), newSearcher, opts)
}

// testSearcherCases runs the cases in every space of the suite that the searcher supports.
func testSearcherCases(t *testing.T, cases []searcherCase, newSearcher func(*assay.Space) assay.Searcher,
	opts SearcherOptions,
) {
	t.Helper()
	for _, s := range searcherSpaces() {
		if opts.Supports != nil && !opts.Supports(s.space) {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range cases {
				if s.basic && !slices.Contains(basicCases, c.name) {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					b := searcherBench{space: s.space, build: newSearcher, opts: opts.filled()}
					if err := b.try(c.run); err != nil {
						t.Errorf("%v\nthe rule: %s", err, c.rule)
					}
				})
			}
		})
	}
}

func (o SearcherOptions) filled() SearcherOptions {
	o.NoRepeats = o.NoRepeats || o.Exhausts
	if o.Trials == 0 {
		o.Trials = 60
	}
	return o
}

type searcherCase struct {
	name, rule string
	run        func(b searcherBench) error // the first breach of the rule
}

var searcherCases = []searcherCase{
	{
		"Sequential", "Ask(1) and Tell in turn: members of the space, IDs from 1 without gaps, ErrDone in " +
			"the end only", searcherSequential,
	},
	{
		"Batches", "Ask returns at most n proposals, with trials outstanding too, and results come in any order",
		searcherBatches,
	},
	{"Greedy", "Ask may be repeated without results; its proposals are still valid", searcherGreedy},
	{"Replay", "the same calls give the same proposals", searcherReplay},
	{"EmptyAsk", "an Ask that returns no proposals leaves the searcher unchanged", searcherEmptyAsk},
	{"Done", "ErrDone is final and comes without proposals", searcherDone},
	{"TellUnknown", "a result of a trial that was not asked is an error, and changes nothing", searcherTellUnknown},
	{"TellTwice", "a second result of a trial is an error, in one call or two, and changes nothing", searcherTellTwice},
	{"TellRunning", "only trials in a final state are results", searcherTellRunning},
	{"TellNothing", "a Tell without trials is no error and changes nothing", searcherTellNothing},
	{"Immutable", "proposals are never changed once returned, nor trials that were passed as results", searcherImmutable},
	{"States", "failed, censored and infeasible trials are results like others", searcherStates},
	{"Values", "equal, zero, negative, tiny and huge values are results like others", searcherValues},
	{"Repeats", "no configuration twice, if that is promised", searcherRepeats},
	{"Exhaustion", "every configuration of a finite space and then ErrDone, if that is promised", searcherExhaustion},
	{"Observe", "an Observer takes trials it did not ask for, whose IDs mean nothing", searcherObserve},
}

type searcherSpace struct {
	name  string
	space *assay.Space
	basic bool // only the rules of basicCases are tried in it
}

// basicCases are the cases that are tried in every space.
var basicCases = []string{"Sequential", "Batches", "Limited"}

// searcherSpaces returns the spaces of the suite.
func searcherSpaces() []searcherSpace {
	narrow := assay.Relation{
		Text: "i + j <= 6 && i != j", Params: []int{0, 1},
		Holds: func(c assay.Config) bool { return c[0]+c[1] <= 6 && c[0] != c[1] },
	}
	return []searcherSpace{
		{name: "one point", space: must(assay.NewSpace([]assay.Param{integerParam("i", 3, 3), categoryParam("c", "only")}))},
		{
			name: "two points", space: must(assay.NewSpace([]assay.Param{{
				Name: "on", Kind: assay.Switch,
				Levels: []string{"off", "on"},
			}})),
		},
		{
			name: "categories", space: must(assay.NewSpace([]assay.Param{
				categoryParam("a", "p", "q", "r"), categoryParam("b", "s", "t"),
				categoryParam("c", "u", "v", "w", "x"),
			})),
		},
		{
			name: "reals", space: must(assay.NewSpace([]assay.Param{
				realParam("x", 0, 1), realParam("y", -100, 100),
				{Name: "z", Kind: assay.Real, Lo: 1e-6, Hi: 1, Log: true},
			})),
		},
		{name: "mixed", space: must(assay.NewSpace(mixed()))},
		{
			name: "relations", space: must(assay.NewSpace([]assay.Param{
				integerParam("i", 0, 9), integerParam("j", 0, 9),
				categoryParam("c", "p", "q"),
			}, narrow)),
		},
		{name: "list", space: must(assay.NewList(
			[]assay.Param{integerParam("i", 0, 100), categoryParam("c", "p", "q", "r"), realParam("x", 0, 1)},
			[]assay.Config{
				{0, 0, 0.125},
				{7, 1, 0.5},
				{100, 2, 1},
				{7, 2, 0.5},
				{50, 0, 0.1},
				{51, 0, 0.1},
				{52, 1, 0.3},
				{99, 1, 0},
				{3, 2, 0.77},
				{4, 2, 0.77},
			},
		))},
		{name: "conditions", space: must(assay.NewSpace(conditional(), assay.Relation{
			Text: "trees + depth <= 450", Params: []int{1, 2},
			Holds: func(c assay.Config) bool { return c[1]+c[2] <= 450 },
		}))},
		{name: "orders", space: must(assay.NewSpace([]assay.Param{
			{Name: "passes", Kind: assay.Permutation, Levels: []string{"inline", "unroll", "vectorize", "licm"}},
			{Name: "unroll", Kind: assay.Switch, Levels: []string{"off", "on"}},
		}))},
		{name: "huge", space: large(12, 99)},
		{name: "wide", space: large(30, 9), basic: true},
	}
}

func realParam(name string, lo, hi float64) assay.Param {
	return assay.Param{Name: name, Kind: assay.Real, Lo: lo, Hi: hi}
}

func integerParam(name string, lo, hi float64) assay.Param {
	return assay.Param{Name: name, Kind: assay.Integer, Lo: lo, Hi: hi}
}

func categoryParam(name string, levels ...string) assay.Param {
	return assay.Param{Name: name, Kind: assay.Categorical, Levels: levels}
}

// mixed returns parameters of all kinds but orders.
func mixed() []assay.Param {
	return []assay.Param{
		realParam("x", -1, 1),
		{Name: "rate", Kind: assay.Real, Lo: 1e-3, Hi: 10, Log: true},
		{Name: "share", Kind: assay.Real, Lo: 0, Hi: 0.9, Step: 0.1},
		integerParam("threads", 1, 8),
		{Name: "size", Kind: assay.Integer, Lo: 1, Hi: 1 << 20, Log: true},
		{Name: "cache", Kind: assay.Ordinal, Levels: []string{"1M", "4M", "64M"}},
		categoryParam("codec", "zstd", "gzip", "lz4"),
		{Name: "pin", Kind: assay.Switch, Levels: []string{"off", "on"}},
	}
}

// large returns a space with far more configurations than an int64 counts. A model-based search takes
// time by the parameter, so that only the basic rules are tried in the wide one.
func large(n int, most float64) *assay.Space {
	params := make([]assay.Param, n)
	for i := range params {
		params[i] = integerParam(fmt.Sprintf("p%d", i), 0, most)
	}
	below := assay.Relation{
		Text: "x <= p0 + 1", Params: []int{0, n},
		Holds: func(c assay.Config) bool { return c[n] <= c[0]+1 },
	}
	return must(assay.NewSpace(append(params, realParam("x", 0, most+1)), below))
}

// conditional returns parameters of which three are in force for one solver, one of them only
// where another is large, and one for the other.
func conditional() []assay.Param {
	level := func(l float64) *assay.Relation {
		return &assay.Relation{
			Text: fmt.Sprintf("solver == %g", l), Params: []int{5},
			Holds: func(c assay.Config) bool { return c[5] == l },
		}
	}
	return []assay.Param{
		{Name: "threads", Kind: assay.Integer, Lo: 1, Hi: 4},
		{Name: "trees", Kind: assay.Integer, Lo: 10, Hi: 500, Log: true, When: level(1)},
		{Name: "depth", Kind: assay.Integer, Lo: 1, Hi: 20, When: level(1)},
		{Name: "leaf", Kind: assay.Real, Lo: 0, Hi: 1, When: &assay.Relation{
			Text: "depth > 10", Params: []int{2}, Holds: func(c assay.Config) bool { return c[2] > 10 },
		}},
		{Name: "kernel", Kind: assay.Categorical, Levels: []string{"rbf", "poly", "linear"}, When: level(0)},
		{Name: "solver", Kind: assay.Categorical, Levels: []string{"svm", "forest", "linear"}},
	}
}

// A searcherBench is the environment of a case.
type searcherBench struct {
	space *assay.Space
	build func(*assay.Space) assay.Searcher
	opts  SearcherOptions
}

// try runs a case and makes a panic of the searcher a breach.
func (b searcherBench) try(run func(searcherBench) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return run(b)
}

// A searcherRun drives one searcher and checks its results.
type searcherRun struct {
	searcherBench
	s           assay.Searcher
	proposals   []assay.Proposal // all of them
	copies      []assay.Config   // as they were when they were returned
	outstanding []assay.Proposal // in the order of Ask
	done        bool
	empty       bool // the latest Ask returned no proposals
}

func (b searcherBench) start() *searcherRun {
	return &searcherRun{searcherBench: b, s: b.build(b.space)}
}

// ask asks for at most n proposals and checks the answer.
func (r *searcherRun) ask(n int) error {
	ps, err := r.s.Ask(n)
	r.empty = len(ps) == 0
	switch {
	case err != nil && len(ps) > 0:
		return fmt.Errorf("Ask(%d) returned %d proposals and the error %w", n, len(ps), err)
	case errors.Is(err, assay.ErrDone):
		r.done = true
		return nil
	case err != nil:
		return fmt.Errorf("Ask(%d): %w", n, err)
	case r.done:
		return fmt.Errorf("Ask(%d) after ErrDone returned %d proposals and no error", n, len(ps))
	case len(ps) > n:
		return fmt.Errorf("Ask(%d) returned %d proposals", n, len(ps))
	case len(ps) == 0 && len(r.outstanding) == 0:
		return fmt.Errorf("Ask(%d) returned nothing though nothing is outstanding", n)
	}
	for _, p := range ps {
		if want := int64(len(r.proposals)) + 1; p.ID != want {
			return fmt.Errorf("proposal has ID %d, want %d", p.ID, want)
		}
		if err := r.space.Check(p.Config); err != nil {
			return fmt.Errorf("proposal %d is no member of the space: %w", p.ID, err)
		}
		r.proposals = append(r.proposals, p)
		r.copies = append(r.copies, p.Config.Clone())
		r.outstanding = append(r.outstanding, p)
	}
	return nil
}

// tell passes the i-th outstanding trial to Tell with a value and a state.
func (r *searcherRun) tell(i int, result func(assay.Proposal) assay.Trial) error {
	p := r.outstanding[i]
	if err := r.s.Tell(result(p)); err != nil {
		return fmt.Errorf("Tell of trial %d: %w", p.ID, err)
	}
	r.outstanding = append(r.outstanding[:i:i], r.outstanding[i+1:]...)
	return nil
}

// sequence runs up to n trials one after the other.
func (r *searcherRun) sequence(n int, result func(assay.Proposal) assay.Trial) error {
	for range n {
		if err := r.ask(1); err != nil || r.done {
			return err
		}
		for len(r.outstanding) > 0 {
			if err := r.tell(0, result); err != nil {
				return err
			}
		}
	}
	return nil
}

// finished is a Done trial whose value is a smooth function of the unit cube with some roughness, positive.
func (b searcherBench) finished(p assay.Proposal) assay.Trial {
	v := 1.0
	for i, u := range b.space.Unit(p.Config) {
		d := u - 0.3 - 0.1*float64(i%4)
		v += d*d + 0.05*math.Abs(math.Sin(17*u+float64(i)))
	}
	return ended(p, assay.Done, v)
}

func ended(p assay.Proposal, state assay.State, value float64) assay.Trial {
	return assay.Trial{
		Proposal: p, State: state, Value: value, Attempts: 1,
		Measurement: assay.Measurement{Metrics: map[string]float64{"value": value}},
	}
}

// same returns an error unless two runs had the same proposals.
func same(a, b *searcherRun) error {
	if len(a.proposals) != len(b.proposals) {
		return fmt.Errorf("%d proposals, and %d of the other", len(a.proposals), len(b.proposals))
	}
	for i, p := range a.proposals {
		if q := b.proposals[i]; !p.Config.Equal(q.Config) {
			return fmt.Errorf("proposal %d is %s, and %s of the other", p.ID, a.space.Text(p.Config),
				a.space.Text(q.Config))
		}
	}
	return nil
}
