package stop_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
	"github.com/assay-run/assay/stop"
)

// A witness keeps the data that it was fitted to, and predicts a constant.
type witness struct {
	fits *[]assay.Data
	mean float64
}

func (w witness) Fit(d assay.Data) (assay.Predictor, error) {
	*w.fits = append(*w.fits, d)
	return constant{mean: w.mean}, nil
}

// "Build censored regressor on Xtrain, Ytrain, xi, yit": the running trial is one
// more row, and it is censored at its value so far. Violators enter with "an
// extremely high value", ten times the worst of a finished trial.
// Reference: Ding et al. 2022, Algorithm 1, lines 11 and 19 to 22
func TestTrainingRows(t *testing.T) {
	space := integers(t, 20, 20)
	at := func(id int64, state assay.State, value, a float64, predicted float64) assay.Trial {
		tr := trial(id, state, value)
		tr.Config = assay.Config{a, 0}
		if state == assay.Censored {
			tr.Decision = &assay.Decision{Stop: true, Predicted: predicted}
		}
		return tr
	}
	history := []assay.Trial{
		at(1, assay.Done, 50, 1, 0), at(2, assay.Done, 80, 2, 0), at(3, assay.Infeasible, 3, 3, 0),
		at(4, assay.Censored, 30, 4, 90), at(5, assay.Censored, 40, 5, math.NaN()), at(6, assay.Failed, math.Inf(1), 6, 0),
	}
	running := runningAt(9, assay.Config{7, 0}, 20)
	type row struct {
		a, y     float64
		censored bool
	}
	done := []row{{1, 50, false}, {2, 80, false}, {3, 800, false}}
	live := row{7, 20, true}
	for _, tt := range []struct {
		name string
		opts stop.PredictiveOptions
		want []row
	}{
		{"drop", stop.PredictiveOptions{}, append(slices.Clone(done), live)},
		{
			"keep",
			stop.PredictiveOptions{Stopped: stop.KeepStopped},
			append(slices.Clone(done), row{4, 30, true}, row{5, 40, true}, live),
		},
		{
			"impute",
			stop.PredictiveOptions{Stopped: stop.ImputeStopped},
			append(slices.Clone(done), row{4, 90, false}, row{5, 40, false}, live),
		},
		{"standard", stop.PredictiveOptions{Standard: true}, done},
		{"standard, keep", stop.PredictiveOptions{Standard: true, Stopped: stop.KeepStopped}, done},
	} {
		var fits []assay.Data
		tt.opts.After, tt.opts.Learner = 1, witness{&fits, 10}
		stop.NewPredictive(space, tt.opts).Decide(history, running)
		if len(fits) != 1 {
			t.Fatalf("%s: %d fits, want one", tt.name, len(fits))
		}
		var got []row
		for i, x := range fits[0].X {
			c := fits[0].Censored != nil && fits[0].Censored[i]
			got = append(got, row{math.Round(20 * x[0]), fits[0].Y[i], c})
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: fitted to %v, want %v", tt.name, got, tt.want)
		}
	}
}

// published is the censored regression of the paper, put together from its parts: of
// all nine pairs of scale and learning rate that with the least loss on held-out
// rows, fitted to the finished trials and the running one.
// Reference: Ding et al. 2022, section 4.4
func published(
	t *testing.T, space *assay.Space, form model.AFT,
	history []assay.Trial, running assay.Trial, seed uint64,
) (float64, model.AFT) {
	t.Helper()
	var d assay.Data
	for _, h := range history {
		d.X, d.Y, d.Censored = append(d.X, space.Encode(h.Config)), append(d.Y, h.Value), append(d.Censored, false)
	}
	chosen, err := model.TunedAFT{
		AFT: form, Scales: []float64{0.2, 0.3, 0.4}, Rates: []float64{0.2, 0.25, 0.3}, Seed: seed,
	}.Choose(d)
	if err != nil {
		t.Fatal(err)
	}
	d.X, d.Y, d.Censored = append(d.X, space.Encode(running.Config)), append(d.Y, running.Value), append(d.Censored, true)
	p, err := chosen.Fit(d)
	if err != nil {
		t.Fatal(err)
	}
	return max(p.Predict(space.Encode(running.Config)).Mean, running.Value), chosen
}

// The prediction is from the distribution and the start that are asked for, from the
// pair that cross-validation chooses, and from the running trial as a censored row. No
// other regression predicts the same.
func TestPredictionIsThePublishedOne(t *testing.T) {
	space := integers(t, 20, 20)
	pairs := map[[2]float64]bool{}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 9))
		noise := []float64{0.02, 0.3, 0.8}[seed%3]
		var history []assay.Trial
		for i := range 22 { // a number at which choices are made anew
			c := assay.Config{float64(rng.IntN(21)), float64(rng.IntN(21))}
			tr := trial(int64(i+1), assay.Done, slope(c)*math.Exp(noise*rng.NormFloat64()))
			tr.Config = c
			history = append(history, tr)
		}
		running := runningAt(99, assay.Config{float64(rng.IntN(21)), 3}, 9)
		var all []float64
		for _, form := range []model.AFT{
			{}, {Distribution: model.Normal}, {Distribution: model.Logistic}, {Base: 0.5},
		} {
			rule := stop.NewPredictive(space, stop.PredictiveOptions{After: 1, AFT: form, Seed: seed})
			got := rule.Predict(history, running)
			want, chosen := published(t, space, form, history, running, seed)
			if !(math.Abs(got-want) <= 1e-12*want) {
				t.Errorf("seed %d, %+v: predicted %v, want %v", seed, form, got, want)
			}
			pairs[[2]float64{chosen.Scale, chosen.Boost.Rate}] = true
			all = append(all, want)
		}
		slices.Sort(all)
		if len(slices.Compact(all)) != 4 {
			t.Errorf("seed %d: two of the forms predict the same: %v", seed, all)
		}
	}
	if len(pairs) < 6 {
		t.Errorf("cross-validation chose only the pairs %v", pairs)
	}
}
