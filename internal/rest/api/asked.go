package api

import (
	"context"
	"fmt"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/study"
)

// An Asked is a trial that was handed out and has no result yet.
type Asked struct {
	ID      int64          `json:"id"`
	Config  map[string]any `json:"config" doc:"the values of the parameters by their names"`
	Asked   time.Time      `json:"asked" doc:"when it was handed out last"`
	Attempt int            `json:"attempt" doc:"how often it was handed out"`
}

// An AskAnswer is the response to an ask.
type AskAnswer struct {
	Study   string  `json:"study"`
	Trials  []Asked `json:"trials" nullable:"false"`
	Open    int     `json:"open" doc:"trials in flight, including this answer's"`
	EndedBy string  `json:"ended_by" doc:"why the study ended; empty while it goes on"`
}

// A Told is the response to reported results.
type Told struct {
	Study     string           `json:"study"`
	Told      int              `json:"told" doc:"results that count"`
	Known     int              `json:"known" doc:"results that were reported before"`
	Withdrawn int              `json:"withdrawn"`
	Open      int              `json:"open" doc:"trials in flight"`
	Objective result.Objective `json:"objective"`
	Best      *result.Best     `json:"best" doc:"null before the first"`
	Trials    result.Counts    `json:"trials"`
	EndedBy   string           `json:"ended_by" doc:"empty while the study goes on"`
}

// A Result is the result of a trial as its client reports it.
type Result struct {
	ID      Int                `json:"id" minimum:"1"`
	Value   *float64           `json:"value,omitempty" doc:"the objective, which metrics may have instead"`
	Metrics map[string]float64 `json:"metrics,omitempty" doc:"by their names; the limits need theirs"`
	State   string             `json:"state,omitempty" enum:"done,failed,censored,infeasible,withdrawn" doc:"default done"`
	Reason  string             `json:"reason,omitempty" maxLength:"10000" doc:"for people"`
	Config  map[string]any     `json:"config,omitempty" doc:"if present, it must equal the asked one"`
}

// NewAsked returns trials that were handed out, as data.
func NewAsked(space *assay.Space, trials []study.Handed) []Asked {
	out := make([]Asked, len(trials))
	for i, h := range trials {
		out[i] = Asked{h.ID, space.Values(h.Config), h.Since, h.Attempt}
	}
	return out
}

// NewTold returns a receipt for results, and the result of the study so far, as data.
func NewTold(name string, space *assay.Space, goal assay.Goal, r study.Receipt, res study.Result) Told {
	o := result.NewOutcome(name, space, goal, res)
	return Told{name, r.Told, r.Known, r.Withdrawn, r.Open, o.Objective, o.Best, o.Trials, r.Ended}
}

// age returns a number of seconds as a duration, -1 for none.
func age(seconds *float64) time.Duration {
	if seconds == nil {
		return -1
	}
	return time.Duration(*seconds * float64(time.Second))
}

type askIn struct {
	StudyPath
	Written
	Body struct {
		N     Int      `json:"n,omitempty" minimum:"1" maximum:"1000" doc:"how many trials; 1 by default"`
		Again *float64 `json:"again_s,omitempty" minimum:"0" maximum:"1000000000" doc:"repeat older trials first"`
	}
}

// askRoutes answer requests for the studies whose clients make the runs.
type askRoutes struct{ *Server }

func (s askRoutes) postAsk(ctx context.Context, in *askIn) (*plain[AskAnswer], error) {
	space, _, err := s.meaning(ctx, in.Study)
	if err != nil {
		return nil, err
	}
	a, err := s.o.External.Ask(ctx, in.Study, max(1, int(in.Body.N)), age(in.Body.Again))
	if err != nil {
		return nil, err
	}
	return &plain[AskAnswer]{AskAnswer{in.Study, NewAsked(space, a.Trials), a.Open, a.Ended}}, nil
}

type openIn struct{ StudyPath }

type openOut struct {
	Body struct {
		Study  string  `json:"study"`
		Trials []Asked `json:"trials" nullable:"false"`
	}
}

func (s askRoutes) getAsked(ctx context.Context, in *openIn) (*openOut, error) {
	space, _, err := s.meaning(ctx, in.Study)
	if err != nil {
		return nil, err
	}
	open, err := study.InFlight(ctx, s.o.Store, in.Study)
	out := &openOut{}
	out.Body.Study, out.Body.Trials = in.Study, NewAsked(space, open)
	return out, err
}

const aboutResults = "The value of a censored trial is its value when it was stopped."

type tellIn struct {
	StudyPath
	Written
	Body struct {
		Results []Result `json:"results" minItems:"1" maxItems:"10000" nullable:"false" doc:"all are taken, or none"`
	}
}

func (s askRoutes) postTell(ctx context.Context, in *tellIn) (*plain[Told], error) {
	space, goal, err := s.meaning(ctx, in.Study)
	if err != nil {
		return nil, err
	}
	receipt, res, err := s.o.External.Tell(ctx, in.Study, reportsOf(in.Body.Results, whoOf(ctx).Name))
	if err != nil {
		return nil, err
	}
	return &plain[Told]{NewTold(in.Study, space, goal, receipt, res)}, nil
}

type recallIn struct {
	StudyPath
	Written
	Body struct {
		Age    float64 `json:"age_s" minimum:"0" maximum:"1000000000" doc:"least age of the trials"`
		Reason string  `json:"reason,omitempty" maxLength:"1000"`
	}
}

func (s askRoutes) postRecall(ctx context.Context, in *recallIn) (*openOut, error) {
	space, _, err := s.meaning(ctx, in.Study)
	if err != nil {
		return nil, err
	}
	back, err := s.o.External.Recall(ctx, in.Study, age(&in.Body.Age), whoOf(ctx).Name, in.Body.Reason)
	out := &openOut{}
	out.Body.Study, out.Body.Trials = in.Study, NewAsked(space, back)
	return out, err
}

// meaning returns the space and the goal of a study that the request may see.
func (s askRoutes) meaning(ctx context.Context, name string) (space *assay.Space, goal assay.Goal, err error) {
	if _, err := s.see(ctx, name); err != nil {
		return nil, goal, err
	}
	def, err := s.o.Store.Definition(ctx, name)
	if err != nil {
		return nil, goal, err
	}
	if space, err = def.Space(); err != nil {
		return nil, goal, err
	}
	goal, err = def.Goal()
	return space, goal, err
}

// reportsOf converts results to the reports of package study. by is the name of the client.
func reportsOf(results []Result, by string) []study.Report {
	out := make([]study.Report, len(results))
	for i, r := range results {
		out[i] = study.Report{
			ID: int64(r.ID), Value: r.Value, Metrics: r.Metrics, State: r.State, Reason: r.Reason, Config: r.Config,
			By: by, Place: fmt.Sprintf("results[%d]", i),
		}
	}
	return out
}

// Ask takes n trials of an external study. If again is not negative, trials that were taken longer than again ago and
// have no result come first.
func (c *Client) Ask(ctx context.Context, name string, n int, again time.Duration) (AskAnswer, error) {
	in := &askIn{StudyPath: StudyPath{name}}
	in.Body.N = Int(n)
	if again >= 0 {
		seconds := again.Seconds()
		in.Body.Again = &seconds
	}
	return body(call(ctx, c, askRoutes.postAsk, in))
}

// Asked returns the trials of an external study that wait for results.
func (c *Client) Asked(ctx context.Context, name string) ([]Asked, error) {
	out, err := call(ctx, c, askRoutes.getAsked, &openIn{StudyPath{name}})
	if err != nil {
		return nil, err
	}
	return out.Body.Trials, nil
}

// Tell reports results of an external study.
func (c *Client) Tell(ctx context.Context, name string, reports []study.Report) (Told, error) {
	in := &tellIn{StudyPath: StudyPath{name}}
	in.Body.Results = make([]Result, len(reports))
	for i, r := range reports {
		in.Body.Results[i] = Result{Int(r.ID), r.Value, r.Metrics, r.State, r.Reason, r.Config}
	}
	return body(call(ctx, c, askRoutes.postTell, in))
}

// Recall withdraws the trials of an external study that were taken at least age ago and have no result.
func (c *Client) Recall(ctx context.Context, name string, age time.Duration, reason string) ([]Asked, error) {
	in := &recallIn{StudyPath: StudyPath{name}}
	in.Body.Age, in.Body.Reason = age.Seconds(), reason
	out, err := call(ctx, c, askRoutes.postRecall, in)
	if err != nil {
		return nil, err
	}
	return out.Body.Trials, nil
}
