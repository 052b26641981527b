package result

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/model"
)

// A Limit holds the learned model of one comparison of the limits of a goal. The chances are NaN if the
// runs do not differ in it, so that nothing was learned.
type Limit struct {
	Text     string
	Measured int     // trials that show exactly whether they keep it
	Broken   int     // of these, trials that do not
	AtBest   float64 // chance that the best configuration keeps it, as the model sees it; NaN without a best
	Anywhere float64 // mean chance over the space
	By       string  // parameter that moves it most; "" if none does
}

// anywhere is the number of configurations that represent the space.
const anywhere = 500

// Limits returns the learned model of each bound of the goal, by a forest of its margin. best is the recommended
// configuration; it may be nil.
func Limits(space *assay.Space, goal assay.Goal, trials []assay.Trial, best assay.Config, seed uint64) []Limit {
	var all []Limit
	for _, b := range goal.Bounds() {
		all = append(all, limit(space, b, trials, best, seed))
	}
	return all
}

func limit(space *assay.Space, b assay.Bound, trials []assay.Trial, best assay.Config, seed uint64) Limit {
	l := Limit{Text: b.Text, AtBest: math.NaN(), Anywhere: math.NaN()}
	sides := make([]model.Sides, len(trials))
	for i, t := range trials {
		sides[i] = model.SidesOf(t, b)
		if sides[i].Known == model.Exact {
			l.Measured++
			if t.State == assay.Infeasible && sides[i].Left > sides[i].Right {
				l.Broken++
			}
		}
	}
	scale := model.NewMarginScale(sides)
	if scale.Usual == 0 || l.Measured < least {
		return l
	}
	var d assay.Data
	for i, x := range sides {
		if x.Known != model.Unknown {
			d.X, d.Y = append(d.X, space.Encode(trials[i].Config)), append(d.Y, scale.Forward(x))
			d.Censored = append(d.Censored, x.Known == model.AtLeast)
		}
	}
	p, err := model.Impute(model.Forest{Trees: trees, Seed: seed}, 0).Fit(d)
	if err != nil {
		return l
	}
	chance := scale.Chance(p)
	at := func(c assay.Config) float64 { return chance.Of(p.Predict(space.Encode(c))) }
	if best != nil {
		l.AtBest = at(best)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	l.Anywhere = 0
	for range anywhere {
		if c, ok := space.Draw(rng); ok {
			l.Anywhere += at(c) / anywhere
		}
	}
	l.By = mover(space, p.(model.Trees).Ensemble(), d.X)
	return l
}

// mover returns the parameter with the largest mean absolute Shapley value over rows; "" if all are 0.
func mover(space *assay.Space, e model.Ensemble, rows [][]float64) string {
	features := space.Features()
	sum := make([]float64, space.Dim())
	for _, x := range rows {
		phi, _ := e.Shap(x)
		of := make([]float64, space.Dim())
		for j, f := range features {
			of[f.Param] += phi[j]
		}
		for i, v := range of {
			sum[i] += math.Abs(v)
		}
	}
	name, most := "", 0.0
	for i, v := range sum {
		if v > most {
			name, most = space.Params[i].Name, v
		}
	}
	return name
}

// A LimitOutput is a Limit as data. Unknown values are left out.
type LimitOutput struct {
	Limit    string   `json:"limit"`
	Measured int      `json:"measured"`
	Broken   int      `json:"broken"`
	AtBest   *float64 `json:"chance_at_best,omitempty"`
	Anywhere *float64 `json:"chance_anywhere,omitempty"`
	By       string   `json:"moved_by,omitempty"`
}

// limitOutputs returns limits as data.
func limitOutputs(limits []Limit) []LimitOutput {
	known := func(x float64) *float64 {
		if math.IsNaN(x) {
			return nil
		}
		return &x
	}
	var all []LimitOutput
	for _, l := range limits {
		all = append(all, LimitOutput{l.Text, l.Measured, l.Broken, known(l.AtBest), known(l.Anywhere), l.By})
	}
	return all
}

// WriteLimits prints the learned limits, nothing without limits.
func WriteLimits(w io.Writer, p report.Palette, limits []Limit) error {
	if len(limits) == 0 {
		return nil
	}
	known := func(x float64) string {
		if math.IsNaN(x) {
			return "–"
		}
		return share(x)
	}
	t := report.NewTable(p, "limit", ">broken by", ">chance at the best", ">chance anywhere", "moved most by")
	for _, l := range limits {
		t.Add(l.Text, fmt.Sprintf("%d of %d", l.Broken, l.Measured), known(l.AtBest), known(l.Anywhere), l.By)
	}
	return t.Write(w)
}
