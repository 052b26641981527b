// Package result presents the results of studies, as data and as text: during a study ([Live]), at its end ([Outcome],
// [Story]), as a cost model ([Learned], [Predicted]), and on record ([Record]), in the forms that commands print as
// JSON and that other tools read. The JSON of its types is a contract.
package result

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
	"github.com/assay-run/assay/view"
)

// A Store is the source of a study on record.
type Store interface {
	assay.Store
	assay.Projector
}

// A Record is a study on record with its definition.
type Record struct {
	Name       string
	Definition *spec.Study
	Goal       assay.Goal
	Params     Params
	Summary    assay.Summary
	Here       string // the directory in which its commands are to be used, "" if it is not known

	store Store
}

// A Folders is a Store that knows the folders which setups have made on this machine.
type Folders interface {
	// SetupFolder returns the folder of a setup of a study, "" if the setup was not made.
	SetupFolder(def *spec.Study, s *assay.Setup) string
}

// Place returns the place for which the commands of the study are printed.
func (r *Record) Place() Place {
	at := Place{Here: r.Here}
	if f, ok := r.store.(Folders); ok {
		at.Folder = func(s *assay.Setup) string { return f.SetupFolder(r.Definition, s) }
	}
	return at
}

// story returns the results of the study, from its record.
func (r *Record) story(came study.Result) (*Story, error) {
	space, err := assay.NewSpace(r.Params)
	if err != nil {
		return nil, err
	}
	s, err := NewStory(r.Name, r.Definition, space, r.Goal, came, r.Place())
	if err == nil {
		s.Recorded = true
	}
	return s, err
}

// Story returns the results of the study.
func (r *Record) Story(ctx context.Context) (*Story, error) {
	came := r.recall
	if r.Definition.Mode() == spec.ModeOnline {
		came = r.online
	}
	res, err := came(ctx)
	if err != nil {
		return nil, err
	}
	return r.story(res)
}

// online returns the result of a study that no loop of this program has run.
func (r *Record) online(ctx context.Context) (study.Result, error) {
	res := study.Result{Spent: r.Summary.Spent, EndedBy: r.Summary.Ended}
	table, err := r.Table(ctx)
	if err != nil {
		return res, err
	}
	for t, err := range r.Trials(ctx) {
		if err != nil {
			return res, err
		}
		if !t.State.Final() {
			continue
		}
		res.Trials = append(res.Trials, t)
		if t.ID == 1 {
			res.First = t
		}
	}
	nth := func(t assay.Trial) int32 {
		k, _ := table.Place(t.ID)
		return table.Lines[k].Nth
	}
	slices.SortStableFunc(res.Trials, func(a, b assay.Trial) int { return cmp.Compare(nth(a), nth(b)) })
	res.Best, res.Found = assay.Best(res.Trials)
	return res, nil
}

// Recipe returns the recipe of a configuration of a trial of the study; ok is false if no command runs it here.
func (r *Record) Recipe(trial int64, c assay.Config) (recipe Recipe, ok bool, err error) {
	if len(r.Definition.Command) == 0 || r.Definition.App != "" {
		return recipe, false, nil
	}
	p, err := r.Definition.Program()
	if err != nil {
		return recipe, false, err
	}
	recipe = NewRecipe(r.Definition, p, c, r.Place())
	recipe.Study, recipe.Trial = r.Name, trial
	return recipe, true, nil
}

// Answer returns the recommendation of the study, and its configuration; nil without a result, or with several
// objectives.
func (r *Record) Answer(ctx context.Context) (*view.Answer, assay.Config, error) {
	s, err := r.Story(ctx)
	if err != nil {
		return nil, nil, err
	}
	best, _ := s.Recommended()
	return s.Answer, best.Config, nil
}

// Choose returns a trial and its configuration: the recommended one if trial is 0. It is an error of the class usage if
// there is none.
func (r *Record) Choose(ctx context.Context, trial int64) (int64, assay.Config, error) {
	if trial == 0 {
		a, config, err := r.Answer(ctx)
		switch {
		case err != nil:
			return 0, nil, err
		case a != nil:
			return a.Trial, config, nil
		case config == nil:
			return 0, nil, assay.Errorf(assay.ClassUsage,
				"study %q recommends nothing: no trial ran to its end within the limits", r.Name)
		}
		return 0, nil, assay.Errorf(assay.ClassUsage,
			"study %q has several objectives: --trial names one of its front (assay study front %s)", r.Name,
			report.ShellQuote([]string{r.Name}))
	}
	for t, err := range r.Trials(ctx) {
		if err != nil {
			return 0, nil, err
		}
		if t.ID == trial {
			return t.ID, t.Config, nil
		}
	}
	return 0, nil, assay.Errorf(assay.ClassUsage, "study %q has no trial %d (see assay study trials %s)", r.Name, trial,
		report.ShellQuote([]string{r.Name}))
}

// Params name the coordinates of stored configurations. They are not a Space: past configurations are independent of
// relations and of the list.
type Params []assay.Param

// Values returns the values of a configuration by the names of the parameters that are in force.
func (ps Params) Values(c assay.Config) map[string]any { return view.Config(ps, c) }

// Text returns "a=1 b=x" for a configuration, without inactive parameters.
func (ps Params) Text(c assay.Config) string {
	parts := make([]string, 0, len(ps))
	for i, p := range ps {
		if assay.Active(ps, c, i) {
			parts = append(parts, p.Name+"="+p.Text(c[i]))
		}
	}
	return strings.Join(parts, " ")
}

// Read reads a study on record. It returns an error that matches fs.ErrNotExist if no study has that name.
func Read(ctx context.Context, store Store, name string) (*Record, error) {
	stored, err := store.Spec(ctx, name)
	if err != nil {
		return nil, err
	}
	def, err := spec.Decode(stored)
	if err != nil {
		return nil, err
	}
	r := &Record{Name: name, Definition: def, store: store}
	if r.Goal, err = def.Goal(); err != nil {
		return nil, err
	}
	r.Params = def.Parameters()
	r.Summary, err = store.Summary(ctx, name)
	return r, err
}

// Trials yields the trials of the study in order of their ids.
func (r *Record) Trials(ctx context.Context) iter.Seq2[assay.Trial, error] {
	return func(yield func(assay.Trial, error) bool) {
		for row, err := range r.store.Trials(ctx, r.Name, 0, 0) {
			if err == nil {
				err = r.Fits(row.Trial)
			}
			if !yield(row.Trial, err) || err != nil {
				return
			}
		}
	}
}

// Runs yields the completed runs of the study, in order of completion: the runs of trials, and the runs that compare
// the best with the first configuration.
func (r *Record) Runs(ctx context.Context) iter.Seq2[assay.Trial, error] {
	return func(yield func(assay.Trial, error) bool) {
		for e, err := range r.store.Events(ctx, r.Name, 0) {
			if err != nil {
				yield(assay.Trial{}, err)
				return
			}
			t := e.Told
			if t == nil {
				t = e.Checked
			}
			if t == nil || t.State != assay.Done && t.State != assay.Infeasible {
				continue
			}
			err := r.Fits(*t)
			if !yield(*t, err) || err != nil {
				return
			}
		}
	}
}

// Fits returns an error if the trial is not one of the study's parameters.
func (r *Record) Fits(t assay.Trial) error { return r.misfit(assay.Fits(r.Params, t)) }

// misfit returns an error of a trial with the study that has it.
func (r *Record) misfit(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("study %q: %w", r.Name, err)
}

// NewTable returns the table of the study before its first event.
func (r *Record) NewTable() *assay.Table {
	return assay.NewTable(r.Params, r.Goal, r.Name, r.Summary.Created)
}

// Table returns the trials of the study, computed from its events.
func (r *Record) Table(ctx context.Context) (*assay.Table, error) {
	t := r.NewTable()
	for e, err := range r.store.Events(ctx, r.Name, 0) {
		if err != nil {
			return nil, err
		}
		if _, _, err := t.Take(e); err != nil {
			return nil, r.misfit(err)
		}
	}
	return t, nil
}

// Study returns a study as a list has it, from its summary. Best is the best measured value.
func Study(s assay.Summary, g assay.Goal) view.Study {
	c, state := s.Counts, "idle"
	if s.Ended != "" {
		state = "ended"
	}
	out := view.Study{
		Study: s.Study, State: state, Priority: s.Priority, Objective: GoalText(g), Unit: g.Unit, BestTrial: s.Best,
		Trials: s.Trials(), Done: c[assay.Done], Censored: c[assay.Censored], Failed: c[assay.Failed],
		Infeasible: c[assay.Infeasible], Withdrawn: c[assay.Withdrawn], Spent: s.Spent.Seconds(), Lost: s.Lost.Seconds(),
		Events: s.Events, Created: s.Created, Last: s.Last, EndedBy: s.Ended,
	}
	if g.Several() { // a front has no single best
		out.BestTrial = 0
		return out
	}
	if v := g.Show(s.Value); s.Best > 0 && !math.IsInf(v, 0) && !math.IsNaN(v) {
		out.Best = &v
	}
	return out
}

// Study returns the line of the study in a list, as `assay study ls --json` prints it. Best is the recommended value.
// If runs were repeated, the repeats decide, and there may be none; otherwise it is the best measured value.
func (r *Record) Study(ctx context.Context) (view.Study, error) {
	out := Study(r.Summary, r.Goal)
	out.App, out.MachineClass = r.Definition.Application(), r.Definition.Placement.Class
	if out.Best != nil && r.Definition.Mode() != spec.ModeOnline {
		a, _, err := r.Answer(ctx)
		if err != nil {
			return out, err
		}
		out.Best = nil
		if a != nil {
			out.Best, out.BestTrial, out.BestRuns, out.Gain, out.Keep = &a.Value, a.Trial, a.Runs, a.Gain, a.Keep
		}
	}
	return out, nil
}

// GoalText returns "minimize elapsed", or "minimize elapsed, maximize fps".
func GoalText(g assay.Goal) string {
	parts := make([]string, 0, 1)
	for _, o := range g.Objectives() {
		word := "minimize "
		if o.Maximize {
			word = "maximize "
		}
		parts = append(parts, word+o.Metric)
	}
	return strings.Join(parts, ", ")
}

// A Shown is the output of `assay study show --json`.
type Shown struct {
	Study  string      `json:"study"`
	Spec   *spec.Study `json:"spec"`
	Trials Counts      `json:"trials"`
	Spent  float64     `json:"spent_s"`
	// CPUHours is the processor time of all jobs of a batch system, including those that do not count.
	CPUHours float64 `json:"cpu_hours,omitempty"`
	// Queued and Ran are as in Outcome.
	Queued float64 `json:"queued_s,omitempty"`
	Ran    float64 `json:"run_s,omitempty"`
	Best   *Best   `json:"best"`
	// EndedBy is the cause of the end of the last session, "" if it is still running, and Why its reason, if on record.
	EndedBy string `json:"ended_by,omitempty"`
	Why     string `json:"ended_why,omitempty"`
	// Front is the front of a study with several objectives; Best is then its balanced trial.
	Front *Front `json:"front,omitempty"`
	// Gain, Repeated and Refuted are as in Outcome.
	Gain     *Gain        `json:"gain,omitempty"`
	Answer   *view.Answer `json:"answer,omitempty"`
	Repeated *Repeated    `json:"repeated,omitempty"`
	Refuted  []Refuted    `json:"refuted,omitempty"`
	Workers  []Worker     `json:"workers,omitempty"` // in the order of classes and names
	// Limits are the comparisons of the limits, with the number of completed runs that broke each.
	Limits []ShownLimit   `json:"limits,omitempty"`
	Cuts   []assay.Pruned `json:"cuts,omitempty"`

	Found *assay.Trial `json:"-"` // the best trial, nil if none exists
	story *Story       // nil if the study is tuned on line
	Curve []float64    `json:"-"` // the best so far, of the metric, after each trial from the first that was done
}

// A ShownLimit is one comparison of the limits.
type ShownLimit struct {
	Limit    string `json:"limit"`
	Measured int    `json:"measured"` // runs with a measurement of it
	Broken   int    `json:"broken"`
}

// count adds a trial.
func (l *ShownLimit) count(b assay.Bound, t assay.Trial) {
	if t.State != assay.Done && t.State != assay.Infeasible {
		return
	}
	left, right, err := b.Sides(t.Measurement.Metric)
	if err != nil {
		return
	}
	l.Measured++
	if left > right {
		l.Broken++
	}
}

// Shown returns the study and its result so far.
func (r *Record) Shown(ctx context.Context) (Shown, error) {
	out := Shown{Study: r.Name, Spec: r.Definition, Spent: r.Summary.Spent.Seconds()}
	bounds := r.Goal.Bounds()
	for _, b := range bounds {
		out.Limits = append(out.Limits, ShownLimit{Limit: b.Text})
	}
	for t, err := range r.Trials(ctx) {
		if err != nil {
			return out, err
		}
		for i, b := range bounds {
			out.Limits[i].count(b, t)
		}
		if t.State == assay.Done && (out.Found == nil || t.Value < out.Found.Value) {
			out.Found = &t
		}
		if out.Found != nil {
			out.Curve = append(out.Curve, r.Goal.Show(out.Found.Value))
		}
	}
	c := r.Summary.Counts
	out.Trials = Counts{
		Total: int(r.Summary.Trials()), Done: int(c[assay.Done]), Censored: int(c[assay.Censored]),
		Failed: int(c[assay.Failed]), Infeasible: int(c[assay.Infeasible]), Withdrawn: int(c[assay.Withdrawn]),
	}.of(r.Goal)
	var err error
	if r.Definition.Mode() != spec.ModeOnline {
		if err = r.come(ctx, &out); err != nil {
			return out, err
		}
	} else if b := out.Found; b != nil {
		out.Best = &Best{
			Trial: b.ID, Config: r.Params.Values(b.Config), Value: r.Goal.Show(b.Value), Metrics: assay.MetricsOf(*b, r.Goal),
		}
	}
	out.Cuts, err = r.Cuts(ctx)
	return out, err
}

// come adds the result of the study so far to out: the best, and the results of the repeated runs.
func (r *Record) come(ctx context.Context, out *Shown) error {
	came, err := r.recall(ctx)
	if err != nil {
		return err
	}
	if out.story, err = r.story(came); err != nil {
		return err
	}
	out.Found, out.Answer = nil, out.story.Answer
	out.EndedBy, out.Why, out.CPUHours = came.EndedBy, came.Why, came.CPUHours
	out.Queued, out.Ran = came.Queued.Seconds(), came.Ran.Seconds()
	out.Repeated, out.Refuted = NewRepeated(came), NewRefuted(r.Params.Values, came)
	out.Workers = newWorkers(came)
	if r.Goal.Several() {
		if out.Front, err = r.Front(ctx, nil); err != nil {
			return err
		}
		out.Curve = out.Front.heights()
	}
	if came.Found {
		out.Found, out.Best, out.Gain = &came.Best, NewBest(r.Params.Values, r.Goal, came), NewGain(r.Goal, came)
	}
	return nil
}

// recall returns the result of the study so far.
func (r *Record) recall(ctx context.Context) (study.Result, error) {
	return Recall(ctx, r.store, r.Name, r.Definition)
}

// Recall returns the result so far of a study on record, with the given definition.
func Recall(ctx context.Context, store assay.Store, name string, def *spec.Study) (study.Result, error) {
	space, err := def.Space()
	if err != nil {
		space = nil // the coordinates do
	}
	goal, err := def.Goal()
	if err != nil {
		return study.Result{}, err
	}
	return study.Recall(ctx, &study.Study{
		Name: name, Store: store, Space: space, Goal: goal, Race: def.Mode() == spec.ModeCommand,
		Anywhere: def.Placement.Class == spec.Anywhere, MachineClass: def.Placement.Target, Declared: def.HasDefault(),
	})
}

// Cuts returns the values that earlier studies removed from the space of the study, and the restored ones, in order.
func (r *Record) Cuts(ctx context.Context) ([]assay.Pruned, error) {
	if len(r.Definition.Prior.Resolved) == 0 {
		return nil, nil
	}
	t, err := r.Table(ctx)
	if err != nil {
		return nil, err
	}
	return t.Cuts, nil
}

// Trial returns a trial of the study as others see it: one line of `assay study trials --json`.
func (r *Record) Trial(t assay.Trial) view.Trial {
	v := view.NewTrial(r.Params, r.Goal, t)
	if t.State == assay.Running && r.Summary.Ended != "" {
		v.Reason = "the study ended first"
	}
	return v
}
