package result

import (
	"github.com/assay-run/assay"
	"github.com/assay-run/assay/study"
	"github.com/assay-run/assay/view"
)

// An Outcome is the result of a study at its end. Its JSON is a contract.
type Outcome struct {
	Study     string    `json:"study"`
	Objective Objective `json:"objective"`
	// Objectives are all objectives and Front is the front in order of the first one, if there are several. Best is then
	// the balanced trial, and its Value the value of the first objective.
	Objectives []Objective  `json:"objectives,omitempty"`
	Front      []FrontTrial `json:"front,omitempty"`
	Best       *Best        `json:"best"` // null if no trial ended well
	Gain       *Gain        `json:"gain,omitempty"`
	// Answer is the recommendation; nil if no trial ended well, or with several objectives.
	Answer *view.Answer `json:"answer,omitempty"`
	// Repeated describes the repeated runs; nil without any.
	Repeated *Repeated `json:"repeated,omitempty"`
	// Refuted are the configurations that failed when they were run again, and are not
	// recommended therefore.
	Refuted  []Refuted `json:"refuted,omitempty"`
	Trials   Counts    `json:"trials"`
	Spent    float64   `json:"spent_s"`
	Lost     float64   `json:"lost_s"`              // attempts that were made elsewhere and do not count
	CPUHours float64   `json:"cpu_hours,omitempty"` // of the processors of all attempts, where jobs ask for them
	// Queued and Ran are how long jobs of a batch system waited in its queue, and ran, all of them together; both are 0
	// without jobs.
	Queued   float64 `json:"queued_s,omitempty"`
	Ran      float64 `json:"run_s,omitempty"`
	Saved    float64 `json:"saved_s"`
	Audit    *Audit  `json:"audit,omitempty"` // the test of early stopping by audited trials
	Overhead float64 `json:"overhead_s"`
	EndedBy  string  `json:"ended_by"`
	Why      string  `json:"ended_why,omitempty"` // in words, if it was ended because no further gain is likely
}

// An Audit measures the benefit of early stops, by trials that the rule would have stopped and that were completed
// nevertheless.
type Audit struct {
	Stopped int        `json:"stopped"`
	Audited int        `json:"audited"`
	Wrong   int        `json:"wrong"`         // audited trials that became better than the best of the time
	Share   float64    `json:"wrong_share"`   // of the stops
	CI95    [2]float64 `json:"wrong_ci95"`    // exact
	Saved   float64    `json:"saved_s"`       // by the stopped trials
	Least   float64    `json:"saved_least_s"` // with 95 % confidence
}

// newAudit returns the audit of some trials, or nil if none were audited.
func newAudit(trials []assay.Trial) *Audit {
	a, ok := study.NewAudit(trials)
	if !ok {
		return nil
	}
	return &Audit{
		Stopped: a.Stopped, Audited: a.Audited, Wrong: a.Wrong, Share: a.Share.Value,
		CI95: [2]float64{a.Share.Low, a.Share.High}, Saved: a.Saved.Seconds(), Least: a.Least.Seconds(),
	}
}

// An Objective is a quantity to minimize or maximize.
type Objective struct {
	Metric string `json:"metric"`
	Goal   string `json:"goal"`
	Unit   string `json:"unit,omitempty"`
	// Levels is true if the study has runs below a full level, which are not results: see wordOf.
	Levels bool `json:"levels,omitempty"`
}

// NewObjective returns an objective as data.
func NewObjective(goal assay.Goal) Objective {
	o := Objective{Metric: goal.Metric, Goal: "minimize", Unit: goal.Unit, Levels: goal.Level != nil}
	if goal.Maximize {
		o.Goal = "maximize"
	}
	return o
}

// A Best is the best trial of a study.
type Best struct {
	Trial   int64              `json:"trial"`
	Config  map[string]any     `json:"config"`
	Value   float64            `json:"value"` // of its run, or the median of its runs
	Metrics map[string]float64 `json:"metrics"`
	Command []string           `json:"command,omitempty"`
	Dir     string             `json:"dir,omitempty"`  // the command's working directory, if the study sets one
	Env     []string           `json:"env,omitempty"`  // "NAME=value", in addition to this process's environment
	Runs    int                `json:"runs,omitempty"` // the number of runs whose median is Value, if it was repeated
}

// Counts are numbers of trials by their states.
type Counts struct {
	Total      int `json:"total"`
	Done       int `json:"done"`
	Censored   int `json:"censored"`
	Failed     int `json:"failed"`
	Infeasible int `json:"infeasible"`
	Withdrawn  int `json:"withdrawn,omitempty"`
	// Below counts the trials in Infeasible that were run below the full level, and broke no limit.
	Below int `json:"below_full,omitempty"`
}

// NewOutcome returns the outcome of a study of that name, space and goal. The command of its best configuration is not
// known here: see [Best].
func NewOutcome(name string, space *assay.Space, goal assay.Goal, r study.Result) Outcome {
	o := Outcome{
		Study: name, Spent: r.Spent.Seconds(), Lost: r.Lost.Seconds(), CPUHours: r.CPUHours,
		Queued: r.Queued.Seconds(), Ran: r.Ran.Seconds(), Saved: study.Saved(r.Trials).Seconds(),
		Audit: newAudit(r.Trials), Overhead: r.Overhead.Seconds(), EndedBy: r.EndedBy, Why: r.Why,
		Trials:    CountTrials(r.Trials).of(goal),
		Objective: NewObjective(goal),
	}
	if goal.Several() {
		o.Objectives = NewObjectives(goal)
	}
	o.Repeated, o.Refuted = NewRepeated(r), NewRefuted(space.Values, r)
	if !r.Found {
		return o
	}
	o.Best = NewBest(space.Values, goal, r)
	if goal.Several() {
		o.Front = newFrontTrials(space.Values, goal, r.Front)
		return o
	}
	o.Gain = NewGain(goal, r)
	return o
}

// NewBest returns the best trial of a study that has found one. values returns the values of a configuration by the
// names of its parameters.
func NewBest(values func(assay.Config) map[string]any, goal assay.Goal, r study.Result) *Best {
	b := &Best{
		Trial: r.Best.ID, Config: values(r.Best.Config), Value: goal.Show(r.Best.Value),
		Metrics: assay.MetricsOf(r.Best, goal),
	}
	if r.Runs > 1 {
		b.Runs = r.Runs
	}
	return b
}

// NewRepeated describes the repeated runs; it returns nil if nothing is to be reported.
func NewRepeated(r study.Result) *Repeated {
	if len(r.Races)+len(r.Checks) == 0 && r.Short == "" {
		return nil
	}
	of := func(id int64) (runs []assay.Trial) {
		for _, t := range r.Checks {
			if t.ID == id {
				runs = append(runs, t)
			}
		}
		return runs
	}
	o := &Repeated{Race: len(r.Races), First: again(of(r.First.ID)), Short: r.Short}
	if r.Found {
		o.Best = again(of(r.Best.ID))
	}
	return o
}

// NewRefuted returns the configurations that failed when they were run again.
func NewRefuted(values func(assay.Config) map[string]any, r study.Result) (all []Refuted) {
	for _, x := range r.Refuted {
		a := again(x.Broken)
		a.Runs = max(x.Runs, a.Runs)
		all = append(all, Refuted{x.Trial.ID, values(x.Trial.Config), a, x.Trial.Config})
	}
	return all
}

// CountTrials counts trials by their states.
func CountTrials(trials []assay.Trial) (c Counts) {
	c.Total = len(trials)
	for _, t := range trials {
		switch t.State {
		case assay.Done:
			c.Done++
		case assay.Censored:
			c.Censored++
		case assay.Failed:
			c.Failed++
		case assay.Infeasible:
			c.Infeasible++
		case assay.Withdrawn:
			c.Withdrawn++
		}
	}
	return c
}

// of returns the counts for a study with that goal: with levels there are no limits.
func (c Counts) of(g assay.Goal) Counts {
	if g.Level != nil {
		c.Below = c.Infeasible
	}
	return c
}
