package web

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/view"
)

// A studiesPage is the data of the list of studies.
type studiesPage struct {
	Studies []view.Study
	Filter  string // "" for all
	Sort    string // the name of an order
	Columns []column
}

// A column is a column of the list, and the order of the rows by it.
type column struct {
	Name, Text string
	compare    func(a, b view.Study) int
}

// columns are the columns of the list. The first order is the default.
var columns = []column{
	{"age", "last event", func(a, b view.Study) int { return newest(b).Compare(newest(a)) }},
	{"study", "study", func(a, b view.Study) int { return strings.Compare(a.Study, b.Study) }},
	{"best", "best", func(a, b view.Study) int {
		return cmp.Or(strings.Compare(a.Objective, b.Objective), cmp.Compare(orInf(a.Best), orInf(b.Best)))
	}},
	{"gain", "gain", func(a, b view.Study) int { return cmp.Compare(result.GainSize(b.Gain), result.GainSize(a.Gain)) }},
	{"trials", "trials", func(a, b view.Study) int { return cmp.Compare(b.Trials, a.Trials) }},
	{"owner", "owner", func(a, b view.Study) int { return strings.Compare(a.Owner, b.Owner) }},
}

// newest returns when a study last changed. The events of a simulated study have simulated times.
func newest(s view.Study) time.Time {
	if s.Last.Before(s.Created) {
		return s.Created
	}
	return s.Last
}

func orInf(x *float64) float64 {
	if x == nil {
		return math.Inf(1)
	}
	return *x
}

// studies shows the studies whose name, objective or owner contains the search text, the newest first unless another
// order is requested.
func (s *site) studies(v *visit) error {
	all, err := v.API.Studies(v.ctx)
	if err != nil {
		return err
	}
	p := studiesPage{Filter: v.r.URL.Query().Get("q"), Sort: columns[0].Name, Columns: columns}
	p.Studies = slices.DeleteFunc(all, func(st view.Study) bool {
		has := func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(p.Filter)) }
		return !has(st.Study) && !has(st.Objective) && !has(st.Owner)
	})
	order := columns[0]
	for _, c := range columns {
		if c.Name == v.r.URL.Query().Get("sort") {
			order, p.Sort = c, c.Name
		}
	}
	slices.SortStableFunc(p.Studies, order.compare)
	return v.render("studies.html", "Studies", p)
}

// Owned reports whether any of the studies has an owner. A study that began in a terminal has none.
func (p studiesPage) Owned() bool {
	return slices.ContainsFunc(p.Studies, func(s view.Study) bool { return s.Owner != "" })
}

// Head returns the column of a name.
func (p studiesPage) Head(name string) column {
	return p.Columns[slices.IndexFunc(p.Columns, func(c column) bool { return c.Name == name })]
}

// Best describes the best of a study.
func (p studiesPage) Best(s view.Study) string {
	switch {
	case s.Best != nil:
		return report.Visible(report.Metric(*s.Best, s.Unit))
	case s.Done > 0 && strings.Contains(s.Objective, ", "):
		return "a front"
	}
	return "–"
}

// Ago returns the time since a study changed.
func (p studiesPage) Ago(s view.Study) string { return ago(newest(s)) }

// At returns when a study changed.
func (p studiesPage) At(s view.Study) time.Time { return newest(s) }

// A part is a state of the trials of a study in a bar of width 100.
type part struct {
	Tone, Text string
	From, Wide float64
}

// Parts returns the trials of a study by their states.
func (p studiesPage) Parts(s view.Study) (parts []part) {
	from := 0.0
	for _, of := range []struct {
		n     int64
		state string
	}{
		{s.Done, "done"},
		{s.Censored, "censored"},
		{s.Infeasible, "infeasible"},
		{s.Failed, "failed"},
		{s.Withdrawn, "withdrawn"},
		{s.Trials - s.Done - s.Censored - s.Infeasible - s.Failed - s.Withdrawn, "running"},
	} {
		if of.n <= 0 || s.Trials == 0 {
			continue
		}
		wide := 100 * float64(of.n) / float64(s.Trials)
		parts = append(parts, part{tones[of.state], fmt.Sprintf("%d %s", of.n, word(of.state)), from, wide})
		from += wide
	}
	return parts
}

// Words are the trials of a study by their states in words.
func (p studiesPage) Words(s view.Study) string {
	var words []string
	for _, part := range p.Parts(s) {
		words = append(words, part.Text)
	}
	return strings.Join(words, ", ")
}
