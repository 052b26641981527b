package costmodel

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/testbed"
)

// A truth is a program on 150 assignments of random shape: computing that some cores share and
// some do not, memory that may be short, and requests of which computing hides some.
type truth struct {
	space                      *assay.Space
	attrs                      []attribute
	work, serial, trips, hides float64
	short, curve, noise        float64
}

func newTruth(t testing.TB, seed uint64) truth {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{
		{Name: "cpu", Kind: assay.Ordinal, Levels: []string{"0.25", "0.5", "1", "2", "4"}},
		{Name: "rtt", Kind: assay.Ordinal, Levels: []string{"0", "2", "5", "10", "15", "20"}},
		{Name: "memory", Kind: assay.Ordinal, Levels: []string{"1", "2", "4", "8", "16"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 77))
	between := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rng.Float64()) }
	return truth{
		space: space, attrs: attributesOf(space, nil),
		work: between(5, 50), serial: rng.Float64() * 0.5, trips: between(0.05, 3), hides: rng.Float64(),
		short: rng.Float64(), curve: between(0.5, 2), noise: between(0.02, 0.1),
	}
}

// parts returns the seconds of computing and of waiting, without noise.
func (u truth) parts(c assay.Config) (compute, stall float64) {
	cpu, rtt, memory := u.attrs[0].number(c[0]), u.attrs[1].number(c[1]), u.attrs[2].number(c[2])
	compute = u.work * (u.serial + (1-u.serial)/cpu) * (1 + u.short*math.Pow(memory, -u.curve))
	stall = max(u.trips*rtt-u.hides*compute, 0.2*u.trips*rtt) + 0.5
	return compute, stall
}

func (u truth) run(c assay.Config, rng *rand.Rand) assay.Measurement {
	a, s := u.parts(c)
	a, s = a*math.Exp(u.noise*rng.NormFloat64()), s*math.Exp(u.noise*rng.NormFloat64())
	// One noise of the whole run, as of a machine that is slower for a while.
	v := math.Exp(u.noise * rng.NormFloat64())
	return assay.Measurement{Elapsed: time.Duration((a + s) * v * 1e9), Metrics: map[string]float64{
		"cpu": a * v, "data_flow": 1e6, "network_time": s * v, "disk_time": 0,
	}}
}

// A checked has the accuracy of a model for new runs, after a number of its own.
type checked struct{ covered, shown, true, miss float64 }

// check learns a truth, and compares models with a new run of every assignment that was not run.
func (u truth) check(t testing.TB, seed uint64, at []int) map[int]checked {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 78))
	l := NewActiveLearner(u.space, Options{Seed: seed})
	out := map[int]checked{}
	for n := 1; n <= at[len(at)-1]; n++ {
		ps, err := l.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		tr := assay.Trial{Proposal: ps[0], State: assay.Done, Measurement: u.run(ps[0].Config, rng)}
		if err := l.Tell(tr); err != nil {
			t.Fatal(err)
		}
		for _, k := range at {
			if k == n {
				out[n] = u.compare(t, l, rng)
			}
		}
	}
	return out
}

func (u truth) compare(t testing.TB, l *ActiveLearner, rng *rand.Rand) checked {
	t.Helper()
	return compareWith(t, l, u.space, func(c assay.Config) float64 { return u.run(c, rng).Elapsed.Seconds() })
}

// compareWith compares the model with a new run of every assignment that was not run.
func compareWith(t testing.TB, l *ActiveLearner, space *assay.Space, run func(assay.Config) float64) checked {
	t.Helper()
	m, err := l.Model()
	if err != nil {
		t.Fatal(err)
	}
	var y, f []float64
	var r checked
	for c := range space.All() {
		if _, ran := l.seen[c.Key()]; ran {
			continue
		}
		p, x := m.Predict(c), run(c)
		y, f = append(y, x), append(f, p.Seconds)
		if p.Low <= x && x <= p.High {
			r.covered++
		}
	}
	r.covered /= float64(len(y))
	r.shown, r.true = m.Elsewhere(), stats.MAPE(y, f)
	r.miss = math.Abs(r.shown-r.true) / r.true
	return r
}

// With noise and few runs, 95 % intervals hold at least 93 % of new runs on assignments that were
// not run, and the error shown is within a quarter of the true one in the median, of 12 programs;
// all 12 with ASSAY_SOAK, and of 4 of them that intervals hold otherwise. After 8 runs the error shown for one program
// may be far off: true ones are between 4 and 300 %. With the likeliest surface alone they held 73,
// 80 and 82 % after 8, 16 and 24 runs, and leave-one-out was 40, 23 and 10 % too low.
func TestIntervalsHold(t *testing.T) {
	at, n := []int{8, 16, 24}, uint64(3)
	if testbed.IsSystem() {
		n = 12
	}
	rows := map[int][]checked{}
	for i := range n {
		for k, c := range newTruth(t, i).check(t, i, at) {
			rows[k] = append(rows[k], c)
		}
	}
	for _, k := range at {
		var covered, miss, bias []float64
		for _, c := range rows[k] {
			covered, miss, bias = append(covered, c.covered), append(miss, c.miss), append(bias, c.shown/c.true-1)
		}
		got, off := stats.Mean(covered), stats.Median(bias)
		t.Logf("%d runs: %.3f covered, shown %+.2f of the true error, %.2f away", k, got, off, stats.Median(miss))
		if got < 0.93 {
			t.Errorf("%d runs: intervals of 95 %% hold %.3f", k, got)
		}
		if n == 12 && !(math.Abs(off) <= 0.25) {
			t.Errorf("%d runs: the error shown is %+.2f off in the median", k, off)
		}
	}
}

// The stop rule holds with noise: where it ends the learning of 12 programs, the true error is not above
// the target by more than a quarter in the median, and it takes more than five runs.
func TestStopRuleHolds(t *testing.T) {
	if os.Getenv("ASSAY_SOAK") == "" {
		t.Skip("SKIPPED: learns 12 programs, set ASSAY_SOAK=1")
	}
	const target = 12
	var over, runs []float64
	for i := range uint64(12) {
		u, rng := newTruth(t, i), rand.New(rand.NewPCG(i, 79))
		l := NewActiveLearner(u.space, Options{Seed: i, Target: target})
		for {
			ps, err := l.Ask(1)
			if err != nil {
				break
			}
			tr := assay.Trial{Proposal: ps[0], State: assay.Done, Measurement: u.run(ps[0].Config, rng)}
			if err := l.Tell(tr); err != nil {
				t.Fatal(err)
			}
		}
		r := u.compare(t, l, rng)
		over, runs = append(over, r.true/target), append(runs, float64(len(l.runs)))
	}
	t.Logf("%.2f of the target, %.2f at most; %v runs", stats.Median(over), stats.Max(over), runs)
	if stats.Median(over) > 1.25 || stats.Median(runs) <= 5 {
		t.Errorf("%.2f of the target in the median after %v runs", stats.Median(over), runs)
	}
}
