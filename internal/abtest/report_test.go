package abtest

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"strings"
	"testing"
)

// reported returns a report with a comparison of each outcome, with names and commands that
// Markdown and XML could take for their own.
func reported(t *testing.T) Report {
	t.Helper()
	var all []Result
	for _, c := range []struct {
		name string
		b    float64
		sd   float64
	}{{"small|<b>", 1.2, 0.01}, {"large", 1, 0.01}, {"odd", 1, 0.2}} {
		d, _ := fresh(1, c.b, c.sd)
		d.Name, d.Gate, d.Among = c.name, gate(t, "slower > 3%"), 3
		d.Commands[0].Job.Argv = []string{"a", "--x=`y`|z", "]]>"}
		all = append(all, run(t, d))
	}
	return NewReport(all)
}

func TestReportText(t *testing.T) {
	var b strings.Builder
	if err := reported(t).Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"benchmark  small|<b>\nA          a '--x=`y`|z' ']]>'\n", "verdict    B takes 19",
		"more time than A (12 pairs of runs, which are enough)",
		"gate       failed: B is slower by more than 3 %\n", "gate       passed: B is not slower by more than 3 %\n",
		"gate       cannot tell whether B is slower by more than 3 %\n", "advice     the ratio of two runs",
		"in all     1 failed, 1 undecided, 1 passed\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// The worst outcome is the outcome of the report.
func TestOutcomeOfAll(t *testing.T) {
	for _, c := range []struct {
		of   []Outcome
		want Outcome
	}{
		{nil, ""},
		{[]Outcome{""}, ""},
		{[]Outcome{Passed, Passed}, Passed},
		{[]Outcome{Passed, Unknown}, Unknown},
		{[]Outcome{Failed, Unknown, Passed}, Failed},
	} {
		var all []Result
		for _, o := range c.of {
			all = append(all, Result{Outcome: o})
		}
		if got := NewReport(all).Outcome; got != c.want {
			t.Errorf("%q are %q, want %q", c.of, got, c.want)
		}
	}
}

// One comparison is one object, as ever; several are a list with the outcome of all.
func TestReportJSON(t *testing.T) {
	r := reported(t)
	var several struct {
		Outcome     string
		Comparisons []map[string]any
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &several); err != nil || several.Outcome != "slower" || len(several.Comparisons) != 3 {
		t.Errorf("%s, %v", b, err)
	}
	if c := several.Comparisons[0]; c["benchmark"] != "small|<b>" || c["outcome"] != "slower" || c["verdict"] != "more" {
		t.Errorf("%v", c)
	}
	var one Result
	b, err = json.Marshal(NewReport(r.Comparisons[2:]))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &one); err != nil || one.Outcome != Unknown || one.Needs <= 40 || one.A.Name != "A" {
		t.Errorf("%s, %v", b, err)
	}
}

// Markdown has a row for each comparison with as many cells as the head, and no markup of
// names or commands.
func TestMarkdown(t *testing.T) {
	var b strings.Builder
	if err := reported(t).WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if !strings.HasPrefix(text, "### assay compare: 1 failed, 1 undecided, 1 passed\n\n| | before |") {
		t.Errorf("begins %.100q", text)
	}
	rows := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		rows++
		if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); n != 7 {
			t.Errorf("%d bars in %q", n, line)
		}
	}
	if rows != 5 {
		t.Errorf("%d rows in\n%s", rows, text)
	}
	for _, want := range []string{
		`| small\|\<b\>: B against A, elapsed | `, "| **slower** |", "| not slower |", "| *cannot tell* |",
		"``a '--x=`y`|z' ']]>'``", "odd: B against A, elapsed: the ratio of two runs", "holds at 98 %",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "<b>") {
		t.Error("a name is markup")
	}
}

// The JUnit file is read back: a case for each comparison, of which one failed and one is
// skipped, with counts that agree.
func TestJUnit(t *testing.T) {
	var b strings.Builder
	if err := reported(t).WriteJUnit(&b, errors.New("command A failed \x1b <")); err != nil {
		t.Fatal(err)
	}
	var got junitSuites
	if err := xml.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	s := got.Suite
	if got.Tests != 4 || got.Failures != 1 || got.Errors != 1 || got.Skipped != 1 || s.Tests != 4 || len(s.Cases) != 4 {
		t.Errorf("counts of\n%s", b.String())
	}
	for i, c := range s.Cases {
		if (c.Failure != nil) != (i == 0) || (c.Skipped != nil) != (i == 2) || (c.Error != nil) != (i == 3) {
			t.Errorf("case %d: %+v", i, c)
		}
	}
	if c := s.Cases[0]; c.Class != "assay.small|<b>" || c.Name != "small|<b>: B against A, elapsed" ||
		!strings.HasPrefix(c.Failure.Message, "failed: B is slower by more than 3 %: +") ||
		!strings.Contains(c.Failure.Text, "--x=`y`|z") || c.Seconds < 0 {
		t.Errorf("%+v", c)
	}
	if !strings.Contains(s.Cases[2].Skipped.Message, "pairs would decide it") {
		t.Errorf("%+v", s.Cases[2])
	}
}
