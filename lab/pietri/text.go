package pietri

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay/internal/report"
)

// WriteText writes reports for people, with an empty line between them. Table I, if
// there is one, comes once, after the last.
func WriteText(out io.Writer, all []*Report) error {
	var b strings.Builder
	for i, r := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		what := fmt.Sprintf("leave-one-%s-out, %d executions", r.Hold, len(r.Runs))
		if r.Known > 0 {
			what = fmt.Sprintf("configurations known: %d, %d predictions", r.Known, len(r.Runs))
		}
		fmt.Fprintf(&b, "%s (Alg. 1 with all cores and 25 s a level beside)\n", what)
		t := report.NewTable(report.Palette{}, "application", ">runs", ">median", ">75 %", ">90 %", ">max",
			">in 10 %", ">in 20 %", ">in interval", ">Alg. 1 median", ">in 20 %")
		rows := append(slices.Clone(r.Apps), r.All)
		if r.Grids != nil {
			rows = append(rows, *r.Grids)
		}
		for _, x := range rows {
			p := func(v float64) string {
				if math.IsNaN(v) {
					return ""
				}
				return fmt.Sprintf("%.1f %%", 100*v)
			}
			t.Add(x.App, fmt.Sprint(x.Executions), p(x.Median), p(x.P75), p(x.P90), p(x.Max), p(x.Within10),
				p(x.Within20), p(x.Covered), p(x.PaperMed), p(x.PaperIn20))
		}
		if err := t.Write(&b); err != nil {
			return err
		}
		if x := r.Repeats; x != nil {
			fmt.Fprintf(&b, "%d repetitions, each from the others of its configuration: median %.1f %%, %.1f %% in 20 %%\n",
				x.Executions, 100*x.Median, 100*x.Within20)
		}
		if len(r.Table1) == 0 || i < len(all)-1 {
			continue
		}
		b.WriteString("\nTable I: share of predictions within 10, 15 and 20 %; published: Alg. 1 with all cores and " +
			"25 s a level; calibrated: from all executions of the application and site\n")
		t = report.NewTable(report.Palette{}, "application", "model", "levels", ">run time error", ">in 10 %",
			">in 15 %", ">in 20 %")
		for _, e := range r.Table1 {
			t.Add(e.App, e.Model, e.Method, fmt.Sprintf("±%.0f %%", 100*e.Error), fmt.Sprintf("%.1f", 100*e.In10),
				fmt.Sprintf("%.1f", 100*e.In15), fmt.Sprintf("%.1f", 100*e.In20))
		}
		if err := t.Write(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
