package abtest

import (
	"fmt"
	"io"
	"strings"

	"github.com/assay-run/assay/internal/report"
)

// WriteMarkdown writes the report as Markdown, for a comment on a pull request: a heading with the
// answer, a table with a row for each comparison, advice for undecided comparisons, and the commands.
func (r Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("### " + r.heading() + "\n\n")
	r, common := r.apart()
	runs, how := "pairs", "runs in turn; the interval holds at %s, for all looks together"
	if r.recorded() {
		runs, how = "runs", "values measured elsewhere, not in turn; all intervals together hold at %s"
	}
	b.WriteString("| | before | after | change | " + runs + " | verdict |\n|---|--:|--:|--:|--:|---|\n")
	for _, c := range r.Comparisons {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %s |\n", cell(c.title()), report.Metric(c.A.Median, c.unit),
			report.Metric(c.B.Median, c.unit), c.signedText(), c.Pairs, c.mark())
	}
	for _, c := range r.Comparisons {
		for _, text := range append(c.Advice[:len(c.Advice):len(c.Advice)], c.Warnings...) {
			fmt.Fprintf(&b, "\n%s: %s.\n", cell(c.title()), cell(text))
		}
	}
	for _, text := range common {
		fmt.Fprintf(&b, "\nAll: %s.\n", cell(text))
	}
	b.WriteString("\n<details><summary>commands</summary>\n\n")
	for i, c := range r.Comparisons {
		sides := []Side{c.B}
		if i == 0 || c.Benchmark != r.Comparisons[i-1].Benchmark {
			sides = []Side{c.A, c.B}
		}
		for _, s := range sides {
			name := s.Name
			if c.Benchmark != "" {
				name = c.Benchmark + ": " + name
			}
			fmt.Fprintf(&b, "- %s: %s\n", cell(name), code(report.ShellQuote(s.Command)))
		}
	}
	level := 0.95
	if r.Outcome != "" {
		level = 1 - 2*GateError
	}
	fmt.Fprintf(&b, "\nMedians of "+how+".\n\n</details>\n", percent(level))
	_, err := io.WriteString(w, b.String())
	return err
}

// heading is the answer in one line.
func (r Report) heading() string {
	if len(r.Comparisons) == 1 {
		c := r.Comparisons[0]
		switch {
		case r.Outcome != "":
			return "assay compare: " + cell(c.gate())
		case c.Change != nil && c.Verdict != "~":
			return cell("assay compare: " + c.sentence())
		}
		return "assay compare: no difference is shown"
	}
	if r.Outcome == "" {
		return fmt.Sprintf("assay compare: %d comparisons", len(r.Comparisons))
	}
	return "assay compare: " + r.count()
}

// title names a comparison.
func (r Result) title() string {
	text := fmt.Sprintf("%s against %s, %s", r.B.Name, r.A.Name, r.Metric)
	if r.Benchmark != "" {
		text = r.Benchmark + ": " + text
	}
	return text
}

// mark is the verdict of a row.
func (r Result) mark() string {
	switch r.Outcome {
	case Failed:
		return "**" + string(r.Outcome) + "**"
	case Unknown:
		return "*" + string(r.Outcome) + "*"
	case Passed:
		return string(r.Outcome)
	}
	return r.Verdict
}

// cell returns a text as one that Markdown shows as it is, in a cell of a table too.
func cell(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c == '\n' || c == '\r' || c == '\t':
			b.WriteByte(' ')
		case c < ' ' || c == 0x7f:
			b.WriteRune('\ufffd')
		case c == '@': // an @ in a command must mention no one
			b.WriteString("@\u200b")
		case strings.ContainsRune("\\`*_[]<>|&#~$", c):
			fmt.Fprintf(&b, "\\%c", c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// code returns a text as a code span, with any back quotes in it.
func code(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}
