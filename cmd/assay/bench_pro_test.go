package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stats"
)

// bowlLandscape is a bowl over two integers 0..20 with its minimum 1 at (16, 4);
// every third point is missing.
func bowlLandscape(t *testing.T) *landscape {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Hi: 20}, {Name: "y", Kind: assay.Integer, Hi: 20}})
	if err != nil {
		t.Fatal(err)
	}
	l := &landscape{space: space, value: map[string]float64{}, best: 1}
	for c := range space.All() {
		if int(c[0]+c[1])%3 == 1 {
			continue
		}
		v := 1 + math.Hypot(c[0]-16, c[1]-4)/10
		l.recorded = append(l.recorded, vertexValue{c, v})
		l.value[c.Key()] = v
	}
	return l
}

// A missing point is the weighted mean of its nearest neighbours: of the four
// beside (10, 12), which is missing, two steps away at most, all at distance 1/20.
// Reference: Tabatabaee et al. 2005, section 6
func TestLandscapeInterpolates(t *testing.T) {
	l := bowlLandscape(t)
	at := func(x, y float64) float64 { return l.at(assay.Config{x, y}) }
	want := (at(9, 12) + at(11, 12) + at(10, 11) + at(10, 13)) / 4
	if got := at(10, 12); math.Abs(got-want) > 1e-12 {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := at(16, 4), 1.0; got != want {
		t.Errorf("a recorded point is %v, want %v", got, want)
	}
}

func simulated(l *landscape, k int, rho float64, seed uint64) simulation {
	rng := rand.New(rand.NewPCG(seed, 0))
	return simulation{
		land: l, runs: k, processors: 4, steps: 100,
		options: search.SimplexOptions{Size: 0.2, Seed: seed},
		noise:   paretoNoise{rng, stats.TwoJob{Rho: rho}, 1.7},
	}
}

// Without noise every step of the search takes K time steps, its time is the
// greatest of its points, and after the search all run the best one: so the total
// time grows linearly with K.
// Reference: sections 2 and 6.2, equations 1 and 2
func TestSimulationWithoutNoise(t *testing.T) {
	l := bowlLandscape(t)
	total := make([]float64, 6)
	for k := 1; k <= 5; k++ {
		times := simulated(l, k, 0, 1).times()
		if len(times) != 100 {
			t.Fatalf("K = %d: %d time steps, want 100", k, len(times))
		}
		if times[99] != 1 {
			t.Errorf("K = %d: the last step takes %v, want the optimum 1", k, times[99])
		}
		for i := range k { // everybody waits for the slowest of the initial simplex
			want := max(l.at(assay.Config{12, 10}), l.at(assay.Config{8, 10}), l.at(assay.Config{10, 12}), l.at(assay.Config{10, 8}))
			if times[i] != want {
				t.Errorf("K = %d: step %d takes %v, want %v", k, i+1, times[i], want)
			}
		}
		total[k] = stats.TotalTime(times)
	}
	for k := 2; k <= 5; k++ {
		if got, want := total[k]-total[k-1], total[2]-total[1]; math.Abs(got-want) > 1e-9 || got <= 0 {
			t.Errorf("from K = %d to %d the total time grows by %v, want %v as from 1 to 2", k-1, k, got, want)
		}
	}
}

// With noise a time step is above the noise-free one by the least noise at
// least, and adaptive K ends with as many steps.
func TestSimulationWithNoise(t *testing.T) {
	l := bowlLandscape(t)
	model := stats.TwoJob{Rho: 0.3}
	for _, k := range []int{0, 1, 3} {
		times := simulated(l, k, model.Rho, 2).times()
		if len(times) != 100 {
			t.Fatalf("K = %d: %d time steps, want 100", k, len(times))
		}
		for i, x := range times {
			if least := 1 + model.Pareto(1, 1.7).Beta; x < least {
				t.Errorf("K = %d: step %d takes %v, less than %v", k, i+1, x, least)
			}
		}
	}
}

// Recorded noise multiplies the time by the values of the series in turn.
func TestSeriesNoise(t *testing.T) {
	n := newSeriesNoise([]float64{1, 2, 4}, 2, rand.New(rand.NewPCG(1, 1)))
	got := map[float64]int{}
	for range 30 {
		got[n.draw(1, 10)]++
	}
	if got[10] != 10 || got[20] != 10 || got[40] != 10 {
		t.Errorf("got %v, want each multiple of 10 ten times", got)
	}
}
