package stop

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
)

// Training is how a [Predictive] rule uses the trials that were stopped before.
type Training uint8

const (
	DropStopped   Training = iota // left out (Ding et al. 2022, Algorithm 1)
	KeepStopped                   // censored at the value they had reached (§3.4, case 2)
	ImputeStopped                 // exact, at the final value predicted when they were stopped
)

var trainingNames = [...]string{"drop", "keep", "impute"}

// TrainingOf returns the Training of that name: drop, keep or impute.
func TrainingOf(name string) (t Training, ok bool) {
	for i, n := range trainingNames {
		if n == name {
			return Training(i), true
		}
	}
	return 0, false
}

// PredictiveOptions are the options of [NewPredictive]. The rule as published is
// After 1 and AFT.Base 0.5; the zero value waits for more trials, and starts from
// their geometric mean.
type PredictiveOptions struct {
	// Learner predicts the final value. Nil means AFT, whose scale and learning rate
	// are chosen by cross-validation from all nine pairs (Ding et al. 2022, §4.4).
	// Outcomes are positive.
	Learner assay.Learner
	// AFT is the censored regression that is used without Learner: its distribution,
	// its start and how its trees grow. The zero value is the extreme value
	// distribution, the geometric mean and 20 rounds; the paper's start is
	// XGBoost's, Base 0.5.
	AFT model.AFT
	// AutoRounds chooses the number of rounds of AFT by cross-validation too, after
	// the scale and the rate: the early stopping that §7 asks for.
	AutoRounds bool
	// Standard leaves the running trial out of the fit: standard regression,
	// the BO-GB of §4.3. It does not know how long the run has lasted.
	Standard bool
	// Stopped is how the rule learns from stopped trials.
	Stopped Training
	// After is the number of finished trials from which on runs are stopped; until
	// then all go on to their ends. 0 means 5. The paper's Algorithm 1 starts with
	// one: its model then predicts nothing but that value, so every other run is
	// stopped at once, dropped, and nothing more is learned.
	After int
	// Confidence is the required confidence of a stop by prediction: 0.9 means that the true value exceeds the incumbent
	// in 90 % of such cases, according to cross-validation. 0 means no margin: the prediction itself decides (Algorithm 1,
	// line 13).
	Confidence float64
	// Spare is the share of trials that no prediction stops, to check the value of a stop. Such a run continues to the
	// incumbent's value.
	Spare float64
	// Seed decides which trials are spared, and the folds.
	Seed uint64
}

// Predictive stops a run as soon as it is predicted to end no better than the incumbent: predictive early termination
// (Ding et al. 2022, §3.5 and Algorithm 1, lines 9 to 14). At each interval a regression is fitted to the finished
// trials and the running one, which is censored at its value so far: the true value is at least that. A run that has
// reached the incumbent's value is stopped too.
//
// A trial that broke a limit of the goal enters with ten times the worst value of a finished one, the "extremely high
// value" of line 22; a failed one is left out.
//
// Results that depend only on the ended trials are computed once for each history: the scale and the learning rate, and
// the margin that Confidence needs. Both are chosen anew each time the number of finished trials has grown by a fifth,
// from the trials finished until then.
//
// A prediction that is not finite stops nothing. Trials whose values so far are not positive are not learned from.
type Predictive struct {
	space *assay.Space // of the configurations
	opts  PredictiveOptions

	// memo caches the results for the latest histories. It saves time and changes no decision.
	mu   sync.Mutex
	memo lesson // guarded by mu
}

var _ assay.Stopper = (*Predictive)(nil)

// NewPredictive returns the rule for configurations of space. It panics if
// Confidence or Spare is not in [0, 1), or After is negative.
func NewPredictive(space *assay.Space, opts PredictiveOptions) *Predictive {
	if !(opts.Confidence >= 0 && opts.Confidence < 1) || !(opts.Spare >= 0 && opts.Spare < 1) || opts.After < 0 {
		panic(fmt.Sprintf("stop: options out of range: confidence %v, spare %v, after %d",
			opts.Confidence, opts.Spare, opts.After))
	}
	opts.After = cmp.Or(opts.After, 5)
	return &Predictive{space: space, opts: opts}
}

// Decide implements [assay.Stopper]. Predicted is set in every decision that was
// made by a prediction, also to go on. Cost: a fit to as many rows as there are
// finished trials; more after a trial has ended.
func (p *Predictive) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	best, ok := assay.Best(history)
	if !ok || math.IsNaN(running.Value) {
		return assay.Decision{Predicted: math.NaN()}
	}
	if p.learn(history).finished < p.opts.After {
		return assay.Decision{Predicted: math.NaN()}
	}
	spared := spared(running.ID, p.opts.Seed, p.opts.Spare)
	if running.Value >= best.Value {
		d := against(running, best, "best is")
		if spared && d.Stop {
			d.Reason += "; spared: continued in spite of the prediction"
		}
		return d
	}
	predicted, margin := p.predict(history, running)
	d := assay.Decision{Predicted: predicted}
	if !(predicted*margin >= best.Value) || math.IsInf(predicted, 0) {
		return d
	}
	if spared {
		d.Reason = fmt.Sprintf("spared: predicted %s, best is %s (trial %d)", number(predicted), number(best.Value), best.ID)
		return d
	}
	d.Stop = true
	d.Reason = fmt.Sprintf("predicted %s after %s, best is %s (trial %d)",
		number(predicted), number(running.Value), number(best.Value), best.ID)
	if margin != 1 {
		d.Reason += fmt.Sprintf(", of which %s is %.0f %% sure", number(predicted*margin), 100*p.opts.Confidence)
	}
	return d
}

// Predict returns the predicted final value of a running trial, independent of the incumbent: NaN without a prediction,
// and else at least its value so far, except by standard regression, which does not know it.
func (p *Predictive) Predict(history []assay.Trial, running assay.Trial) float64 {
	v, _ := p.predict(history, running)
	return v
}

// predict returns the result of Predict, and the factor of a prediction that decides.
func (p *Predictive) predict(history []assay.Trial, running assay.Trial) (value, margin float64) {
	if len(running.Config) != p.space.Dim() {
		return math.NaN(), 1
	}
	l := p.learn(history)
	if l.finished < p.opts.After {
		return math.NaN(), 1
	}
	x := p.space.Encode(running.Config)
	model := l.standard
	if !p.opts.Standard {
		data := l.data
		if running.Value > 0 {
			data = with(data, x, running.Value)
		}
		var err error
		if model, err = l.learner.Fit(data); err != nil {
			return math.NaN(), 1
		}
	}
	if model == nil {
		return math.NaN(), 1
	}
	value = model.Predict(x).Mean
	if math.IsNaN(value) || p.opts.Standard {
		return value, l.margin
	}
	return max(value, running.Value), l.margin
}

// with returns d and a censored row. It changes nothing of d.
func with(d assay.Data, x []float64, value float64) assay.Data {
	n := len(d.Y)
	return assay.Data{
		X:        append(d.X[:n:n], x),
		Y:        append(d.Y[:n:n], value),
		Censored: append(d.Censored[:n:n], true),
	}
}

// spared reports whether a trial is let run on: a share of all trials, chosen by
// hashing the number (the finalizer of SplitMix64, Steele et al. 2014).
func spared(id int64, seed uint64, share float64) bool {
	z := uint64(id)*0x9e3779b97f4a7c15 + seed
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return float64(z>>11)/(1<<53) < share
}
