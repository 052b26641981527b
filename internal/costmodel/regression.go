package costmodel

import (
	"fmt"
	"math"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
)

// A Regression is a kind of predictor function.
type Regression uint8

const (
	// Best is a weighted mean of Smooth predictions of the total time and of its separated parts, weighted by their
	// errors.
	Best Regression = iota
	// Linear is the paper's regression: f(ρ) = Σ a_i·g_i(ρ_i) + c by least squares on values normalized by a baseline run.
	// Each g_i is identity or reciprocal, as configured (§4.1, Algorithm 6).
	Linear
	// Pairs is Linear with chosen transformations, products of two of them where
	// they help, and a ridge penalty; see [Pairwise].
	Pairs
	// Smooth is a [Surface], of the logarithms if all values are positive.
	Smooth
	// Process is a Gaussian process without transformations, see model.GP.
	Process
	// Trees is a random forest, see model.Forest.
	Trees
)

// The names are part of the format of a saved model.
var regressionNames = [...]string{"best", "linear", "pairs", "smooth", "process", "trees"}

// String returns "best", "linear", "pairs", "smooth", "process" or "trees".
func (r Regression) String() string {
	if int(r) < len(regressionNames) {
		return regressionNames[r]
	}
	return fmt.Sprintf("Regression(%d)", uint8(r))
}

// ParseRegression is the inverse of [Regression.String].
func ParseRegression(name string) (Regression, error) {
	for i, n := range regressionNames {
		if n == name {
			return Regression(i), nil
		}
	}
	return 0, fmt.Errorf("no regression %q", name)
}

// A form is the specification of one predictor function. The form and the runs determine the function, so that a saved
// model holds forms and no coefficients.
type form struct {
	part       Part        // that it predicts
	regression Regression  // not Best
	attributes []int       // the parameters that it depends on, none for a constant
	transforms []Transform // one for each of attributes; nil for all but Linear
	runs       []int       // which runs it is fitted to; nil means all
	base       int         // index of the baseline run R_b; of no interest but for Linear
}

// A function is a fitted predictor function of an assignment: outcome = scale·inner(features),
// or scale·exp(inner(features)) if log. It is immutable.
type function struct {
	form
	attrs   []attribute     // all parameters of the space
	base    assay.Config    // R_b, the baseline assignment
	scale   float64         // outcomes were divided by it
	log     bool            // outcomes were then taken the logarithm of
	inner   assay.Predictor // the fitted regression
	surface *surface        // inner, if it is one
}

// features returns the row of features of c, in the order of the form's attributes. Linear
// functions see the transformed value relative to the baseline's, g(ρ)/g(ρ_b) (Algorithm 6).
// All others see ρ itself, since they choose transformations or need none. A category has one
// 0/1 feature for each level.
func (f *function) features(c assay.Config) []float64 {
	row := make([]float64, 0, len(f.attributes))
	for k, i := range f.attributes {
		switch {
		case f.regression == Linear:
			row = f.attrs[i].appendFeatures(row, c[i], f.transforms[k], f.base[i])
		case f.attrs[i].numeric:
			row = append(row, f.attrs[i].number(c[i]))
		default:
			row = f.attrs[i].appendFeatures(row, c[i], Identity, 0)
		}
	}
	return row
}

// at returns the prediction of the part at c: a mean that is at least 0, and its standard deviation. For a fit of
// logarithms, mean is the median and log the deviation of the logarithm; otherwise log is std/mean.
func (f *function) at(c assay.Config) (mean, std, log float64) {
	return f.unscale(f.inner.Predict(f.features(c)))
}

// unscale turns a prediction of the inner learner into one of the part. An exponent is cut off
// at 600, below the overflow of exp at 709: a prediction that far out is no number to act on,
// but it must stay finite.
func (f *function) unscale(q assay.Prediction) (mean, std, log float64) {
	if f.log {
		mean = f.scale * math.Exp(min(q.Mean, 600))
		return mean, mean * q.Std, q.Std
	}
	mean, std = max(0, f.scale*q.Mean), f.scale*q.Std
	return mean, std, std / mean
}

// bounds returns the range of each feature, for regressions that use it.
func (f *function) bounds() (lo, hi []float64) {
	for _, i := range f.attributes {
		a := f.attrs[i]
		for range a.columns() {
			lo, hi = append(lo, a.lo), append(hi, a.hi)
		}
	}
	return lo, hi
}

// fit fits a form to the runs but those for which without holds (nil means none). It
// returns an error that matches assay.ErrTooFew if none is left.
func fit(attrs []attribute, runs []Run, fm form, without func(int) bool) (*function, error) {
	var d assay.Data
	f := &function{form: fm, attrs: attrs, scale: 1, base: runs[fm.base].Config}
	if fm.regression == Linear {
		if b := runs[fm.base].Of(fm.part); b > 0 {
			f.scale = b
		}
	}
	positive := true
	take := func(i int) {
		if without != nil && without(i) {
			return
		}
		y := runs[i].Of(fm.part)
		positive = positive && y > 0
		d.X, d.Y = append(d.X, f.features(runs[i].Config)), append(d.Y, y/f.scale)
	}
	if fm.runs == nil {
		for i := range runs {
			take(i)
		}
	}
	for _, i := range fm.runs {
		take(i)
	}
	if len(d.Y) == 0 {
		return nil, fmt.Errorf("no run to fit %v to: %w", fm.part, assay.ErrTooFew)
	}
	// Run times are compared by ratio. Linear and Pairs are functions of the outcome itself,
	// as in the paper; the others learn its logarithm wherever there is one.
	f.log = positive && fm.regression != Linear && fm.regression != Pairs
	if f.log {
		for i, y := range d.Y {
			d.Y[i] = math.Log(y)
		}
	}
	var err error
	f.inner, err = f.learner().Fit(d)
	if s, ok := f.inner.(*surface); ok {
		f.surface = s
	}
	return f, err
}

// learner returns the learner of the form, with the range of the space: predictions cover all of it, whatever the range
// of the runs.
func (f *function) learner() assay.Learner {
	lo, hi := f.bounds()
	switch f.regression {
	case Linear:
		return model.Linear{}
	case Pairs:
		return Pairwise{Lo: lo, Hi: hi}
	case Process:
		return model.GP{}
	case Trees:
		return model.Forest{}
	}
	s := Surface{Lo: lo, Hi: hi}
	if f.log {
		s.Scale = 1 // run times vary by a factor of e or so over the range of an attribute
	}
	if f.part == Time && f.log {
		s.Trend = f.trend()
	}
	return s
}

// trend is the prior mean of log T: the time falls with the root of every capacity. The slope over the whole range of
// an attribute is half the logarithm of hi/lo and 1 at most. For memory it is a quarter of this slope: once the working
// set fits, more does not help. An attribute of unknown direction has no trend. The data soon override it; it helps in
// the first two or three runs.
func (f *function) trend() []float64 {
	var trend []float64
	for _, i := range f.attributes {
		a := f.attrs[i]
		t := 0.0
		if a.numeric && a.lo < a.hi {
			t = 0.5
			if a.lo > 0 {
				t = min(0.5*math.Log(a.hi/a.lo), 1)
			}
			if contains(a.param.Name, []string{"mem"}) { // enough is enough
				t /= 4
			}
		}
		for range a.columns() {
			trend = append(trend, -a.capable*t)
		}
	}
	return trend
}
