package stop

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// PosteriorOptions are the options of [NewPosterior]. The zero value of each but
// Margin and Spare stands for its default.
type PosteriorOptions struct {
	// Level is the probability of ending better than the best below which a run is
	// stopped. 0 means 0.01.
	Level float64
	// After is the number of trials with evidence, see [Posterior], from which on a
	// prediction stops runs. 0 means 20.
	After int
	// Spare is the share of trials that no prediction stops, to check the value of stops. Such a run continues to the
	// incumbent's value.
	Spare float64
	// Margin is as in [Incumbent].
	Margin float64
	// Seed decides which trials are spared.
	Seed uint64
}

// Posterior stops a run as soon as the probability that it ends better than the best trial, given its value so far,
// falls under a level:
//
//	P(Y < best | Y > t) = 1 - S(best)/S(t),
//
// with S the survival function that a Gaussian process on the log of the objective predicts for the configuration of
// the run ([model.GP]). Nothing is fitted during a run. A run that has reached the incumbent's value is stopped too, as
// [Incumbent] does.
//
// The process learns from finished trials, and, as censored values, from trials that were stopped after they had
// reached the best value of their time: these are the evidence. A trial that a prediction stopped earlier has shown
// little, and is not learned from, so that no prediction is evidence for the next. A trial that broke a limit counts as
// the worst finished one; failed ones are left out.
//
// If the errors of the process on its own examples, each predicted from the others, exceed its stated deviations, the
// deviations are enlarged by the same factor.
//
// Only trials with positive values are learned from, and there is no prediction while the best value is not positive.
type Posterior struct {
	space *assay.Space // of the configurations
	opts  PosteriorOptions

	// memo caches the results for the latest histories. It saves time and changes no decision.
	mu   sync.Mutex
	memo belief // guarded by mu
}

var _ assay.Stopper = (*Posterior)(nil)

// latest is the share of the best value from which on no prediction stops a run: the possible saving is small by then,
// and the chance of every run falls to nothing as it approaches the best, even for runs that end just below it.
const latest = 0.5

// NewPosterior returns the rule for configurations of space. It panics if Level or
// Spare is not in [0, 1), or After or Margin is negative.
func NewPosterior(space *assay.Space, opts PosteriorOptions) *Posterior {
	if !(opts.Level >= 0 && opts.Level < 1) || !(opts.Spare >= 0 && opts.Spare < 1) ||
		opts.After < 0 || !(opts.Margin >= 0) {
		panic(fmt.Sprintf("stop: options out of range: %+v", opts))
	}
	opts.Level, opts.After = cmp.Or(opts.Level, 0.01), cmp.Or(opts.After, 20)
	return &Posterior{space: space, opts: opts}
}

// Decide implements [assay.Stopper]. Predicted is the geometric mean of the possible final values of the run, given its
// value so far. It is set if the process was asked.
func (p *Posterior) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	d := Incumbent{Margin: p.opts.Margin}.Decide(history, running)
	spare := spared(running.ID, p.opts.Seed, p.opts.Spare)
	if d.Stop {
		if spare {
			d.Reason += "; spared: continued in spite of the prediction"
		}
		return d
	}
	best, ok := assay.Best(history)
	if !ok || !(best.Value > 0) || !(running.Value < best.Value) ||
		len(running.Config) != p.space.Dim() || p.scarce(history) {
		return d
	}
	mean, std, ok := p.forecast(history, running)
	if !ok {
		return d
	}
	from := math.Inf(-1)
	if running.Value > 0 {
		from = math.Log(running.Value)
	}
	d.Predicted = math.Exp(min(stats.TruncNormMean(mean, std, from), math.Log(math.MaxFloat64)))
	chance := better(mean, std, from, math.Log(best.Value))
	if !(chance < p.opts.Level) || running.Value > latest*best.Value {
		return d
	}
	what := fmt.Sprintf("after %s the chance to end below %s (trial %d) is %.1f %%",
		number(running.Value), number(best.Value), best.ID, 100*chance)
	if spare {
		d.Reason = "spared: " + what
		return d
	}
	d.Stop, d.Reason = true, what
	return d
}

// scarce reports whether at least as many trials have ended as configurations remain: then the time saved by a stop is
// worth as much as the remaining configurations.
func (p *Posterior) scarce(history []assay.Trial) bool {
	n := p.space.Size().N
	return n > 0 && 2*int64(len(history)) >= n
}

// Chance returns the probability that a running trial ends below the best one, given
// its value so far: NaN where there is no evidence, or no best.
func (p *Posterior) Chance(history []assay.Trial, running assay.Trial) float64 {
	best, ok := assay.Best(history)
	if !ok || !(best.Value > 0) || len(running.Config) != p.space.Dim() {
		return math.NaN()
	}
	mean, std, ok := p.forecast(history, running)
	if !ok {
		return math.NaN()
	}
	from := math.Inf(-1)
	if running.Value > 0 {
		from = math.Log(running.Value)
	}
	return better(mean, std, from, math.Log(best.Value))
}

// better returns P(Z < to | Z > from) for Z of N(mean, std²).
func better(mean, std, from, to float64) float64 {
	if from >= to {
		return 0
	}
	return -math.Expm1(stats.LogNormCDF((mean-to)/std) - stats.LogNormCDF((mean-from)/std))
}
