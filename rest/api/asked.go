package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/study"
)

// An Asked is a trial that was asked and not told.
type Asked struct {
	ID      int64          `json:"id"`
	Config  map[string]any `json:"config" doc:"the values of the parameters by their names"`
	Asked   time.Time      `json:"asked" doc:"when it was handed out last"`
	Attempt int            `json:"attempt" doc:"how often it was handed out"`
}

// An AskAnswer is what an asker gets.
type AskAnswer struct {
	Study   string  `json:"study"`
	Trials  []Asked `json:"trials" nullable:"false"`
	Open    int     `json:"open" doc:"trials in flight, those of the answer too"`
	EndedBy string  `json:"ended_by" doc:"why there are fewer than were wanted and will be none; empty while the study goes on"`
}

// A Told is what became of results.
type Told struct {
	Study     string           `json:"study"`
	Told      int              `json:"told" doc:"results that count"`
	Known     int              `json:"known" doc:"results that were told before"`
	Withdrawn int              `json:"withdrawn"`
	Open      int              `json:"open" doc:"trials in flight"`
	Objective result.Objective `json:"objective"`
	Best      *result.Best     `json:"best" doc:"null while there is none"`
	Trials    result.Counts    `json:"trials"`
	EndedBy   string           `json:"ended_by" doc:"empty while the study goes on"`
}

// A Result is what a trial came to, as somebody tells it.
type Result struct {
	ID      Whole              `json:"id" minimum:"1"`
	Value   *float64           `json:"value,omitempty" doc:"the objective; it may stand among metrics in its place"`
	Metrics map[string]float64 `json:"metrics,omitempty" doc:"by their names; the limits need theirs"`
	State   string             `json:"state,omitempty" enum:"done,failed,censored,infeasible,withdrawn" doc:"done by default; of a censored trial value is what it had come to when it was stopped"`
	Reason  string             `json:"reason,omitempty" maxLength:"10000" doc:"for people"`
	Config  map[string]any     `json:"config,omitempty" doc:"if it is there it has to be what was asked"`
}

// NewAsked returns trials that were handed out, as data.
func NewAsked(space *assay.Space, trials []study.Handed) []Asked {
	out := make([]Asked, len(trials))
	for i, h := range trials {
		out[i] = Asked{h.ID, space.Values(h.Config), h.Since, h.Attempt}
	}
	return out
}

// NewTold returns what became of results, and what the study has come to, as data.
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

// asking registers the routes of studies whose runs somebody else makes.
func (s *Server) asking() {
	type askIn struct {
		StudyPath
		Written
		Body struct {
			N     Whole    `json:"n,omitempty" minimum:"1" maximum:"1000" doc:"how many trials; 1 by default"`
			Again *float64 `json:"again_s,omitempty" minimum:"0" maximum:"1000000000" doc:"hand out trials once more that were handed out longer ago than this, before new ones"`
		}
	}
	type askOut struct{ Body AskAnswer }
	handle(s, http.MethodPost, prefix+"/studies/{study}/ask", func(ctx context.Context, in *askIn) (*askOut, error) {
		space, _, err := s.meaning(ctx, in.Study)
		if err != nil {
			return nil, err
		}
		a, err := s.o.Host.Ask(ctx, in.Study, max(1, int(in.Body.N)), age(in.Body.Again))
		if err != nil {
			return nil, err
		}
		return &askOut{AskAnswer{in.Study, NewAsked(space, a.Trials), a.Open, a.Ended}}, nil
	})

	type openIn struct{ StudyPath }
	type openOut struct {
		Body struct {
			Study  string  `json:"study"`
			Trials []Asked `json:"trials" nullable:"false"`
		}
	}
	handle(s, http.MethodGet, prefix+"/studies/{study}/asked", func(ctx context.Context, in *openIn) (*openOut, error) {
		space, _, err := s.meaning(ctx, in.Study)
		if err != nil {
			return nil, err
		}
		open, err := study.InFlight(ctx, s.o.Store, in.Study)
		out := &openOut{}
		out.Body.Study, out.Body.Trials = in.Study, NewAsked(space, open)
		return out, err
	})

	type tellIn struct {
		StudyPath
		Written
		Body struct {
			Results []Result `json:"results" minItems:"1" maxItems:"10000" nullable:"false" doc:"all are taken, or none"`
		}
	}
	type tellOut struct{ Body Told }
	handle(s, http.MethodPost, prefix+"/studies/{study}/tell", func(ctx context.Context, in *tellIn) (*tellOut, error) {
		space, goal, err := s.meaning(ctx, in.Study)
		if err != nil {
			return nil, err
		}
		receipt, res, err := s.o.Host.Tell(ctx, in.Study, reportsOf(in.Body.Results, whoOf(ctx).Name))
		if err != nil {
			return nil, err
		}
		return &tellOut{NewTold(in.Study, space, goal, receipt, res)}, nil
	})

	type recallIn struct {
		StudyPath
		Written
		Body struct {
			Age    float64 `json:"age_s" minimum:"0" maximum:"1000000000" doc:"those that were handed out at least so long ago"`
			Reason string  `json:"reason,omitempty" maxLength:"1000"`
		}
	}
	handle(s, http.MethodPost, prefix+"/studies/{study}/recall", func(ctx context.Context, in *recallIn) (*openOut, error) {
		space, _, err := s.meaning(ctx, in.Study)
		if err != nil {
			return nil, err
		}
		back, err := s.o.Host.Recall(ctx, in.Study, age(&in.Body.Age), whoOf(ctx).Name, in.Body.Reason)
		out := &openOut{}
		out.Body.Study, out.Body.Trials = in.Study, NewAsked(space, back)
		return out, err
	})
}

// meaning returns the space and the goal of a study that the request may see.
func (s *Server) meaning(ctx context.Context, name string) (space *assay.Space, goal assay.Goal, err error) {
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

// reportsOf returns results as the study takes them. by says who tells them.
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
