package stop

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
)

const (
	evidenceMost    = 120 // trials that the process sees: the best of the early ones and the latest
	evidenceRenewal = 1.2 // growth of the evidence after which the kernel is learned anew
	evidenceSteps   = 30  // evaluations of the likelihood
	doubts          = 4   // residuals of 1 that are assumed besides those that are known
)

// A belief is the model of a history, independent of the running trial.
type belief struct {
	known   bool          // false in the zero value
	history []assay.Trial // that it is of
	process model.Process // nil if there is too little evidence
	factor  float64       // of its deviations
	kernel  kernel        // of process
}

// A kernel was learned from the first trials of a history, and is kept for a while.
type kernel struct {
	from    []assay.Trial  // the first trials
	process model.Refitter // nil if nothing could be learned
}

// forecast returns mean and deviation of the log of the final value of a running trial; ok is false if the evidence is
// too small.
func (p *Posterior) forecast(history []assay.Trial, running assay.Trial) (mean, std float64, ok bool) {
	b := p.learn(history)
	if b.process == nil {
		return 0, 0, false
	}
	o := b.process.Predict(p.space.Encode(running.Config))
	std = b.factor * math.Hypot(o.Std, b.process.Noise())
	return o.Mean, std, !math.IsNaN(o.Mean) && std > 0 && !math.IsInf(std, 1)
}

// learn returns the belief of a history: the latest one if it is the same.
func (p *Posterior) learn(history []assay.Trial) belief {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.memo.known || !slices.EqualFunc(p.memo.history, history, alike) {
		p.memo = p.believe(history)
	}
	return p.memo
}

func (p *Posterior) believe(history []assay.Trial) belief {
	b := belief{known: true, history: slices.Clone(history), factor: 1}
	evidence := p.evidence(b.history)
	if len(evidence) < p.opts.After {
		return b
	}
	if b.kernel = p.kernel(evidence); b.kernel.process == nil {
		return b
	}
	fitted, err := b.kernel.process.Refit(p.rows(evidence))
	if err != nil {
		return b
	}
	process, ok := fitted.(model.Process)
	if !ok {
		return b
	}
	var sum float64
	residuals := process.Residuals()
	for _, r := range residuals {
		sum += r * r
	}
	b.process = process
	b.factor = max(1, math.Sqrt((sum+doubts)/float64(len(residuals)+doubts)))
	return b
}

// evidence returns the trials of a history that the process learns from.
func (p *Posterior) evidence(history []assay.Trial) []assay.Trial {
	best := math.Inf(1)
	var out []assay.Trial
	for _, t := range history {
		if len(t.Config) != p.space.Dim() || !(t.Value > 0) || math.IsInf(t.Value, 1) {
			continue
		}
		switch t.State {
		case assay.Done, assay.Infeasible:
			out = append(out, t)
		case assay.Censored:
			if t.Value >= best {
				out = append(out, t)
			}
		}
		if t.State == assay.Done {
			best = min(best, t.Value)
		}
	}
	return out
}

// kernel returns the process whose parameters were learned from the first k trials of the evidence, where k is the last
// number that it reaches of a sequence that grows by evidenceRenewal. It is the kernel of the memo if these are the
// same. p.mu is held.
func (p *Posterior) kernel(evidence []assay.Trial) kernel {
	from := evidence[:reached(len(evidence), evidenceRenewal)]
	if k := p.memo.kernel; k.from != nil && slices.EqualFunc(k.from, from, alike) {
		return k
	}
	k := kernel{from: from}
	m, err := model.GP{
		MaxExamples: evidenceMost, Evaluations: evidenceSteps, Ties: p.space.Ties(),
		Seed: p.opts.Seed,
	}.Fit(p.rows(from))
	if err == nil {
		k.process, _ = m.(model.Refitter)
	}
	return k
}

// reached returns the last number up to n of the sequence that begins with 1 and grows by a factor, and by 1 at least.
func reached(n int, growth float64) int {
	k := 1
	for {
		next := max(k+1, int(math.Ceil(growth*float64(k))))
		if next > n {
			return k
		}
		k = next
	}
}

// rows returns the examples that the process is fitted to, on the scale of the log:
// where there are more than evidenceMost, the latest half and the best of the others.
func (p *Posterior) rows(evidence []assay.Trial) assay.Data {
	worst := 0.0
	for _, t := range evidence {
		if t.State == assay.Done {
			worst = max(worst, t.Value)
		}
	}
	var d assay.Data
	for _, t := range evidence {
		v := t.Value
		if t.State == assay.Infeasible {
			v = max(v, worst)
		}
		d.X = append(d.X, p.space.Encode(t.Config))
		d.Y = append(d.Y, math.Log(v))
		d.Censored = append(d.Censored, t.State == assay.Censored)
	}
	if len(d.Y) <= evidenceMost {
		return d
	}
	early := len(d.Y) - evidenceMost/2
	order := make([]int, len(d.Y))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order[:early], func(i, j int) int {
		if d.Censored[i] != d.Censored[j] { // exact ones hold more information
			if d.Censored[i] {
				return 1
			}
			return -1
		}
		return cmp.Compare(d.Y[i], d.Y[j])
	})
	rows := slices.Concat(order[:evidenceMost/2], order[early:])
	slices.Sort(rows)
	return d.Rows(rows)
}
