package api

import (
	"context"
	"math"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/view"
)

// commandRoutes answer requests for the commands to running studies.
type commandRoutes struct{ *Server }

// after returns the answer of a write that succeeded.
func (s commandRoutes) after(ctx context.Context, study string) (*tagged[view.Study], error) {
	i, err := s.o.Studies.Info(ctx, study)
	if err != nil {
		return nil, err
	}
	body, err := s.study(ctx, i)
	return &tagged[view.Study]{tag(i.Events), body}, err
}

// steer makes a decision about a study.
func (s commandRoutes) steer(ctx context.Context, study string, d assay.StudyCommand) (*tagged[view.Study], error) {
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
func (s commandRoutes) patchState(ctx context.Context, in *stateIn) (*tagged[view.Study], error) {
	return s.steer(ctx, in.Study, assay.StudyCommand{Do: in.Body.State, Reason: in.Body.Reason})
}

type priorityIn struct {
	StudyPath
	Written
	Body struct {
		Priority Int `json:"priority" minimum:"-1000000" maximum:"1000000"`
	}
}

// patchPriority answers P/studies/{study}/trials/{trial}CH /studies/{study}/priority.
func (s commandRoutes) patchPriority(ctx context.Context, in *priorityIn) (*tagged[view.Study], error) {
	return s.steer(ctx, in.Study, assay.StudyCommand{Do: "priority", Priority: int(in.Body.Priority)})
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
func (s commandRoutes) patchBudget(ctx context.Context, in *budgetIn) (*tagged[view.Study], error) {
	b := in.Body
	if b.Trials == 0 && b.Time == 0 {
		return nil, assay.Errorf(assay.ClassUsage, "neither trials nor time_s: nothing is to be changed")
	}
	d := time.Duration(math.Round(b.Time * float64(time.Second)))
	return s.steer(ctx, in.Study, assay.StudyCommand{Do: "budget", Trials: int(b.Trials), Time: d})
}

type giveIn struct {
	StudyPath
	Written
	Body struct {
		Configs []map[string]any `json:"configs" minItems:"1" maxItems:"10000" nullable:"false" doc:"all values, by name"`
	}
}

func (s commandRoutes) postTrials(ctx context.Context, in *giveIn) (*tagged[view.Study], error) {
	if _, err := s.see(ctx, in.Study); err != nil {
		return nil, err
	}
	configs, err := s.configs(ctx, in.Study, in.Body.Configs)
	if err != nil {
		return nil, err
	}
	if err := s.o.Trials.Enqueue(ctx, in.Study, configs, whoOf(ctx).Name); err != nil {
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
func (s commandRoutes) patchQueue(ctx context.Context, in *queueIn) (*tagged[view.Study], error) {
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
func (s commandRoutes) patchQueued(ctx context.Context, in *movedIn) (*tagged[view.Study], error) {
	return s.move(ctx, in.Study, []int64{in.Trial}, in.Body)
}

// A Change moves, withdraws or restores trials.
type Change struct {
	Do     string `json:"do" enum:"first,discard,restore" doc:"restore undoes the others before a trial begins"`
	Reason string `json:"reason,omitempty" maxLength:"1000"`
}

// move applies a change to trials.
func (s commandRoutes) move(ctx context.Context, study string, trials []int64, c Change) (*tagged[view.Study], error) {
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
func (c *Client) SetState(ctx context.Context, study, state, reason string) (view.Study, error) {
	in := &stateIn{StudyPath: StudyPath{study}}
	in.Body.State, in.Body.Reason = state, reason
	return body(call(ctx, c, commandRoutes.patchState, in))
}

// SetPriority sets the priority of a study. The study of greatest priority goes first.
func (c *Client) SetPriority(ctx context.Context, study string, priority int) (view.Study, error) {
	in := &priorityIn{StudyPath: StudyPath{study}}
	in.Body.Priority = Int(priority)
	return body(call(ctx, c, commandRoutes.patchPriority, in))
}

// Enqueue runs configurations: the values of all parameters by their names.
func (c *Client) Enqueue(ctx context.Context, study string, configs []map[string]any) (view.Study, error) {
	in := &giveIn{StudyPath: StudyPath{study}}
	in.Body.Configs = configs
	return body(call(ctx, c, commandRoutes.postTrials, in))
}

// Move runs trials first, discards them, or undoes that.
func (c *Client) Move(ctx context.Context, study string, trials []int64, do Change) (view.Study, error) {
	in := &queueIn{StudyPath: StudyPath{study}}
	in.Body.Change = do
	for _, id := range trials {
		in.Body.Trials = append(in.Body.Trials, Int(id))
	}
	return body(call(ctx, c, commandRoutes.patchQueue, in))
}
