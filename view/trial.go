package view

import (
	"time"

	"github.com/assay-run/assay"
)

// A Trial is one of a study.
type Trial struct {
	ID     int64          `json:"id"`
	Config map[string]any `json:"config" doc:"the values of the parameters by their names"`
	// State is the state in the record: [assay.State].
	State    string             `json:"state" enum:"running,done,censored,failed,infeasible,withdrawn"`
	Value    *float64           `json:"value" doc:"of the metric: a bound of a censored trial; null without a value"`
	Metrics  map[string]float64 `json:"metrics"`
	Reason   string             `json:"reason"`
	Step     string             `json:"step,omitempty" doc:"where it failed"`
	Output   []string           `json:"output,omitempty" nullable:"false" doc:"the last lines of a failed run"`
	Decision *Verdict           `json:"decision,omitempty" doc:"of the stopping rule, if it made one"`
	Curve    *assay.Curve       `json:"curve,omitempty" doc:"its reports of the metric that is followed"`
	Attempts int                `json:"attempts,omitempty" doc:"at its run"`
	Elapsed  float64            `json:"elapsed_s"`
	Started  time.Time          `json:"started"`
	Ended    *time.Time         `json:"ended" doc:"null while it runs"`
}

// A Verdict is a decision of a stopping rule about a run.
type Verdict struct {
	Stop      bool     `json:"stop"`
	Audited   bool     `json:"audited,omitempty" doc:"the rule would have stopped it; it went on to show if that is right"`
	Reason    string   `json:"reason,omitempty"`
	Predicted *float64 `json:"predicted" doc:"the final value of the metric; null if none was predicted"`
	At        float64  `json:"at_s" doc:"how long the run had lasted"`
	Last      bool     `json:"last,omitempty" doc:"the value is the last that was reported, and no bound"`
}

// NewTrial returns a trial of a study with these parameters and this goal.
func NewTrial(params []assay.Param, g assay.Goal, t assay.Trial) Trial {
	v := Trial{
		ID: t.ID, Config: Config(params, t.Config), State: t.State.String(), Metrics: map[string]float64{},
		Reason: Reason(g, t), Curve: t.Measurement.Curve, Attempts: t.Attempts,
		Elapsed: t.Measurement.Elapsed.Seconds(), Started: t.Started.UTC(),
	}
	if f := t.Measurement.Failure; f != nil {
		v.Step, v.Output = f.Step, f.Output
	}
	if d := t.Decision; d != nil {
		v.Decision = &Verdict{d.Stop, d.Audited, d.Reason, Finite(g.Show(d.Predicted)), d.At.Seconds(), d.Last}
	}
	if !t.State.Final() {
		return v
	}
	ended := t.Ended.UTC()
	v.Ended = &ended
	for name, x := range assay.MetricsOf(t, g) {
		if Finite(x) != nil {
			v.Metrics[name] = x
		}
	}
	if t.State != assay.Failed && t.State != assay.Withdrawn {
		v.Value = Finite(g.Show(t.Value))
	}
	return v
}

// Config returns the values of a configuration by the names of the parameters that are in force.
func Config(params []assay.Param, c assay.Config) map[string]any {
	m := make(map[string]any, len(params))
	for i, p := range params {
		if assay.Active(params, c, i) {
			m[p.Name] = p.Value(c[i])
		}
	}
	return m
}
