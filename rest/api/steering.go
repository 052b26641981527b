package api

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/assay-run/assay"
)

// steered is the answer of a write: the study as it is now.
type steered struct {
	ETag string `header:"ETag"`
	Body Study
}

// after returns the answer of a write that succeeded.
func (s *Server) after(ctx context.Context, study string) (*steered, error) {
	i, err := s.o.Host.Info(ctx, study)
	if err != nil {
		return nil, err
	}
	body, err := s.study(ctx, i)
	return &steered{tag(i.Events), body}, err
}

// steer makes a decision about a study.
func (s *Server) steer(ctx context.Context, study string, d assay.Steering) (*steered, error) {
	if _, err := s.see(ctx, study); err != nil {
		return nil, err
	}
	d.By = whoOf(ctx).Name
	if err := s.o.Host.Steer(ctx, study, d); err != nil {
		return nil, err
	}
	return s.after(ctx, study)
}

// steering registers the routes that change what a study does.
func (s *Server) steering() {
	type stateIn struct {
		StudyPath
		Written
		Body struct {
			State  string `json:"state" enum:"run,pause,stop" doc:"stop is the end; the other two follow each other"`
			Reason string `json:"reason,omitempty" maxLength:"1000"`
		}
	}
	handle(s, http.MethodPatch, prefix+"/studies/{study}/state", func(ctx context.Context, in *stateIn) (*steered, error) {
		return s.steer(ctx, in.Study, assay.Steering{Do: in.Body.State, Reason: in.Body.Reason})
	})
	type priorityIn struct {
		StudyPath
		Written
		Body struct {
			Priority Whole `json:"priority" minimum:"-1000000" maximum:"1000000"`
		}
	}
	handle(s, http.MethodPatch, prefix+"/studies/{study}/priority", func(ctx context.Context, in *priorityIn) (*steered, error) {
		return s.steer(ctx, in.Study, assay.Steering{Do: "priority", Priority: int(in.Body.Priority)})
	})
	type budgetIn struct {
		StudyPath
		Written
		Body struct {
			Trials Whole   `json:"trials,omitempty" minimum:"1" maximum:"1000000000"`
			Time   float64 `json:"time_s,omitempty" minimum:"0.001" maximum:"1000000000"`
		}
	}
	handle(s, http.MethodPatch, prefix+"/studies/{study}/budget", func(ctx context.Context, in *budgetIn) (*steered, error) {
		b := in.Body
		if b.Trials == 0 && b.Time == 0 {
			return nil, assay.Errorf(assay.ClassUsage, "neither trials nor time_s: nothing is to be changed")
		}
		d := time.Duration(math.Round(b.Time * float64(time.Second)))
		return s.steer(ctx, in.Study, assay.Steering{Do: "budget", Trials: int(b.Trials), Time: d})
	})

	type giveIn struct {
		StudyPath
		Written
		Body struct {
			Configs []map[string]any `json:"configs" minItems:"1" maxItems:"10000" nullable:"false" doc:"values of all parameters by their names"`
		}
	}
	handle(s, http.MethodPost, prefix+"/studies/{study}/trials", func(ctx context.Context, in *giveIn) (*steered, error) {
		if _, err := s.see(ctx, in.Study); err != nil {
			return nil, err
		}
		configs, err := s.configs(ctx, in.Study, in.Body.Configs)
		if err != nil {
			return nil, err
		}
		if err := s.o.Host.Give(ctx, in.Study, configs, whoOf(ctx).Name); err != nil {
			return nil, err
		}
		return s.after(ctx, in.Study)
	})

	type queueIn struct {
		StudyPath
		Written
		Body struct {
			Trials []Whole `json:"trials" minItems:"1" maxItems:"10000" nullable:"false" doc:"their ids"`
			Change
		}
	}
	handle(s, http.MethodPatch, prefix+"/queue/{study}", func(ctx context.Context, in *queueIn) (*steered, error) {
		ids := make([]int64, len(in.Body.Trials))
		for i, id := range in.Body.Trials {
			ids[i] = int64(id)
		}
		return s.move(ctx, in.Study, ids, in.Body.Change)
	})
	type oneIn struct {
		StudyPath
		Written
		Trial int64 `path:"trial" minimum:"1" doc:"the id of the trial"`
		Body  Change
	}
	handle(s, http.MethodPatch, prefix+"/queue/{study}/{trial}", func(ctx context.Context, in *oneIn) (*steered, error) {
		return s.move(ctx, in.Study, []int64{in.Trial}, in.Body)
	})
}

// A Change is what is to become of trials that have not ended, or were discarded.
type Change struct {
	Do     string `json:"do" enum:"first,discard,restore" doc:"first: before all others of the study; discard: never, or no further; restore: undo these for trials that have not begun"`
	Reason string `json:"reason,omitempty" maxLength:"1000"`
}

// move changes what becomes of trials.
func (s *Server) move(ctx context.Context, study string, trials []int64, c Change) (*steered, error) {
	if _, err := s.see(ctx, study); err != nil {
		return nil, err
	}
	var err error
	switch by := whoOf(ctx).Name; c.Do {
	case "first":
		err = s.o.Host.Order(ctx, study, trials, by)
	case "restore":
		err = s.o.Host.Restore(ctx, study, trials, by)
	default:
		err = s.o.Host.Withdraw(ctx, study, trials, by, c.Reason)
	}
	if err != nil {
		return nil, err
	}
	return s.after(ctx, study)
}
