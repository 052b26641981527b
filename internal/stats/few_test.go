package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// By hand: logarithms (0, 0.2) and (-1, -0.8), and a third configuration that ran at (3, 3.2). s² is
// 3·0.02/3 = 0.02, the shift -1, its standard error √(0.02·(1/2 + 1/2)) and t(0.975; 3) = 3.182446.
func TestCompareFew(t *testing.T) {
	e := math.Exp
	a, b := []float64{1, e(0.2)}, []float64{e(-1), e(-0.8)}
	c := CompareFew(a, b, [][]float64{{e(3), e(3.2)}, {7}}, CompareOptions{})
	half := 3.182446305 * math.Sqrt(0.02)
	for _, x := range []struct{ got, want float64 }{
		{c.Change, math.Expm1(-1)}, {c.Low, math.Expm1(-1 - half)}, {c.High, math.Expm1(-1 + half)},
	} {
		if !(math.Abs(x.got-x.want) <= 1e-8) {
			t.Errorf("got %v, want %v", x.got, x.want)
		}
	}
	if c.Verdict != Less || c.P > 0.05 || c.Level != 0.95 {
		t.Errorf("%+v", c)
	}
}

// Too few runs have no interval, but a change: one of the second command, or two differences of equal configurations.
func TestCompareFewTooFew(t *testing.T) {
	for name, c := range map[string]Comparison{
		"one and one": CompareFew([]float64{1}, []float64{0.5}, [][]float64{{1, 1.1, 1.2, 1.1}}, CompareOptions{}),
		"two and one": CompareFew([]float64{1, 1.1}, []float64{0.5}, [][]float64{{1, 1.1, 1.2, 1.1}}, CompareOptions{}),
		"two and two": CompareFew([]float64{1, 1.1}, []float64{0.5, 0.51}, nil, CompareOptions{}),
	} {
		if c.Verdict != Undecided || !math.IsInf(c.High, 1) || !(c.Change < -0.4) || len(c.Warnings) == 0 {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if c := CompareFew(nil, []float64{1}, nil, CompareOptions{}); !math.IsNaN(c.Change) || len(c.Warnings) == 0 {
		t.Errorf("none and one: %+v", c)
	}
	if c := CompareFew([]float64{1, 1, 1}, []float64{2, 2, math.Inf(1)}, nil, CompareOptions{}); c.Verdict != Undecided {
		t.Errorf("an infinite value: %+v", c)
	}
}

// Values without noise have an interval of one point, and values of both signs are compared by differences.
func TestCompareFewSpecial(t *testing.T) {
	c := CompareFew([]float64{2, 2, 2}, []float64{1, 1, 1}, nil, CompareOptions{})
	if c.Verdict != Less || c.Change != -0.5 || c.Low != -0.5 || c.High != -0.5 {
		t.Errorf("without noise: %+v", c)
	}
	if c := CompareFew([]float64{2, 2, 2}, []float64{2, 2}, nil, CompareOptions{}); c.Verdict != Undecided || c.P != 1 {
		t.Errorf("equal: %+v", c)
	}
	c = CompareFew([]float64{-1, -1.1, -0.9}, []float64{1, 1.1, 0.9}, nil, CompareOptions{})
	if c.Verdict != More || !(math.Abs(c.Change-2) <= 1e-9) {
		t.Errorf("both signs: %+v", c)
	}
}

// On recorded run times the interval of 2, 3 and 5 pairs of equal commands contains no difference in at least 93 of 100
// cases: with and without the repeated runs of other configurations, and with earlier runs of the first command, which
// the machine may have made at another speed. Pairs and earlier runs are neighbours in one series, the repeated runs of
// others are from anywhere in the same benchmark.
//
// The series are the forks of odd number of each benchmark. No choice was made on them, for there is nothing to choose:
// the formula has no constant but the level.
func TestCompareFewCovers(t *testing.T) {
	for _, pairs := range []int{2, 3, 5} {
		for _, others := range []int{0, 2, 5} {
			for earlier := range 3 {
				covers(t, drawn{pairs: pairs, earlier: earlier, others: others})
			}
		}
	}
}

// So does the interval of one earlier run of the first command, and runs of the second one alone.
func TestCompareFewCoversOneRun(t *testing.T) {
	for _, d := range []drawn{
		{alone: 4}, {alone: 3, others: 1}, {alone: 2, others: 2}, {alone: 2, others: 5}, {alone: 4, others: 5},
	} {
		d.earlier = 1
		covers(t, d)
	}
}

func covers(t *testing.T, d drawn) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(d.pairs+d.alone), uint64(10*d.others+d.earlier)))
	within, all := 0, 0
	for _, forks := range odd(testbed.WarmRuns(t)) {
		for range testbed.Times(40, 400) {
			if c := equals(rng, forks, d); c.Low <= 0 && c.High >= 0 {
				within++
			}
			all++
		}
	}
	share := float64(within) / float64(all)
	t.Logf("%+v: %.3f of %d", d, share, all)
	if share < 0.93 {
		t.Errorf("%+v: %.3f of %d intervals contain 0", d, share, all)
	}
}

// odd returns the forks of odd number that are long enough, of each benchmark in order.
func odd(runs map[string][][]float64) (all [][][]float64) {
	var names []int
	for id := range runs {
		if n, err := strconv.Atoi(id); err == nil {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for _, id := range names {
		var forks [][]float64
		for i, x := range runs[strconv.Itoa(id)] {
			if i%2 == 1 && len(x) > 100 {
				forks = append(forks, x)
			}
		}
		if len(forks) > 0 {
			all = append(all, forks)
		}
	}
	return all
}

// drawn are the runs of a comparison: pairs, runs of the second command after them, earlier ones of the first, and
// other configurations that ran twice.
type drawn struct{ pairs, alone, earlier, others int }

// equals compares pairs of neighbouring runs in one fork, in an order that is drawn.
func equals(rng *rand.Rand, forks [][]float64, d drawn) Comparison {
	const lead = 60 // the earlier runs are among that many before the pairs
	f := forks[rng.IntN(len(forks))]
	i := lead + rng.IntN(len(f)-lead-2*d.pairs-d.alone)
	var a, b, early []float64
	for j := range d.pairs {
		x, y := f[i+2*j], f[i+2*j+1]
		if rng.IntN(2) == 0 {
			x, y = y, x
		}
		a, b = append(a, x), append(b, y)
	}
	for j := range d.alone {
		b = append(b, f[i+2*d.pairs+j])
	}
	for range d.earlier {
		early = append(early, f[i-1-rng.IntN(lead)])
	}
	var more [][]float64
	for range d.others {
		g := forks[rng.IntN(len(forks))]
		j := rng.IntN(len(g) - 1)
		more = append(more, g[j:j+2])
	}
	return CompareVerdict(a, b, early, more)
}
