package stop

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/model"
)

const (
	penalty = 10  // times the worst value: for a trial that breaks a limit
	renewal = 1.2 // growth of the finished trials after which choices are made anew
	probes  = 12  // runs predicted for the margin
	elapsed = 0.7 // part of their values that has passed
)

// A lesson is the model of a history, independent of the running trial.
type lesson struct {
	known    bool            // false in the zero value
	history  []assay.Trial   // that it was learned from
	finished int             // trials in state Done that can be learned from
	data     assay.Data      // of all trials that can be learned from
	standard assay.Predictor // fitted to data; nil unless Options.Standard
	choice
}

// A choice is made from the first trials of a history, and kept for a while.
type choice struct {
	from    []assay.Trial // the first trials
	learner assay.Learner // of the predictions
	margin  float64       // factor of a prediction that decides, at most 1
}

// learn returns the lesson of a history: the latest one if it is the same.
func (p *Predictive) learn(history []assay.Trial) lesson {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.memo.known || !slices.EqualFunc(p.memo.history, history, alike) {
		p.memo = p.lesson(history)
	}
	return p.memo
}

// alike reports whether two trials teach the same.
func alike(a, b assay.Trial) bool {
	return a.ID == b.ID && a.State == b.State && same(a.Value, b.Value) && a.Config.Equal(b.Config) &&
		(a.State != assay.Censored || same(final(a), final(b)))
}

func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// final returns the value that a stopped trial was predicted to reach, at least
// that which it had reached.
func final(t assay.Trial) float64 {
	if t.Decision == nil || math.IsNaN(t.Decision.Predicted) || math.IsInf(t.Decision.Predicted, 0) {
		return t.Value
	}
	return max(t.Decision.Predicted, t.Value)
}

func (p *Predictive) lesson(history []assay.Trial) lesson {
	l := lesson{known: true, history: slices.Clone(history), choice: choice{margin: 1}}
	for _, t := range history {
		if p.finished(t) {
			l.finished++
		}
	}
	if l.finished < p.opts.After {
		return l
	}
	l.data = p.examples(history)
	l.choice = p.choose(l.history, l.finished)
	if p.opts.Standard {
		if m, err := l.learner.Fit(assay.Data{X: l.data.X, Y: l.data.Y}); err == nil {
			l.standard = m
		}
	}
	return l
}

// teaches reports whether a trial has a configuration and a value to learn from.
func (p *Predictive) teaches(t assay.Trial) bool {
	return len(t.Config) == p.space.Dim() && t.Value > 0 && !math.IsInf(t.Value, 1)
}

func (p *Predictive) finished(t assay.Trial) bool { return t.State == assay.Done && p.teaches(t) }

// examples returns the training set that the trials make.
func (p *Predictive) examples(history []assay.Trial) assay.Data {
	worst := 0.0
	for _, t := range history {
		if p.finished(t) {
			worst = max(worst, t.Value)
		}
	}
	var d assay.Data
	for _, t := range history {
		if !p.teaches(t) {
			continue
		}
		value, censored := t.Value, false
		switch t.State {
		case assay.Done:
		case assay.Infeasible:
			value = min(penalty*worst, math.MaxFloat64)
		case assay.Censored:
			if p.opts.Stopped == DropStopped || p.opts.Stopped == KeepStopped && p.opts.Standard {
				continue
			}
			if censored = p.opts.Stopped == KeepStopped; !censored {
				value = final(t)
			}
		default:
			continue
		}
		d.X = append(d.X, p.space.Encode(t.Config))
		d.Y = append(d.Y, value)
		d.Censored = append(d.Censored, censored)
	}
	return d
}

// choose returns the learner and the margin for a history with n finished
// trials. They depend on its first trials alone, up to the k-th finished one,
// where k is the last number that n reaches of a sequence that grows by a fifth,
// and are taken from the memo while these are the same. p.mu is held.
func (p *Predictive) choose(history []assay.Trial, n int) choice {
	k := reached(n, renewal)
	from := history
	for i, seen := 0, 0; i < len(history); i++ {
		if p.finished(history[i]) {
			seen++
		}
		if seen == k {
			from = history[:i+1]
			break
		}
	}
	if c := p.memo.choice; c.learner != nil && slices.EqualFunc(c.from, from, alike) {
		return c
	}
	d := p.examples(from)
	c := choice{from: from, learner: p.opts.Learner, margin: 1}
	if c.learner == nil {
		c.learner = p.chooseAFT(d)
	}
	if p.opts.Confidence > 0 {
		c.margin = p.calibrate(c.learner, d)
	}
	return c
}

// chooseAFT returns the learner of Cello with the pair of scale and learning rate
// that cross-validation chooses.
func (p *Predictive) chooseAFT(d assay.Data) assay.Learner {
	a, err := model.TunedAFT{AFT: p.opts.AFT, Seed: p.opts.Seed}.Choose(d)
	if err != nil {
		return p.opts.AFT
	}
	if p.opts.AutoRounds {
		if a.Boost.Rounds, err = (model.AutoRounds{Learner: a, Seed: p.opts.Seed}).Rounds(d); err != nil {
			return p.opts.AFT
		}
	}
	return a
}

// calibrate returns the factor by which a prediction is to be multiplied so that the true value exceeds it with
// probability Confidence: exp of that quantile of log(true/predicted) over exact examples, each left out of the fit and
// predicted as a run that has reached elapsed of its value. The effect of the censored row on the prediction is thereby
// part of the error: it is often overrated (see lab/notes/cello.md). The examples are probes of them, evenly spaced in
// the order of their values; up to four of them, a tenth of the exact ones at most, are left out of one fit.
//
// The factor is at most 1. It is 0, with which no prediction decides, if there is no data to estimate it from. Cost:
// probes fits, a quarter of that from 40 examples on.
func (p *Predictive) calibrate(learner assay.Learner, d assay.Data) float64 {
	var exact []int
	for i := range d.Y {
		if !d.Censored[i] {
			exact = append(exact, i)
		}
	}
	slices.SortStableFunc(exact, func(i, j int) int { return cmp.Compare(d.Y[i], d.Y[j]) })
	n := min(probes, len(exact))
	together := min(max(len(exact)/10, 1), 4)
	groups := (n + together - 1) / together
	var errs []float64
	for g := range groups {
		var out []int // every groups-th probe, so that each group spans the values
		for k := g; k < n; k += groups {
			out = append(out, exact[(2*k+1)*len(exact)/(2*n)])
		}
		errs = append(errs, p.probe(learner, d, out)...)
	}
	if len(errs) == 0 {
		return 0
	}
	return min(math.Exp(stats.Quantile(errs, 1-p.opts.Confidence)), 1)
}

// probe returns log(true/predicted) of the examples out, predicted by a fit that
// does not know their values.
func (p *Predictive) probe(learner assay.Learner, d assay.Data, out []int) []float64 {
	var rest assay.Data
	for i := range d.Y {
		if !slices.Contains(out, i) {
			rest.X = append(rest.X, d.X[i])
			rest.Y = append(rest.Y, d.Y[i])
			rest.Censored = append(rest.Censored, d.Censored[i])
		}
	}
	if p.opts.Standard {
		rest.Censored = nil
	} else {
		for _, i := range out {
			rest = with(rest, d.X[i], elapsed*d.Y[i])
		}
	}
	m, err := learner.Fit(rest)
	if err != nil {
		return nil
	}
	var errs []float64
	for _, i := range out {
		if y := m.Predict(d.X[i]).Mean; y > 0 && !math.IsInf(y, 1) {
			errs = append(errs, math.Log(d.Y[i])-math.Log(y))
		}
	}
	return errs
}
