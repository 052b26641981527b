package costmodel

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/testbed"
)

// A program has runs with noise, on some assignments.
type program struct {
	space *assay.Space
	run   func(c assay.Config, rng *rand.Rand) assay.Measurement
}

// families are kinds of programs that the rules of intervals and of the error shown were
// not made on; newTruth is that they were.
var families = map[string]func(t testing.TB, seed uint64) program{
	"cluster": newCluster, "compressor": newCompressor, "reader": newReader, "server": newServer,
}

// levelsOf is a space of attributes with levels, in the order of names.
func levelsOf(t testing.TB, names []string, levels ...[]float64) (*assay.Space, []attribute) {
	t.Helper()
	var params []assay.Param
	for i, name := range names {
		p := assay.Param{Name: name, Kind: assay.Ordinal}
		for _, x := range levels[i] {
			p.Levels = append(p.Levels, assay.FormatNumber(x))
		}
		params = append(params, p)
	}
	space, err := assay.NewSpace(params)
	if err != nil {
		t.Fatal(err)
	}
	return space, attributesOf(space, nil)
}

// between draws an amount whose logarithm is uniform.
func between(r *rand.Rand, lo, hi float64) float64 { return lo * math.Pow(hi/lo, r.Float64()) }

func elapsed(s float64) assay.Measurement { return assay.Measurement{Elapsed: time.Duration(s * 1e9)} }

// newCluster is a job on nodes whose memory may be short for its data: a cliff. Its time is all that is
// known.
func newCluster(t testing.TB, seed uint64) program {
	space, at := levelsOf(t, []string{"nodes", "cores", "memory", "data_size"},
		[]float64{2, 4, 8, 16, 32}, []float64{2, 4, 8}, []float64{8, 16, 32, 64}, []float64{10, 20, 40})
	r := rand.New(rand.NewPCG(seed, 901))
	work, talk, start, spill := between(r, 20, 300), between(r, 0.05, 3), between(r, 5, 40), between(r, 0.1, 3)
	grows, noise, need := between(r, 0.8, 1.4), between(r, 0.02, 0.15), between(r, 0.5, 4)
	return program{space, func(c assay.Config, rng *rand.Rand) assay.Measurement {
		n, k, m, d := at[0].number(c[0]), at[1].number(c[1]), at[2].number(c[2]), at[3].number(c[3])
		s := start + 10*work*math.Pow(d/10, grows)/(n*math.Pow(k, 0.8)) + talk*n
		s += work * spill * max(0, 1-m*n/4/(d*need))
		return elapsed(s * math.Exp(noise*rng.NormFloat64()))
	}}
}

// newCompressor is xz by size of input and level, with a step between two levels and noise that
// mostly adds.
func newCompressor(t testing.TB, seed uint64) program {
	space, at := levelsOf(t, []string{"bytes", "level"}, []float64{250e3, 500e3, 1e6, 2e6, 4e6},
		[]float64{0, 1, 2, 3, 4, 5, 6})
	r := rand.New(rand.NewPCG(seed, 902))
	start, rate, step, noise := between(r, 0.005, 0.05), between(r, 0.05, 0.3), between(r, 1.5, 5), between(r, 0.03, 0.2)
	slower := make([]float64, 7)
	for i, x := 0, 1.0; i < len(slower); i++ {
		slower[i] = x
		x *= between(r, 1.05, 1.4)
		if i == 3 {
			x *= step
		}
	}
	return program{space, func(c assay.Config, rng *rand.Rand) assay.Measurement {
		mb := at[0].number(c[0]) / 1e6
		cpu := (start + rate*mb*slower[int(c[1])]*(1+0.1*math.Log2(mb))) * math.Exp(noise*rng.NormFloat64())
		m := elapsed(cpu * (1 + math.Abs(noise*rng.NormFloat64())))
		m.Metrics = map[string]float64{
			"cpu": cpu, "data_flow": at[0].number(c[0]), "network_time": 0, "disk_time": 0.01 * cpu, "stall_time": 0.01 * cpu,
		}
		return m
	}}
}

// newReader reads data over a link and a disk, of which the slower one counts, and computes meanwhile.
func newReader(t testing.TB, seed uint64) program {
	space, at := levelsOf(t, []string{"cpu", "rtt", "bandwidth", "disk"}, []float64{0.5, 0.75, 1},
		[]float64{0, 2, 5, 10, 18}, []float64{20, 50, 100}, []float64{4, 8, 20, 200})
	r := rand.New(rand.NewPCG(seed, 903))
	work, mb, trips := between(r, 1, 30), between(r, 5, 200), between(r, 10, 800)
	ahead, noise := r.Float64(), between(r, 0.02, 0.12)
	return program{space, func(c assay.Config, rng *rand.Rand) assay.Measurement {
		v := math.Exp(noise * rng.NormFloat64())
		a := work / at[0].number(c[0]) * math.Exp(noise*rng.NormFloat64())
		net, disk := mb*8/at[2].number(c[2])+trips*at[1].number(c[1])/1000, mb/at[3].number(c[3])
		io := math.Cbrt(net*net*net + disk*disk*disk)
		wait := max(io-ahead*a, 0.3*io)
		m := elapsed((a + wait + 0.2) * v)
		m.Metrics = map[string]float64{
			"cpu": a * v, "data_flow": mb * 1e6, "network_time": net * v, "disk_time": disk * v, "stall_time": wait * v,
		}
		return m
	}}
}

// newServer answers requests by threads that share a lock, with a cache that misses.
func newServer(t testing.TB, seed uint64) program {
	space, at := levelsOf(t, []string{"threads", "cache", "rows"}, []float64{1, 2, 4, 8, 16},
		[]float64{16, 32, 64, 128, 256, 512}, []float64{1e4, 3e4, 1e5, 3e5, 1e6})
	r := rand.New(rand.NewPCG(seed, 904))
	each, miss, lock := between(r, 1e-5, 1e-3), between(r, 1, 30), between(r, 0.01, 0.3)
	most, skew, noise := between(r, 2, 16), between(r, 0.3, 1.5), between(r, 0.02, 0.15)
	return program{space, func(c assay.Config, rng *rand.Rand) assay.Measurement {
		n, cache, rows := at[0].number(c[0]), at[1].number(c[1]), at[2].number(c[2])
		missed := 1 / (1 + math.Pow(cache/(rows/5e3), skew))
		s := 0.3 + rows*each*(1+miss*missed)*(lock+(1-lock)/min(n, most)+0.004*n)
		return elapsed(s * math.Exp(noise*rng.NormFloat64()))
	}}
}

// learnTo learns a program, and compares models after so many runs with new runs of all others.
func (p program) learnTo(t testing.TB, seed uint64, at []int) map[int]checked {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 78))
	l := NewActiveLearner(p.space, Options{Seed: seed})
	out := map[int]checked{}
	for n := 1; n <= at[len(at)-1]; n++ {
		ps, err := l.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		tr := assay.Trial{Proposal: ps[0], State: assay.Done, Measurement: p.run(ps[0].Config, rng)}
		if err := l.Tell(tr); err != nil {
			t.Fatal(err)
		}
		for _, k := range at {
			if k == n {
				out[n] = compareWith(t, l, p.space, func(c assay.Config) float64 { return p.run(c, rng).Elapsed.Seconds() })
			}
		}
	}
	return out
}

// On other families of programs than the rules were made on, and seeds of their own, intervals hold
// 93 % at least; the error shown is a quarter off in the median of all from 16 runs on, and a third after 8, where the
// true one is between 4 and 300 %. 40 programs in make system, else 8 and intervals alone.
func TestIntervalsHoldElsewhere(t *testing.T) {
	testbed.Long(t)
	at, n := []int{8, 16, 24}, uint64(2)
	if testbed.IsSystem() {
		n = 10
	}
	all := map[int][]float64{}
	held := map[int][]float64{}
	for name, make := range families {
		covered, miss := map[int][]float64{}, map[int][]float64{}
		for seed := range n {
			for k, c := range make(t, 5000+seed).learnTo(t, 5000+seed, at) {
				covered[k], miss[k] = append(covered[k], c.covered), append(miss[k], c.miss)
			}
		}
		for _, k := range at {
			t.Logf("%s, %d runs: %.3f covered, the error shown is %.2f away", name, k, stats.Mean(covered[k]),
				stats.Median(miss[k]))
			all[k], held[k] = append(all[k], miss[k]...), append(held[k], covered[k]...)
		}
	}
	for _, k := range at {
		most := map[int]float64{8: 0.4, 16: 0.3, 24: 0.25}[k]
		t.Logf("all, %d runs: %.3f covered, the error shown is %.2f away", k, stats.Mean(held[k]), stats.Median(all[k]))
		if got := stats.Mean(held[k]); got < 0.93 {
			t.Errorf("%d runs: intervals of 95 %% hold %.3f", k, got)
		}
		if got := stats.Median(all[k]); n == 10 && got > most {
			t.Errorf("%d runs: the error shown is %.2f away from the true one in the median, want %g", k, got, most)
		}
	}
}
