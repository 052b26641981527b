package costmodel

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// Estimates of the true error after few runs, beside the one that is shown, on 60 programs of five families at
// seeds that no rule was made on: how far each is away in the median, relative to the true one. None is much better,
// so the shown one stays. Four new runs at random assignments, spent on nothing but a test, do not get within a
// quarter either. The numbers are in lab/notes/nimo.md.
func TestErrorEstimates(t *testing.T) {
	if os.Getenv("ASSAY_SOAK") == "" {
		t.Skip("SKIPPED: learns 60 programs, set ASSAY_SOAK=1")
	}
	kinds := map[string]func(t testing.TB, seed uint64) program{
		"truth": func(t testing.TB, seed uint64) program {
			u := newTruth(t, seed)
			return program{u.space, u.run}
		},
	}
	for name, kind := range families {
		kinds[name] = kind
	}
	names := []string{
		"shown", "leave-one-out", "pooled over targets", "bootstrap", "pooled and bootstrap", "4 new runs", "8 new runs",
	}
	for _, n := range []int{8, 16} {
		away := make([][]float64, len(names))
		for seed := uint64(9000); seed < 9012; seed++ {
			for _, kind := range kinds {
				for i, estimate := range estimatesOf(t, kind(t, seed), seed, n) {
					away[i] = append(away[i], estimate)
				}
			}
		}
		for i, name := range names {
			t.Logf("%d runs: %s is %.2f away", n, name, stats.Median(away[i]))
			if i > 0 && i < 5 && stats.Median(away[i]) < stats.Median(away[0])-0.1 {
				t.Errorf("%d runs: %s is much nearer to the true error than what is shown", n, name)
			}
		}
	}
}

// estimatesOf learns a program from n runs and returns how far estimates of the error are from the true one.
func estimatesOf(t testing.TB, p program, seed uint64, n int) (away []float64) {
	rng := rand.New(rand.NewPCG(seed, 78))
	l := NewActiveLearner(p.space, Options{Seed: seed})
	for range n {
		ps, err := l.Ask(1)
		if err != nil {
			t.Fatal(err)
		}
		tr := assay.Trial{Proposal: ps[0], State: assay.Done, Measurement: p.run(ps[0].Config, rng)}
		if err := l.Tell(tr); err != nil {
			t.Fatal(err)
		}
	}
	m, err := l.Model()
	if err != nil {
		t.Fatal(err)
	}
	var errs []float64 // of new runs of all others, in percent
	for c := range p.space.All() {
		if _, ran := l.seen[c.Key()]; !ran {
			x := p.run(c, rng).Elapsed.Seconds()
			errs = append(errs, 100*math.Abs(m.Predict(c).Seconds-x)/x)
		}
	}
	boot, pooled := m.bootstrapError(rng), m.pooledError()
	estimates := []float64{m.Elsewhere(), m.Error(), pooled, boot, math.Sqrt(math.Hypot(boot, m.Error()) * pooled)}
	for _, k := range []int{4, 8} {
		sum := 0.0
		for range k {
			sum += errs[rng.IntN(len(errs))] / float64(k)
		}
		estimates = append(estimates, sum)
	}
	for _, e := range estimates {
		away = append(away, math.Abs(e/stats.Mean(errs)-1))
	}
	return away
}

// pooledError is the error that the deviations over the space stand for, scaled by the residuals of leave-one-out in
// units of their own deviations, which ten residuals as they should be are pooled with.
func (m *Model) pooledError() float64 {
	_, deviations := m.without(Time)
	if deviations == nil {
		return m.error
	}
	const prior = 10
	sum := prior * math.Sqrt(2/math.Pi)
	for i, r := range m.residuals {
		sum += math.Abs(r) / deviations[i]
	}
	scale := sum / float64(prior+len(m.residuals)) / math.Sqrt(2/math.Pi)
	return scale / m.spread * m.expected(someOf(m.space, rand.New(rand.NewPCG(0, 0))))
}

// bootstrapError is how far models of runs that are drawn anew are from this one over the space: each run is the
// model's prediction of it, times a residual of leave-one-out.
func (m *Model) bootstrapError(rng *rand.Rand) float64 {
	var all []float64
	for range 8 {
		var runs []Run
		for _, r := range m.runs {
			f := m.Predict(r.Config).Seconds / r.Seconds * math.Exp(m.residuals[rng.IntN(len(m.residuals))])
			r.Seconds *= f
			r.Compute, r.Network, r.Disk, r.Other = r.Compute*f, r.Network*f, r.Disk*f, r.Other*f
			runs = append(runs, r)
		}
		other, err := newModel(m.space, runs, nil, m.forms)
		if err != nil {
			continue
		}
		for _, c := range someOf(m.space, rand.New(rand.NewPCG(0, 0))) {
			all = append(all, 100*math.Abs(other.Predict(c).Seconds/m.Predict(c).Seconds-1))
		}
	}
	return stats.Mean(all)
}
