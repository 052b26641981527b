package search

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/testbed"
)

// sized is a space of six parameters and a size, whose last level is the full one.
func sized(t testing.TB) (*assay.Space, FidelityOptions) {
	t.Helper()
	var params []assay.Param
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		params = append(params, assay.Param{Name: name, Kind: assay.Integer, Lo: 0, Hi: 7})
	}
	params = append(params, assay.Param{Name: "size", Kind: assay.Integer, Lo: 1, Hi: 100})
	space, err := assay.NewSpace(params)
	if err != nil {
		t.Fatal(err)
	}
	return space, FidelityOptions{Space: space, Level: assay.Level{Param: 6, Full: 100, Name: "size", Text: "100"}}
}

// atFull returns the space of the full level.
func atFull(t testing.TB, o FidelityOptions) *assay.Space {
	t.Helper()
	s, err := o.Space.Fixed(o.Level.Param, o.Level.Full)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLevelsUpTo(t *testing.T) {
	for _, c := range []struct {
		p    assay.Param
		full float64
		want []float64
	}{
		{assay.Param{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 100}, 100, []float64{1, 4, 11, 33, 100}},
		{assay.Param{Name: "n", Kind: assay.Integer, Lo: 20, Hi: 100}, 100, []float64{20, 33, 100}},
		{assay.Param{Name: "n", Kind: assay.Real, Lo: 1, Hi: 9}, 9, []float64{1, 3, 9}},
		{assay.Param{Name: "n", Kind: assay.Ordinal, Levels: []string{"8", "32", "128"}}, 2, []float64{0, 1, 2}},
		{assay.Param{Name: "n", Kind: assay.Integer, Lo: 5, Hi: 100}, 5, []float64{5}},
	} {
		got := c.p.LevelsUpTo(c.full)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("%v up to %v: %v, want %v", c.p.Kind, c.full, got, c.want)
		}
	}
}

// A search with levels is a searcher as any other, whatever its inner searcher.
func TestLevelsConformance(t *testing.T) {
	testbed.Long(t)
	single := func(p assay.Param) bool { return p.When == nil && p.Kind != assay.Permutation }
	for name, inner := range map[string]func(*assay.Space) assay.Searcher{
		"random": func(s *assay.Space) assay.Searcher { return NewRandom(s, 1) },
		"grid":   func(s *assay.Space) assay.Searcher { return NewGrid(s, GridOptions{}) },
		"auto":   func(s *assay.Space) assay.Searcher { return NewAuto(s, AutoOptions{Seed: 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			assaytest.TestSearcher(t, func(s *assay.Space) assay.Searcher {
				// The levels of a parameter are the levels of two configurations.
				at := slices.IndexFunc(s.Params, single)
				o := FidelityOptions{Space: s, Level: assay.Level{Param: at}}
				r := NewRandom(s, 3)
				for range 5 {
					ps, err := r.Ask(1)
					if err != nil || len(ps) == 0 {
						break
					}
					if x := ps[0].Config[at]; len(o.Levels) < 2 && !slices.Contains(o.Levels, x) {
						o.Levels = append(o.Levels, x)
					}
				}
				o.Level.Full = o.Levels[len(o.Levels)-1]
				return Fidelity(inner(atFull(t, o)), o)
			}, assaytest.SearcherOptions{
				Trials:   20,
				Supports: func(s *assay.Space) bool { return slices.ContainsFunc(s.Params, single) },
			})
		})
	}
}

// A family of programs: the time is the size times the worth of the settings, of which a part shows at large
// sizes alone, and a start that costs the same at every size.
type family struct {
	main, large [6][8]float64
	share       float64 // of the settings' worth that hangs on the size
}

func newFamily(seed uint64, share float64) *family {
	rng := rand.New(rand.NewPCG(seed, 7))
	f := &family{share: share}
	for i := range f.main {
		for j := range f.main[i] {
			f.main[i][j], f.large[i][j] = rng.NormFloat64(), rng.NormFloat64()
		}
	}
	return f
}

// time returns the time of a run; at size 100 some 100 s.
func (f *family) time(c assay.Config) float64 {
	size := c[6]
	at := f.share * (1 - math.Log(size)/math.Log(100)) // how unlike the full size it is
	worth := 0.0
	for i := range f.main {
		worth += (1-at)*f.main[i][int(c[i])] + at*f.large[i][int(c[i])]
	}
	return 0.2 + size*math.Exp(0.25*worth)
}

// spend runs a search until so much time is spent, and returns the least time of a run at the full size.
func spend(t testing.TB, s assay.Searcher, f *family, budget float64) float64 {
	best := math.Inf(1)
	for id, spent := int64(0), 0.0; spent < budget; id++ {
		ps, err := s.Ask(1)
		if errors.Is(err, assay.ErrDone) {
			break
		}
		if err != nil || len(ps) != 1 {
			t.Fatal(ps, err)
		}
		v := f.time(ps[0].Config)
		tr := assay.Trial{Proposal: ps[0], State: assay.Done, Value: v}
		if ps[0].Config[6] != 100 {
			tr.State = assay.Infeasible
		} else if spent+v <= budget {
			best = min(best, v)
		}
		spent += v
		if err := s.Tell(tr); err != nil {
			t.Fatal(err)
		}
	}
	return best
}

// At equal cost the search with levels finds a better configuration than the same search without, if small sizes
// are informative. The long form is of auto too.
func TestLevelsAtEqualCost(t *testing.T) {
	_, o := sized(t)
	full := atFull(t, o)
	for name, inner := range map[string]func(uint64) assay.Searcher{
		"random": func(seed uint64) assay.Searcher { return NewRandom(full, seed) },
		"auto":   func(seed uint64) assay.Searcher { return NewAuto(full, AutoOptions{Seed: seed}) },
	} {
		if name == "auto" && os.Getenv("ASSAY_SOAK") == "" {
			continue
		}
		var gains []float64
		for seed := uint64(1); seed <= 20; seed++ {
			f := newFamily(seed, 0.2)
			found := func(levels []float64) float64 {
				o.Levels = levels
				return spend(t, Fidelity(inner(seed), o), f, 3000)
			}
			gains = append(gains, 100*math.Log(found(nil)/found([]float64{100})))
		}
		e := stats.MeanInterval(gains, 0.95)
		t.Logf("%s: 100 log(with/without) %.1f [%.1f, %.1f]", name, e.Value, e.Low, e.High)
		if e.High > 0 {
			t.Errorf("%s: with levels it is no better: %.1f [%.1f, %.1f]", name, e.Value, e.Low, e.High)
		}
	}
}

// ranAt is a run of a proposal as a study tells it.
func ranAt(o FidelityOptions, p assay.Proposal, value float64) assay.Trial {
	t := assay.Trial{Proposal: p, State: assay.Done, Value: value}
	if p.Config[o.Level.Param] != o.Level.Full {
		t.State = assay.Infeasible
	}
	t.Measurement.Elapsed = time.Duration(p.Config[o.Level.Param] * float64(time.Second))
	return t
}

// The first run is at the full level and the second of the same configuration at the cheapest; of each three runs at a
// level the best goes on; and none begins at a level that costs as much as a higher one.
func TestLevelsClimb(t *testing.T) {
	_, o := sized(t)
	s := Fidelity(NewRandom(atFull(t, o), 3), o)
	var first assay.Config
	at := map[float64]int{}
	for i := range 200 {
		ps, err := s.Ask(1)
		if err != nil || len(ps) != 1 {
			t.Fatal(ps, err)
		}
		c := ps[0].Config
		switch i {
		case 0:
			first = c
			if c[6] != 100 {
				t.Errorf("the first run is at %v", c[6])
			}
		case 1:
			if c[6] != 1 || !slices.Equal(c[:6], first[:6]) {
				t.Errorf("after %v comes %v", first, c)
			}
		}
		at[c[6]]++
		if err := s.Tell(ranAt(o, ps[0], float64(i))); err != nil {
			t.Fatal(err)
		}
	}
	levels := o.Space.Params[6].LevelsUpTo(100)
	for k := 1; k < len(levels)-1; k++ {
		if low, high := at[levels[k-1]], at[levels[k]]; high < low/4 || high > low/2 {
			t.Errorf("%d runs at %v, %d at %v", low, levels[k-1], high, levels[k])
		}
	}
	if at[100] < 2 {
		t.Errorf("%d runs at the full level", at[100])
	}
}

// A level that is no cheaper is not where runs begin.
func TestLevelsDear(t *testing.T) {
	_, o := sized(t)
	s := Fidelity(NewRandom(atFull(t, o), 3), o)
	low := 0
	for i := range 30 {
		ps, err := s.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		tr := ranAt(o, ps[0], float64(i%7))
		tr.Measurement.Elapsed = 10 * time.Second
		if ps[0].Config[6] < 100 {
			low++
		}
		if err := s.Tell(tr); err != nil {
			t.Fatal(err)
		}
	}
	if low > 5 {
		t.Errorf("%d of 30 runs at levels that cost as much as the full one", low)
	}
}

// A value at a lower level is raised to the full one by the configurations that ran at both.
func TestLadder(t *testing.T) {
	_, o := sized(t)
	o.Levels = []float64{1, 10, 100}
	l := newLadder(o)
	add := func(c, rung int, value float64) {
		l.add(assay.Config{float64(c)}, rung, assay.Trial{State: assay.Done, Value: value})
	}
	near := func(what string, got, want float64) {
		if !(math.Abs(got-want) <= 1e-9) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("nothing known", l.raise(l.depth(0), 7), 7)
	add(1, 2, 50)
	add(1, 0, 2)
	near("25 times from the lowest", l.raise(l.depth(0), 3), 75)
	near("5 times from the middle, by its logarithm", l.raise(l.depth(1), 3), 15)
	near("the full level as it is", l.raise(l.depth(2), 3), 3)
	add(2, 1, 4)
	add(2, 2, 40)
	near("10 times, as was seen", l.raise(l.depth(1), 3), 30)
	add(3, 2, -1)
	add(3, 0, -5)
	near("an amount where values are not above 0", l.raise(l.depth(0), 3), 3+(48.0+4)/2)
}

// A session that resumes proposes the same as the one before would have.
func TestLevelsResume(t *testing.T) {
	_, o := sized(t)
	inner := func() assay.Searcher { return NewAuto(atFull(t, o), AutoOptions{Seed: 5}) }
	f := newFamily(2, 0.5)
	run := func(s assay.Searcher, n int, past []assay.Trial) (all []assay.Trial) {
		for _, tr := range past {
			ps, err := s.Ask(1)
			if err != nil || len(ps) != 1 || !ps[0].Config.Equal(tr.Config) {
				t.Fatalf("%v, %v: want %v", ps, err, tr.Config)
			}
			if err := s.Tell(tr); err != nil {
				t.Fatal(err)
			}
		}
		for range n {
			ps, err := s.Ask(1)
			if err != nil || len(ps) != 1 {
				t.Fatal(ps, err)
			}
			tr := ranAt(o, ps[0], f.time(ps[0].Config))
			all = append(all, tr)
			if err := s.Tell(tr); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	past := run(Fidelity(inner(), o), 30, nil)
	run(Fidelity(inner(), o), 3, past)
}

// A stopped run counts as the best of its rung if it was below it, or at its end; other runs count as measured.
func TestPresumed(t *testing.T) {
	stopped := func(value float64, last bool) assay.Trial {
		return assay.Trial{State: assay.Censored, Value: value, Decision: &assay.Decision{Stop: true, Last: last}}
	}
	for _, c := range []struct {
		impute bool
		runs   rung
		trial  assay.Trial
		want   float64
	}{
		{true, rung{{value: 5}, {value: 6}}, stopped(3, false), 5},
		{true, rung{{value: 5}}, stopped(7, false), 7},
		{true, rung{{value: 5}}, stopped(7, true), 5},
		{true, nil, stopped(3, true), 3},
		{true, rung{{value: 5}}, assay.Trial{State: assay.Done, Value: 3}, 3},
		{false, rung{{value: 5}}, stopped(3, false), 3},
	} {
		l := &levels{o: FidelityOptions{ImputeStopped: c.impute}, rungs: []rung{c.runs}}
		if got := l.presumed(0, c.trial); got != c.want {
			t.Errorf("%+v beside %v: %v, want %v", c.trial, c.runs, got, c.want)
		}
	}
}

// A configuration has reached the full level if it was run there, or is on its way there.
func TestReached(t *testing.T) {
	at := func(x float64, rung int) ascent {
		return ascent{proposal: assay.Proposal{Config: assay.Config{x}}, rung: rung}
	}
	l := &levels{
		o:     FidelityOptions{Levels: []float64{1, 2}},
		rungs: []rung{{{ascent: at(1, 0)}}, {{ascent: at(2, 1)}}},
		of:    map[int64]ascent{1: at(3, 0), 2: at(4, 1)},
	}
	for x, want := range map[float64]bool{1: false, 2: true, 3: false, 4: true, 5: false} {
		if got := l.reached(at(x, 0)); got != want {
			t.Errorf("configuration %v: %v, want %v", x, got, want)
		}
	}
}
