package race_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/race"
)

func run(c, value float64, state assay.State) assay.Trial {
	t := assay.Trial{Proposal: assay.Proposal{ID: int64(c), Config: assay.Config{c}}, State: state, Value: value}
	if state == assay.Censored {
		t.Decision = &assay.Decision{Stop: true}
	}
	return t
}

func field(runs ...assay.Trial) *race.Field {
	f := &race.Field{}
	for _, t := range runs {
		f.Add(t)
	}
	return f
}

func none(assay.Config) bool { return false }

func done(c, value float64) assay.Trial    { return run(c, value, assay.Done) }
func stopped(c, value float64) assay.Trial { return run(c, value, assay.Censored) }

func TestIncumbentHasBeenReachedTwice(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		name  string
		field *race.Field
		least float64
		doubt int64 // 0 for none
	}{
		{"nothing", field(), inf, 0},
		{"a first run", field(done(1, 10)), inf, 1},
		{"a pair", field(done(1, 10), done(1, 11)), 11, 0},
		{"a lucky run", field(done(1, 10), done(1, 11), done(2, 6)), 11, 2},
		{"a lucky run, run again", field(done(1, 10), done(1, 11), done(2, 6), done(2, 10.5)), 10.5, 0},
		{"a lucky run that was slow again", field(done(1, 10), done(1, 11), done(2, 6), done(2, 13)), 11, 0},
		{"two of three", field(done(1, 6), done(1, 11), done(1, 10)), 10, 0},
		{"a worse one", field(done(1, 10), done(1, 11), done(2, 12)), 11, 0},
		{"runs that are equal", field(done(1, 10), done(1, 10), done(2, 6)), 6, 0},
		{"a failure", field(run(1, inf, assay.Failed)), inf, 0},
		{"its second run was stopped", field(done(1, 10), done(1, 11), done(2, 6), stopped(2, 12)), 11, 0},
	} {
		if got := tt.field.Incumbent(); got != tt.least {
			t.Errorf("%s: may end others from %v on, want %v", tt.name, got, tt.least)
		}
		trial, ok := tt.field.Doubt(none)
		if ok != (tt.doubt != 0) || trial.ID != tt.doubt {
			t.Errorf("%s: doubts %d, want %d", tt.name, trial.ID, tt.doubt)
		}
	}
}

// Doubt does not return a trial that is being run again.
func TestDoubtIsPending(t *testing.T) {
	f := field(done(1, 10))
	if _, ok := f.Doubt(func(c assay.Config) bool { return c[0] == 1 }); ok {
		t.Error("doubts what is being run again")
	}
}

// An incumbent that ends one run after the other is run again, ever more seldom.
func TestDoubtOfAnIncumbentThatEndsAll(t *testing.T) {
	f := field(done(1, 10), done(1, 11))
	var after []int
	for i := range 60 {
		f.Add(stopped(float64(i+2), 12))
		if trial, ok := f.Doubt(none); ok {
			if trial.ID != 1 {
				t.Fatalf("doubts %d", trial.ID)
			}
			f.Add(done(1, 12))
			after = append(after, i+1)
		}
	}
	if len(after) != 3 || after[0] != 8 || after[1] != 24 || after[2] != 48 {
		t.Errorf("run again after %v stops", after)
	}
}

// Rules see the value that may end other runs, and no smaller one.
func TestBelieve(t *testing.T) {
	f := field(done(1, 10), done(1, 12), done(2, 6), stopped(3, 13))
	for _, tt := range []struct{ is, want float64 }{
		{f.Believe(done(1, 10)).Value, 12},
		{f.Believe(done(2, 6)).Value, 12},
		{f.Believe(stopped(3, 13)).Value, 13},
		{f.Believe(done(9, 5)).Value, 5}, // not in the field
	} {
		if tt.is != tt.want {
			t.Errorf("seen as %v, want %v", tt.is, tt.want)
		}
	}
}

func TestNoise(t *testing.T) {
	if got := field(done(1, 10)).Noise(); !(math.Abs(got-0.05) <= 1e-9) {
		t.Errorf("before any pair: %v", got)
	}
	if f := field(done(1, 10), done(1, 10)); f.Noise() != 0 || !f.Quiet() {
		t.Errorf("of an equal pair: %v", f.Noise())
	}
	rng := rand.New(rand.NewPCG(1, 1))
	f := &race.Field{}
	for range 400 {
		x := math.Exp(0.1 * rng.NormFloat64())
		if rng.Float64() < 0.05 {
			x *= 20
		}
		f.Add(done(1, x))
	}
	if got := f.Noise(); got < 0.08 || got > 0.13 || f.Quiet() {
		t.Errorf("noise %v of runs of 0.1 with a heavy tail", got)
	}
	quiet := &race.Field{}
	for i := range 4 {
		quiet.Add(done(1, 10+0.1*float64(i%2)))
		if want := i == 3; quiet.Quiet() != want {
			t.Errorf("after %d runs quiet is %v", i+1, !want)
		}
	}
}

// The lucky one is run again, loses, and the better one is found; nothing is asked for that is
// far behind.
func TestRace(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		truth := []float64{10, 10.8, 11, 12, 15, 20, 30}
		takes := func(c int) float64 { return truth[c] * math.Exp(0.05*rng.NormFloat64()) }
		f := &race.Field{}
		for c := range truth {
			f.Add(done(float64(c), takes(c)))
		}
		f.Add(done(7, 6)) // truly 13
		truth = append(truth, 13)
		runs := map[int]int{}
		n := 0
		for ; n < 500; n++ {
			next, ok := f.Next()
			if !ok {
				break
			}
			c := int(next.Config[0])
			runs[c]++
			f.Add(done(next.Config[0], takes(c)))
		}
		if best, ok := f.Best(); !ok || best.Trial.Config[0] != 0 || n == 500 {
			t.Errorf("seed %d: best is %v after %d runs: %v", seed, best.Trial.Config, n, runs)
		}
		if runs[7] == 0 || runs[6] > 1 || runs[0] < 2 {
			t.Errorf("seed %d: ran again %v", seed, runs)
		}
	}
}

// The race makes one pair only if runs are alike.
func TestRaceOfEqualRuns(t *testing.T) {
	for _, sign := range []float64{1, -1, 0} {
		value := func(x float64) float64 {
			if sign == 0 {
				return x - 10
			}
			return sign * x
		}
		f := field(done(1, value(10)), done(2, value(9)), done(3, value(30)))
		n := 0
		for ; n < 10; n++ {
			next, ok := f.Next()
			if !ok {
				break
			}
			f.Add(done(next.Config[0], value(map[int64]float64{1: 10, 2: 9, 3: 30}[next.ID])))
		}
		want := int64(2)
		if sign < 0 {
			want = 3
		}
		if best, _ := f.Best(); n != 1 || best.Trial.ID != want {
			t.Errorf("sign %v: %d runs, best %d", sign, n, best.Trial.ID)
		}
	}
}

// A heavy tail may have stopped the best one. A stopped configuration gets one second run, and no more,
// if the runs show such a tail.
func TestStoppedHasASecondRun(t *testing.T) {
	f := field(done(1, 10), done(1, 30), done(1, 10.1), done(1, 9.9), stopped(2, 14), stopped(3, 200))
	asked := map[int64]int{}
	for range 50 {
		next, ok := f.Next()
		if !ok {
			break
		}
		asked[next.ID]++
		f.Add(stopped(next.Config[0], 14))
	}
	if asked[2] != 1 || asked[3] != 0 {
		t.Errorf("ran again %v", asked)
	}
	if best, _ := f.Best(); best.Trial.ID != 1 {
		t.Errorf("best is %d, which only was stopped", best.Trial.ID)
	}
}

// A run that a prediction stopped long before the incumbent's value is no entrant.
func TestPredictedIsNoEntrant(t *testing.T) {
	f := field(done(1, 10), done(1, 11), stopped(2, 3))
	if _, ok := f.Entrant(assay.Config{2}); ok {
		t.Error("a run that was stopped at 3 of 11 takes part")
	}
}

func TestBrokenIsNotBest(t *testing.T) {
	f := field(done(1, 10), done(2, 11), run(1, math.Inf(1), assay.Failed))
	if best, ok := f.Best(); !ok || best.Trial.ID != 2 {
		t.Errorf("best is %d, %v", best.Trial.ID, ok)
	}
	f.Refute(run(2, 12, assay.Infeasible))
	f.Refute(done(2, 1))
	if best, ok := f.Best(); ok {
		t.Errorf("best is %d, and all failed", best.Trial.ID)
	}
	if e, _ := f.Entrant(assay.Config{2}); len(e.Broken) != 1 || len(e.Values) != 1 {
		t.Errorf("%+v", e)
	}
	if _, ok := f.Next(); ok {
		t.Error("runs again what failed")
	}
}
