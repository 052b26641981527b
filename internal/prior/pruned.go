package prior

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/internal/report"
)

// This file computes the configurations that earlier studies would remove from the space of a recorded study, and the
// cost of the removal by the study's own later trials.

// A Pruned is the part of a study's space that other studies would have removed after its first trials, and its effect
// on the later ones. It is the output of `assay study similar --prune --json`: a contract.
type Pruned struct {
	Study string `json:"study"`
	After int    `json:"after"` // trials of the study that had ended when the others were compared with it
	// Helpers are the studies that would have served, in the order of their names, and Notes give the reasons against
	// others.
	Helpers []Helper `json:"helpers"`
	Notes   []string `json:"notes"`
	// Cuts are the removals and returns, in order.
	Cuts []assay.Pruned `json:"cuts"`
	// Left is the share of the space that is left, of 1,000 configurations drawn from it.
	Left float64 `json:"space_left"`
	// Later trials of the study that finished, and the number of them in the removed part.
	Later   int `json:"later_trials"`
	Outside int `json:"later_outside"`
	// Best is the best of all trials of the study, and BestLeft the best in the remaining space; of the metric.
	Best     *float64 `json:"best"`
	BestLeft *float64 `json:"best_left"`
	// Loss is the loss in hindsight: how much worse the best in the remaining space is, as a share of the best; 0 if the
	// best remains.
	Loss *float64 `json:"loss"`

	goal assay.Goal
}

// A Helper is a study that serves.
type Helper struct {
	Study  string `json:"study"`
	Trials int    `json:"trials"`
}

// prunedAfter is the default number of trials for the comparison: the pruner requires a correlation that is positive
// beyond chance, which fewer trials rarely show.
const prunedAfter = 10

// bystander is the searcher inside a pruner that is used only for its removals.
type bystander struct{}

func (bystander) Ask(int) ([]assay.Proposal, error) { return nil, nil }
func (bystander) Tell(...assay.Trial) error         { return nil }
func (bystander) Narrow(func(assay.Config) bool)    {}

var _ assay.Narrower = bystander{}

// Pruned returns the part of a study's space that other studies would have removed, by its own options of prior, after
// the first trials of it that ended; 0 means 10. The others are the studies that prior: auto takes and for which sees
// returns true. It returns an error that matches fs.ErrNotExist if the study does not exist, and one of the class usage
// if no study can be compared with it.
func (kb *Base) Pruned(ctx context.Context, name string, after int, sees func(string) bool) (*Pruned, error) {
	self := kb.studies[name]
	if self == nil {
		return nil, fmt.Errorf("study %q: %w", name, fs.ErrNotExist)
	}
	if self.Flaw != "" {
		return nil, assay.Errorf(assay.ClassUsage, "%s cannot be compared: %s", name, self.Flaw)
	}
	if after <= 0 {
		after = prunedAfter
	}
	def, err := kb.definition(ctx, name)
	if err != nil {
		return nil, err
	}
	space, err := def.Space()
	if err != nil {
		return nil, err
	}
	out := &Pruned{Study: name, Helpers: []Helper{}, Notes: []string{}, Cuts: []assay.Pruned{}, goal: self.goal()}
	asks := *def
	asks.Prior.Auto, asks.Prior.Studies = true, nil
	running := Running{Study: &asks, Space: space, Goal: self.goal()}
	var studies []prune.Study
	for _, other := range kb.candidates(running) {
		if other == name || !sees(other) {
			continue
		}
		s, _, err := kb.study(ctx, other, -1)
		if err != nil {
			return nil, err
		}
		if err := prune.Match(space, self.goal(), s); err != nil {
			out.Notes = append(out.Notes, fmt.Sprintf("study %q: %s", other, err))
			continue
		}
		studies = append(studies, s)
		out.Helpers = append(out.Helpers, Helper{other, len(s.Trials)})
	}
	trials, _, err := kb.trials(ctx, name, -1)
	if err != nil {
		return nil, err
	}
	out.After = min(after, len(trials))
	o := prune.Options{Alpha: def.Prior.Alpha, Threshold: def.Prior.Threshold}
	for _, text := range def.Prior.Keep {
		param, value, _ := strings.Cut(text, "=")
		o.Keep = append(o.Keep, prune.Kept{Param: param, Value: value})
	}
	p, err := prune.New(bystander{}, prune.NewKnowledge(space, self.goal(), studies), o)
	if err != nil {
		return nil, err
	}
	// As in a study: one trial after the other ends, and the space is looked at before the next.
	for _, t := range trials[:out.After] {
		if err := p.Observe(t); err != nil {
			return nil, err
		}
		if _, err := p.Ask(1); err != nil && !errors.Is(err, assay.ErrDone) {
			return nil, err
		}
	}
	out.Cuts = append(out.Cuts, p.Cuts()...)
	out.judge(space, trials, p.Keeps)
	return out, nil
}

// drawn is the number of random configurations to estimate the remaining share of a space.
const drawn = 1000

// judge sets the remaining share of the space and the effect on the removed trials.
func (o *Pruned) judge(space *assay.Space, trials []assay.Trial, keeps func(assay.Config) bool) {
	rng := rand.New(rand.NewPCG(1, 0))
	n, left := 0, 0
	for range drawn {
		c, ok := space.Draw(rng)
		if !ok {
			break // relations that hardly ever hold
		}
		if n++; keeps(c) {
			left++
		}
	}
	if n > 0 {
		o.Left = float64(left) / float64(n)
	}
	best, bestLeft := math.Inf(1), math.Inf(1)
	for i, t := range trials {
		if t.State != assay.Done {
			continue
		}
		best = min(best, t.Value)
		if keeps(t.Config) {
			bestLeft = min(bestLeft, t.Value)
		}
		if i >= o.After {
			o.Later++
			if !keeps(t.Config) {
				o.Outside++
			}
		}
	}
	o.Best, o.BestLeft = shown(o.goal, best), shown(o.goal, bestLeft)
	if !math.IsInf(bestLeft, 0) && best != 0 {
		o.Loss = finiteOrNil((bestLeft - best) / math.Abs(best))
	}
}

// shown returns a value in the metric's sign, nil if it is undefined.
func shown(g assay.Goal, v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	x := g.Show(v)
	return &x
}

// Write writes it for people.
func (o *Pruned) Write(w io.Writer, p report.Palette) error {
	var l report.Lines
	l.Add("study", "%s, after %d trials", o.Study, o.After)
	var names []string
	for _, h := range o.Helpers {
		names = append(names, fmt.Sprintf("%s (%d trials)", h.Study, h.Trials))
	}
	if names == nil {
		names = []string{"no other study"}
	}
	l.AddList("helped by", names)
	l.AddList("not by", o.Notes)
	var cuts []string
	for _, c := range o.Cuts {
		what := "without"
		if c.Restored {
			what = "again with"
		}
		cuts = append(cuts, fmt.Sprintf("%s %s=%s, by %s (correlation %.2f): %s", what, c.Param,
			strings.Join(c.Values, ","), c.Study, c.Correlation, c.Reason))
	}
	if cuts == nil {
		cuts = []string{"nothing is left out"}
	}
	l.AddList("pruned", cuts)
	l.Add("left", "%.3g %% of the space", 100*o.Left)
	for _, text := range o.Risk() {
		l.Add("risk", "%s", text)
	}
	return l.Write(w)
}

// Risk describes the cost of the removal for people.
func (o *Pruned) Risk() []string {
	var all []string
	if o.Later > 0 {
		all = append(all, fmt.Sprintf("%d of the %d later trials that ran to their end were in the pruned part",
			o.Outside, o.Later))
	}
	switch {
	case len(o.Cuts) == 0 || o.Best == nil:
	case o.Loss == nil:
		all = append(all, "no trial is in the remaining space")
	case *o.Loss == 0:
		all = append(all, fmt.Sprintf("the best trial, %s, is in the remaining space", report.Metric(*o.Best, o.goal.Unit)))
	default:
		all = append(all, fmt.Sprintf("the best trial, %s, is not: the best in the remaining space is %s, %.2g %% worse",
			report.Metric(*o.Best, o.goal.Unit), report.Metric(*o.BestLeft, o.goal.Unit), 100**o.Loss))
	}
	return slices.Clip(all)
}
