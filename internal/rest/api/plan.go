package api

import (
	"context"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/planning"
)

// maxPlan is the largest body of a request for a plan: traces of some ten thousand tasks.
const maxPlan = 8 << 20

// planLimits keep a plan to seconds.
var planLimits = planning.Limits{Tasks: 20_000, Slots: 1 << 20, Work: 1 << 25}

// A PlanRequest is a workflow to plan, with the options of `assay plan`. Files has the contents of the files that
// options name: no file of the server is read.
type PlanRequest struct {
	Files map[string]string `json:"files" minProperties:"1" maxProperties:"64" doc:"texts of files by their names"`

	Workflow string `json:"workflow,omitempty" maxLength:"4096" doc:"a file, files with commas, or a folder of files"`
	Slots    string `json:"slots,omitempty" maxLength:"1000" doc:"such as 2,4,8 or 4..256; 1 to the width by default"`
	Levels   string `json:"levels,omitempty" maxLength:"100" doc:"tda, bua or slack, with commas; tda,bua by default"`
	Simulate bool   `json:"simulate,omitempty"`
	Longest  bool   `json:"longest_path,omitempty" doc:"the simulated scheduler starts the longest chains first"`

	Machines  []string `json:"machines,omitempty" maxItems:"32" nullable:"false" doc:"COUNTxCORES[:MEMORY]"`
	Delay     string   `json:"delay,omitempty" maxLength:"40" doc:"of each level, such as 25s"`
	Start     string   `json:"start,omitempty" maxLength:"40" doc:"delay of the whole workflow"`
	Calibrate []string `json:"calibrate,omitempty" maxItems:"64" nullable:"false" doc:"executions, or a calibration"`
	SlotTimes []string `json:"slot_times,omitempty" maxItems:"64" nullable:"false" doc:"executions on numbers of slots"`
	Times     []string `json:"times_from,omitempty" maxItems:"64" nullable:"false" doc:"executions with run times"`

	Fill     bool    `json:"fill,omitempty" doc:"fill missing run times from the median of their kind"`
	Clusters Int     `json:"clusters,omitempty" minimum:"0" maximum:"1000000" doc:"jobs of a kind in each level"`
	Price    string  `json:"price,omitempty" maxLength:"200" doc:"0.04/h, or 0.34/node-hour,slots=8,start=90"`
	Prices   string  `json:"prices,omitempty" maxLength:"4096" doc:"a file: a name and a price on each line"`
	Sites    string  `json:"sites,omitempty" maxLength:"4096" doc:"a file of sites to compare, JSON"`
	Deadline string  `json:"deadline,omitempty" maxLength:"40" doc:"longest makespan allowed, such as 2h"`
	Budget   float64 `json:"budget,omitempty" minimum:"0" doc:"most money to spend"`
	Error    float64 `json:"error,omitempty" minimum:"0" exclusiveMaximum:"1" doc:"relative error of the run times"`
	Samples  Int     `json:"samples,omitempty" minimum:"1" maximum:"1000" doc:"random run times; 100 by default"`
	Seed     Int     `json:"seed,omitempty" minimum:"0" doc:"of the random run times; 1 by default"`
}

// A PlanAnswer is the plan of a workflow: the output of `assay plan --json`, and the tasks.
type PlanAnswer struct {
	Plan planning.PlanData `json:"plan"`
	// Graph is nil if the workflow has too many tasks to draw.
	Graph *planning.Graph `json:"graph"`
}

// options returns the options of a request in the planner's form.
func (q *PlanRequest) options() (o planning.Options, err error) {
	o = planning.Options{
		Slots: q.Slots, Levels: q.Levels, Simulate: q.Simulate, LongestPath: q.Longest, Machines: q.Machines,
		Calibrate: q.Calibrate, SlotTimes: q.SlotTimes, Times: q.Times, Fill: q.Fill, Clusters: int(q.Clusters),
		Price: q.Price, Prices: q.Prices, Sites: q.Sites, Budget: q.Budget, Error: q.Error,
		Samples: int(q.Samples), Seed: uint64(q.Seed),
	}
	if o.Levels == "" {
		o.Levels = "tda,bua"
	}
	if o.Samples == 0 {
		o.Samples = 100
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	for _, d := range []struct {
		name, text string
		to         *time.Duration
	}{{"delay", q.Delay, &o.Delay}, {"start", q.Start, &o.Start}, {"deadline", q.Deadline, &o.Deadline}} {
		if d.text == "" {
			continue
		}
		if *d.to, err = time.ParseDuration(d.text); err != nil {
			return o, assay.Errorf(assay.ClassUsage, "%s %q: not a duration such as 90s, 10m or 2h", d.name, d.text)
		}
	}
	return o, nil
}

// workflow returns the text of the workflow.
func (q *PlanRequest) workflow() (string, error) {
	if q.Workflow != "" && q.Workflow != "-" {
		return q.Workflow, nil
	}
	if len(q.Files) == 1 {
		for name := range q.Files {
			return name, nil
		}
	}
	return "", assay.Errorf(assay.ClassUsage, "which of the %d files is the workflow?", len(q.Files))
}

type planIn struct {
	Written
	Body PlanRequest
}

func (s lookRoutes) postPlan(ctx context.Context, in *planIn) (*data[PlanAnswer], error) {
	free, err := s.compute(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	name, err := in.Body.workflow()
	if err != nil {
		return nil, err
	}
	o, err := in.Body.options()
	if err != nil {
		return nil, err
	}
	given := planning.Given{}
	for name, text := range in.Body.Files {
		given[name] = []byte(text)
	}
	p, err := planning.New(given, o)
	if err != nil {
		return nil, err
	}
	p.Limits = planLimits
	r, err := p.Plan(name)
	if err != nil {
		return nil, err
	}
	return encoded(PlanAnswer{r.Data(), r.Graph()})
}

// Plan plans a workflow.
func (c *Client) Plan(ctx context.Context, q PlanRequest) (PlanAnswer, error) {
	return decoded(call(ctx, c, lookRoutes.postPlan, &planIn{Body: q}))
}
