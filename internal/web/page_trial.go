package web

import (
	"bytes"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strconv"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
)

// A trialPage is one trial.
type trialPage struct {
	api.TrialDetail
	Waits    bool // no worker has it
	Runs     bool // it has not ended
	Config   []setting
	Metrics  []measured
	Curves   []curveTable
	Path     string // relative to the path of the API
	Output   *output
	Kept     *keptFiles
	Restore  bool // the latest decision can be undone
	Commands []Act
	Earlier  int64 // the previous trial, 0 if none
}

// A setting is a parameter with its value.
type setting struct{ Name, Value string }

// A measured is a metric with its value.
type measured struct {
	Name  string
	Value float64
}

// A curveTable has the reports of an attempt, as a table.
type curveTable struct {
	Attempt api.Attempt
	Names   []string
	Rows    []curveRow
}

type curveRow struct {
	At     float64
	Values []*float64
}

// trial shows the decisions, attempts and reports of one trial.
func (s *site) trial(v *visit) error {
	name := v.r.PathValue("study")
	id, err := strconv.ParseInt(v.r.PathValue("trial"), 10, 64)
	if err != nil || id < 1 {
		return notFound(v.r.URL.Path)
	}
	p := trialPage{}
	if p.TrialDetail, err = v.API.Trial(v.ctx, name, id); err != nil {
		return err
	}
	p.setState()
	for _, k := range sortedKeys(p.Trial.Config) {
		p.Config = append(p.Config, setting{k, textOf(p.Trial.Config[k])})
	}
	for _, k := range sortedKeys(p.Trial.Metrics) {
		p.Metrics = append(p.Metrics, measured{k, p.Trial.Metrics[k]})
	}
	for _, a := range p.Attempts {
		if a.Curve != nil {
			p.Curves = append(p.Curves, tableOf(a))
		}
	}
	p.Path = "/studies/" + url.PathEscape(name) + "/trials/" + strconv.FormatInt(id, 10)
	if o := new(output); s.ask(v.ctx, p.Path+"/output?tail="+mostOutput, o) {
		p.Output = o
	}
	if k := new(keptFiles); s.ask(v.ctx, p.Path+"/files", k) && len(k.Files)+len(k.Left) > 0 {
		p.Kept = k
	}
	p.commands()
	p.Earlier = id - 1
	return v.render("trial.html", name+"/"+strconv.FormatInt(id, 10), p)
}

// setState sets whether the trial is running or waiting, its running time, and whether it can be restored.
func (p *trialPage) setState() {
	p.Runs = p.Trial.State == assay.Running.String()
	p.Waits = p.Runs && !slices.ContainsFunc(p.Attempts, func(a api.Attempt) bool { return a.State == "placed" })
	last := p.last("first", "last", "restore")
	if p.Runs {
		p.Restore = p.Waits && last == "first"
	} else {
		p.Restore = p.Trial.State == assay.Withdrawn.String() && len(p.Attempts) == 0 && last != "restore"
	}
	if n := len(p.Attempts); p.Trial.Elapsed == 0 && n > 0 {
		p.Trial.Elapsed = p.Attempts[n-1].Elapsed
	}
}

// last returns which of some decisions was made last, "" if none.
func (p *trialPage) last(which ...string) string {
	for _, m := range slices.Backward(p.Decisions) {
		if slices.Contains(which, m.Do) {
			return m.Do
		}
	}
	return ""
}

// commands fills in the acts of the page.
func (p *trialPage) commands() {
	id := []string{strconv.FormatInt(p.Trial.ID, 10)}
	for do, is := range map[string]bool{"first": p.Waits && p.Runs, "discard": p.Runs, "restore": p.Restore} {
		if is {
			p.Commands = append(p.Commands, moveAct(do, p.Study, id, ""))
		}
	}
	slices.SortFunc(p.Commands, func(a, b Act) int { return len(a.Command) - len(b.Command) })
	p.Commands = append(p.Commands, giveAct(p.Study, p.Trial.Config))
}

// giveAgain runs the configuration of a trial once more, as a new trial.
func (s *site) giveAgain(v *visit) error {
	name := v.r.PathValue("study")
	id, err := strconv.ParseInt(v.r.PathValue("trial"), 10, 64)
	if err != nil || id < 1 {
		return notFound(v.r.URL.Path)
	}
	d, err := v.API.Trial(v.ctx, name, id)
	if err != nil {
		return err
	}
	if _, err := v.API.Enqueue(v.ctx, name, []map[string]any{d.Trial.Config}); err != nil {
		return err
	}
	p := trialPage{TrialDetail: d}
	for _, k := range sortedKeys(d.Trial.Config) {
		p.Config = append(p.Config, setting{k, textOf(d.Trial.Config[k])})
	}
	p.commands()
	return v.did("/s/"+url.PathEscape(name), "the configuration of trial "+strconv.FormatInt(id, 10)+" is proposed next",
		p.Commands[len(p.Commands)-1].Command)
}

// tableOf returns the reports of an attempt as rows.
func tableOf(a api.Attempt) curveTable {
	t := curveTable{Attempt: a, Names: sortedKeys(a.Curve.Metrics)}
	for i, at := range a.Curve.At {
		row := curveRow{At: at}
		for _, name := range t.Names {
			var x *float64
			if list := a.Curve.Metrics[name]; i < len(list) {
				x = list[i]
			}
			row.Values = append(row.Values, x)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// textOf writes a value of a parameter as a study file does.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			return assay.FormatNumber(v)
		}
	case bool:
		return strconv.FormatBool(v)
	case nil:
		return "–"
	}
	return jsonOf(v)
}

// jsonOf formats a value for copying.
func jsonOf(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "…"
	}
	return string(report.VisibleJSON(bytes.TrimSpace(b.Bytes())))
}

func jsonText(s string) string { return jsonOf(s) }
