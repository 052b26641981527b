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
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/rest/api"
	"github.com/assay-run/assay/view"
)

// Bounds of what the page of a study has without a script.
const (
	mostRows     = 50
	mostQueued   = 100
	mostAnswered = 2000 // trials of which the whole answer is worked out while somebody waits
)

// A studyPage is what the page of a study shows without a script; the rest is drawn by modules.
type studyPage struct {
	Study   api.Study
	Best    *view.Trial // nil while there is none
	Answer  *api.Answer // nil if it takes time; it is asked for when the page is there
	Trials  []view.Trial
	Earlier string
	Later   string
	Queue   []run
	Waiting int    // of the queue
	Open    bool   // something may run still
	Price   string // of an hour of a run, as it was given
	Paid    string
	Kept    string
	Unit    string // of the metric
	Levels  bool   // infeasible trials are those below the full level
	Outside string // what infeasible trials are called
	Pruned  []prunedValue
	Data    template.JS
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
		Open: d.Study.State == "running" || d.Study.State == "paused",
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
	if after > 0 {
		p.Earlier = fmt.Sprintf("?after=%d#trials", max(0, after-mostRows))
	}
	if next > 0 {
		p.Later = fmt.Sprintf("?after=%d#trials", next)
	}
	return nil
}

// queued fills in what runs and what waits: by the queue of the server or, of a study that a
// terminal runs, by the record.
func (v *visit) queued(p *studyPage) error {
	list, total, err := v.API.Queue(v.ctx, p.Study.Study, mostQueued)
	if err != nil {
		return err
	}
	for _, e := range list {
		p.Queue = append(p.Queue, run{
			Trial: e.Trial, Config: e.Config, Worker: e.Worker, Placed: e.State == "placed", Elapsed: e.Elapsed,
			Since: e.Since.UTC().Format("2006-01-02T15:04:05.000Z"),
		})
		if e.State != "placed" {
			p.Waiting++
		}
	}
	p.Waiting += total - len(list)
	if total > 0 {
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

// priced fills in money, if who looks has said what an hour of a run costs. It returns the price of
// a second.
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

// dataOf returns what the modules of the page know of the study before they have asked for
// anything. No tag can begin in it.
func dataOf(d api.Detail, price float64) (template.JS, error) {
	b, err := json.Marshal(struct { // <, > and & are escaped
		Study     string              `json:"study"`
		State     string              `json:"state"`
		Events    int64               `json:"events"`
		Objective result.Objective    `json:"objective"`
		Params    []result.WholeParam `json:"params"`
		Default   bool                `json:"default"`
		Price     float64             `json:"price"`
		Spent     float64             `json:"spent_s"`
	}{d.Study.Study, d.Study.State, d.Study.Events, d.Objective, d.Params, d.Default, price, d.Study.Spent})
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
