package pro

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/search"
)

// scripted noise adds extra(step, processor), and keeps which point ran where.
type scripted struct {
	extra func(step, p int) float64
	ran   [][]assay.Config // [step][processor]
}

func (n *scripted) step() { n.ran = append(n.ran, nil) }

func (n *scripted) draw(p int, c assay.Config, f float64) float64 {
	k := len(n.ran) - 1
	n.ran[k] = append(n.ran[k], c)
	if n.extra == nil {
		return f
	}
	return f + n.extra(k, p)
}

func tuned(l *landscape, k, processors int, noise noiseSource) program {
	return program{
		land: l, runs: k, processors: processors, steps: 100,
		options: search.SimplexOptions{Size: 0.2, Seed: 1}, noise: noise,
	}
}

// A step takes as long as its slowest processor. Points are on processors of their own,
// the best one on the others, and y falls to the least time of each point.
// Reference: equation 1
func TestStep(t *testing.T) {
	l := bowlLandscape(t)
	n := &scripted{extra: func(k, p int) float64 { return []float64{1, 0, 5, 0}[p] - float64(k) }}
	g := tuned(l, 1, 4, n)
	a, b, best := assay.Config{12, 10}, assay.Config{8, 10}, assay.Config{16, 4}
	points := []assay.Proposal{{ID: 1, Config: a}, {ID: 2, Config: b}}
	y := []float64{math.Inf(1), math.Inf(1)}
	if got, want := g.step(points, y, best), max(l.at(a)+1, l.at(b), l.at(best)+5); got != want {
		t.Errorf("the step takes %v, want the %v of a processor without a point", got, want)
	}
	for p, want := range []assay.Config{a, b, best, best} {
		if !n.ran[0][p].Equal(want) {
			t.Errorf("processor %d ran %v, want %v", p, n.ran[0][p], want)
		}
	}
	if y[0] != l.at(a)+1 || y[1] != l.at(b) {
		t.Errorf("the points took %v, want %v and %v", y, l.at(a)+1, l.at(b))
	}
	g.step(points, y, best)
	if y[0] != l.at(a) || y[1] != l.at(b)-1 {
		t.Errorf("after a second run, the points took %v, want the least of both", y)
	}
	n.extra = func(int, int) float64 { return 50 }
	if g.step(points, y, nil); len(n.ran[2]) != 2 || y[0] > 50 {
		t.Errorf("%d processors ran before there is a best point, want 2; the least rose to %v", len(n.ran[2]), y[0])
	}
}

// A program with fewer processors than the simplex has vertices tries them in chunks,
// of which each waits for the one before: ⌈4/P⌉ steps of the four vertices, K times.
// Reference: section 5.2
func TestChunks(t *testing.T) {
	for _, tt := range []struct{ processors, runs, steps int }{
		{4, 1, 1}, {3, 1, 2}, {2, 1, 2}, {1, 1, 4}, {2, 3, 6}, {9, 2, 2},
	} {
		n := &scripted{}
		g := tuned(bowlLandscape(t), tt.runs, tt.processors, n)
		g.steps = tt.steps
		if got := len(g.times()); got != tt.steps {
			t.Fatalf("%+v: %d steps", tt, got)
		}
		tried := map[string]int{}
		best, least := "", math.Inf(1)
		for k, ran := range n.ran {
			points := min(tt.processors, 4-(k/tt.runs)*tt.processors)
			for p, c := range ran {
				if p >= points { // spare
					if c.Key() != best {
						t.Errorf("%+v: a spare processor of step %d ran %v, not the best so far", tt, k, c)
					}
					continue
				}
				tried[c.Key()]++
			}
			for _, c := range ran[:points] {
				if v := g.land.at(c); (k+1)%tt.runs == 0 && v < least {
					best, least = c.Key(), v
				}
			}
		}
		if len(tried) != 4 {
			t.Errorf("%+v: %d vertices tried in so many steps, want 4", tt, len(tried))
		}
		for _, times := range tried {
			if times != tt.runs {
				t.Errorf("%+v: a vertex ran %d times", tt, times)
			}
		}
	}
}

// The end of the steps may fall between the runs of a point.
func TestStepsEndWithinAPoint(t *testing.T) {
	for steps := 1; steps <= 12; steps++ {
		g := tuned(bowlLandscape(t), 5, 4, &scripted{})
		g.steps = steps
		if got := len(g.times()); got != steps {
			t.Errorf("%d steps, want %d", got, steps)
		}
	}
}

// One run of each point misleads the search. The least of three does not, where every
// third run of a processor has no noise: it ends at the optimum whatever the noise.
// Reference: section 5.1, the minimum as estimator
func TestLeastOfRuns(t *testing.T) {
	misled := map[int]int{}
	for seed := range uint64(20) {
		for _, k := range []int{1, 3} {
			rng := rand.New(rand.NewPCG(seed, 0))
			n := &scripted{extra: func(step, p int) float64 {
				if (step+p)%3 == 0 {
					return 0
				}
				return 30 * rng.Float64()
			}}
			g := tuned(bowlLandscape(t), k, 4, n)
			g.steps = 300
			g.times()
			if last := n.ran[299][0]; g.land.at(last) != 1 {
				misled[k]++
			}
		}
	}
	if misled[3] > 0 {
		t.Errorf("%d of 20 programs are misled by the least of three runs", misled[3])
	}
	if misled[1] < 10 {
		t.Errorf("%d of 20 programs are misled by one run of each point: the test shows nothing", misled[1])
	}
}

// On one processor of a constant landscape, a step takes f/(1-ρ) in the mean, whatever
// runs: the normalized total time is 1.
// Reference: equation 6, section 6.2
func TestNormalizedTotalTimeIsOne(t *testing.T) {
	l := bowlLandscape(t)
	for i := range l.recorded {
		l.recorded[i].value = 2
		l.value[l.recorded[i].at.Key()] = 2
	}
	for _, rho := range []float64{0, 0.2, 0.4} {
		model := stats.TwoJob{Rho: rho}
		var all []float64
		for seed := range uint64(200) {
			g := tuned(l, 1, 1, paretoNoise{rand.New(rand.NewPCG(seed, 0)), model, 4})
			all = append(all, model.NormalizedTotalTime(g.times())/(2*100))
		}
		if got := stats.Mean(all); !(math.Abs(got-1) <= 0.01) {
			t.Errorf("ρ = %v: NTT %v, want 1", rho, got)
		}
	}
}
