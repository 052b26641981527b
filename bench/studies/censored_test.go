package studies

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stats"
	"github.com/assay-run/assay/stop"
)

// "Cello's censored regression reduces prediction error (as mean squared error)
// for latency and energy by 60 % and 82 % over standard regression", averaged over
// "all time intervals".
// Reference: Ding et al. 2022, section 5.3 and Figure 8
//
// Here that holds in the first half of a run and not in the second, as
// docs/results/cello.md shows: a censored row close to its true value is
// overrated, which standard regression, blind to the time passed, is not.
//
// The trials of Bayesian optimization (10 at random, then 20) are known,
// and 40 other runs are predicted when 1/10, ..., 9/10 of their time has passed.
func TestCensoredRegression(t *testing.T) {
	if os.Getenv("ASSAY_SOAK") == "" {
		t.Skip("SKIPPED: half a minute of fits (set ASSAY_SOAK=1)")
	}
	const known, probes, seeds = 30, 40, 3
	var half []float64 // log ratio of the errors at half of the run
	for _, file := range []string{
		"perfevo-hsqldb-time.yaml", "perfevo-hsqldb-energy.yaml", "ase17-x264-azure.yaml",
		"spl-dune.yaml", "inputs-x264.yaml",
	} {
		t.Run(file, func(t *testing.T) {
			st, table := load(t, file)
			space, err := st.Space()
			if err != nil {
				t.Fatal(err)
			}
			goal, err := st.Goal()
			if err != nil {
				t.Fatal(err)
			}
			value := func(c assay.Config) float64 {
				m, ok := table.Mean(c)
				if !ok {
					return math.NaN()
				}
				v, err := goal.Value(m)
				if err != nil {
					return math.NaN()
				}
				return v
			}
			var censored, standard [9]float64
			for seed := range uint64(seeds) {
				b := search.NewBayes(space, search.BayesOptions{Learner: model.Forest{Trees: 30, Seed: seed}, Seed: seed})
				var history []assay.Trial
				for len(history) < known {
					ps, err := b.Ask(1)
					if err != nil {
						t.Fatal(err)
					}
					tr := assay.Trial{Proposal: ps[0], State: assay.Done, Value: value(ps[0].Config)}
					if err := b.Tell(tr); err != nil {
						t.Fatal(err)
					}
					history = append(history, tr)
				}
				cr := stop.NewPredictive(space, stop.PredictiveOptions{Seed: seed})
				sr := stop.NewPredictive(space, stop.PredictiveOptions{Seed: seed, Learner: model.Boost{}, Standard: true})
				rng := rand.New(rand.NewPCG(seed, 1))
				for range probes {
					c, _ := space.Draw(rng)
					v := value(c)
					for k := range 9 {
						run := assay.Trial{Proposal: assay.Proposal{ID: 1000, Config: c}, Value: v * float64(k+1) / 10}
						for rule, sum := range map[*stop.Predictive]*[9]float64{cr: &censored, sr: &standard} {
							e := rule.Predict(history, run) - v
							sum[k] += e * e
						}
					}
				}
			}
			var all [2]float64
			line := ""
			for k := range 9 {
				all[0] += censored[k]
				all[1] += standard[k]
				line += fmt.Sprintf(" %.2f", censored[k]/standard[k])
			}
			t.Logf("MSE of censored / standard regression at 1/10 ... 9/10 of the run:%s; all: %.2f", line, all[0]/all[1])
			half = append(half, math.Log(censored[4]/standard[4]))
		})
	}
	if len(half) > 0 && !(stats.Mean(half) < math.Log(0.6)) {
		t.Errorf("at half of a run the errors are %.2f times those of standard regression, "+
			"in the geometric mean; want less than 0.6", math.Exp(stats.Mean(half)))
	}
}
