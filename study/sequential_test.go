package study

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// paired are reruns whose pairs have the result of of for their number.
type paired struct {
	*reruns
	of    func(n int) stats.Comparison
	quiet bool
}

func (p paired) noise() (float64, bool) { return 0.05, p.quiet }

func (p paired) verdict() (Verdict, bool) {
	n := p.checked(1)
	return Verdict{p.of(n), n}, true
}

func (p paired) comparing() time.Duration { return time.Duration(len(p.made)) * 4 * time.Second }

// from returns the results of pairs that show a gain from n of them on.
func from(n int) func(int) stats.Comparison {
	return func(pairs int) stats.Comparison {
		if pairs >= n {
			return stats.Comparison{Verdict: stats.Less}
		}
		return stats.Comparison{Low: -0.5, High: 0.5}
	}
}

// pairsOf runs the pairs of a study to their end.
func pairsOf(t *testing.T, s Study, p paired) (*racer, int) {
	t.Helper()
	s.Sequential = true
	p.best1, p.first1, p.limit = trialOf(7, 4), trialOf(1, 5), s.Budget
	r := racing(s, p.reruns)
	r.contest, r.pairs = p, p
	if err := r.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a, b := p.checked(1), p.checked(7); a != b {
		t.Fatalf("%d runs of the first and %d of the best: %v", a, b, p.made)
	}
	return r, p.checked(1)
}

// Pairs are made until a look decides: at 8, 12, 18 and so on, after 3 if runs are alike, and until the best is shown
// to be better by less than 1 % at most. Without that all are made.
func TestPairsEndWhenTheyTell(t *testing.T) {
	small := func(int) stats.Comparison { return stats.Comparison{Low: -0.009, High: 0.2} }
	for _, tt := range []struct {
		name  string
		of    func(int) stats.Comparison
		quiet bool
		want  int
	}{
		{"at once", from(0), false, 8},
		{"nine", from(9), false, 12},
		{"thirteen", from(13), false, 18},
		{"never", from(99), false, 20},
		{"alike", from(0), true, 3},
		{"alike, but told late", from(4), true, 8},
		{"too small", small, false, 8},
	} {
		if _, n := pairsOf(t, Study{Name: "s", Check: 20}, paired{&reruns{}, tt.of, tt.quiet}); n != tt.want {
			t.Errorf("%s: %d pairs, want %d", tt.name, n, tt.want)
		}
	}
}

// Which of a pair runs first is drawn, by the name of the study and the number of the pair: a session that goes on in
// the middle of a pair makes the other run of it.
func TestPairsAreDrawn(t *testing.T) {
	orders := map[string]int{}
	for _, name := range []string{"a", "b", "c", "d"} {
		p := paired{&reruns{}, from(99), false}
		pairsOf(t, Study{Name: name, Check: 20}, p)
		again := paired{&reruns{made: []string{p.made[0]}}, from(99), false}
		pairsOf(t, Study{Name: name, Check: 20}, again)
		if got, want := strings.Join(again.made, " "), strings.Join(p.made, " "); got != want {
			t.Errorf("study %s: a session that goes on made %s, want %s", name, got, want)
		}
		first := 0
		for i := 0; i < len(p.made); i += 2 {
			if p.made[i] == "check 1" {
				first++
			}
		}
		if first < 3 || first > 17 {
			t.Errorf("study %s: the first configuration ran first in %d of 20 pairs", name, first)
		}
		orders[strings.Join(p.made, " ")]++
	}
	if len(orders) != 4 {
		t.Errorf("%d orders of 4 studies", len(orders))
	}
}

// The pairs, of 10 s each, take at most a share of the time budget. None is made if there is no time for the least
// comparison. No time is kept back for fewer than two pairs.
func TestPairsHaveAShare(t *testing.T) {
	for _, tt := range []struct {
		budget time.Duration
		share  float64
		want   int
		short  string
		kept   time.Duration
	}{
		{100 * time.Second, 0, 2, "4 s of the time budget is left for them, and a pair takes 10 s", 20 * time.Second},
		{90 * time.Second, 0, 2, "2 s of the time budget is left for them, and a pair takes 10 s", 0},
		{49 * time.Second, 0, 0, "9.8 s of the time budget is left for them, and the least comparison with an interval " +
			"takes 15 s", 0},
		{90 * time.Second, 0.1, 0, "9 s of the time budget is left for them, and the least comparison with an interval " +
			"takes 15 s", 0},
		{100 * time.Second, 0.5, 6, "2 s of the time budget is left for them, and a pair takes 10 s", 50 * time.Second},
		{10000 * time.Second, 0, 30, "", 2000 * time.Second},
	} {
		p := paired{&reruns{}, from(999), false}
		s := Study{Name: "s", Check: 30, Race: true, CheckShare: tt.share, Budget: Budget{Time: tt.budget}}
		r, n := pairsOf(t, s, p)
		if n != tt.want || !strings.HasPrefix(r.short, tt.short) || tt.short == "" && r.short != "" {
			t.Errorf("%v: %d pairs, want %d; %q", tt.budget, n, tt.want, r.short)
		}
		if tt.want < 30 {
			if got := r.checkReserve(); got != tt.kept {
				t.Errorf("%v: %v is kept back, want %v", tt.budget, got, tt.kept)
			}
		}
	}
	// A gain of 50 % in noise of 5 % takes 8 pairs, one of 1 % takes more than there may be.
	r := racing(Study{Check: 200, Race: true, Sequential: true, Budget: Budget{Time: 10000 * time.Second}},
		&reruns{limit: Budget{Time: 10000 * time.Second}})
	for ratio, want := range map[float64]time.Duration{0.5: 81 * time.Second, 0.99: 2000 * time.Second} {
		if got := r.pairsReserve(trialOf(7, 4*ratio), trialOf(1, 4)); got != want {
			t.Errorf("%v: %v is kept back, want %v", ratio, got, want)
		}
	}
}

// If there is no time for a second pair, the best runs alone: the search has run the first.
func TestLeastComparison(t *testing.T) {
	budget := Budget{Time: 100 * time.Second}
	s := Study{Name: "s", Check: 30, Race: true, Sequential: true, CheckShare: 0.15, Budget: budget}
	p := paired{&reruns{best1: trialOf(7, 4), first1: trialOf(1, 5), limit: budget}, from(999), false}
	r := racing(s, p.reruns)
	r.contest, r.pairs = p, p
	if err := r.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if first, best := p.checked(1), p.checked(7); first != 1 || best != 2 {
		t.Errorf("%d + %d runs: %v", first, best, p.made)
	}
}

// If the first takes too long to run again, the best runs alone, twice and until the verdict has an interval, but four
// times at most. The time of four runs is kept back for them. A session that goes on makes the rest.
func TestBestAlone(t *testing.T) {
	never := func(int) stats.Comparison { return stats.Comparison{Low: math.Inf(-1), High: math.Inf(1)} }
	at := func(k int) func(int) stats.Comparison {
		return func(n int) stats.Comparison {
			if n < k {
				return never(n)
			}
			return stats.Comparison{Low: -0.9, High: -0.5, Verdict: stats.Less}
		}
	}
	for _, tt := range []struct {
		name   string
		best   float64
		of     func(int) stats.Comparison
		budget time.Duration
		made   []string
		want   int
		kept   time.Duration
	}{
		{"no interval", 4, never, 150 * time.Second, nil, 4, 21 * time.Second},
		{"at once", 4, at(0), 150 * time.Second, nil, 2, 21 * time.Second},
		{"three", 4, at(3), 150 * time.Second, nil, 3, 21 * time.Second},
		{"a session that goes on", 4, never, 150 * time.Second, []string{"check 7"}, 4, 21 * time.Second},
		{"a small difference", 30, never, 150 * time.Second, nil, 4, 0},
		{"time for two", 4, never, 60 * time.Second, nil, 2, 0},
		{"time for one", 4, never, 45 * time.Second, nil, 0, 0},
	} {
		budget := Budget{Time: tt.budget}
		p := alone{paired{&reruns{
			best1: trialOf(7, tt.best), first1: trialOf(1, 40), limit: budget, slow: 40 * time.Second, made: tt.made,
		}, tt.of, false}}
		r := racing(Study{Name: "s", Check: 30, Race: true, Sequential: true, Budget: budget}, p.reruns)
		r.contest, r.pairs = p, p
		if got := r.checkReserve(); got != tt.kept {
			t.Errorf("%s: %v is kept back, want %v", tt.name, got, tt.kept)
		}
		if err := r.check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if first, best := p.checked(1), p.checked(7); first != 0 || best != tt.want {
			t.Errorf("%s: %d + %d runs, want 0 + %d", tt.name, first, best, tt.want)
		}
		if known := !math.IsInf(tt.of(p.checked(7)).High, 1); known != (r.short == "") {
			t.Errorf("%s: %q", tt.name, r.short)
		}
	}
}

// alone are pairs whose verdict is of the number of runs of the best.
type alone struct{ paired }

func (p alone) verdict() (Verdict, bool) { return Verdict{p.of(p.checked(7)), 0}, true }

// Time that the search has left is for the pairs, up to the second look.
func TestPairsTakeTheRest(t *testing.T) {
	p := paired{&reruns{over: true}, from(999), false}
	if _, n := pairsOf(t, Study{Name: "s", Check: 30, Race: true, Budget: Budget{Time: 200 * time.Second}}, p); n != 12 {
		t.Errorf("%d pairs within 200 s that nothing else uses, want 12", n)
	}
}

// A run of the best that has no pair counts while the pairs are few.
func TestVerdictOfThreeRuns(t *testing.T) {
	runs := func(id int64, seconds ...float64) (all []assay.Trial) {
		for _, x := range seconds {
			all = append(all, ran(id, float64(id), x))
		}
		return all
	}
	best := ran(2, 2, 5)
	r := Result{
		Found: true, Best: best, First: ran(1, 1, 10), Trials: append(runs(1, 10), best), Races: runs(3, 7, 7.1),
		Checks: slices.Concat(runs(1, 10.1), runs(2, 5.1, 5.05)),
	}
	v, ok := r.Verdict(assay.Goal{Metric: "elapsed"})
	if !ok || v.Pairs != 1 || v.A.N != 2 || v.B.N != 2 || v.Verdict != stats.Less {
		t.Errorf("%+v", v)
	}
	r.Checks = r.Checks[:2]
	if v, _ = r.Verdict(assay.Goal{Metric: "elapsed"}); v.Verdict != stats.Undecided {
		t.Errorf("one run of the best: %+v", v)
	}
}
