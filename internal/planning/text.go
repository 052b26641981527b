package planning

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/workflow/request"
)

// WriteText writes the requests and their results, for people.
func (p *RequestPlan) WriteText(w io.Writer) error {
	var b strings.Builder
	p.text(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes the plan as one JSON object.
func (p *RequestPlan) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(p)
}

// text writes two tables and the notes.
func (p *RequestPlan) text(b *strings.Builder) {
	t := report.NewTable(report.Palette{}, "kind", ">tasks", ">peak memory", ">asked", ">longest run", ">limit", "")
	for _, k := range p.Kinds {
		mark := ""
		if k.Memory.Cautious || k.Time.Cautious {
			mark = "~"
		}
		t.Add(k.Name, strconv.Itoa(k.Tasks), memoryText(k.Memory.Peak), ruleText(k.Memory.Rule, memoryText),
			timeText(k.Time.Peak), ruleText(k.Time.Rule, timeText), mark)
	}
	_ = t.Write(b) // a strings.Builder does not fail
	b.WriteByte('\n')
	s := report.NewTable(report.Palette{}, fmt.Sprintf("%d tasks of %d executions", p.Now.Tasks, p.Executions),
		">memory wasted", ">of now", ">tasks that fail", ">limit / run time")
	row := func(name string, t request.Tally) {
		of, limit := "-", "-"
		if p.Now.Wasted > 0 {
			of = fmt.Sprintf("%.1f %%", 100*t.Wasted/p.Now.Wasted)
		}
		if t.Asked > 0 {
			limit = fmt.Sprintf("%.1f", t.Asked/t.Ran)
		}
		s.Add(name, gigabyteHours(t.Wasted), of, fmt.Sprintf("%d (%.2f %%)", t.Failed, 100*t.FailedShare()), limit)
	}
	row("now", p.Now)
	row("with these requests", p.After)
	if p.LeftOut != nil {
		row("each execution left out", *p.LeftOut)
	}
	_ = s.Write(b)
	for _, n := range p.Notes {
		fmt.Fprintf(b, "Note: %s.\n", n)
	}
}

// gigabyteHours returns an amount of memory over time.
func gigabyteHours(x float64) string { return report.Number(x/1e9/3600, 3) + " GB h" }

// memoryText returns an amount of memory in binary units with three digits; "-" for none.
func memoryText(x float64) string {
	if !(x > 0) {
		return "-"
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for i < len(units)-1 && x >= 1000 {
		x, i = x/1024, i+1
	}
	return strconv.FormatFloat(x, 'g', 3, 64) + " " + units[i]
}

// timeText returns a length of time; "-" for none.
func timeText(x float64) string {
	if !(x > 0) {
		return "-"
	}
	if x < 120 {
		return strconv.FormatFloat(x, 'g', 3, 64) + " s"
	}
	m := int(math.Ceil(x/60 - 1e-9))
	if m < 120 {
		return fmt.Sprintf("%d min", m)
	}
	return fmt.Sprintf("%d h %02d min", m/60, m%60)
}

// ruleText returns a rule: an amount, or its least and largest request and how it grows.
func ruleText(r request.Rule, unit func(float64) string) string {
	if !r.Sized() {
		return unit(r.High)
	}
	return fmt.Sprintf("%s to %s by input", unit(r.Low), unit(r.High))
}
