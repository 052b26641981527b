package api

import (
	"context"
	"math"
	"time"

	"github.com/assay-run/assay"
)

// after returns the answer of a write that succeeded.
func (s *Server) after(ctx context.Context, study string) (*tagged[Study], error) {
	i, err := s.o.Studies.Info(ctx, study)
	if err != nil {
		return nil, err
	}
	body, err := s.study(ctx, i)
	return &tagged[Study]{tag(i.Events), body}, err
}

// steer makes a decision about a study.
func (s *Server) steer(ctx context.Context, study string, d assay.Steering) (*tagged[Study], error) {
	if _, err := s.see(ctx, study); err != nil {
		return nil, err
	}
	d.By = whoOf(ctx).Name
	if err := s.o.Studies.Steer(ctx, study, d); err != nil {
		return nil, err
	}
	return s.after(ctx, study)
}

type stateIn struct {
	StudyPath
	Written
	Body struct {
		State  string `json:"state" enum:"run,pause,stop" doc:"stop is the end; the other two follow each other"`
		Reason string `json:"reason,omitempty" maxLength:"1000"`
	}
}

// patchState answers P/studies/{study}/trials/{trial}CH /studies/{study}/state.
func (s *Server) patchState(ctx context.Context, in *stateIn) (*tagged[Study], error) {
	return s.steer(ctx, in.Study, assay.Steering{Do: in.Body.State, Reason: in.Body.Reason})
}

type priorityIn struct {
	StudyPath
	Written
	Body struct {
		Priority Int `json:"priority" minimum:"-1000000" maximum:"1000000"`
	}
}

// patchPriority answers P/studies/{study}/trials/{trial}CH /studies/{study}/priority.
func (s *Server) patchPriority(ctx context.Context, in *priorityIn) (*tagged[Study], error) {
	return s.steer(ctx, in.Study, assay.Steering{Do: "priority", Priority: int(in.Body.Priority)})
}

type budgetIn struct {
	StudyPath
	Written
	Body struct {
		Trials Int     `json:"trials,omitempty" minimum:"1" maximum:"1000000000"`
		Time   float64 `json:"time_s,omitempty" minimum:"0.001" maximum:"1000000000"`
	}
}

// patchBudget answers P/studies/{study}/trials/{trial}CH /studies/{study}/budget.
func (s *Server) patchBudget(ctx context.Context, in *budgetIn) (*tagged[Study], error) {
	b := in.Body
	if b.Trials == 0 && b.Time == 0 {
		return nil, assay.Errorf(assay.ClassUsage, "neither trials nor time_s: nothing is to be changed")
	}
	d := time.Duration(math.Round(b.Time * float64(time.Second)))
	return s.steer(ctx, in.Study, assay.Steering{Do: "budget", Trials: int(b.Trials), Time: d})
}

type giveIn struct {
	StudyPath
	Written
	Body struct {
		Configs []map[string]any `json:"configs" minItems:"1" maxItems:"10000" nullable:"false" doc:"all values, by name"`
	}
}

func (s *Server) postTrials(ctx context.Context, in *giveIn) (*tagged[Study], error) {
	if _, err := s.see(ctx, in.Study); err != nil {
		return nil, err
	}
	configs, err := s.configs(ctx, in.Study, in.Body.Configs)
	if err != nil {
		return nil, err
	}
	if err := s.o.Trials.Give(ctx, in.Study, configs, whoOf(ctx).Name); err != nil {
		return nil, err
	}
	return s.after(ctx, in.Study)
}

const aboutMoves = "first: before all others of the study. discard: the trial is not run, or not run again. " +
	"restore: undoes both for a trial that has not begun."

type queueIn struct {
	StudyPath
	Written
	Body struct {
		Trials []Int `json:"trials" minItems:"1" maxItems:"10000" nullable:"false" doc:"their ids"`
		Change
	}
}

// patchQueue answers P/studies/{study}/trials/{trial}CH /queue/{study}.
func (s *Server) patchQueue(ctx context.Context, in *queueIn) (*tagged[Study], error) {
	ids := make([]int64, len(in.Body.Trials))
	for i, id := range in.Body.Trials {
		ids[i] = int64(id)
	}
	return s.move(ctx, in.Study, ids, in.Body.Change)
}

type movedIn struct {
	StudyPath
	Written
	Trial int64 `path:"trial" minimum:"1" doc:"the id of the trial"`
	Body  Change
}

// patchQueued answers P/studies/{study}/trials/{trial}CH /queue/{study}/{trial}.
func (s *Server) patchQueued(ctx context.Context, in *movedIn) (*tagged[Study], error) {
	return s.move(ctx, in.Study, []int64{in.Trial}, in.Body)
}

// A Change is what is to become of trials that have not ended, or were discarded.
type Change struct {
	Do     string `json:"do" enum:"first,discard,restore" doc:"restore undoes the others before a trial begins"`
	Reason string `json:"reason,omitempty" maxLength:"1000"`
}

// move changes what becomes of trials.
func (s *Server) move(ctx context.Context, study string, trials []int64, c Change) (*tagged[Study], error) {
	if _, err := s.see(ctx, study); err != nil {
		return nil, err
	}
	var err error
	switch by := whoOf(ctx).Name; c.Do {
	case "first":
		err = s.o.Trials.Order(ctx, study, trials, by)
	case "restore":
		err = s.o.Trials.Restore(ctx, study, trials, by)
	default:
		err = s.o.Trials.Withdraw(ctx, study, trials, by, c.Reason)
	}
	if err != nil {
		return nil, err
	}
	return s.after(ctx, study)
}

// SetState runs, pauses or stops a study.
func (c *Client) SetState(ctx context.Context, study, state, reason string) (Study, error) {
	in := &stateIn{StudyPath: StudyPath{study}}
	in.Body.State, in.Body.Reason = state, reason
	return body(call(ctx, c, (*Server).patchState, in))
}

// SetPriority sets the priority of a study. The study of greatest priority goes first.
func (c *Client) SetPriority(ctx context.Context, study string, priority int) (Study, error) {
	in := &priorityIn{StudyPath: StudyPath{study}}
	in.Body.Priority = Int(priority)
	return body(call(ctx, c, (*Server).patchPriority, in))
}

// Give runs configurations: the values of all parameters by their names.
func (c *Client) Give(ctx context.Context, study string, configs []map[string]any) (Study, error) {
	in := &giveIn{StudyPath: StudyPath{study}}
	in.Body.Configs = configs
	return body(call(ctx, c, (*Server).postTrials, in))
}

// Move runs trials first, discards them, or undoes that.
func (c *Client) Move(ctx context.Context, study string, trials []int64, do Change) (Study, error) {
	in := &queueIn{StudyPath: StudyPath{study}}
	in.Body.Change = do
	for _, id := range trials {
		in.Body.Trials = append(in.Body.Trials, Int(id))
	}
	return body(call(ctx, c, (*Server).patchQueue, in))
}
