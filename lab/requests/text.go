package requests

import (
	"fmt"
	"io"
	"strings"

	"github.com/assay-run/assay/internal/report"
)

// WriteText writes reports for people.
func WriteText(w io.Writer, reports []*Report) error {
	var b strings.Builder
	for i, r := range reports {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "leave-one-%s-out; where no request is recorded, now is %s\n", r.Hold, r.Assumed)
		t := report.NewTable(report.Palette{}, "application", ">executions", ">tasks", "method", ">wasted", ">of now",
			">tasks that fail", ">limit / run time")
		for _, a := range append(r.Apps, r.All) {
			a.rows(t)
		}
		if err := t.Write(&b); err != nil {
			return err
		}
		if len(r.Single) > 0 {
			fmt.Fprintf(&b, "no kind of task is in two %ss, so that none can be left out: %s\n", r.Hold,
				strings.Join(r.Single, ", "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rows adds the rows of an application.
func (a *App) rows(t *report.Table) {
	for i, o := range append([]Outcome{a.Now}, a.Outcomes...) {
		name, runs, tasks := "", "", ""
		if i == 0 {
			name, runs, tasks = a.Name, fmt.Sprint(a.Executions), fmt.Sprint(o.Tasks)
		}
		limit := "-"
		if o.Asked > 0 {
			limit = fmt.Sprintf("%.1f", o.Asked/o.Ran)
		}
		t.Add(name, runs, tasks, o.Method, fmt.Sprintf("%.2f GB h", o.Wasted/3.6e12),
			fmt.Sprintf("%.1f %%", 100*o.Relative), fmt.Sprintf("%.2f %%", 100*o.Share), limit)
	}
}
