package result

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/view"
)

// A Whole is a study with everything on record, for pages. The modules of pages read its JSON.
type Whole struct {
	Study     string    `json:"study"`
	Made      time.Time `json:"made"`
	Last      time.Time `json:"last"` // of the last event
	Objective Objective `json:"objective"`
	// Objectives and Front are set for a study with several objectives: Best is then the balanced trial.
	Objectives []Objective       `json:"objectives,omitempty"`
	Front      *Front            `json:"front,omitempty"`
	Limits     []string          `json:"limits"`
	Where      []string          `json:"where"`
	Search     string            `json:"search"`
	Stop       string            `json:"stop"`
	Seed       uint64            `json:"seed,string"`
	Parallel   int               `json:"parallel"`
	Simulated  bool              `json:"simulated"` // the time is from a recorded table
	EndedBy    string            `json:"ended_by"`  // "" while it runs, or if unknown
	Params     []WholeParam      `json:"params"`
	Units      map[string]string `json:"units"` // of metrics
	Counts     Counts            `json:"counts"`
	Best       int64             `json:"best"`       // a trial, or 0
	Value      Real              `json:"best_value"` // of the best: the median of its runs
	Runs       int               `json:"best_runs"`  // of the best
	First      int64             `json:"first"`      // the trial that the best is compared with, or 0
	Default    bool              `json:"default"`
	Gain       *Gain             `json:"gain"`
	Answer     *view.Answer      `json:"answer"` // null if nothing was found, or of several objectives
	Spent      Real              `json:"spent_s"`
	Lost       Real              `json:"lost_s"`
	Saved      Real              `json:"saved_s"`
	// Trials are there for a page that draws them without asking for more: see Whole.Columns.
	Trials *view.Columns `json:"trials,omitempty"`
	Again  []Rerun       `json:"again"` // repeated runs, in order
	Cuts   []WholeCut    `json:"cuts"`  // values that earlier studies pruned and restored, in order

	Table *assay.Table `json:"-"` // the source of this data

	story *Story
	def   *spec.Study
}

// A WholeParam is a parameter.
type WholeParam struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Unit   string   `json:"unit,omitempty"`
	Lo     Real     `json:"lo"`
	Hi     Real     `json:"hi"`
	Log    bool     `json:"log,omitempty"`
	Levels []string `json:"levels,omitempty"` // its values, or the elements of a permutation; nil for a number
	When   string   `json:"when,omitempty"`   // where it is in force; "" is everywhere
}

// NewParams returns parameters as data.
func NewParams(params Params) []WholeParam {
	out := make([]WholeParam, 0, len(params))
	for _, p := range params {
		w := WholeParam{
			Name: p.Name, Kind: p.Kind.String(), Unit: p.Unit, Lo: Real(p.Lo), Hi: Real(p.Hi), Log: p.Log, Levels: p.Levels,
		}
		if p.When != nil {
			w.When = p.When.Text
		}
		out = append(out, w)
	}
	return out
}

// A WholeCut is a cut whose threshold is on the scale of the metric.
type WholeCut struct {
	assay.Pruned
	Threshold Real `json:"threshold"`
}

// A Rerun is a repeated run of a trial.
type Rerun struct {
	Trial   int64       `json:"trial"`
	State   assay.State `json:"state"`
	Value   Real        `json:"value"`
	Elapsed Real        `json:"elapsed"`
	Reason  string      `json:"reason,omitempty"`
	Race    bool        `json:"race,omitempty"`     // to find out which is best, not to compare it with the first
	Ended   int64       `json:"ended_ms,omitempty"` // Unix time
}

// A Real is a number for JSON, null if it is not finite. It has the digits that a page can
// show.
type Real float64

// MarshalJSON implements [json.Marshaler].
func (x Real) MarshalJSON() ([]byte, error) {
	v := float64(x)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, v, 'g', 9, 64), nil
}

var _ json.Marshaler = Real(0)

// Whole reads all that is on record of the study.
func (r *Record) Whole(ctx context.Context) (*Whole, error) {
	d := r.Definition
	w := &Whole{
		Study: r.Name, Made: r.Summary.Created, Last: r.Summary.Last, Limits: d.SubjectTo, Where: d.Where,
		Again: []Rerun{}, Cuts: []WholeCut{},
		Search: orAuto(d.Search.Name), Stop: orAuto(d.Stop.Rule), Seed: d.Search.Seed, Parallel: max(1, d.Parallel),
		Simulated: d.Replay != nil, Default: d.HasDefault(), def: d,
	}
	w.Params, w.Units = NewParams(r.Params), d.Units()
	var err error
	if w.Table, err = r.Table(ctx); err != nil {
		return nil, err
	}
	for _, c := range w.Table.Cuts {
		w.Cuts = append(w.Cuts, WholeCut{c, Real(r.Goal.Show(c.Threshold))})
	}
	for _, x := range w.Table.Repeats {
		w.Again = append(w.Again, Rerun{
			Trial: x.Trial, State: x.State, Value: Real(r.Goal.Show(x.Value)), Elapsed: Real(x.Elapsed.Seconds()),
			Reason: x.Reason, Race: x.Race, Ended: x.At.UnixMilli(),
		})
	}
	story, err := r.Story(ctx)
	if err != nil {
		return nil, err
	}
	w.tell(r, story)
	return w, nil
}

// Line returns the line of a trial, or a line of ID 0 if the trial does not exist.
func (w *Whole) Line(id int64) assay.Line {
	if k, ok := w.Table.Place(id); ok {
		return w.Table.Lines[k]
	}
	return assay.Line{}
}

// Columns returns all trials.
func (w *Whole) Columns() *view.Columns {
	return view.NewColumns(w.Table, view.Places(0, len(w.Table.Lines)), nil)
}

// tell fills in the results of the study.
func (w *Whole) tell(r *Record, story *Story) {
	outcome, res := story.Outcome, story.Result
	if r.Goal.Several() {
		w.Objectives, w.Front = outcome.Objectives, NewFront(r.Name, r.Params.Values, r.Goal, res)
		for i, p := range w.Front.Curve {
			if spent := w.Line(p.Trial).Spent; !math.IsNaN(spent) {
				w.Front.Curve[i].Spent = spent
			}
		}
	}
	w.Objective, w.Counts, w.Gain = outcome.Objective, outcome.Trials, outcome.Gain
	w.Counts.Total = len(w.Table.Lines)
	w.Spent, w.Lost, w.Saved, w.EndedBy = Real(outcome.Spent), Real(outcome.Lost), Real(outcome.Saved), outcome.EndedBy
	w.First = res.First.ID
	if res.Found {
		w.Best, w.Value, w.Runs = res.Best.ID, Real(outcome.Best.Value), max(1, res.Runs)
	}
	w.story, w.Answer = story, outcome.Answer
}

// Lines returns the answer in the words of the command line: labels and texts.
func (w *Whole) Lines() []report.Entry { return w.story.lines().Entries() }

// Lucky reports whether the runs at the end show that the first configuration is better.
func (w *Whole) Lucky() bool { return w.Gain != nil && !w.Gain.Shown && w.Gain.Verdict != "~" }

// A Figure is a number for a page, its meaning, and whether it is good or bad news, or neither.
type Figure struct{ Big, What, Tone string }

// Figure returns the gain of the study in the words of the answer; nil without a gain.
func (w *Whole) Figure() *Figure {
	a := w.Answer
	if a == nil {
		return nil
	}
	change, rest, _ := strings.Cut(a.Gain, " [")
	if rest != "" {
		rest = "95 % interval [" + rest
	}
	switch {
	case a.Shown:
		return &Figure{change, rest, "good"}
	case w.Lucky():
		return &Figure{strings.TrimPrefix(change, "none: "), rest, "bad"}
	case w.Gain != nil:
		return &Figure{"no gain shown", a.Gain, ""}
	case w.Best > 0 && w.Best == w.First:
		return &Figure{"no gain", strings.TrimPrefix(a.Gain, "none: "), ""}
	case strings.HasPrefix(a.Gain, "not shown: "):
		return &Figure{"no gain shown", strings.TrimPrefix(a.Gain, "not shown: "), ""}
	}
	if change, first, exact := strings.Cut(a.Gain, " than "); exact { // of recorded values
		return &Figure{change, "than " + first + ", by the recorded values", "good"}
	}
	return nil
}

func orAuto(name string) string {
	if name == "" {
		return "auto"
	}
	return name
}
