package web

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/view"
)

// Bounds of the page of a study without a script.
const (
	mostRows     = 50
	mostQueued   = 100
	mostAnswered = 2000 // trials for which the whole answer is computed during the request
)

// A studyPage is the data of the page of a study without a script; modules draw the rest.
type studyPage struct {
	Study   view.Study
	Best    *view.Trial // nil without a best trial
	Answer  *api.Answer // nil if it takes time; it is asked for when the page is there
	Trials  []view.Trial
	Earlier string
	Later   string
	Queue   []run
	Waiting int    // of the queue
	Open    bool   // something may run still
	Price   string // of an hour of a run, as typed
	Paid    string
	Kept    string
	Unit    string // of the metric
	Levels  bool   // infeasible trials are those below the full level
	Outside string // the word for infeasible trials
	Pruned  []prunedValue
	Data    template.JS

	Objectives []result.Objective // all, if there are several
	Simulated  bool               // the time is from a recorded table
	Single     *float64           // the best value of one run
	Drawn      bool               // enough trials have a value for charts
	Reported   bool               // runs report values before they end
	Failed     *failure           // of the last failed trial, if no trial has a value
}

// leastDrawn is how many trials with a value charts need.
const leastDrawn = 2

// A failure is the reason why a trial failed.
type failure struct {
	Trial           int64
	Reason, Command string
	Output          []string // the last lines
}

// BestText describes the runs that the value of the answer is of.
func (p studyPage) BestText() string {
	s := p.Study
	switch {
	case s.BestTrial == 0 && s.Done+s.Censored+s.Infeasible+s.Failed == 0:
		return "no trial has ended yet"
	case s.BestTrial == 0:
		return "no trial has ended within the limits"
	case len(p.Objectives) > 0:
		return fmt.Sprintf("are on the Pareto front; trial %d is balanced", s.BestTrial)
	}
	text := fmt.Sprintf("trial %d", s.BestTrial)
	if s.BestRuns > 1 {
		text = fmt.Sprintf("median of %d runs of trial %d", s.BestRuns, s.BestTrial)
		if p.Single != nil {
			text += ", best single run " + report.Metric(*p.Single, p.Unit)
		}
	}
	if s.Keep {
		return "keep this: " + text
	}
	return text
}

// A run is a trial that has not ended.
type run struct {
	Trial   int64
	Config  string
	Worker  string
	Placed  bool
	Elapsed float64
	Since   string
}

// study shows a study.
func (s *site) study(v *visit) error {
	name, query := v.r.PathValue("study"), v.r.URL.Query()
	d, err := v.API.Brief(v.ctx, name)
	if err != nil {
		return err
	}
	p := studyPage{
		Study: d.Study, Unit: d.Objective.Unit, Outside: "outside limits",
		Open: d.Study.State == "running" || d.Study.State == "paused", Objectives: d.Objectives, Simulated: d.Simulated,
		Single: d.Study.Best, Drawn: d.Study.Done+d.Study.Censored+d.Study.Infeasible >= leastDrawn,
	}
	if p.Levels = d.Objective.Levels; p.Levels {
		p.Outside = "below full"
	}
	if p.Study.Trials <= mostAnswered || query.Get("answer") == "whole" {
		a, err := v.API.Answer(v.ctx, name)
		if err != nil {
			return err
		}
		p.Answer = &a
		if r := a.Answer; r != nil {
			p.Study.Best, p.Study.BestTrial, p.Study.BestRuns, p.Study.Keep = &r.Value, r.Trial, r.Runs, r.Keep
		}
		if a.Front != nil {
			p.Study.BestTrial = a.Front.Balanced
		}
		p.Study.Saved = float64(a.Saved)
	}
	if p.Study.BestTrial > 0 {
		if p.Best, err = v.trial(name, p.Study.BestTrial); err != nil {
			return err
		}
	}
	if p.Answer != nil {
		p.Pruned = prunedOf(p.Answer, p.Best)
	}
	if err := v.listed(&p, query); err != nil {
		return err
	}
	if err := v.queued(&p); err != nil {
		return err
	}
	if err := v.failed(&p); err != nil {
		return err
	}
	price, err := p.priced(query.Get("price"))
	if err != nil {
		return err
	}
	p.Data, err = dataOf(d, price)
	if err != nil {
		return err
	}
	return v.render("study.html", name, p)
}

// trial returns one trial of a study.
func (v *visit) trial(study string, id int64) (*view.Trial, error) {
	list, _, err := v.API.Trials(v.ctx, study, id-1, 1)
	if err != nil || len(list) == 0 || list[0].ID != id {
		return nil, err
	}
	return &list[0], nil
}

// listed fills in the trials of the table without a script.
func (v *visit) listed(p *studyPage, query url.Values) (err error) {
	after := max(0, p.Study.Trials-mostRows)
	if at, err := strconv.ParseInt(query.Get("after"), 10, 64); err == nil && at >= 0 {
		after = at
	}
	var next int64
	if p.Trials, next, err = v.API.Trials(v.ctx, p.Study.Study, after, mostRows); err != nil {
		return err
	}
	slices.Reverse(p.Trials)
	p.Reported = slices.ContainsFunc(p.Trials, func(t view.Trial) bool { return t.Curve != nil })
	if after > 0 {
		p.Earlier = fmt.Sprintf("?after=%d#trials", max(0, after-mostRows))
	}
	if next > 0 {
		p.Later = fmt.Sprintf("?after=%d#trials", next)
	}
	return nil
}

// queued fills in the running and waiting trials: from the queue of the server or, for a study that a terminal runs,
// from the record.
func (v *visit) queued(p *studyPage) error {
	list, err := v.API.Queue(v.ctx, p.Study.Study, mostQueued)
	if err != nil {
		return err
	}
	for _, e := range list.Entries {
		p.Queue = append(p.Queue, run{
			Trial: e.Trial, Config: e.Config, Worker: e.Worker, Placed: e.State == "placed", Elapsed: e.Elapsed,
			Since: e.Since.UTC().Format("2006-01-02T15:04:05.000Z"),
		})
		if e.State != "placed" {
			p.Waiting++
		}
	}
	p.Waiting += list.Total - len(list.Entries)
	if list.Total > 0 || p.Study.State == "ended" {
		return nil
	}
	for _, t := range p.Trials {
		if t.State == "running" {
			p.Queue = append(p.Queue, run{
				Trial: t.ID, Config: configText(t.Config), Placed: true,
				Since: t.Started.UTC().Format("2006-01-02T15:04:05.000Z"), Elapsed: v.s.o.Now().Sub(t.Started).Seconds(),
			})
		}
	}
	return nil
}

// failed fills in the reason why no trial of a study has a value.
func (v *visit) failed(p *studyPage) error {
	if st := p.Study; st.Failed == 0 || st.Done+st.Censored+st.Infeasible > 0 {
		return nil
	}
	i := slices.IndexFunc(p.Trials, func(t view.Trial) bool { return t.State == "failed" })
	if i < 0 {
		return nil
	}
	d, err := v.API.Trial(v.ctx, p.Study.Study, p.Trials[i].ID)
	if err != nil {
		return err
	}
	p.Failed = &failure{Trial: d.Trial.ID, Reason: d.Trial.Reason, Command: d.Command, Output: d.Trial.Output}
	return nil
}

// priced fills in prices, if the user has given the price of an hour of a run. It returns the price of a second.
func (p *studyPage) priced(text string) (float64, error) {
	if text = strings.TrimSpace(text); text == "" {
		return 0, nil
	}
	hour, err := strconv.ParseFloat(strings.TrimSuffix(text, "/h"), 64)
	if err != nil || hour < 0 || math.IsInf(hour, 0) || math.IsNaN(hour) {
		return 0, refusal{
			http.StatusUnprocessableEntity, fmt.Sprintf("the price of an hour is a number such as 0.40, not %q", text),
		}
	}
	p.Price = text
	money := func(s float64) string { return report.Number(s*hour/3600, 3) }
	p.Paid, p.Kept = money(p.Study.Spent), money(p.Study.Saved)
	return hour / 3600, nil
}

// dataOf returns the initial data of the page's modules, before their first request. No tag can begin in it.
func dataOf(d api.Detail, price float64) (template.JS, error) {
	b, err := json.Marshal(struct { // <, > and & are escaped
		Study     string              `json:"study"`
		State     string              `json:"state"`
		Events    int64               `json:"events"`
		Objective result.Objective    `json:"objective"`
		All       []result.Objective  `json:"objectives,omitempty"`
		Params    []result.WholeParam `json:"params"`
		Units     map[string]string   `json:"units"`
		Default   bool                `json:"default"`
		Price     float64             `json:"price"`
		Spent     float64             `json:"spent_s"`
	}{
		d.Study.Study, d.Study.State, d.Study.Events, d.Objective, d.Objectives, d.Params, d.Units, d.Default, price,
		d.Study.Spent,
	})
	return template.JS(report.VisibleJSON(b)), err
}

// configText returns the values of parameters in order of their names.
func configText(c map[string]any) string {
	var parts []string
	for name, x := range c {
		parts = append(parts, fmt.Sprintf("%s=%v", name, x))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// changeTrials has trials run first, or discards them.
func (s *site) changeTrials(v *visit) error {
	name := v.r.PathValue("study")
	var ids []int64
	for _, text := range v.r.PostForm["trial"] {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return refusal{http.StatusUnprocessableEntity, fmt.Sprintf("no trial is called %q", text)}
		}
		ids = append(ids, id)
	}
	do := api.Change{Do: v.r.PostFormValue("do"), Reason: v.r.PostFormValue("reason")}
	if _, err := v.API.Move(v.ctx, name, ids, do); err != nil {
		return err
	}
	said := map[string]string{"first": "goes first", "discard": "is discarded"}[do.Do]
	return v.done("/s/"+url.PathEscape(name), fmt.Sprintf("%s %s", trialsText(name, ids), said))
}

// changeState has a study run, pause or stop.
func (s *site) changeState(v *visit) error {
	name := v.r.PathValue("study")
	st, err := v.API.SetState(v.ctx, name, v.r.PostFormValue("state"), v.r.PostFormValue("reason"))
	if err != nil {
		return err
	}
	return v.done("/s/"+url.PathEscape(name), fmt.Sprintf("%s is %s", name, st.State))
}

func trialsText(study string, ids []int64) string {
	if len(ids) == 1 {
		return fmt.Sprintf("trial %d of %s", ids[0], study)
	}
	return fmt.Sprintf("%d trials of %s", len(ids), study)
}
