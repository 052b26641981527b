package costmodel

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// box is a program of three real attributes, in which no two random draws are alike. Its computing
// depends on cpu, its network on rtt and, as prefetching does, on cpu; its disk does nothing.
func box(t testing.TB) bench {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{
		{Name: "cpu", Kind: assay.Real, Lo: 1, Hi: 4},
		{Name: "memory", Kind: assay.Real, Lo: 1, Hi: 8},
		{Name: "rtt", Kind: assay.Real, Lo: 0, Hi: 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	return bench{space, func(c assay.Config) (assay.Measurement, bool) {
		a, n := 40/c[0], 10*c[2]+5*c[2]/c[0]+1
		return assay.Measurement{
			Elapsed: time.Duration((a + n) * 1e9),
			Metrics: map[string]float64{"cpu": a, "data_flow": 10, "network_time": n, "disk_time": 0},
		}, true
	}}
}

// given are orders of predictors and attributes that need no screening.
func given(p Published) Options {
	p.Predictors = []Part{Network, Compute, Disk}
	p.Attributes = map[Part][]string{Compute: {"cpu"}, Network: {"rtt"}, Disk: {"rtt"}}
	p.KnownDataFlow = true
	return Options{Published: &p}
}

// A run refines those predictors of which it varies no attribute but their own: a run with another
// processor is no evidence of a network function that does not know of processors.
// Reference: section 3.5
func TestRunRefinesWhatItServes(t *testing.T) {
	b := prefetcher(t)
	l := NewActiveLearner(b.space, given(Published{}))
	drive(t, b, l, 8)
	m, err := l.Model()
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, fm := range m.forms {
		if fm.part == DataFlow { // constant: it has no attribute and takes every run
			continue
		}
		var want []int
		for i, r := range m.runs {
			serves := true
			for k, x := range r.Config {
				serves = serves && (slices.Contains(fm.attributes, k) || x == m.runs[0].Config[k])
			}
			if serves {
				want = append(want, i)
			}
		}
		if !slices.Equal(fm.runs, want) {
			t.Errorf("%v of attributes %v is fitted to runs %v, want %v", fm.part, fm.attributes, fm.runs, want)
		}
		left += len(m.runs) - len(want)
	}
	if left == 0 {
		t.Error("every run serves every predictor: the test shows nothing")
	}
}

// An attribute is added to a predictor when its error has fallen by less than the threshold, and
// after the last one comes the first again. While the error falls by more, the same one is varied.
// Reference: section 3.3; Algorithm 1, step 2.2
func TestAttributesAreAddedAndTaken(t *testing.T) {
	b := prefetcher(t)
	inner := b.run
	b.run = func(c assay.Config) (assay.Measurement, bool) { // one predictor: the time is not taken apart
		m, ok := inner(c)
		m.Metrics = nil
		return m, ok
	}
	steps := func(threshold float64, n int) (varied string, used []int) {
		l := NewActiveLearner(b.space, Options{Published: &Published{
			Threshold: threshold, Predictors: []Part{Whole}, KnownDataFlow: true,
			Attributes: map[Part][]string{Whole: {"rtt", "cpu"}},
		}})
		reference := drive(t, b, l, 1)[0]
		for range n {
			c := drive(t, b, l, 1)[0]
			switch {
			case c[0] != reference[0]:
				varied += "c"
			default:
				varied += "r"
			}
			m, err := l.Model()
			if err != nil {
				t.Fatal(err)
			}
			used = append(used, len(m.forms[0].attributes))
		}
		return varied, used
	}
	// The error is known from the second run on, and its change from the third.
	varied, used := steps(1e9, 7)
	if varied != "rrcrcrc" || !slices.Equal(used, []int{1, 1, 2, 2, 2, 2, 2}) {
		t.Errorf("an enormous threshold: varied %s with %v attributes, want rrcrcrc with 1 1 2 2 2 2 2", varied, used)
	}
	// While an error falls by more, the attribute stays: it is left at the first step that gains too little.
	p := &published{Published: Published{Threshold: 2, Design: LMaxI1}, reference: assay.Config{0, 5}}
	l := NewActiveLearner(b.space, Options{})
	f := &predictor{order: []int{1, 0}, next: []int{0, 0}}
	for _, s := range []struct {
		before, error float64
		at, used      int
	}{
		{math.NaN(), math.NaN(), 0, 1},
		{math.NaN(), 20, 0, 1},
		{20, 15, 0, 1},
		{15, 13, 0, 1},
		{13, 12, 1, 2},
		{12, 6, 1, 2},
		{6, 7, 0, 2},
	} {
		f.before, f.error = s.before, s.error
		if _, ok := p.assignment(l, f); !ok || f.at != s.at || f.used != s.used {
			t.Errorf("error from %v to %v: attribute %d of %d, want %d of %d", s.before, s.error, f.at, f.used, s.at, s.used)
		}
	}
}

// The internal test set of random assignments has ten of them.
// Reference: section 4.6
func TestRandomSetIsTen(t *testing.T) {
	b := box(t)
	l := NewActiveLearner(b.space, given(Published{Error: RandomSet}))
	ps, err := l.Ask(99)
	if err != nil || len(ps) != 1+10 {
		t.Fatalf("%d runs of initialization, %v; want the reference and 10", len(ps), err)
	}
	for i, p := range ps {
		m, _ := b.run(p.Config)
		if err := l.Tell(assay.Trial{Proposal: p, State: assay.Done, Measurement: m}); err != nil {
			t.Fatal(err)
		}
		if tests, runs := len(l.tests), len(l.runs); tests != i || runs != 1 {
			t.Errorf("after %d runs: %d of the test set and %d to train on", i+1, tests, runs)
		}
	}
}

// The test set of the design is its rows, but the one that is the reference.
// Reference: section 3.6
func TestDesignedSetIsTheDesign(t *testing.T) {
	b := box(t)
	l := NewActiveLearner(b.space, given(Published{Error: DesignedSet}))
	drive(t, b, l, 8)
	want := map[string]bool{}
	for _, row := range stats.Foldover(stats.PlackettBurman(3)) {
		if c := l.corner(row); !c.Equal(l.runs[0].Config) {
			want[c.Key()] = true
		}
	}
	if len(want) != 7 || len(l.tests) != 7 {
		t.Fatalf("%d test samples of %d rows, want 7 of 7", len(l.tests), len(want))
	}
	for _, r := range l.tests {
		if !want[r.Config.Key()] {
			t.Errorf("%v is no row of the design", r.Config)
		}
	}
}

// The current error with an internal test set is the error of predicting its runs, of the whole and of each
// predictor, and not of leaving out training runs.
// Reference: section 3.6
func TestErrorIsThatOfTheTestSet(t *testing.T) {
	b := box(t)
	for _, e := range []ErrorEstimate{RandomSet, DesignedSet} {
		l := NewActiveLearner(b.space, given(Published{Error: e}))
		drive(t, b, l, 15)
		m, err := l.Model()
		if err != nil {
			t.Fatal(err)
		}
		var whole float64
		parts := map[Part]float64{}
		for _, r := range l.tests {
			n := float64(len(l.tests))
			whole += 100 * math.Abs(m.Predict(r.Config).Seconds/r.Seconds-1) / n
			for _, p := range []Part{Compute, Network} {
				got, _, _ := m.parts[p].at(r.Config)
				base := max(r.Of(p), 0.01*r.Of(Whole))
				parts[p] += 100 * math.Abs(got-r.Of(p)) / base / n
			}
		}
		steps := l.Progress()
		if got := steps[len(steps)-1].Error; !(math.Abs(got-whole) <= 1e-9) || math.Abs(got-m.Error()) < 1 {
			t.Errorf("%v: current error %v, want %v and not the %v of leave-one-out", e, got, whole, m.Error())
		}
		for _, f := range l.plan.(*published).predictors {
			if want, ok := parts[f.part]; ok && !(math.Abs(f.error-want) <= 1e-9) {
				t.Errorf("%v: error of %v is %v, want %v", e, f.part, f.error, want)
			}
		}
	}
}

// Rand draws the reference from the whole space: another one for another seed, the same one for the same.
// Reference: section 3.1
func TestRandomReference(t *testing.T) {
	b := box(t)
	drawn := map[string]int{}
	inside := 0
	for seed := range uint64(20) {
		opts := given(Published{Reference: Rand})
		opts.Seed = seed
		for range 2 {
			c := drive(t, b, NewActiveLearner(b.space, opts), 1)[0]
			drawn[c.Key()]++
			if c[0] > 1 && c[0] < 4 && c[1] > 1 && c[1] < 8 {
				inside++
			}
		}
	}
	if len(drawn) != 20 || inside != 40 {
		t.Errorf("%d different references of 20 seeds, %d of 40 off the ends of the ranges", len(drawn), inside)
	}
}

// L_2-I_2 runs every row of the design with its foldover, all of them to train on.
// Reference: section 3.4, appendix A
func TestDesignRunsEveryRow(t *testing.T) {
	b := box(t)
	for name, pub := range map[string]Published{
		"orders given": *given(Published{Design: L2I2}).Published,
		"screened":     {Design: L2I2, KnownDataFlow: true},
	} {
		l := NewActiveLearner(b.space, Options{Published: &pub})
		drive(t, b, l, 99)
		for _, row := range stats.Foldover(stats.PlackettBurman(3)) {
			c := l.corner(row)
			if !slices.ContainsFunc(l.runs, func(r Run) bool { return r.Config.Equal(c) }) {
				t.Errorf("%s: row %v does not train", name, row)
			}
		}
		if got := assignments(l.runs); got != 8 { // the reference is one of the corners
			t.Errorf("%s: %d assignments train, want 8", name, got)
		}
	}
}

// L_max-I_max runs every assignment once, in an order that the seed decides.
// Reference: section 3.4
func TestFactorialRunsEverything(t *testing.T) {
	b := prefetcher(t)
	var orders [][]assay.Config
	for seed := range uint64(2) {
		opts := given(Published{Design: LMaxIMax})
		opts.Seed = seed
		asked := drive(t, b, NewActiveLearner(b.space, opts), 99)
		keys := map[string]bool{}
		for _, c := range asked {
			keys[c.Key()] = true
		}
		if len(asked) != 30 || len(keys) != 30 {
			t.Errorf("seed %d: %d runs of %d assignments, want 30 of 30", seed, len(asked), len(keys))
		}
		orders = append(orders, asked)
	}
	if slices.EqualFunc(orders[0], orders[1], assay.Config.Equal) {
		t.Error("two seeds have the same order")
	}
}

// A reference that fails is replaced: by the other extreme, and then by random assignments. Functions
// learned afterwards are relative to the one that ran.
func TestReferenceThatFails(t *testing.T) {
	b := prefetcher(t)
	inner := b.run
	for ref, want := range map[Reference]assay.Config{Min: {4, 0}, Max: {0, 5}} {
		failed := 0
		b.run = func(c assay.Config) (assay.Measurement, bool) {
			m, _ := inner(c)
			if failed < 2 {
				failed++
				return m, false
			}
			return m, true
		}
		l := NewActiveLearner(b.space, given(Published{Reference: ref}))
		asked := drive(t, b, l, 6)
		if !asked[1].Equal(want) {
			t.Errorf("%v: %v follows the failed reference, want %v", ref, asked[1], want)
		}
		if asked[2].Equal(asked[0]) || asked[2].Equal(asked[1]) {
			t.Errorf("%v: %v is run again, though it failed", ref, asked[2])
		}
		p := l.plan.(*published)
		if !p.ready || !p.reference.Equal(asked[2]) {
			t.Errorf("%v: the reference is %v, want %v, which ran", ref, p.reference, asked[2])
		}
		for _, c := range asked[3:] {
			if c[0] != asked[2][0] && c[1] != asked[2][1] {
				t.Errorf("%v: %v differs from the reference %v in two attributes", ref, c, asked[2])
			}
		}
	}
	b.run = func(assay.Config) (assay.Measurement, bool) { return assay.Measurement{}, false }
	if asked := drive(t, b, NewActiveLearner(b.space, given(Published{})), 99); len(asked) != 30 {
		t.Errorf("%d runs of a program that always fails, want each of 30 once", len(asked))
	}
}

// Runs of the screening are spent for the orders alone; with TrainOnScreening they train too, and none
// is run again.
// Reference: section 3.2
func TestScreeningTrainsIfAsked(t *testing.T) {
	b := box(t)
	for train, want := range map[bool]int{false: 1, true: 8} {
		l := NewActiveLearner(b.space, Options{Published: &Published{TrainOnScreening: train}})
		asked := drive(t, b, l, 8)
		if got := len(l.runs); got != want {
			t.Errorf("TrainOnScreening %v: %d of 8 runs of initialization train, want %d", train, got, want)
		}
		more := drive(t, b, l, 6)
		for _, c := range more {
			again := slices.ContainsFunc(asked, c.Equal)
			if again && train {
				t.Errorf("the corner %v is run a second time", c)
			}
		}
	}
}

// The improvement-based traversal stays with a predictor for as long as its error falls by the
// threshold, and then takes the next; a predictor without assignments left is passed over.
// Reference: section 3.2
func TestImprovementMovesOnWhenGainsEnd(t *testing.T) {
	p := &published{Published: Published{Traversal: Improvement, Threshold: 2}}
	p.predictors = []*predictor{{part: Compute}, {part: Network}, {part: Disk}}
	a, n, d := p.predictors[0], p.predictors[1], p.predictors[2]
	a.before, a.error = math.NaN(), math.NaN()
	for _, s := range []struct {
		name          string
		before, error float64
		want          *predictor
	}{
		{"the first, which is unknown", math.NaN(), math.NaN(), a},
		{"a gain of 5", 20, 15, a},
		{"a gain of exactly the threshold", 15, 13, a},
		{"a gain of 1", 13, 12, n},
	} {
		a.before, a.error = s.before, s.error
		got := p.choose()
		if got != s.want {
			t.Errorf("%s: %v is next, want %v", s.name, got.part, s.want.part)
		}
		got.used = 1
	}
	n.before, n.error, d.spent = 9, 10, true
	if got := p.choose(); got != a {
		t.Errorf("%v after a loss, want compute, since the disk is spent", got.part)
	}
	a.spent, n.spent = true, true
	if got := p.choose(); got != nil {
		t.Errorf("%v is chosen of predictors that are spent", got.part)
	}
}

// A threshold that is not set has the paper's value.
// Reference: section 4.3
func TestDefaultThreshold(t *testing.T) {
	b := prefetcher(t)
	l := NewActiveLearner(b.space, Options{Published: &Published{}})
	if got := newPublished(l, Published{}).Threshold; got != 2 {
		t.Errorf("%v percentage points, want 2", got)
	}
	if got := newPublished(l, Published{Threshold: 5}).Threshold; got != 5 {
		t.Errorf("%v percentage points, want those that were set", got)
	}
}

// The dynamic traversal takes the predictor of the greatest current error; an unknown error is greater
// than any, and of equals the first counts.
// Reference: Algorithm 4
func TestDynamicTakesTheWorst(t *testing.T) {
	for _, s := range []struct {
		errors []float64
		spent  int // or -1
		want   int
	}{
		{[]float64{3, 9, 4}, -1, 1},
		{[]float64{3, 9, 4}, 1, 2},
		{[]float64{3, 9, math.NaN()}, -1, 2},
		{[]float64{9, 9, 4}, -1, 0},
		{[]float64{math.NaN(), math.Inf(1), math.NaN()}, -1, 0},
	} {
		p := &published{Published: Published{Traversal: Dynamic}}
		for i, e := range s.errors {
			p.predictors = append(p.predictors, &predictor{error: e, spent: i == s.spent})
		}
		if got := slices.Index(p.predictors, p.choose()); got != s.want {
			t.Errorf("errors %v without %d: predictor %d, want %d", s.errors, s.spent, got, s.want)
		}
	}
}

// The relevance of a predictor is by how many seconds it makes the time differ. A data flow that
// differs little is the least relevant, however much else makes the time differ.
// Reference: section 3.2
func TestDataFlowIsRankedByItsOwnEffect(t *testing.T) {
	b := box(t)
	inner := b.run
	order := func(spread float64) (order []Part) {
		b.run = func(c assay.Config) (assay.Measurement, bool) {
			m, ok := inner(c)
			m.Metrics["data_flow"] = 1e6 * (1 + spread*(c[1]-1)/7)
			m.Metrics["disk_time"] = 0.1 * m.Metrics["network_time"]
			m.Metrics["network_time"] *= 0.9
			return m, ok
		}
		l := NewActiveLearner(b.space, Options{Published: &Published{}})
		drive(t, b, l, 9)
		for _, f := range l.plan.(*published).predictors {
			order = append(order, f.part)
		}
		return order
	}
	if got := order(0.02); !slices.Equal(got, []Part{Network, Compute, Disk, DataFlow}) {
		t.Errorf("a data flow that varies by 2 %%: %v, want it last", got)
	}
	if got := order(50); got[0] != DataFlow {
		t.Errorf("a data flow that varies by a factor of 50: %v, want it first", got)
	}
}

// Options that cannot be meant are programmer errors.
func TestPublishedPanics(t *testing.T) {
	b := prefetcher(t)
	for name, opts := range map[string]Options{
		"negative threshold": {Published: &Published{Threshold: -1}},
		"threshold NaN":      {Published: &Published{Threshold: math.NaN()}},
		"no such attribute":  {Published: &Published{Attributes: map[Part][]string{Disk: {"disk"}}}},
		"negative target":    {Target: -1},
		"target NaN":         {Target: math.NaN()},
		"negative runs":      {MinRuns: -1},
		"no such cores":      {Cores: "cores"},
		"no such capacity":   {LessIsMore: []string{"latency"}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			NewActiveLearner(b.space, opts)
		}()
	}
}

// The names of alternatives are the ones of Table 1.
func TestNamesOfAlternatives(t *testing.T) {
	for got, want := range map[string]string{
		Min.String(): "min", Max.String(): "max", Rand.String(): "rand",
		RoundRobin.String(): "round-robin", Improvement.String(): "improvement", Dynamic.String(): "dynamic",
		LMaxI1.String(): "lmax-i1", L2I2.String(): "l2-i2", LMaxIMax.String(): "lmax-imax", LMaxI2.String(): "lmax-i2",
		CrossValidation.String(): "cross-validation", RandomSet.String(): "random-set", DesignedSet.String(): "pb-set",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for p := Compute; p <= Time; p++ {
		if q, err := ParsePart(p.String()); err != nil || q != p {
			t.Errorf("%v is read as %v, %v", p, q, err)
		}
	}
	for r := Best; r <= Trees; r++ {
		if q, err := ParseRegression(r.String()); err != nil || q != r {
			t.Errorf("%v is read as %v, %v", r, q, err)
		}
	}
	if got := Part(99).String() + Regression(99).String(); got != "Part(99)Regression(99)" {
		t.Errorf("got %s", got)
	}
	if _, err := ParsePart("tome"); err == nil {
		t.Error("a part named tome")
	}
	if _, err := ParseRegression("worst"); err == nil {
		t.Error("a regression named worst")
	}
}
