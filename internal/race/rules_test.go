package race_test

import (
	"math"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/race"
)

// The first run that was done stands for a configuration, and until then the first that was stopped.
func TestTrialOfAnEntrant(t *testing.T) {
	f := field(done(1, 10), done(1, 11))
	for i, want := range []int64{31, 31, 33, 33} {
		trial := stopped(3, 13)
		if i >= 2 {
			trial = done(3, 14)
		}
		trial.ID = int64(31 + i)
		f.Add(trial)
		e, ok := f.Entrant(trial.Config)
		if !ok || e.Trial.ID != want || len(e.Values) != i+1 || e.Done != (i >= 2) {
			t.Errorf("after %d runs: %+v, want trial %d", i+1, e, want)
		}
	}
	f.Refute(run(3, 1, assay.Failed))
	f.Refute(run(1, 1, assay.Failed))
	if all := f.Refuted(); len(all) != 2 || all[0].Trial.Config[0] != 1 || all[1].Trial.Config[0] != 3 {
		t.Errorf("refuted are %+v", all)
	}
	if _, ok := f.Entrant(done(9, 1).Config); ok {
		t.Error("one that never ran is an entrant")
	}
}

// Runs are quiet after three pairs that differ by 2 % at most, and not after a fourth that differs by more.
func TestQuietUpToTwoPercent(t *testing.T) {
	f := &race.Field{}
	for i, v := range []float64{100, 98, 100, 98, 100, 97} {
		f.Add(done(1, v))
		if want := i == 3 || i == 4; f.Quiet() != want {
			t.Errorf("after %d runs quiet is %v", i+1, !want)
		}
	}
}

// Which values may end others does not depend on the order in which configurations were first run.
func TestIncumbentOfLater(t *testing.T) {
	for name, tt := range map[string]struct {
		field *race.Field
		want  float64
	}{
		"a single run first":  {field(done(2, 6), done(1, 10), done(1, 11)), 11},
		"a stopped one first": {field(done(1, 10), done(1, 11), stopped(2, 12), done(3, 9), done(3, 10)), 10},
		"stopped, then a pair": {
			field(done(1, 10), done(1, 11), stopped(2, 12), stopped(2, 12), done(3, 8), done(3, 9)), 9,
		},
		"the better one first":  {field(done(1, 8), done(1, 9), done(2, 10), done(2, 11)), 9},
		"the better one second": {field(done(2, 10), done(2, 11), done(1, 8), done(1, 9)), 9},
	} {
		if got := tt.field.Incumbent(); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// One that is only as good as the incumbent ends no run that goes on, so that it is in no doubt.
func TestNoDoubtOfAnEqual(t *testing.T) {
	for _, tt := range []struct {
		value float64
		doubt bool
	}{{10.9, true}, {11, false}, {11.1, false}} {
		if trial, ok := field(done(1, 10), done(1, 11), done(2, tt.value)).Doubt(none); ok != tt.doubt {
			t.Errorf("a run of %v beside an incumbent of 11: doubts %+v", tt.value, trial)
		}
	}
	// The least of several is run again first, and of the others one that is not run already.
	f := field(done(1, 10), done(1, 11), done(2, 8), done(3, 6), done(4, 7))
	if trial, _ := f.Doubt(none); trial.ID != 3 {
		t.Errorf("doubts %d, want 3", trial.ID)
	}
}

// The noise is the median difference of pairs, among them two of 5 %, over the one of a normal distribution of
// deviation 1, 1.4142·0.67449: pairs of 10 and 9 differ by a tenth, and outweigh the supposed ones once they are three.
// The margin of a second run is three of it.
func TestNoiseByHand(t *testing.T) {
	f := &race.Field{}
	for i, v := range []float64{10, 9, 10, 9} {
		f.Add(done(1, v))
		want := 0.05
		switch i {
		case 2:
			want = (0.05 + 0.1048358) / 2 // the median of two and two
		case 3:
			want = 0.1048358
		}
		if got := f.Noise(); !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("after %d runs the noise is %v, want %v", i+1, got, want)
		}
		if got, want := f.Margin(), math.Exp(3*want)-1; !(math.Abs(got-want) <= 1e-5) {
			t.Errorf("after %d runs the margin is %v, want %v", i+1, got, want)
		}
	}
	if f := field(done(1, 10), done(1, 10)); f.Margin() != 0 {
		t.Errorf("the margin of equal runs is %v", f.Margin())
	}
	if f := field(done(1, -10), done(1, -9), done(1, -10), done(1, -9)); !(math.Abs(f.Noise()-0.1048358) <= 1e-6) {
		t.Errorf("the noise of negative values is %v", f.Noise())
	}
}

// The answer has the least median with one standard deviation of it added. With a noise of 5 % the deviation of one
// run is 0.05, of two 0.05·1.2/√2 = 0.0424: a single run is preferred to the pair of 10 and 10.2 below
// 10.1·exp(0.0424-0.05) = 10.024. The same holds if all values are -1/x in place of x.
func TestBestByHand(t *testing.T) {
	for _, tt := range []struct{ single, want float64 }{{10.02, 2}, {10.03, 1}} {
		for name, f := range map[string]*race.Field{
			"positive": field(done(1, 10), done(1, 10.2), done(2, tt.single), done(3, 1000)),
			"negative": field(done(1, -1/10.0), done(1, -1/10.2), done(2, -1/tt.single), done(3, -1/1000.0)),
		} {
			if e, ok := f.Best(); !ok || e.Trial.Config[0] != tt.want {
				t.Errorf("%s: a single run of %v beside the pair: best is %+v", name, tt.single, e)
			}
		}
	}
	// The shares are relative to the mean size of the values if these have both signs or a 0. Beside 8 and the pair of
	// -2 and -1.8, whose difference leaves the noise at 5 %, a single run is preferred below -1.926; beside 0 and the
	// pair of -10 and -9 below -9.554.
	for _, tt := range []struct{ a, b, other, single, want float64 }{
		{-2, -1.8, 8, -1.94, 2}, {-2, -1.8, 8, -1.91, 1}, {-10, -9, 0, -9.56, 2}, {-10, -9, 0, -9.54, 1},
	} {
		f := field(done(1, tt.a), done(1, tt.b), done(2, tt.single), done(3, tt.other))
		if e, _ := f.Best(); e.Trial.Config[0] != tt.want {
			t.Errorf("a single run of %v beside %v and %v: best is %+v", tt.single, tt.a, tt.b, e)
		}
	}
	// From five runs on the centre is their Hodges-Lehmann estimate, of 10, 9, 10, 9 and 10 the square root of 90,
	// with 1.05·noise/√5; the noise of pairs that differ by a tenth is 0.1048. A single run is preferred
	// below √90·exp(0.0492-0.1048) = 8.974.
	for _, tt := range []struct{ single, want float64 }{{8.96, 2}, {8.98, 1}} {
		f := field(done(1, 10), done(1, 9), done(1, 10), done(1, 9), done(1, 10), done(2, tt.single))
		if e, _ := f.Best(); e.Trial.Config[0] != tt.want {
			t.Errorf("a single run of %v beside five: best is %+v", tt.single, e)
		}
	}
	if e, _ := field(done(4, 7), done(5, 7)).Best(); e.Trial.ID != 4 {
		t.Errorf("of equal ones the best is %d, not the first", e.Trial.ID)
	}
	if _, ok := field(stopped(1, 3)).Best(); ok {
		t.Error("a run that was stopped is the answer")
	}
	if _, ok := field().Best(); ok {
		t.Error("nothing is the answer")
	}
}

// Beside the pair of 10 and 9, with a noise of 5 % and three runs, so that the reach is √(2·ln 3) = 1.482 standard
// deviations, a single run may be better by more than 1 % up to 9.5·exp(1.482·(0.0424+0.05)-0.01) = 10.787.
func TestNextByHand(t *testing.T) {
	for _, tt := range []struct {
		single float64
		ok     bool
	}{{10.77, true}, {10.80, false}} {
		if next, ok := field(done(1, 10), done(1, 9), done(2, tt.single)).Next(); ok != tt.ok || ok && next.ID != 2 {
			t.Errorf("with a single run of %v: next is %+v, %v", tt.single, next, ok)
		}
	}
	// The one with fewer runs is next, leader or challenger, and the challenger if both have equally many.
	f := field(done(1, 10), done(1, 9), done(2, 10.2), done(2, 9.3))
	if next, _ := f.Next(); next.ID != 2 {
		t.Errorf("of two pairs %d is next, want the challenger", next.ID)
	}
	f.Add(done(2, 9.8))
	if next, _ := f.Next(); next.ID != 1 {
		t.Errorf("of a pair and three runs %d is next, want the leader with the pair", next.ID)
	}
	// The challenger is the one that may be better by the most.
	if next, _ := field(done(1, 10), done(1, 9), done(2, 10.3), done(3, 10.1), done(4, 10.2)).Next(); next.ID != 3 {
		t.Errorf("of three single runs %d is next, want the least", next.ID)
	}
}

// A run that was stopped just when it had reached the incumbent's value takes part. Its own value is taken for 5 %
// more than that, so that beside the pair of 10 and 9 it gets a second run below 10.787·exp(-0.05) = 10.261.
func TestStoppedAtTheIncumbent(t *testing.T) {
	f := field(done(1, 10), done(1, 9), stopped(2, 10), stopped(3, 9.99))
	if _, ok := f.Entrant(stopped(2, 0).Config); !ok {
		t.Error("a run that was stopped at the incumbent's value takes no part")
	}
	if _, ok := f.Entrant(stopped(3, 0).Config); ok {
		t.Error("a run that was stopped below the incumbent's value takes part")
	}
	for _, tt := range []struct {
		value float64
		ok    bool
	}{{10.2, true}, {10.3, false}} {
		if next, ok := field(done(1, 10), done(1, 9), stopped(2, tt.value)).Next(); ok != tt.ok || ok && next.ID != 2 {
			t.Errorf("beside one that was stopped at %v: next is %+v, %v", tt.value, next, ok)
		}
	}
}

// Only a run that nothing bears out, and that would end others, is seen as the incumbent.
func TestBelieveTheRest(t *testing.T) {
	for name, tt := range map[string]struct {
		field       *race.Field
		value, want float64
	}{
		"no incumbent yet":  {field(done(2, 6)), 6, 6},
		"a slower single":   {field(done(1, 10), done(1, 11), done(2, 13)), 13, 13},
		"a faster single":   {field(done(1, 10), done(1, 11), done(2, 6)), 6, 11},
		"on a quiet field":  {field(done(1, 10), done(1, 10), done(2, 6)), 6, 6},
		"of three, the mid": {field(done(2, 6), done(2, 9), done(2, 8)), 6, 8},
	} {
		if got := tt.field.Believe(done(2, tt.value)).Value; got != tt.want {
			t.Errorf("%s: seen as %v, want %v", name, got, tt.want)
		}
	}
}

// A failure and a broken limit refute, and nothing else does.
func TestWhatRefutes(t *testing.T) {
	for state, want := range map[assay.State]int{assay.Failed: 1, assay.Infeasible: 1, assay.Done: 0, assay.Censored: 0} {
		f := field(done(1, 10))
		f.Refute(run(1, 12, state))
		if e, _ := f.Entrant(assay.Config{1}); len(e.Broken) != want || len(e.Values) != 1 {
			t.Errorf("%v: %+v, want %d broken", state, e, want)
		}
	}
}
