package costmodel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
)

// reduction is the score of a candidate from its definition: the surface is factorized again with the
// candidate added, and the deviations before and after are compared at every target.
func reduction(t *testing.T, s *surface, f *function, x assay.Config, targets []assay.Config) float64 {
	t.Helper()
	after := *s
	after.n++
	after.z = append(append([]float64(nil), s.z...), s.places(f.features(x))...)
	after.y = append(append([]float64(nil), s.y...), 0) // the deviations do not depend on the outcome
	if !after.factorize() {
		t.Fatal("singular")
	}
	deviation := func(s *surface, c assay.Config) float64 {
		p := s.Predict(f.features(c)).Std / s.scale
		return math.Sqrt(max(p*p-s.h.prior().noise, 0))
	}
	var gain float64
	for _, r := range targets {
		gain += deviation(s, r) - deviation(&after, r)
	}
	return gain / math.Exp(s.Predict(f.features(x)).Mean)
}

// The next run has the greatest reduction of the deviations over the space per second that it is
// expected to take (Cohn, Ghahramani and Jordan 1996): the closed form agrees with adding each candidate.
func TestNextRunReducesMostPerSecond(t *testing.T) {
	b := prefetcher(t)
	for n := range 5 {
		l := NewActiveLearner(b.space, Options{Regression: Smooth})
		drive(t, b, l, 3+n)
		a := l.plan.(*accelerated)
		s := a.fitted(l)
		rng := rand.New(rand.NewPCG(0, 0))
		candidates, targets := a.candidates(l, rng), a.targets(l, rng)
		if len(candidates) != 30-3-n || len(targets) != 30 {
			t.Fatalf("%d candidates and %d targets", len(candidates), len(targets))
		}
		got := a.score(l, s, candidates, targets)
		f := &function{form: form{regression: Smooth, attributes: every(l.attrs)}, attrs: l.attrs}
		most := 0.0
		for _, c := range candidates {
			most = max(most, reduction(t, s, f, c, targets))
		}
		if v := reduction(t, s, f, got, targets); v < most*(1-1e-6) {
			t.Errorf("after %d runs: the next run has a reduction of %v per second, the best is %v", 3+n, v, most)
		}
	}
}

// The first run is in the middle of the space. While nothing has run to the end, the next is as far as can
// be from the runs that failed or are running.
func TestFirstRunsAreSpread(t *testing.T) {
	b := prefetcher(t)
	l := NewActiveLearner(b.space, Options{})
	ps, err := l.Ask(3)
	if err != nil || len(ps) != 3 {
		t.Fatal(ps, err)
	}
	if !ps[0].Config.Equal(assay.Config{2, 2}) {
		t.Errorf("the first run is of %v, want the middle", ps[0].Config)
	}
	known := []assay.Config{ps[0].Config}
	for _, p := range ps[1:] {
		nearest := func(c assay.Config) float64 {
			d := math.Inf(1)
			for _, k := range known {
				d = min(d, b.space.Distance(c, k))
			}
			return d
		}
		most := 0.0
		for c := range b.space.All() {
			most = max(most, nearest(c))
		}
		if got := nearest(p.Config); got < most-1e-12 {
			t.Errorf("%v is %v from %v, and %v can be had", p.Config, got, known, most)
		}
		known = append(known, p.Config)
	}
}

// An assignment is a candidate only if it was not run and is not running, in a space that is listed as in
// one that cannot be counted; the latter has its corners among the candidates.
func TestCandidatesAreNew(t *testing.T) {
	for name, b := range map[string]bench{"indexed": prefetcher(t), "continuous": box(t)} {
		l := NewActiveLearner(b.space, Options{})
		drive(t, b, l, 4)
		ps, err := l.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{ps[0].Config.Key(): true}
		for _, r := range l.runs {
			known[r.Config.Key()] = true
		}
		corners := 0
		cs := (&accelerated{}).candidates(l, rand.New(rand.NewPCG(1, 1)))
		for _, c := range cs {
			if known[c.Key()] || !b.space.Contains(c) {
				t.Errorf("%s: %v is a candidate", name, c)
			}
			known[c.Key()] = true // none comes twice
			ends := 0
			for i, a := range l.attrs {
				if worst, best := a.ends(); c[i] == worst || c[i] == best {
					ends++
				}
			}
			if ends == len(c) {
				corners++
			}
		}
		if name == "continuous" && (corners < 3 || len(cs) < maxCandidates/4) {
			t.Errorf("%d corners of %d candidates", corners, len(cs))
		}
	}
}

// A run that is in progress is counted as made: two proposals at once are not for the same thing.
func TestPendingRunsCount(t *testing.T) {
	b := prefetcher(t)
	l := NewActiveLearner(b.space, Options{Regression: Smooth})
	drive(t, b, l, 5)
	a := l.plan.(*accelerated)
	s := a.fitted(l)
	if got := a.withPending(l, s); got != s {
		t.Error("nothing runs, but the surface is another")
	}
	ps, err := l.Ask(1)
	if err != nil {
		t.Fatal(err)
	}
	f := &function{form: form{regression: Smooth, attributes: every(l.attrs)}, attrs: l.attrs}
	row := f.features(ps[0].Config)
	before, after := s.Predict(row), a.withPending(l, s).Predict(row)
	if !(after.Std < 0.9*before.Std) || !(math.Abs(after.Mean-before.Mean) <= 0.05*before.Std) {
		t.Errorf("what runs is predicted as %+v, before as %+v: surer is wanted, of the same mean", after, before)
	}
}

// The estimated error is the error of leaving out or its geometric mean with the one expected over the space, the
// larger: short runs are no evidence of long ones.
func TestErrorIsOfTheWholeSpace(t *testing.T) {
	b := prefetcher(t)
	l := NewActiveLearner(b.space, Options{})
	drive(t, b, l, 8)
	m, err := l.Model()
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for c := range b.space.All() {
		sum += m.Predict(c).Deviation / 30
	}
	want := max(m.Error(), math.Sqrt(m.Error()*100*math.Sqrt(2/math.Pi)*sum))
	steps := l.Progress()
	if got := steps[len(steps)-1].Error; !(math.Abs(got-want) <= 1e-9*want) {
		t.Errorf("error %v, want %v", got, want)
	}
	if first := steps[0].Error; !math.IsNaN(first) && first < want {
		t.Errorf("an error of %v after one run, less than the %v after eight", first, want)
	}
}

// The farthest of candidates is the first of equals.
func TestFarthestIsTheFirst(t *testing.T) {
	l := &ActiveLearner{
		space:  spaceOf(t, assay.Param{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9}),
		failed: []assay.Config{{5}},
	}
	if got := (&accelerated{}).farthest(l, []assay.Config{{4}, {1}, {9}, {6}}); got[0] != 1 {
		t.Errorf("%v is the farthest of 4, 1, 9 and 6 from 5, want the 1", got)
	}
}
