package costmodel

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// Algorithm 5: lo, hi, (lo+hi)/2, (3lo+hi)/4, (lo+3hi)/4, (7lo+hi)/8, (5lo+3hi)/8, and so on; on
// levels the nearest that is left.
// Reference: Algorithm 5, step 2.2
func TestSequence(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{
		{Name: "bandwidth", Kind: assay.Real, Lo: 20, Hi: 100},
		{Name: "cpu", Kind: assay.Ordinal, Levels: []string{"451", "797", "930", "996", "1396"}},
		{Name: "memory", Kind: assay.Ordinal, Levels: []string{"64M", "256M", "512M", "1024M", "2048M"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	attrs := attributesOf(space, nil)
	if got, want := attrs[0].sequence()[:9], []float64{20, 100, 60, 40, 80, 30, 50, 70, 90}; !slices.Equal(got, want) {
		t.Errorf("bandwidth: got %v, want %v", got, want)
	}
	// 451, 1396, then near 923.5, 687, 1159.75.
	if got, want := attrs[1].sequence(), []float64{0, 4, 2, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("cpu: got levels %v, want %v", got, want)
	}
	// 64M, 2048M, then near 1056M, 560M, 1552M.
	if got, want := attrs[2].sequence(), []float64{0, 4, 3, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("memory: got levels %v, want %v", got, want)
	}
}

// With L_max-I_1 every run after the initialization differs from the reference in one
// attribute; Min is the slowest processor with the highest latency, Max the reverse.
// Reference: sections 3.1 and 3.4
func TestOneAttributeAtATime(t *testing.T) {
	b := prefetcher(t)
	for ref, want := range map[Reference]assay.Config{Min: {0, 5}, Max: {4, 0}} {
		l := NewActiveLearner(b.space, Options{Published: &Published{
			Reference: ref, Predictors: []Part{Network, Compute, Disk},
			Attributes: map[Part][]string{Compute: {"cpu", "rtt"}, Network: {"rtt", "cpu"}, Disk: {"rtt", "cpu"}},
		}})
		asked := drive(t, b, l, 99)
		if !asked[0].Equal(want) {
			t.Errorf("%v: the reference is %v, want %v", ref, asked[0], want)
		}
		if len(asked) != 1+4+5 {
			t.Errorf("%v: %d runs, want every level of 5 and 6 once", ref, len(asked))
		}
		for _, c := range asked[1:] {
			if c[0] != want[0] && c[1] != want[1] {
				t.Errorf("%v: %v differs from the reference in two attributes", ref, c)
			}
		}
	}
}

// Round-robin takes the predictors in turn: f_n varies its first attribute, then f_a
// its own. Improvement-based stays with one, dynamic with the one of the greatest error.
// Reference: section 3.2, Algorithm 4
func TestTraversal(t *testing.T) {
	b := prefetcher(t)
	varied := func(tr Traversal, threshold float64, n int) string {
		l := NewActiveLearner(b.space, Options{Published: &Published{
			Traversal: tr, Threshold: threshold, Predictors: []Part{Network, Compute, Disk},
			Attributes: map[Part][]string{Compute: {"cpu"}, Network: {"rtt"}, Disk: {"rtt"}},
		}})
		var s string
		for _, c := range drive(t, b, l, n)[1:] {
			if c[0] != 0 {
				s += "c" // the processor is varied
			} else {
				s += "r"
			}
		}
		return s
	}
	if got, want := varied(RoundRobin, 0, 7), "rcrrcr"; got != want {
		t.Errorf("round-robin: got %s, want %s", got, want)
	}
	// Whatever the error does, it falls by more than a threshold of next to nothing
	// only while f_n gets better; with an enormous one every iteration moves on.
	if got := varied(Improvement, 1e9, 6); got[0] != 'r' || got[1] == 'r' && got[2] == 'r' {
		t.Errorf("improvement with an enormous threshold: got %s", got)
	}
	// All errors are unknown at first: f_n, the first of equals.
	if got := varied(Dynamic, 0, 4); got[0] != 'r' {
		t.Errorf("dynamic: got %s", got)
	}
}

// Leave-one-out: with outcomes 10, 20 and 30 and a constant function, the predictions are
// the means of the other two, 25, 20 and 15: errors of 150, 0 and 50 %.
// Reference: section 3.6
func TestLeaveOneOut(t *testing.T) {
	b := prefetcher(t)
	var runs []Run
	for i, s := range []float64{10, 20, 30} {
		runs = append(runs, Run{Config: assay.Config{float64(i), 0}, Seconds: s, DataFlow: 1, Compute: s})
	}
	m, err := newModel(b.space, runs, nil, []form{{part: Whole, regression: Linear}, {part: DataFlow, regression: Linear}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Error(), 200.0/3; !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("got %v %%, want %v", got, want)
	}
}

// A function is learned on values normalized by the baseline's, f = o_b·F(ρ/ρ_b), with 1/ρ of
// the processor speed: o_a = 9/speed is met exactly by three runs.
// Reference: Algorithm 6 and section 4.1
func TestNormalizedRegression(t *testing.T) {
	b := prefetcher(t)
	attrs := attributesOf(b.space, nil)
	var runs []Run
	for _, l := range []float64{0, 2, 4} {
		o := 9 / attrs[0].number(l)
		runs = append(runs, Run{Config: assay.Config{l, 1}, Seconds: o, DataFlow: 1, Split: SplitFull, Compute: o})
	}
	f, err := fit(attrs, runs, form{
		part: Compute, regression: Linear, attributes: []int{0},
		transforms: publishedTransforms(attrs, []int{0}, nil), base: 0,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.features(assay.Config{0, 1}); !slices.Equal(got, []float64{1}) || f.scale != runs[0].Compute {
		t.Errorf("the baseline is %v, scaled by %v", got, f.scale)
	}
	for i := range 5 {
		l := float64(i)
		if got, _, _ := f.at(assay.Config{l, 3}); !(math.Abs(got-9/attrs[0].number(l)) <= 1e-9) {
			t.Errorf("level %v: got %v, want %v", l, got, 9/attrs[0].number(l))
		}
	}
}

// The screening of three attributes is eight runs, and the initial model is the
// constant one of the reference.
// Reference: section 3.2 and Algorithm 1, step 1
func TestScreening(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{
		{Name: "cpu", Kind: assay.Integer, Lo: 1, Hi: 4},
		{Name: "memory", Kind: assay.Integer, Lo: 1, Hi: 4},
		{Name: "rtt", Kind: assay.Integer, Lo: 0, Hi: 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	l := NewActiveLearner(space, Options{Published: &Published{}})
	ps, err := l.Ask(99)
	if err != nil {
		t.Fatal(err)
	}
	// The reference is one of the eight corners of the design with foldover.
	if got := len(ps); got != 8 {
		t.Errorf("%d runs of initialization, want 8", got)
	}
	time100 := func(c assay.Config) assay.Measurement { // network first, then processor; the disk does nothing
		n, a := 50*c[2]+1, 40/c[0]
		metrics := map[string]float64{"cpu": a, "data_flow": 10, "network_time": n, "disk_time": 0}
		return assay.Measurement{Elapsed: time.Duration((n + a) * 1e9), Metrics: metrics}
	}
	for _, p := range ps {
		if err := l.Tell(assay.Trial{Proposal: p, State: assay.Done, Measurement: time100(p.Config)}); err != nil {
			t.Fatal(err)
		}
	}
	m, err := l.Model()
	if err != nil {
		t.Fatal(err)
	}
	for c := range space.All() {
		if got, want := m.Predict(c).Seconds, time100(ps[0].Config).Elapsed.Seconds(); !(math.Abs(got-want) <= 1e-9*want) {
			t.Fatalf("initial prediction %v, want the reference's %v", got, want)
		}
	}
	if _, err := l.Ask(1); err != nil {
		t.Fatal(err)
	}
	pub := l.plan.(*published)
	var order []string
	for _, f := range pub.predictors {
		order = append(order, fmt.Sprint(f.part, f.order[0]))
	}
	if got, want := fmt.Sprint(order), "[network 2 compute 0 disk 0]"; got != want {
		t.Errorf("orders %v, want %v", got, want)
	}
}

// A covering design has every pair of end levels early, and ends with every level.
func TestCovering(t *testing.T) {
	var params []assay.Param
	for i := range 7 {
		params = append(params, assay.Param{Name: fmt.Sprint("p", i), Kind: assay.Integer, Lo: 0, Hi: 8})
	}
	space, err := assay.NewSpace(params)
	if err != nil {
		t.Fatal(err)
	}
	l := NewActiveLearner(space, Options{Published: &Published{Design: LMaxI2}})
	next := l.plan.(*published).design
	ends, all, n := map[levelPair]bool{}, map[levelPair]bool{}, 0
	for c, ok := next(); ok; c, ok = next() {
		n++
		for i := range c {
			for j := range i {
				if n <= 10 && (c[i] == 0 || c[i] == 8) && (c[j] == 0 || c[j] == 8) {
					ends[levelPair{j, i, c[j], c[i]}] = true
				}
				all[levelPair{j, i, c[j], c[i]}] = true
			}
		}
	}
	if len(ends) != 21*4 {
		t.Errorf("10 runs have %d of 84 pairs of end levels", len(ends))
	}
	if len(all) < 21*81*98/100 || n > 250 {
		t.Errorf("%d runs have %d of %d pairs", n, len(all), 21*81)
	}
}
