package stop_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/stop"
)

// A learning curve falls from 1 to its end by a power of the step, with some noise.
func learning(rng *rand.Rand, end float64, steps int) *assay.Curve {
	rate := 0.6 + 0.6*rng.Float64()
	c := &assay.Curve{Metric: "loss"}
	for s := 1; s <= steps; s++ {
		v := end + (1-end)*math.Pow(float64(s), -rate)
		c.Add(s, time.Duration(s)*time.Second, v*(1+0.01*rng.NormFloat64()))
	}
	return c
}

// prefix returns a run that goes on, after some steps.
func prefix(c *assay.Curve, steps int, maximize bool) assay.Trial {
	p := &assay.Curve{Metric: c.Metric}
	for i, s := range c.Step {
		if s <= steps {
			p.Add(s, time.Duration(s)*time.Second, c.Value[i])
		}
	}
	v := p.Value[len(p.Value)-1]
	if maximize {
		v = -v
	}
	return assay.Trial{Measurement: assay.Measurement{Curve: p}, Value: v}
}

func ended(c *assay.Curve, maximize bool) assay.Trial {
	t := prefix(c, math.MaxInt, maximize)
	t.State = assay.Done
	return t
}

// turned returns the curve of the negative.
func turned(c *assay.Curve) *assay.Curve {
	c = c.Clone()
	for i := range c.Value {
		c.Value[i] = -c.Value[i]
	}
	return c
}

// play runs a study of learning curves under a rule, and returns the share of the steps that were made, how many
// stopped runs would have been the new best, and how far from the best of all runs the best is that was found.
func play(rule assay.Stopper, seed uint64, runs, steps int, maximize bool) (made float64, wrong int, behind float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	var history []assay.Trial
	all := math.Inf(1)
	for range runs {
		c := learning(rng, 0.1+0.6*rng.Float64(), steps)
		final := c.Value[len(c.Value)-1]
		if maximize {
			c = turned(c)
		}
		full := ended(c, maximize)
		all = min(all, final)
		stopped := false
		for s := 1; s <= steps && !stopped; s++ {
			made += 1 / float64(runs*steps)
			now := prefix(c, s, maximize)
			if d := rule.Decide(history, now); d.Stop {
				stopped = true
				if best, ok := assay.Best(history); ok && full.Value < best.Value {
					wrong++
				}
				now.State, now.Decision = assay.Censored, &d
				history = append(history, now)
			}
		}
		if !stopped {
			history = append(history, full)
		}
	}
	best, _ := assay.Best(history)
	value := best.Value
	if maximize {
		value = best.Measurement.Curve.Value[len(best.Measurement.Curve.Value)-1] * -1
	}
	return made, wrong, value/all - 1
}

// Both rules save most of the steps of bad runs, and find about as good a run as without.
func TestCurveRulesSaveAndFind(t *testing.T) {
	for name, rule := range map[string]struct {
		of     func(maximize bool) assay.Stopper
		wrong  float64 // most stops that are wrong, of the runs
		behind float64 // the most
	}{
		// The first reports show little if all curves begin at one value, and the median does not wait.
		"median": {func(maximize bool) assay.Stopper { return stop.Median{Maximize: maximize} }, 0.06, 0.15},
		"curve":  {func(maximize bool) assay.Stopper { return stop.Curve{Maximize: maximize} }, 0.02, 0.02},
	} {
		for _, maximize := range []bool{false, true} {
			var made, behind float64
			wrong, studies := 0, 20
			for seed := range studies {
				m, w, b := play(rule.of(maximize), uint64(seed), 40, 30, maximize)
				made, behind, wrong = made+m/float64(studies), behind+b/float64(studies), wrong+w
			}
			t.Logf("%s, maximize %v: %.2f of the steps, %d of %d stopped wrongly, %.1f %% behind", name, maximize, made, wrong,
				studies*40, 100*behind)
			if made > 0.75 {
				t.Errorf("%s, maximize %v: it saves only %.2f of the steps", name, maximize, 1-made)
			}
			if float64(wrong) > rule.wrong*float64(studies*40) || behind > rule.behind {
				t.Errorf("%s, maximize %v: %d runs were stopped that would have been the best; the best is %.0f %% behind", name,
					maximize, wrong, 100*behind)
			}
		}
	}
}

func TestCurveRulesWaitForEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var history []assay.Trial
	for range 4 {
		history = append(history, ended(learning(rng, 0.2, 20), false))
	}
	bad := prefix(learning(rng, 0.9, 20), 10, false)
	for name, rule := range map[string]assay.Stopper{"median": stop.Median{}, "curve": stop.Curve{}} {
		if d := rule.Decide(history, bad); d.Stop {
			t.Errorf("%s stops after 4 runs: %s", name, d.Reason)
		}
		if d := rule.Decide(history, assay.Trial{}); d.Stop {
			t.Errorf("%s stops a run that has reported nothing", name)
		}
		more := append(history[:4:4], ended(learning(rng, 0.2, 20), false), ended(learning(rng, 0.25, 20), false))
		d := rule.Decide(more, bad)
		if !d.Stop || !strings.Contains(d.Reason, "loss") || !strings.Contains(d.Reason, "10 reports") ||
			math.IsNaN(d.Predicted) {
			t.Errorf("%s: %+v", name, d)
		}
		// A run is compared with those that have come as far.
		if d := rule.Decide(more, prefix(learning(rng, 0.9, 40), 40, false)); d.Stop {
			t.Errorf("%s stops a run at a step that no other has come to: %s", name, d.Reason)
		}
		if f, ok := rule.(assay.CurveStopper); !ok || !f.Follows() {
			t.Errorf("%s does not follow", name)
		}
		if !(stop.Audit{Rule: rule, Share: 0.1}).Follows() || (stop.Audit{Rule: stop.Static{}}).Follows() {
			t.Error("an audit follows what its rule does not, or the other way round")
		}
	}
	if d := (stop.Median{From: 11}).Decide(append(history, history...), bad); d.Stop {
		t.Error("median stops before its first step")
	}
}
