package report

import (
	"fmt"
	"io"
	"strings"
)

// Lines is a report of labelled lines. The zero value is empty.
type Lines struct {
	// Width is the width of the terminal, 0 for no limit: a longer text goes on under itself. It is set
	// before the first line. Lines for a shell are never broken, so that they can be copied.
	Width   int
	b       strings.Builder
	entries []Entry
}

// labelWidth is how wide the column of the labels is.
const labelWidth = 11

// Room returns how many columns a text has beside its label, which is at most most.
func (l *Lines) Room(most int) int {
	if l.Width <= labelWidth {
		return most
	}
	return min(most, l.Width-labelWidth)
}

// An Entry is a line of a report.
type Entry struct {
	Label, Text string
	Command     bool // for a shell
}

// Entries returns the lines that were added, of which one with the label "" goes on with
// the one before.
func (l *Lines) Entries() []Entry { return l.entries }

// Add appends a line: the label in a column of 11 characters, "" to continue the line above, and the
// text, as [Visible] shows it.
func (l *Lines) Add(label, format string, args ...any) {
	text := Visible(fmt.Sprintf(format, args...))
	l.entries = append(l.entries, Entry{Label: label, Text: text})
	if l.Width <= labelWidth {
		l.add(label, text)
		return
	}
	for _, part := range wrapped(text, l.Width-labelWidth) {
		l.add(label, part)
		label = ""
	}
}

// AddCommand appends a line for a shell, which may be several lines; see [ShellQuote].
func (l *Lines) AddCommand(label, line string) {
	l.add(label, VisibleLines(line))
	l.entries = append(l.entries, Entry{label, VisibleLines(line), true})
}

func (l *Lines) add(label, text string) {
	label = Visible(label)
	if Width(label) >= labelWidth { // a text never touches its label
		label += "  "
	}
	fmt.Fprintf(&l.b, "%-*s%s\n", labelWidth, label, text)
}

// AddList appends a line for each text, of which the first has the label.
func (l *Lines) AddList(label string, texts []string) {
	for _, text := range texts {
		l.Add(label, "%s", text)
		label = ""
	}
}

// AddText appends whole lines, such as a drawing, as they are.
func (l *Lines) AddText(text string) { l.b.WriteString(text) }

// Write writes the lines.
func (l *Lines) Write(w io.Writer) error {
	_, err := io.WriteString(w, l.b.String())
	return err
}

// Metric returns a metric's value for people, in its unit: a time by [Seconds], a plain number with "".
func Metric(x float64, unit string) string {
	switch unit {
	case "s":
		return Seconds(x)
	case "":
		return Number(x, 4)
	}
	return SI(x, unit)
}

// Apart returns values of one metric as [Metric] does, with as many digits as it takes to show different values apart.
func Apart(values []float64, unit string) []string {
	texts := make([]string, len(values))
	for i, x := range values {
		texts[i] = Metric(x, unit)
	}
	scales := scalesOf(unit)
	if unit == "s" {
		scales = times[:4] // a time in two parts has no more digits
	}
	for n := digits + 1; n <= 9 && alike(values, texts); n++ {
		for i, x := range values {
			u := unitFor(x, scales)
			texts[i] = strings.TrimSpace(Number(x/u.size, n) + " " + u.name)
		}
	}
	return texts
}

// alike reports whether two different values have the same text.
func alike(values []float64, texts []string) bool {
	of := map[string]float64{}
	for i, text := range texts {
		if x, seen := of[text]; seen && x != values[i] {
			return true
		}
		of[text] = values[i]
	}
	return false
}

// Beside returns a value beside its limit: "50.9 MB of 48 MB", "24.1, at least 30" of a lower limit. It has as many
// digits as it takes to show the two apart.
func Beside(value, limit float64, unit string, lower bool) string {
	texts := Apart([]float64{value, limit}, unit)
	if lower {
		return texts[0] + ", at least " + texts[1]
	}
	return texts[0] + " of " + texts[1]
}
