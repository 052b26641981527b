package abtest

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay/internal/report"
)

// A Report holds the results of the comparisons of one or several duels.
type Report struct {
	Outcome     Outcome // of the gate: the worst of all; "" without one
	Comparisons []Result
}

// NewReport returns the report of comparisons that were made with one gate, or none.
func NewReport(all []Result) Report {
	r := Report{Comparisons: all}
	rank := map[Outcome]int{Passed: 1, Unknown: 2, Failed: 3}
	for _, c := range all {
		if rank[c.Outcome] > rank[r.Outcome] {
			r.Outcome = c.Outcome
		}
	}
	return r
}

// MarshalJSON implements [json.Marshaler]: one comparison is the object of its
// [Result], several are {"outcome":…,"comparisons":[…]}.
func (r Report) MarshalJSON() ([]byte, error) {
	if len(r.Comparisons) == 1 {
		return json.Marshal(r.Comparisons[0])
	}
	return json.Marshal(struct {
		Outcome     Outcome  `json:"outcome,omitempty"`
		Comparisons []Result `json:"comparisons"`
	}{r.Outcome, r.Comparisons})
}

// Write writes the report for people.
func (r Report) Write(w io.Writer) error {
	var l report.Lines
	r, common := r.apart()
	for i, c := range r.Comparisons {
		first := i == 0 || c.Benchmark != r.Comparisons[i-1].Benchmark
		if first && c.Benchmark != "" {
			l.Add("benchmark", "%s", c.Benchmark)
		}
		if first {
			c.A.write(&l, c.unit)
		}
		c.B.write(&l, c.unit)
		c.write(&l)
	}
	if n := len(r.Comparisons); n > 1 && r.Outcome != "" {
		l.Add("in all", "%s", r.count())
	}
	l.AddList("warning", common)
	return l.Write(w)
}

// apart returns the report without the warnings that every one of several comparisons has, and these.
func (r Report) apart() (Report, []string) {
	if len(r.Comparisons) < 2 {
		return r, nil
	}
	var common []string
	for _, w := range r.Comparisons[0].Warnings {
		if !slices.ContainsFunc(r.Comparisons, func(c Result) bool { return !slices.Contains(c.Warnings, w) }) {
			common = append(common, w)
		}
	}
	out := Report{Outcome: r.Outcome}
	for _, c := range r.Comparisons {
		c.Warnings = slices.DeleteFunc(slices.Clone(c.Warnings), func(w string) bool { return slices.Contains(common, w) })
		out.Comparisons = append(out.Comparisons, c)
	}
	return out, common
}

func (s Side) write(l *report.Lines, unit string) {
	spread := ""
	if s.CV != nil {
		spread = fmt.Sprintf(", standard deviation %s", percent(*s.CV))
	}
	label := s.Name
	if report.Width(label) > 10 { // wider than the column
		l.AddText(report.Visible(label) + "\n")
		label = ""
	}
	l.AddCommand(label, report.ShellQuote(s.Command))
	l.Add("", "median %s, min %s%s", report.Metric(s.Median, unit), report.Metric(s.Min, unit), spread)
}

// write writes the result of the comparison.
func (r Result) write(l *report.Lines) {
	end := r.ends()
	switch {
	case r.Change == nil:
		l.Add("verdict", "%s there is no relative difference (%s)", r.Verdict, end)
	case r.Verdict == "~":
		l.Add("verdict", "~ no difference is shown: %s (%s)", r.Text(), end)
	default:
		l.Add("verdict", "%s (%s)", r.sentence(), end)
	}
	if r.Outcome != "" {
		l.Add("gate", "%s", r.gate())
	}
	l.AddList("advice", r.Advice)
	for _, text := range r.Warnings {
		l.Add("warning", "%s", text)
	}
}

// sentence returns the difference that is shown: "B takes 31 % [28, 35] more time than A", or
// "B takes 25 times [21, 33] as much time as A".
func (r Result) sentence() string {
	if r.Verdict != "more" || *r.Change <= report.ManyTimes-1 {
		return fmt.Sprintf("%s takes %s %s %s than %s", r.B.Name, r.Text(), r.Verdict, r.what(), r.A.Name)
	}
	times := func(change float64) string { return plain(1+change, 3) }
	text := times(*r.Change) + " times"
	if r.CI[0] != nil && r.CI[1] != nil {
		text += fmt.Sprintf(" [%s, %s]", times(*r.CI[0]), times(*r.CI[1]))
	}
	return fmt.Sprintf("%s takes %s as much %s as %s", r.B.Name, text, r.what(), r.A.Name)
}

func (r Result) what() string {
	if r.Metric == "elapsed" {
		return "time"
	}
	return r.Metric
}

// gate describes the result of the gate.
func (r Result) gate() string {
	switch r.Outcome {
	case Failed:
		return fmt.Sprintf("failed: %s is %s", r.B.Name, r.words)
	case Passed:
		return fmt.Sprintf("passed: %s is not %s", r.B.Name, r.words)
	}
	return fmt.Sprintf("cannot tell whether %s is %s", r.B.Name, r.words)
}

// count lists how many comparisons have each outcome.
func (r Report) count() string {
	n := map[Outcome]int{}
	for _, c := range r.Comparisons {
		n[c.Outcome]++
	}
	var parts []string
	for _, o := range []struct {
		is   Outcome
		text string
	}{{Failed, "failed"}, {Unknown, "undecided"}, {Passed, "passed"}} {
		if n[o.is] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[o.is], o.text))
		}
	}
	return strings.Join(parts, ", ")
}

// Text returns "31 % [28, 35]" for a change in the direction of the verdict, "−2 %
// [−5, +1]" for none.
func (r Result) Text() string {
	sign, show := 100.0, func(x float64) string { return plain(x, 3) }
	switch r.Verdict {
	case "less":
		sign = -100
	case "more":
	default:
		show = signed
	}
	return r.interval(sign, show)
}

// signedText returns "+31 % [+28, +35]".
func (r Result) signedText() string {
	if r.Change == nil {
		return "–"
	}
	return r.interval(100, signed)
}

func (r Result) interval(scale float64, show func(float64) string) string {
	text := show(scale**r.Change) + " %"
	if r.CI[0] == nil || r.CI[1] == nil {
		return text
	}
	low, high := scale**r.CI[0], scale**r.CI[1]
	return fmt.Sprintf("%s [%s, %s]", text, show(min(low, high)), show(max(low, high)))
}

func signed(x float64) string {
	text := plain(x, 2)
	if x > 0 {
		return "+" + text
	}
	return text
}

// plain returns x rounded to n significant digits, without an exponent.
func plain(x float64, n int) string { return strconv.FormatFloat(report.Round(x, n)+0, 'f', -1, 64) } // no -0
