package api

import (
	"cmp"
	"context"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// A Checked is the result of checking a submission.
type Checked struct {
	Name       string   `json:"name" doc:"of the study"`
	Executes   string   `json:"executes,omitempty" doc:"the key that defines a command to execute; absent without one"`
	Size       string   `json:"configurations" doc:"how many there are, for people"`
	Parameters []string `json:"parameters" nullable:"false" doc:"each in one line, for people"`
	Relations  []string `json:"relations" nullable:"false"`
	Objective  string   `json:"objective"`
	Limits     []string `json:"limits" nullable:"false"`
	Search     string   `json:"search"`
	Stopping   string   `json:"stopping" doc:"how runs are stopped early, for people"`
	First      []string `json:"first" nullable:"false" doc:"the first runs, as shell lines or values"`
}

// previewed is the number of first runs that are previewed.
const previewed = 3

// nowhere is the runner of a study that is only inspected: its programs need not be installed here.
type nowhere struct{}

// Run implements [assay.Runner].
func (nowhere) Run(context.Context, assay.Job, func(assay.Measurement)) (assay.Measurement, error) {
	return assay.Measurement{}, assay.Errorf(assay.ClassUsage, "a study that is only checked has no runs")
}

// check checks a submission without creating anything.
func (s *Server) check(ctx context.Context, b Submission) (out Checked, err error) {
	def, err := b.definition()
	if err == nil {
		err = hosted(def)
	}
	if err != nil {
		return out, err
	}
	select { // a search is made, and asked: that is work for the processor
	case s.fits <- struct{}{}:
		defer func() { <-s.fits }()
	case <-ctx.Done():
		return out, assay.WithClass(assay.ClassUnavailable, ctx.Err())
	}
	executing := def.Executes()
	p, err := setup.New(def, setup.Options{Runner: nowhere{}})
	if err != nil {
		return out, err
	}
	out = Checked{
		Name: cmp.Or(b.Name, p.Name()), Executes: executing, Size: p.Space.Size().String(),
		Objective: result.GoalText(p.Goal),
		Search:    cmp.Or(def.Search.Name, "auto"), Stopping: p.Stopping(),
		Parameters: []string{}, Relations: []string{}, Limits: []string{}, First: []string{},
	}
	for _, q := range p.Space.Params {
		out.Parameters = append(out.Parameters, result.ParamText(q))
	}
	for _, r := range p.Space.Relations {
		out.Relations = append(out.Relations, r.Text)
	}
	for _, limit := range p.Goal.Limits {
		out.Limits = append(out.Limits, limit.Text)
	}
	first, err := p.Preview(previewed)
	for _, c := range first {
		text := p.Space.Text(c)
		if p.Program != nil && def.App == "" {
			recipe := result.NewRecipe(def, p.Program, c, result.Place{})
			if recipe.Alone() {
				text = recipe.Line()
			}
		}
		out.First = append(out.First, text)
	}
	return out, err
}

// hosted returns the reason why a server does not run a definition, or nil.
func hosted(def *spec.Study) error {
	switch {
	case def.Replay != nil:
		return assay.Errorf(assay.ClassUsage, "a recorded table is replayed by assay tune, not by a server")
	case def.Online:
		return assay.Errorf(assay.ClassUsage, "a program is tuned while it runs by assay serve --online")
	case def.Workbench != nil:
		return assay.Errorf(assay.ClassUsage, "a workbench is used by assay learn, not by a server")
	case def.Placement.On == spec.Slurm || def.Placement.On == spec.BatchSystem:
		return assay.Errorf(assay.ClassUsage, "place.on: a server runs its studies on its workers; assay tune --on %s "+
			"runs them as jobs of a batch system, without a server", def.Placement.On)
	}
	return nil
}

type checkIn struct{ Body Submission }

func (s lookRoutes) postCheck(ctx context.Context, in *checkIn) (*plain[Checked], error) {
	body, err := s.check(ctx, in.Body)
	return &plain[Checked]{body}, err
}

// Check checks a submission without creating a study. An error of a study file begins with its place.
func (c *Client) Check(ctx context.Context, s Submission) (Checked, error) {
	return body(call(ctx, c, lookRoutes.postCheck, &checkIn{s}))
}
