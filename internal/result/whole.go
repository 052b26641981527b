package result

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/study"
)

// A Whole is a study with all that is on record of it, for pages: the trials column by
// column, so that ten thousand of them are small. Its JSON is what the modules of pages read.
type Whole struct {
	Study     string    `json:"study"`
	Made      time.Time `json:"made"`
	Last      time.Time `json:"last"` // of the last event
	Objective Objective `json:"objective"`
	// Objectives are all of them and Front is what was found, of a study with several: Best is then balanced.
	Objectives []Objective  `json:"objectives,omitempty"`
	Front      *Front       `json:"front,omitempty"`
	Limits     []string     `json:"limits"`
	Where      []string     `json:"where"`
	Search     string       `json:"search"`
	Stop       string       `json:"stop"`
	Seed       uint64       `json:"seed,string"`
	Parallel   int          `json:"parallel"`
	Simulated  bool         `json:"simulated"` // the time is that of a recorded table
	EndedBy    string       `json:"ended_by"`  // "" while it runs, or if it has not said so
	Params     []WholeParam `json:"params"`
	Counts     Counts       `json:"counts"`
	Best       int64        `json:"best"`       // a trial, or 0
	Value      Real         `json:"best_value"` // of the best: the median of its runs
	Runs       int          `json:"best_runs"`  // of the best
	First      int64        `json:"first"`      // the trial that the best is compared with, or 0
	Default    bool         `json:"default"`
	Gain       *Gain        `json:"gain"`
	Answer     *Answer      `json:"answer"` // null if nothing was found, or of several objectives
	Spent      Real         `json:"spent_s"`
	Lost       Real         `json:"lost_s"`
	Saved      Real         `json:"saved_s"`
	Trials     Columns      `json:"trials"`
	Again      []Rerun      `json:"again"` // repeated runs, in order
	Cuts       []WholeCut   `json:"cuts"`  // what earlier studies pruned and gave back, in order

	story *Story
	def   *config.Study
}

// A WholeParam is a parameter.
type WholeParam struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Unit   string   `json:"unit,omitempty"`
	Lo     Real     `json:"lo"`
	Hi     Real     `json:"hi"`
	Log    bool     `json:"log,omitempty"`
	Levels []string `json:"levels,omitempty"` // a coordinate is an index in them; nil of a number
	When   string   `json:"when,omitempty"`   // where it is in force; "" is everywhere

	orders map[float64]int // the levels of a permutation, by its coordinates
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

// Columns are the trials in order of their ids.
type Columns struct {
	ID      []int64           `json:"id"`
	State   []string          `json:"state"`
	Nth     []int             `json:"nth"`     // in the order in which they ended, from 1; 0 while it runs
	Value   []Real            `json:"value"`   // the metric; null if there is none
	Config  [][]Real          `json:"config"`  // coordinates, a list for each parameter; null where it is not in force
	Spent   []Real            `json:"spent"`   // of the time budget when it ended
	Elapsed []Real            `json:"elapsed"` // of its run
	Predict []Real            `json:"predict"` // what a stop expected
	Metrics map[string][]Real `json:"metrics"`
	Reason  []int             `json:"reason"` // an index in Reasons
	Reasons []string          `json:"reasons"`
	Started []int64           `json:"started"` // Unix time, ms
}

// A WholeCut is a cut whose threshold is said as the metric is.
type WholeCut struct {
	assay.Cut
	Threshold Real `json:"threshold"`
}

// A Rerun is a repeated run of a trial.
type Rerun struct {
	Trial   int64       `json:"trial"`
	State   assay.State `json:"state"`
	Value   Real        `json:"value"`
	Elapsed Real        `json:"elapsed"`
	Reason  string      `json:"reason,omitempty"`
	Race    bool        `json:"race,omitempty"` // to find out which is best, not to compare it with the first
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
		Simulated: d.Replay != nil, def: d,
	}
	w.Params = NewParams(r.Params)
	for _, p := range d.Params {
		w.Default = w.Default || p.Default != nil
	}
	res := study.Result{Spent: r.Summary.Spent, EndedBy: r.Summary.Ended}
	ends := map[int64]ending{}
	for e, err := range r.store.Events(ctx, r.Name, 0) {
		switch {
		case err != nil:
			return nil, err
		case e.Told != nil:
			if _, ok := ends[e.Told.ID]; !ok {
				ends[e.Told.ID] = ending{len(ends) + 1, e.Spent}
			}
		case e.Cut != nil:
			w.Cuts = append(w.Cuts, WholeCut{*e.Cut, Real(r.Goal.Show(e.Cut.Threshold))})
		case e.Checked != nil:
			if err := r.Fits(*e.Checked); err != nil {
				return nil, err
			}
			w.again(r.Goal, *e.Checked, e.Race)
		}
	}
	var trials []assay.Trial
	for t, err := range r.Trials(ctx) {
		if err != nil {
			return nil, err
		}
		trials = append(trials, t)
		if t.State.Final() {
			res.Trials = append(res.Trials, t)
		}
		if t.ID == 1 && t.State.Final() {
			res.First = t
		}
	}
	w.columns(r, trials, ends)
	if d.Mode() != config.ModeOnline {
		var err error
		if res, err = r.recall(ctx); err != nil {
			return nil, err
		}
		return w, w.tell(r, res)
	}
	slices.SortStableFunc(res.Trials, func(a, b assay.Trial) int { return ends[a.ID].nth - ends[b.ID].nth })
	res.Best, res.Found = assay.Best(res.Trials)
	return w, w.tell(r, res)
}

// again adds a repeated run.
func (w *Whole) again(g assay.Goal, c assay.Trial, race bool) {
	value := math.NaN()
	if c.State == assay.Done || c.State == assay.Infeasible || c.State == assay.Censored {
		value = g.Show(c.Value)
	}
	w.Again = append(w.Again, Rerun{
		Trial: c.ID, State: c.State, Value: Real(value), Elapsed: Real(c.Measurement.Elapsed.Seconds()),
		Reason: c.Reason, Race: race,
	})
}

// An ending is when a trial ended.
type ending struct {
	nth   int
	spent time.Duration
}

// columns fills in the trials.
func (w *Whole) columns(r *Record, trials []assay.Trial, ends map[int64]ending) {
	c := &w.Trials
	*c = Columns{ // lists without elements are no null
		ID: []int64{}, State: []string{}, Nth: []int{}, Value: []Real{}, Spent: []Real{}, Elapsed: []Real{},
		Predict: []Real{}, Reason: []int{}, Reasons: []string{}, Started: []int64{},
	}
	c.Config = make([][]Real, len(r.Params))
	c.Metrics = map[string][]Real{}
	reasons := map[string]int{}
	for _, t := range trials {
		if t.State.Final() {
			for name := range MetricsOf(t, r.Goal) {
				c.Metrics[name] = nil
			}
		}
	}
	names := slices.Sorted(maps.Keys(c.Metrics))
	for _, t := range trials {
		j := r.Trial(t)
		e, ended := ends[t.ID]
		value, spent, predicted := math.NaN(), math.NaN(), math.NaN()
		if j.Value != nil {
			value = *j.Value
		}
		if ended {
			spent = e.spent.Seconds()
		}
		if t.Decision != nil {
			predicted = r.Goal.Show(t.Decision.Predicted)
		}
		c.ID, c.State, c.Nth = append(c.ID, t.ID), append(c.State, t.State.String()), append(c.Nth, e.nth)
		c.Value, c.Spent = append(c.Value, Real(value)), append(c.Spent, Real(spent))
		c.Elapsed = append(c.Elapsed, Real(t.Measurement.Elapsed.Seconds()))
		c.Predict = append(c.Predict, Real(predicted))
		c.Started = append(c.Started, t.Started.UnixMilli())
		for i, p := range r.Params {
			x := math.NaN()
			if _, inForce := j.Config[p.Name]; inForce {
				x = w.Params[i].coordinate(p, t.Config[i])
			}
			c.Config[i] = append(c.Config[i], Real(x))
		}
		for _, name := range names {
			x, ok := j.Metrics[name]
			if !ok {
				x = math.NaN()
			}
			c.Metrics[name] = append(c.Metrics[name], Real(x))
		}
		k, seen := reasons[t.Reason]
		if !seen {
			k = len(c.Reasons)
			reasons[t.Reason] = k
			c.Reasons = append(c.Reasons, t.Reason)
		}
		c.Reason = append(c.Reason, k)
	}
}

// coordinate returns the coordinate of a value for a page. The levels of a permutation are the
// orders that trials have had: of all there are too many.
func (p *WholeParam) coordinate(of assay.Param, x float64) float64 {
	if of.Kind != assay.Permutation {
		return x
	}
	if p.orders == nil {
		p.orders, p.Levels = map[float64]int{}, []string{}
	}
	i, seen := p.orders[x]
	if !seen {
		i = len(p.Levels)
		p.orders[x], p.Levels = i, append(p.Levels, of.Text(x))
	}
	return float64(i)
}

// tell fills in what the study came to.
func (w *Whole) tell(r *Record, res study.Result) error {
	story, err := r.story(res)
	if err != nil {
		return err
	}
	outcome := story.Outcome
	if r.Goal.Several() {
		w.Objectives, w.Front = outcome.Objectives, NewFront(r.Name, r.Params.Values, r.Goal, res)
		for i, p := range w.Front.Curve {
			if k := slices.Index(w.Trials.ID, p.Trial); k >= 0 && !math.IsNaN(float64(w.Trials.Spent[k])) {
				w.Front.Curve[i].Spent = float64(w.Trials.Spent[k])
			}
		}
	}
	w.Objective, w.Counts, w.Gain = outcome.Objective, outcome.Trials, outcome.Gain
	w.Counts.Total = len(w.Trials.ID)
	w.Spent, w.Lost, w.Saved, w.EndedBy = Real(outcome.Spent), Real(outcome.Lost), Real(outcome.Saved), outcome.EndedBy
	w.First = res.First.ID
	if res.Found {
		w.Best, w.Value, w.Runs = res.Best.ID, Real(outcome.Best.Value), max(1, res.Runs)
	}
	w.story, w.Answer = story, outcome.Answer
	return nil
}

// Lines returns the answer in the words of the command line: labels and texts.
func (w *Whole) Lines() []report.Entry { return w.story.lines().Entries() }

// Lucky reports whether the runs at the end say that the first configuration is better.
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
	}
	return nil
}

func orAuto(name string) string {
	if name == "" {
		return "auto"
	}
	return name
}
