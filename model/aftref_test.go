package model

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// reference returns the contents of a file of the recorded XGBoost 1.7.4 runs, or
// skips.
func reference(t testing.TB, name string) []byte {
	t.Helper()
	b, err := io.ReadAll(referenceFile(t, "aft", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func referenceJSON[T any](t testing.TB, name string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(reference(t, name), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// aftTable is a table of 25 features and the outcome under each censoring.
type aftTable struct {
	x      [][]float64
	t      []float64
	lo, up map[string][]float64
}

func referenceTable(t testing.TB, name string) aftTable {
	t.Helper()
	f, err := csv.NewReader(bytes.NewReader(reference(t, filepath.Join("data", name)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	const d = 25
	a := aftTable{lo: map[string][]float64{}, up: map[string][]float64{}}
	for _, r := range f[1:] {
		v := make([]float64, len(r))
		for j, s := range r {
			if v[j], err = strconv.ParseFloat(s, 64); err != nil {
				t.Fatal(err)
			}
			v[j] = float64(float32(v[j])) // as XGBoost keeps features and labels
		}
		a.x = append(a.x, v[:d:d])
		a.t = append(a.t, v[d])
		for k, c := range []string{"rand", "thr"} {
			a.lo[c] = append(a.lo[c], v[d+1+2*k])
			a.up[c] = append(a.up[c], v[d+2+2*k])
		}
	}
	return a
}

func (a aftTable) data(censoring string) assay.Data {
	d := assay.Data{X: a.x, Y: a.lo[censoring]}
	for _, u := range a.up[censoring] {
		d.Censored = append(d.Censored, math.IsInf(u, 1))
	}
	return d
}

type aftCase struct {
	N          int       `json:"n"`
	Censoring  string    `json:"censoring"`
	Base       string    `json:"base"`
	BaseScore  float64   `json:"base_score"`
	Depth      int       `json:"max_depth"`
	Dist       string    `json:"dist"`
	Scale      float64   `json:"sigma"`
	Rate       float64   `json:"lr"`
	Train      float64   `json:"train_nloglik"`
	Holdout    float64   `json:"holdout_nloglik"`
	Uncensored float64   `json:"holdout_uncensored_nloglik"`
	RMSE       float64   `json:"holdout_log_rmse"`
	Margins    []float64 `json:"holdout_margin_first5"`
}

func (c aftCase) learner() AFT {
	a := AFT{Scale: c.Scale, Boost: Boost{Rounds: 20, Rate: c.Rate, MaxDepth: c.Depth}}
	for i, n := range distributionNames {
		if n == c.Dist {
			a.Distribution = Distribution(i)
		}
	}
	return a.withDefaults()
}

// fitReference fits with the recorded base score, which is rounded to 1e-4.
func (c aftCase) fit(cols *columns, d assay.Data) *AFTModel {
	a := c.learner()
	logY, _ := checkAFT(d)
	l := newAFTLoss(a.Distribution, a.Scale, logY, d.Censored)
	l.base = float64(float32(math.Log(float64(float32(c.BaseScore)))))
	return newAFTModel(a.Distribution, a.Scale, boost(cols, a.Boost, l), l.base)
}

// metric is XGBoost's aft-nloglik: the loss of y itself, bounded by -log 1e-12.
func (c aftCase) metric(m *AFTModel, d assay.Data) (loss, rmse float64) {
	margins := make([]assay.Prediction, len(d.X))
	m.trees.margins(d.X, margins)
	for i, y := range logs(d.Y) {
		g := margins[i].Mean
		s := (y - g) / c.Scale
		v := -m.dist.logSurvival(s)
		if d.Censored == nil || !d.Censored[i] {
			v = math.Log(c.Scale) + y - m.dist.logDensity(s)
		}
		loss += min(v, -math.Log(1e-12))
		rmse += (y - g) * (y - g)
	}
	n := float64(len(d.X))
	return loss / n, math.Sqrt(rmse / n)
}

// TestAFTReference repeats 864 recorded trainings of XGBoost 1.7.4 with
// tree_method=exact: three distributions, scales and rates, five sizes, two kinds
// of censoring, two depths, and XGBoost's own base score as well as the geometric
// mean. Half of those with the former are a matter of rounding in the tails.
func TestAFTReference(t *testing.T) {
	ref := referenceJSON[struct{ Cases []aftCase }](t, "ref_aft.json")
	tables := map[int]aftTable{}
	cols := map[int]*columns{}
	holdout := referenceTable(t, "holdout.csv")
	if len(ref.Cases) != 864 {
		t.Errorf("%d recorded cases, want 864", len(ref.Cases))
	}
	var worst float64
	for i, c := range ref.Cases {
		if i%12 != 0 && !testbed.IsSystem() {
			continue // make test takes one in twelve
		}
		if _, ok := tables[c.N]; !ok {
			tables[c.N] = referenceTable(t, fmt.Sprintf("train_%d.csv", c.N))
			cols[c.N] = newColumns(tables[c.N].x)
		}
		d := tables[c.N].data(c.Censoring)
		m := c.fit(cols[c.N], d)
		train, _ := c.metric(m, d)
		hold, rmse := c.metric(m, assay.Data{X: holdout.x, Y: holdout.t})
		for _, p := range []struct {
			name      string
			got, want float64
		}{
			{"training loss", train, c.Train},
			{"holdout loss", hold, c.Uncensored},
			{"holdout RMSE of the logarithm", rmse, c.RMSE},
		} {
			e := math.Abs(p.got/p.want - 1)
			worst = max(worst, e)
			if !(e < 1e-4) {
				t.Errorf("%+v: %s: got %v, want %v", c, p.name, p.got, p.want)
			}
		}
		for i, want := range c.Margins {
			if got := m.Margin(holdout.x[i]); !(math.Abs(got-want) < 1e-4*max(1, math.Abs(want))) {
				t.Errorf("%+v: margin of holdout row %d: got %v, want %v", c, i, got, want)
			}
		}
		// The recorded values use a base score rounded to 1e-4.
		if base := newAFTLoss(Extreme, 1, logs(d.Y), nil).base; c.Base == "geomean" &&
			!(math.Abs(math.Exp(base)-c.BaseScore) <= 1e-3) {
			t.Errorf("n = %d: base %v, want %v", c.N, math.Exp(base), c.BaseScore)
		}
	}
	t.Logf("largest relative difference of a loss: %.2g", worst)
}

func TestAFTReferenceDerivatives(t *testing.T) {
	type derivatives struct{ Grad, Hess []float64 }
	ref := referenceJSON[struct {
		Y       float64 `json:"y_lower"`
		Margins []float64
		Values  map[string]derivatives
	}](t, "ref_gradhess.json")
	checked := 0
	for d, name := range distributionNames {
		for _, scale := range []float64{0.2, 0.3, 0.4} {
			for _, kind := range []string{"uncensored", "right"} {
				key := fmt.Sprintf("%s_%v_%s", name, scale, kind)
				want, ok := ref.Values[key]
				if !ok {
					t.Errorf("no values of %s", key)
				}
				ς := float64(float32(scale))
				for i, m := range ref.Margins {
					got := Distribution(d).derivatives((math.Log(ref.Y)-m)/ς, kind == "right", ς)
					checked++
					if e := math.Abs(got.g - want.Grad[i]); e > 1e-6*max(math.Abs(want.Grad[i]), 1e-20) {
						t.Errorf("%s at %v: gradient %v, want %v", key, m, got.g, want.Grad[i])
					}
					// Hessians are differences of near-equals in the tails.
					if e := math.Abs(got.h - want.Hess[i]); e > 1e-6*max(want.Hess[i], 1e-6) {
						t.Errorf("%s at %v: hessian %v, want %v", key, m, got.h, want.Hess[i])
					}
				}
			}
		}
	}
	if checked != 18*len(ref.Margins) || len(ref.Margins) < 50 {
		t.Errorf("%d values checked", checked)
	}
}

// xgbNode is a node of XGBoost's JSON dump. x < Cond goes to Children[0].
type xgbNode struct {
	Split             string
	Cond              float64 `json:"split_condition"`
	Leaf, Cover, Gain float64
	Children          []xgbNode
}

// sameTree compares node i of got and the nodes below it with want.
func sameTree(got Tree, i int32, want xgbNode, path string) error {
	n := got[i]
	if !(math.Abs(n.Cover/want.Cover-1) < 1e-5) {
		return fmt.Errorf("node %s: cover %v, want %v", path, n.Cover, want.Cover)
	}
	if want.Children == nil {
		if !n.Leaf() || !(math.Abs(n.Value-want.Leaf) <= 1e-5*math.Abs(want.Leaf)+1e-8) {
			return fmt.Errorf("node %s: got %+v, want leaf %v", path, n, want.Leaf)
		}
		return nil
	}
	if fmt.Sprint("f", n.Feature) != want.Split || !(math.Abs(n.Threshold-want.Cond) <= 1e-6*math.Abs(want.Cond)) {
		return fmt.Errorf("node %s: f%d <= %v, want %s < %v", path, n.Feature, n.Threshold, want.Split, want.Cond)
	}
	if err := sameTree(got, n.Left, want.Children[0], path+"L"); err != nil {
		return err
	}
	return sameTree(got, n.Right, want.Children[1], path+"R")
}

func TestAFTReferenceModels(t *testing.T) {
	ref := referenceJSON[struct {
		N         int
		Censoring string
		Sigma     float64
		LR        float64
		Depth     int     `json:"max_depth"`
		BaseScore float64 `json:"base_score"`
		Models    map[string]struct {
			Trees   []xgbNode
			Margins []float64 `json:"holdout_margin"`
		}
	}](t, "ref_model.json")
	table := referenceTable(t, fmt.Sprintf("train_%d.csv", ref.N))
	holdout := referenceTable(t, "holdout.csv")
	for _, name := range distributionNames {
		want, ok := ref.Models[name]
		if !ok {
			t.Errorf("no model of %s", name)
			continue
		}
		c := aftCase{Depth: ref.Depth, Dist: name, Scale: ref.Sigma, Rate: ref.LR, BaseScore: ref.BaseScore}
		m := c.fit(newColumns(table.x), table.data(ref.Censoring))
		trees := m.Ensemble().Trees
		if len(trees) != len(want.Trees) {
			t.Fatalf("%s: got %d trees, want %d", name, len(trees), len(want.Trees))
		}
		for k, w := range want.Trees {
			if err := sameTree(trees[k], 0, w, ""); err != nil {
				t.Errorf("%s: tree %d: %v", name, k, err)
			}
		}
		for i, w := range want.Margins {
			if got := m.Margin(holdout.x[i]); !(math.Abs(got-w) < 1e-4) {
				t.Errorf("%s: margin of row %d: got %v, want %v", name, i, got, w)
			}
		}
	}
}
