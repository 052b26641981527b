package study

import (
	"math"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// auditLevel is the confidence of the results of an audit.
const auditLevel = 0.95

// An Audit estimates the value of early stops from the trials that a rule would have stopped and that went on: a
// random sample of those that it would stop.
type Audit struct {
	Stopped int // trials that the rule stopped
	Audited int // trials that it would have stopped
	Wrong   int // of these, the ones that ended better than the best of the time
	// Share is the share of stops that were wrong, with an exact interval.
	Share stats.Estimate
	// Saved estimates the time that the stopped trials would still have taken, from the mean of the audited ones. With
	// 95 % confidence it was more than Least.
	Saved, Least time.Duration
}

// NewAudit returns the results of the audited trials of a study; ok is false without any. Trials that were stopped
// before any trial had finished do not count: the rule knew nothing of them, and none of them is audited. An audited
// trial that did not run to its end counts if it had reached the value of the best at that time.
//
// The interval and the bound take the audited trials for a random sample of those that the rule would stop. Their
// results may change the search, and so the later stops, which neither of the two takes into account.
func NewAudit(trials []assay.Trial) (a Audit, ok bool) {
	var extra []float64 // s
	for _, t := range trials {
		d := t.Decision
		if d == nil || t.State == assay.Withdrawn {
			continue
		}
		best := bestBefore(trials, t.Started.Add(d.At))
		switch {
		case math.IsInf(best, 1):
		case t.Stopped():
			a.Stopped++
		case !d.Audited || t.State == assay.Censored && t.Value < best:
		default:
			a.Audited++
			if t.State == assay.Done && t.Value < best {
				a.Wrong++
			}
			extra = append(extra, max(0, t.Measurement.Elapsed-d.At).Seconds())
		}
	}
	if a.Audited == 0 {
		return Audit{}, false
	}
	a.Share = stats.Proportion(a.Wrong, a.Audited, auditLevel)
	stopped := float64(a.Stopped) * float64(time.Second)
	a.Saved = time.Duration(stopped * stats.Mean(extra))
	a.Least = time.Duration(stopped * stats.MeanAtLeast(extra, auditLevel))
	return a, true
}

// bestBefore returns the least value of the trials that had finished at a time, or +Inf.
func bestBefore(trials []assay.Trial, at time.Time) float64 {
	best := math.Inf(1)
	for _, t := range trials {
		if t.State == assay.Done && t.Value < best && !t.Ended.After(at) {
			best = t.Value
		}
	}
	return best
}
