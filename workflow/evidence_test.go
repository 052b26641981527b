package workflow

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// oneTerm is a candidate with the terms and no Eq. 3.
func oneTerm(terms ...Term) *candidate { return &candidate{terms: terms} }

// rowsOf are the equations of rows x with targets b.
func rowsOf(x [][]float64, b []float64) *residuals {
	r := &residuals{}
	for i := range x {
		r.add(x[i], b[i], 1)
	}
	return r
}

// TestEvidenceIsAnIntegral compares the evidence of a model with one coefficient, well above 0, with
// the integral over it that Laplace's approximation stands for, which is exact there.
func TestEvidenceIsAnIntegral(t *testing.T) {
	r := rowsOf([][]float64{{0.01}, {0.02}, {0.005}}, []float64{0.9, 2.1, 0.4})
	for _, tt := range []struct {
		term                 Term
		about, spread, scale float64
	}{{Start, 0, 300, 1}, {PerLevel, 0, 90, 3}, {Scale, 1, factorSpread, 3}} {
		const noise = 0.2
		theta, got := oneTerm(tt.term).mode(r, tt.scale, noise)
		sum, h := 0.0, 0.001
		for x := -200.0; x < 400; x += h {
			z := (x - tt.about) / tt.spread
			squares := r.squares - 2*x*r.c[0] + x*x*r.g[0]
			sum += h * math.Exp(-squares/(2*noise*noise)-z*z/2) / (tt.spread * math.Sqrt(2*math.Pi))
		}
		want := math.Log(sum) - 3*math.Log(noise)
		if !(math.Abs(got-want) <= 1e-6) || theta[0] <= 0 {
			t.Errorf("%s: evidence %v at %v, integral %v", tt.term, got, theta[0], want)
		}
	}
}

// TestEvidenceOfTwoTerms is the same for two coefficients that the rows hardly distinguish.
func TestEvidenceOfTwoTerms(t *testing.T) {
	r := rowsOf([][]float64{{0.01, 0.2}, {0.02, 0.1}, {0.01, 0.4}, {0.03, 0.3}}, []float64{0.9, 1, 1.2, 1.8})
	const noise, scale = 0.1, 0.5
	theta, got := oneTerm(PerLevel, PerTask).mode(r, scale, noise)
	sx, sy := scale*termScale[PerLevel], scale*termScale[PerTask]
	sum, h, k := 0.0, 0.25, 0.02
	for x := -50.0; x < 120; x += h {
		for y := -8.0; y < 12; y += k {
			squares := r.squares - 2*(x*r.c[0]+y*r.c[1]) + x*x*r.g[0] + 2*x*y*r.g[1] + y*y*r.g[maxTerms+1]
			sum += h * k * math.Exp(-squares/(2*noise*noise)-x*x/(2*sx*sx)-y*y/(2*sy*sy)) / (2 * math.Pi * sx * sy)
		}
	}
	if want := math.Log(sum) - 4*math.Log(noise); !(math.Abs(got-want) <= 1e-3) || theta[0] <= 0 || theta[1] <= 0 {
		t.Errorf("evidence %v at %v, integral %v", got, theta[:2], want)
	}
	// A coefficient that would be negative is 0, and adds nothing.
	only, one := oneTerm(PerLevel).mode(rowsOf([][]float64{{0.01}, {0.02}}, []float64{1, 1.5}), 1, noise)
	both, two := oneTerm(PerLevel, PerTask).mode(rowsOf([][]float64{{0.01, 0.1}, {0.02, 2}}, []float64{1, 1.5}), 1, noise)
	if both[1] != 0 || !(math.Abs(both[0]-only[0]) <= 1e-9) || !(math.Abs(one-two) <= 1e-9) {
		t.Errorf("%v with evidence %v, alone %v with %v", both, two, only, one)
	}
}

// TestPosteriorIsAMean checks the mean over sizes of errors and of coefficients, and the priors of both.
func TestPosteriorIsAMean(t *testing.T) {
	r := rowsOf([][]float64{{0.01}, {0.02}}, []float64{1, 1.5})
	m := oneTerm(PerLevel)
	sum, mean := 0.0, 0.0
	for _, scale := range scales {
		for _, noise := range noises {
			theta, e := m.mode(r, scale, noise)
			w := math.Exp(e) * math.Exp(-math.Pow(math.Log(scale)/scaleSpread, 2)/2) *
				math.Exp(-math.Pow(math.Log(noise/noiseMedian)/noiseSpread, 2)/2)
			sum, mean = sum+w, mean+w*theta[0]
		}
	}
	theta, got := m.posterior(r)
	if !(math.Abs(got-math.Log(sum)) <= 1e-9) || !(math.Abs(theta[0]-mean/sum) <= 1e-9) {
		t.Errorf("%v with evidence %v, want %v with %v", theta[0], got, mean/sum, math.Log(sum))
	}
}

// TestScores checks the score of a model by each rule, term by term.
func TestScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	var runs []Execution
	for _, n := range []int{8, 16, 32} {
		runs = append(runs, siteRun(t, n, 4, Overhead{Start: 100}, rng, 0.05))
	}
	s := site(runs...)
	find := func(m ComputeModel, terms ...Term) *candidate {
		t.Helper()
		i := slices.IndexFunc(s.models, func(c candidate) bool {
			return c.fixed && computeModels()[c.model] == m && slices.Equal(c.terms, terms)
		})
		return &s.models[i]
	}
	m := find(ComputeModel{Share: 0.5}, Start, PerTask)
	_, total := s.equations(m, func(int) float64 { return 1 })
	_, evidence := m.posterior(&total)
	// Bytes are left out, and half of the slots.
	if got, want := byEvidence(s, m, nil).score, 1.5+2-0.5*evidence; !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("by evidence %v, want %v", got, want)
	}
	left := make([]Seconds, len(runs))
	fit := byValidation(s, m, left)
	sum := 0.0
	for k, y := range left {
		sum += math.Abs(math.Log(y / s.real[k]))
		others := site(append(slices.Clone(runs[:k]), runs[k+1:]...)...)
		if theta := byValidation(others, m, nil).theta; !(math.Abs(m.predict(s.feature[k], theta[:2])/y-1) <= 1e-6) {
			t.Errorf("execution %d: %v, without it %v", k, y, m.predict(s.feature[k], theta[:2]))
		}
	}
	if want := sum/3/0.02 + 2*0.5; !(math.Abs(fit.score-want) <= 1e-9) {
		t.Errorf("by validation %v, want %v", fit.score, want)
	}
	// One configuration is predicted from itself, by both rules, and implausibility counts in place of the terms.
	one, m := site(runs[0]), find(ComputeModel{Share: 1}, Start, PerTask)
	for _, r := range []rule{byValidation, byEvidence} {
		fit := r(one, m, left[:1])
		if want := m.predict(one.feature[0], fit.theta[:2]); !(math.Abs(left[0]/want-1) <= 1e-12) || fit.theta[0] == 0 {
			t.Errorf("one configuration is predicted at %v, the fit says %v", left[0], want)
		}
	}
	fit = byValidation(one, m, left[:1])
	want := math.Abs(math.Log(left[0]/one.real[0]))/0.02 + m.implausibility(fit.theta[:2])
	if !(math.Abs(fit.score-want) <= 1e-9) {
		t.Errorf("one configuration scores %v, want %v", fit.score, want)
	}
}

// TestSigma checks the promised error: of three folds, with half a fold for the unknown, and wider for so few.
func TestSigma(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	s := site(siteRun(t, 8, 4, Overhead{Start: 100}, rng, 0.1), siteRun(t, 16, 4, Overhead{Start: 100}, rng, 0.1),
		siteRun(t, 32, 4, Overhead{Start: 100}, rng, 0.1))
	models, weight := s.average()
	c := &Calibration{}
	s.validate(c, models[:1], []float64{1})
	left := make([]Seconds, 3)
	models[0].by(s, models[0].candidate, left)
	squares := 0.0
	var errs []float64
	for k, y := range left {
		squares += math.Pow(math.Log(y/s.real[k]), 2)
		errs = append(errs, math.Abs(y/s.real[k]-1))
	}
	slices.Sort(errs)
	want := math.Sqrt((squares + 0.09/2) / 3.5 * 1.5)
	if !(math.Abs(c.Sigma-want) <= 1e-9) || !(math.Abs(c.CVError-errs[1]) <= 1e-9) {
		t.Errorf("sigma %v, want %v; error %v, want %v", c.Sigma, want, c.CVError, errs[1])
	}
	// The prediction of the average counts, not one of its models.
	s.validate(c, models, weight)
	one := c.Sigma
	s.validate(c, models[:1], []float64{1})
	if one == c.Sigma {
		t.Error("the average of the models has the error of the first")
	}
}

// TestPosteriorRecovers checks that coefficients are recovered if the executions determine them, far
// beyond their usual size too, and that a term that explains nothing makes a model less likely.
func TestPosteriorRecovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, size := range []float64{10, 3000} {
		var x, more [][]float64
		var b []float64
		for range 12 {
			levels, gb := 1+rng.Float64(), rng.Float64()
			real := size * levels * 1.1
			x, more = append(x, []float64{levels / real}), append(more, []float64{levels / real, gb / real})
			b = append(b, size*levels/real)
		}
		theta, one := oneTerm(PerLevel).posterior(rowsOf(x, b))
		if !(math.Abs(theta[0]/size-1) <= 0.02) {
			t.Errorf("%v s a level came out as %v", size, theta[0])
		}
		if _, two := oneTerm(PerLevel, PerGB).posterior(rowsOf(more, b)); two >= one {
			t.Errorf("%v s a level: evidence %v with bytes, %v without", size, two, one)
		}
	}
	// Nothing recorded: the prior.
	if theta, _ := oneTerm(Scale).posterior(&residuals{}); !(math.Abs(theta[0]-1) <= 1e-9) {
		t.Errorf("a factor of %v before anything is known", theta[0])
	}
	if theta, _ := oneTerm(Start).posterior(&residuals{}); theta[0] != 0 {
		t.Errorf("a start of %v s before anything is known", theta[0])
	}
}

// TestLogSum checks the sum and the shares, of numbers whose exponentials overflow.
func TestLogSum(t *testing.T) {
	var s logSum
	mean := 0.0
	for i, x := range []float64{1000, 1000 + math.Log(2), 1000 + math.Log(5)} {
		share, before := s.add(x)
		mean = mean*before + share*float64(i)
	}
	if !(math.Abs(s.log-1000-math.Log(8)) <= 1e-9) || !(math.Abs(mean-12.0/8) <= 1e-9) {
		t.Errorf("sum exp(%v), mean %v; want exp(1000)*8 and 1.5", s.log, mean)
	}
}

// site makes the training set of runs.
func site(runs ...Execution) *training {
	s := &training{models: candidates()}
	for _, e := range runs {
		s.add(e)
	}
	s.dropLinks()
	s.leaveOut(s.config, len(s.configs))
	return s
}

// TestRepetitionsCountLess checks that three repetitions weigh less than two configurations: they
// share seven tenths of their error.
func TestRepetitionsCountLess(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	run := func(config string) Execution {
		e := siteRun(t, 12, 4, Overhead{Start: 50}, rng, 0)
		e.Config = config
		return e
	}
	counted := func(runs ...Execution) float64 {
		s := site(runs...)
		m := &s.models[slices.IndexFunc(s.models, func(c candidate) bool { return c.fixed && len(c.terms) == 1 })]
		size := s.repetitions()
		_, total := s.equations(m, func(k int) float64 { return size[k] })
		return total.rows
	}
	if got := counted(run("a"), run("b")); got != 2 {
		t.Errorf("two configurations count %v", got)
	}
	if got, want := counted(run("a"), run("a"), run("a"), run("b")), 3/2.4+1; !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("three repetitions and one more count %v, want %v", got, want)
	}
}

// TestEvidenceLeavesOut checks that a prediction of byEvidence is made without the fold that it is of.
func TestEvidenceLeavesOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var runs []Execution
	for _, start := range []float64{100, 100, 100, 900} {
		runs = append(runs, siteRun(t, 12, 4, Overhead{Start: start}, rng, 0))
	}
	s := site(runs...)
	m := &s.models[slices.IndexFunc(s.models, func(c candidate) bool {
		return c.fixed && computeModels()[c.model] == ComputeModel{Share: 1} && slices.Equal(c.terms, []Term{Start})
	})]
	left := make([]Seconds, 4)
	byEvidence(s, m, left)
	if added := left[3] - (s.real[3] - 900); !(math.Abs(added-100) <= 20) {
		t.Errorf("the odd execution is predicted with a start of %v s, the others had 100", added)
	}
	if left[0] <= s.real[0] {
		t.Errorf("the first execution of %v s is predicted at %v s, but the odd one is there", s.real[0], left[0])
	}
	others := site(runs[1:]...)
	fit := byEvidence(others, m, nil)
	if want := m.predict(s.feature[0], fit.theta[:1]); !(math.Abs(left[0]/want-1) <= 1e-9) {
		t.Errorf("left out %v, from the three others %v", left[0], want)
	}
}

// TestRulesShareTheWeight checks that each rule has half of the weight and that the heaviest model is first.
func TestRulesShareTheWeight(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	set := site(siteRun(t, 8, 4, Overhead{Level: 20}, rng, 0.02), siteRun(t, 16, 4, Overhead{Level: 20}, rng, 0.02),
		siteRun(t, 32, 4, Overhead{Level: 20}, rng, 0.02))
	models, weight := set.average()
	sum := 0.0
	for i := range models {
		if i > 0 && weight[i] > weight[i-1] {
			t.Fatalf("model %d weighs %v after %v", i, weight[i], weight[i-1])
		}
		sum += weight[i]
	}
	for _, r := range []rule{byValidation, byEvidence} {
		_, own := set.weigh(r)
		total := 0.0
		for _, w := range own {
			if total += w; !slices.Contains(weight, w/2) {
				t.Fatalf("a model of weight %v by its rule has not half of it in the average", w)
			}
		}
		if !(math.Abs(total-1) <= 1e-9) {
			t.Errorf("the weights of a rule add up to %v", total)
		}
	}
	if !(math.Abs(sum-1) <= 1e-9) {
		t.Errorf("weights add up to %v", sum)
	}
}

// TestAppsAreLeftOut checks that the interval of a calibration from two applications has the distance of
// one from the other. Repetitions of the other's runs hide that if both count as one application.
func TestAppsAreLeftOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var runs []Execution
	for _, n := range []int{8, 12, 16, 24} {
		a, b := siteRun(t, n, 4, Overhead{Start: 10}, rng, 0), siteRun(t, n, 4, Overhead{Start: 2000}, rng, 0)
		a.App, b.App = "a", "b"
		runs = append(runs, a, b)
	}
	two, err := Calibrate(runs)
	if err != nil {
		t.Fatal(err)
	}
	if two.Configs != 8 || two.Sigma < 1 || two.CVError < 0.5 {
		t.Errorf("%d configurations, sigma %v, error %v; the applications differ by a factor of three and more",
			two.Configs, two.Sigma, two.CVError)
	}
	one, err := Calibrate([]Execution{runs[0], runs[2], runs[4], runs[6]})
	if err != nil || one.Sigma > 0.3 {
		t.Errorf("one application: sigma %v, %v", one.Sigma, err)
	}
	// The same name of a configuration in two applications is two configurations.
	runs[0].Config, runs[1].Config = "x", "x"
	if c, err := Calibrate(runs[:2]); err != nil || c.Configs != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestIntervalHasDisagreement checks that models that differ make the interval wider: two of equal weight
// 0.4 apart, in the logarithm, are 0.2 from their mean.
func TestIntervalHasDisagreement(t *testing.T) {
	c := &Calibration{NodeCores: 4, Sigma: 0.1, Models: []WeightedModel{
		{Weight: 0.5, Terms: []Coefficient{{Start, 100}}},
		{Weight: 0.5, Terms: []Coefficient{{Start, 100 * math.Exp(0.4)}}},
	}}
	p, err := c.Predict(tasks(t, "a:1"), TopDown{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := math.Hypot(0.1, 0.2) * 1.645
	if got := math.Log(p.High / p.Makespan); !(math.Abs(got-want) <= 1e-9) ||
		!(math.Abs(p.Makespan-100*math.Exp(0.2)) <= 1e-9) {
		t.Errorf("%+v: %v above, want %v", p, got, want)
	}
}
