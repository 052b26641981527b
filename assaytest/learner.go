package assaytest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/assay-run/assay"
)

// LearnerOptions describe the limits of a learner, and its abilities beyond the contract. The zero value is a learner
// that fits a single example and refuses censored ones.
type LearnerOptions struct {
	// Least is how many examples Fit needs: fewer are assay.ErrTooFew. 0 means 1.
	Least int
	// Censored means that the learner uses censored examples.
	Censored bool
	// Tolerance is how far, relative to it, the prediction may be from an
	// outcome that all examples share. 0 means 1e-9.
	Tolerance float64
}

// TestLearner checks the contracts of [assay.Learner], [assay.Predictor] and
// [assay.BatchPredictor]. All outcomes that it fits are positive. It calls
// newLearner anew for each rule. Run it with -race as well.
func TestLearner(t *testing.T, newLearner func() assay.Learner, opts LearnerOptions) {
	t.Helper()
	for _, r := range learnerRules {
		t.Run(r.name, func(t *testing.T) {
			if err := tryLearner(r.check, newLearner, opts); err != nil {
				t.Errorf("%v\nthe rule: %s", err, r.rule)
			}
		})
	}
}

// A learnerRule is one rule of the contract; check returns its first breach.
type learnerRule struct {
	name, rule string
	check      func(newLearner func() assay.Learner, opts LearnerOptions) error
}

// tryLearner fills in the options and makes a panic of the learner a breach.
func tryLearner(check func(func() assay.Learner, LearnerOptions) error, newLearner func() assay.Learner,
	opts LearnerOptions,
) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	opts.Least = max(opts.Least, 1)
	if opts.Tolerance == 0 {
		opts.Tolerance = 1e-9
	}
	return check(newLearner, opts)
}

var learnerRules = []learnerRule{
	{"Learns", "a prediction of the training set must beat the mean outcome", checkLearns},
	{"KeepsData", "Fit must leave its data as it is, and Predict its features", checkKeepsData},
	{"RetainsNothing", "the data belong to the caller again after Fit", checkRetainsNothing},
	{"Censored", "a censored outcome is not an exact one", checkCensored},
	{"TooFew", "too few examples are ErrTooFew", checkTooFew},
	{"BadData", "NaN and infinities are ErrBadData", checkBadData},
	{"Ragged", "rows of different lengths panic", checkRagged},
	{"Deterministic", "equal learners fit equal predictors to equal data", checkDeterministic},
	{"Concurrent", "a Predictor is safe for concurrent use", checkConcurrent},
	{"Batch", "PredictBatch returns the predictions of Predict", checkBatch},
	{"Constant", "where all outcomes are equal, so is every prediction", checkConstant},
	{"Wide", "features may outnumber the examples", checkWide},
	{"OneExample", "one example is enough, or too few", checkOneExample},
	{"Duplicates", "equal features may have different outcomes", checkDuplicates},
}

// examples returns n examples with d features in [0, 1], some of them continuous
// and some with few values, and an outcome in [1, 2 + d] that depends on the
// features smoothly.
func examples(n, d int, seed uint64) assay.Data {
	rng := rand.New(rand.NewPCG(seed, 0))
	var data assay.Data
	for range n {
		x := make([]float64, d)
		y := 1.0
		for j := range x {
			switch j % 3 {
			case 0:
				x[j] = rng.Float64()
			case 1:
				x[j] = float64(rng.IntN(2))
			default:
				x[j] = float64(rng.IntN(5)) / 4
			}
			y += x[j] / float64(1+j)
		}
		data.X, data.Y = append(data.X, x), append(data.Y, y)
	}
	return data
}

// copyData returns a deep copy.
func copyData(d assay.Data) assay.Data {
	c := assay.Data{Y: slices.Clone(d.Y), Censored: slices.Clone(d.Censored)}
	for _, x := range d.X {
		c.X = append(c.X, slices.Clone(x))
	}
	return c
}

// probes are feature vectors inside and outside of the range of examples.
func probes(d int) [][]float64 {
	X := examples(40, d, 99).X
	for _, v := range []float64{0, 1, 0.5, -1, 2} {
		X = append(X, slices.Repeat([]float64{v}, d))
	}
	return X
}

// predictAt returns the predictions at the rows of X, or an error if one is
// not a finite mean with a standard deviation that is NaN, 0 or positive.
func predictAt(p assay.Predictor, X [][]float64) ([]assay.Prediction, error) {
	out := make([]assay.Prediction, len(X))
	for i, x := range X {
		out[i] = p.Predict(x)
		if q := out[i]; math.IsNaN(q.Mean) || math.IsInf(q.Mean, 0) || q.Std < 0 || math.IsInf(q.Std, 0) {
			return nil, fmt.Errorf("the prediction at %v is %+v", x, q)
		}
	}
	return out, nil
}

// fitAndPredict fits a new learner to d and returns its predictions at probes.
func fitAndPredict(newLearner func() assay.Learner, d assay.Data) ([]assay.Prediction, error) {
	p, err := newLearner().Fit(d)
	if err != nil {
		return nil, fmt.Errorf("Fit: %w", err)
	}
	return predictAt(p, probes(len(d.X[0])))
}

// samePredictions returns nil if a and b are equal bit by bit, NaNs too.
func samePredictions(a, b []assay.Prediction) error {
	bits := math.Float64bits
	for i := range a {
		sameStd := bits(a[i].Std) == bits(b[i].Std) || math.IsNaN(a[i].Std) && math.IsNaN(b[i].Std)
		if a[i].Mean != b[i].Mean || !sameStd {
			return fmt.Errorf("prediction %d: got %+v, want %+v", i, b[i], a[i])
		}
	}
	return nil
}

func checkLearns(newLearner func() assay.Learner, _ LearnerOptions) error {
	d := examples(80, 3, 1)
	p, err := newLearner().Fit(d)
	if err != nil {
		return fmt.Errorf("Fit: %w", err)
	}
	out, err := predictAt(p, d.X)
	if err != nil {
		return err
	}
	var mean, residual, total float64
	for _, y := range d.Y {
		mean += y / float64(len(d.Y))
	}
	for i, y := range d.Y {
		residual += (y - out[i].Mean) * (y - out[i].Mean)
		total += (y - mean) * (y - mean)
	}
	if r2 := 1 - residual/total; !(r2 > 0.25) {
		return fmt.Errorf("R² on the training set: got %v, want above 0.25", r2)
	}
	return nil
}

func checkKeepsData(newLearner func() assay.Learner, opts LearnerOptions) error {
	d := examples(30, 4, 2)
	d.Censored = make([]bool, len(d.Y))
	if opts.Censored {
		d.Censored[3], d.Censored[17] = true, true
	}
	before := copyData(d)
	p, err := newLearner().Fit(d)
	if err != nil {
		return fmt.Errorf("Fit: %w", err)
	}
	X := probes(4)
	if _, err := predictAt(p, X); err != nil {
		return err
	}
	if !reflect.DeepEqual(d, before) {
		return errors.New("Fit or Predict changed the data")
	}
	if !reflect.DeepEqual(X, probes(4)) {
		return errors.New("Predict changed its features")
	}
	return nil
}

func checkRetainsNothing(newLearner func() assay.Learner, opts LearnerOptions) error {
	d := examples(30, 4, 3)
	d.Censored = make([]bool, len(d.Y))
	d.Censored[5] = opts.Censored
	want, err := fitAndPredict(newLearner, d)
	if err != nil {
		return err
	}
	p, err := newLearner().Fit(d)
	if err != nil {
		return fmt.Errorf("Fit: %w", err)
	}
	for i, x := range d.X {
		for j := range x {
			x[j] = 100 - x[j]
		}
		d.X[i], d.Y[i], d.Censored[i] = nil, 1000-d.Y[i], !d.Censored[i]
	}
	got, err := predictAt(p, probes(4))
	if err != nil {
		return err
	}
	return samePredictions(want, got)
}

func checkCensored(newLearner func() assay.Learner, opts LearnerOptions) error {
	d := examples(60, 3, 4)
	exact, err := fitAndPredict(newLearner, d)
	if err != nil {
		return err
	}
	d.Censored = make([]bool, len(d.Y))
	none, err := fitAndPredict(newLearner, d)
	if err != nil {
		return fmt.Errorf("no example is censored: %w", err)
	}
	if err := samePredictions(exact, none); err != nil {
		return fmt.Errorf("no censored example is not the same as a nil slice: %w", err)
	}
	for i := range d.Y { // runs that were stopped early
		if i%2 == 0 {
			d.Y[i], d.Censored[i] = d.Y[i]/4, true
		}
	}
	got, err := fitAndPredict(newLearner, d)
	if !opts.Censored {
		if !errors.Is(err, assay.ErrCensored) {
			return fmt.Errorf("Fit: got error %v, want ErrCensored", err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	d.Censored = nil
	low, err := fitAndPredict(newLearner, d)
	if err != nil {
		return err
	}
	var up float64
	for i := range got {
		up += got[i].Mean - low[i].Mean
	}
	if !(up > 0) {
		return errors.New("outcomes of at least y are predicted no higher than outcomes of y")
	}
	return nil
}

func checkTooFew(newLearner func() assay.Learner, opts LearnerOptions) error {
	for _, n := range []int{0, opts.Least - 1} {
		if _, err := newLearner().Fit(examples(n, 3, 5)); !errors.Is(err, assay.ErrTooFew) {
			return fmt.Errorf("Fit of %d examples: got error %v, want ErrTooFew", n, err)
		}
	}
	if _, err := fitAndPredict(newLearner, examples(opts.Least, 3, 5)); err != nil {
		return fmt.Errorf("%d examples: %w", opts.Least, err)
	}
	return nil
}

func checkBadData(newLearner func() assay.Learner, opts LearnerOptions) error {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, at := range []int{0, 11, 19} {
			for _, censored := range []bool{false, opts.Censored} {
				d := examples(20, 3, 6)
				if censored {
					d.Censored = make([]bool, len(d.Y))
					d.Censored[at] = true
				}
				d.X[at][1] = bad
				if _, err := newLearner().Fit(d); !errors.Is(err, assay.ErrBadData) {
					return fmt.Errorf("a feature of example %d is %v: got error %v, want ErrBadData", at, bad, err)
				}
				d.X[at][1], d.Y[at] = 0, bad
				if _, err := newLearner().Fit(d); !errors.Is(err, assay.ErrBadData) {
					return fmt.Errorf("outcome %d is %v: got error %v, want ErrBadData", at, bad, err)
				}
			}
		}
	}
	return nil
}

func checkRagged(newLearner func() assay.Learner, _ LearnerOptions) error {
	for _, at := range []int{1, 19} {
		for _, length := range []int{2, 4} {
			d := examples(20, 3, 7)
			d.X[at] = make([]float64, length)
			if !panics(func() { newLearner().Fit(d) }) {
				return fmt.Errorf("Fit of a row of %d features among rows of 3 did not panic", length)
			}
		}
	}
	return nil
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

func checkDeterministic(newLearner func() assay.Learner, _ LearnerOptions) error {
	d := examples(40, 5, 8)
	want, err := fitAndPredict(newLearner, d)
	if err != nil {
		return err
	}
	l := newLearner()
	for _, name := range []string{"another learner", "the same learner again"} {
		got, err := fitAndPredict(func() assay.Learner { return l }, d)
		if err != nil {
			return err
		}
		if err := samePredictions(want, got); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func checkConcurrent(newLearner func() assay.Learner, _ LearnerOptions) error {
	p, err := newLearner().Fit(examples(40, 5, 9))
	if err != nil {
		return fmt.Errorf("Fit: %w", err)
	}
	X := probes(5)
	want, err := predictAt(p, X)
	if err != nil {
		return err
	}
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for g := range errs {
		wg.Go(func() {
			out := make([]assay.Prediction, len(X))
			for k := range 8 {
				if (g+k)%2 == 0 {
					assay.PredictAll(p, X, out)
				} else {
					for i := range X {
						at := (i + g) % len(X) // not in step
						out[at] = p.Predict(X[at])
					}
				}
				if err := samePredictions(want, out); err != nil {
					errs[g] = err
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func checkBatch(newLearner func() assay.Learner, _ LearnerOptions) error {
	p, err := newLearner().Fit(examples(50, 6, 10))
	if err != nil {
		return fmt.Errorf("Fit: %w", err)
	}
	b, ok := p.(assay.BatchPredictor)
	if !ok {
		return nil
	}
	X := slices.Concat(examples(300, 6, 11).X, probes(6))
	want, err := predictAt(p, X)
	if err != nil {
		return err
	}
	for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 64, len(X)} {
		for _, from := range []int{0, len(X) - n} {
			got := slices.Repeat([]assay.Prediction{{Mean: -1, Std: -1}}, n) // its old content does not matter
			b.PredictBatch(X[from:from+n], got)
			if err := samePredictions(want[from:from+n], got); err != nil {
				return fmt.Errorf("a batch of %d: %w", n, err)
			}
		}
	}
	return nil
}

func checkConstant(newLearner func() assay.Learner, opts LearnerOptions) error {
	for _, y := range []float64{0.1, 3, 1e6} {
		d := examples(25, 4, 12)
		for i := range d.Y {
			d.Y[i] = y
		}
		got, err := fitAndPredict(newLearner, d)
		if err != nil {
			return err
		}
		for _, q := range got {
			if !(math.Abs(q.Mean-y) <= opts.Tolerance*y) {
				return fmt.Errorf("every outcome is %v, and a prediction is %v", y, q.Mean)
			}
		}
	}
	return nil
}

func checkWide(newLearner func() assay.Learner, opts LearnerOptions) error {
	_, err := fitAndPredict(newLearner, examples(max(4, opts.Least), 3*max(4, opts.Least)+70, 13))
	return err
}

func checkOneExample(newLearner func() assay.Learner, opts LearnerOptions) error {
	_, err := fitAndPredict(newLearner, examples(1, 3, 14))
	if opts.Least > 1 && errors.Is(err, assay.ErrTooFew) {
		return nil
	}
	return err
}

func checkDuplicates(newLearner func() assay.Learner, _ LearnerOptions) error {
	d := examples(24, 3, 15)
	for i := range d.X { // three of each, and then all
		copy(d.X[i], d.X[i/3*3])
	}
	if _, err := fitAndPredict(newLearner, d); err != nil {
		return err
	}
	for i := range d.X {
		copy(d.X[i], d.X[0])
	}
	p, err := newLearner().Fit(d)
	if err != nil {
		return fmt.Errorf("Fit: %w", err)
	}
	out, err := predictAt(p, append(probes(3), d.X[0]))
	if err != nil {
		return err
	}
	lo, hi := slices.Min(d.Y), slices.Max(d.Y)
	if m := out[len(out)-1].Mean; m < lo || m > hi {
		return fmt.Errorf("the only features have outcomes from %v to %v, and a prediction is %v", lo, hi, m)
	}
	return nil
}
