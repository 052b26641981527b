package pro

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/search"
)

// bowlLandscape is a bowl over two integers 0..20 with its minimum 1 at (16, 4);
// every third point is missing.
func bowlLandscape(t *testing.T) *landscape {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{
		{Name: "x", Kind: assay.Integer, Hi: 20},
		{Name: "y", Kind: assay.Integer, Hi: 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	l := &landscape{space: space, value: map[string]float64{}, near: map[string]assay.Config{}, best: 1}
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
	if got := at(10, 12); !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := at(16, 4), 1.0; got != want {
		t.Errorf("a recorded point is %v, want %v", got, want)
	}
}

func simulated(l *landscape, k int, rho float64, seed uint64) program {
	rng := rand.New(rand.NewPCG(seed, 0))
	return program{
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
			want := max(
				l.at(assay.Config{12, 10}), l.at(assay.Config{8, 10}),
				l.at(assay.Config{10, 12}), l.at(assay.Config{10, 8}),
			)
			if times[i] != want {
				t.Errorf("K = %d: step %d takes %v, want %v", k, i+1, times[i], want)
			}
		}
		total[k] = stats.TotalTime(times)
	}
	for k := 2; k <= 5; k++ {
		if got, want := total[k]-total[k-1], total[2]-total[1]; !(math.Abs(got-want) <= 1e-9) || got <= 0 {
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
		got[n.draw(1, nil, 10)]++
	}
	if got[10] != 10 || got[20] != 10 || got[40] != 10 {
		t.Errorf("got %v, want each multiple of 10 ten times", got)
	}
}

// A configuration has the noise of its own runs, one that was not recorded that
// of the nearest, and every processor goes through them in turn. Scaling changes
// the mean excess and not the fastest run.
func TestTableNoise(t *testing.T) {
	l := bowlLandscape(t)
	runs := map[string][]float64{}
	for _, r := range l.recorded {
		runs[r.at.Key()] = []float64{r.value, 2 * r.value, 6 * r.value}
	}
	runs[l.recorded[0].at.Key()] = []float64{l.recorded[0].value, 3 * l.recorded[0].value, 5 * l.recorded[0].value}
	n := newTableNoise(l, runs)
	if !(math.Abs(n.mean-3) <= 1e-12) {
		t.Errorf("mean %v, want 3", n.mean)
	}
	m := n.scaled(0.5).begin(l, 2, rand.New(rand.NewPCG(1, 1)))
	sum := func(c assay.Config) (s float64) {
		for range 3 {
			s += m.draw(1, c, 10)
		}
		return s
	}
	if got := sum(l.recorded[0].at); !(math.Abs(got-10*(1+2+3)) <= 1e-9) {
		t.Errorf("the first configuration: %v, want 60", got)
	}
	if got := sum(assay.Config{10, 12}); !(math.Abs(got-10*(1+1.5+3.5)) <= 1e-9) {
		t.Errorf("one that was not recorded: %v, want 60", got)
	}
}

// The noise of every processor is Pareto whatever the correlation, and with the
// correlation 1 it is the same for all.
func TestCorrelatedNoise(t *testing.T) {
	model := stats.TwoJob{Rho: 0.3}
	want := model.Pareto(1, 1.7)
	for _, r := range []float64{0, 0.5, 1} {
		n := &correlatedNoise{rng: rand.New(rand.NewPCG(4, 4)), model: model, alpha: 1.7, correlation: r}
		const draws = 20_000
		above, both := 0, 0
		x := want.Quantile(0.8)
		for range draws {
			n.step()
			a, b := n.draw(0, nil, 1)-1, n.draw(1, nil, 1)-1
			if a < want.Beta*(1-1e-12) {
				t.Fatalf("noise %v below %v", a, want.Beta)
			}
			if a > x {
				above++
				if b > x {
					both++
				}
			}
		}
		if got := float64(above) / draws; !(math.Abs(got-0.2) <= 0.012) { // 4 standard deviations
			t.Errorf("correlation %v: P[noise > its 0.8 quantile] = %v", r, got)
		}
		joint := float64(both) / float64(above) // of the other processor, given that one is late
		between := map[float64][2]float64{0: {0.17, 0.23}, 0.5: {0.4, 0.6}, 1: {1, 1}}
		if lo, hi := between[r][0], between[r][1]; joint < lo || joint > hi {
			t.Errorf("correlation %v: the other is late as well with %v, want %v to %v", r, joint, lo, hi)
		}
	}
}
