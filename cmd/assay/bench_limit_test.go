package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

func TestPercentileLimits(t *testing.T) {
	got, err := percentileLimits("power@10, 50,,99.5")
	want := []percentileLimit{{"power", 10}, {"power", 50}, {"power", 99.5}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if got := want[2].suffix(); got != "/power@99.5" {
		t.Errorf("suffix %q", got)
	}
	for _, text := range []string{
		"", "power", "@10", "power@", "power@,", "power@0", "power@100.1", "power@x", "power@NaN",
	} {
		got, err := percentileLimits(text)
		if err == nil || assay.ClassOf(err) != assay.ClassUsage || !strings.Contains(err.Error(), "--limit "+text+":") {
			t.Errorf("%q: %+v, %v; want a mistake that names it", text, got, err)
		}
	}
}

// The limit is a percentile of the means over the good runs: failed ones and those
// without the metric do not count. The study itself keeps the limits that it has.
// Reference: Ding et al. 2022, section 4.4
func TestLimitIsAPercentile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"t.csv": "a,t,p,ok\n1,1,10,yes\n1,1,20,yes\n2,2,20,yes\n3,3,25,yes\n4,4,1000,no\n5,5,,yes\n",
		"s.yaml": `subject_to: [elapsed <= 100]
replay: {file: t.csv, parameters: [a], metrics: {elapsed: t, power: p}, ok: {column: ok, equals: yes}}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := recordedProblem(io.Discard, filepath.Join(dir, "s.yaml"), "bench")
	if err != nil {
		t.Fatal(err)
	}
	for percent, want := range map[float64]string{100: "power <= 25", 50: "power <= 20", 0.001: "power <= 15.0001"} {
		limited, err := percentileLimit{"power", percent}.limit(p)
		if err != nil {
			t.Fatal(err)
		}
		got := limited.Definition.SubjectTo
		if !slices.Equal(got, []string{"elapsed <= 100", want}) || len(limited.Goal.Limits) != 2 {
			t.Errorf("percentile %v: limits %q, want %q beside that of the study", percent, got, want)
		}
	}
	if len(p.Definition.SubjectTo) != 1 || len(p.Goal.Limits) != 1 {
		t.Errorf("the study itself has the limits %q now", p.Definition.SubjectTo)
	}
	if _, err := (percentileLimit{"speed", 50}).limit(p); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("a metric that there is not: %v", err)
	}
}

func TestNumbers(t *testing.T) {
	positive := func(x float64) bool { return x > 0 }
	got, err := numbers("f", " 1, 2.5,,1e3 ", "positive", positive)
	if err != nil || !slices.Equal(got, []float64{1, 2.5, 1000}) {
		t.Errorf("got %v, %v", got, err)
	}
	for text, bad := range map[string]string{"1,0": "0", "1,x,2": "x", "NaN": "NaN"} {
		got, err := numbers("f", text, "positive", positive)
		if err == nil || err.Error() != "--f "+bad+": not positive" || assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// Rows that stand together make one table, with an empty line before the next.
func TestWriteTables(t *testing.T) {
	var b strings.Builder
	rows := []int{12, 15, 31, 11}
	err := writeTables(&b, rows, func(x int) string { return fmt.Sprint(x / 10) }, func(rows []int) *report.Table {
		t := report.NewTable(report.Palette{}, "of "+fmt.Sprint(rows[0]/10))
		for _, x := range rows {
			t.Add(fmt.Sprint(x))
		}
		return t
	})
	if want := "of 1\n12\n15\n\nof 3\n31\n\nof 1\n11\n"; err != nil || b.String() != want {
		t.Errorf("got %q, %v; want %q", b.String(), err, want)
	}
}

// The result of an experiment is JSON or text, and nothing if it failed.
func TestPrinted(t *testing.T) {
	text := func(w io.Writer, xs []int) error {
		_, err := fmt.Fprintln(w, "for people", xs)
		return err
	}
	for _, tt := range []struct {
		err  error
		json bool
		want string
	}{
		{nil, false, "for people [1 2]\n"},
		{nil, true, "[1,2]\n"},
		{io.ErrUnexpectedEOF, true, ""},
		{io.ErrUnexpectedEOF, false, ""},
	} {
		var b strings.Builder
		err := printed(tt.err, tt.json, &b, []int{1, 2}, text)
		if !errors.Is(err, tt.err) || b.String() != tt.want {
			t.Errorf("%+v: got %q, %v", tt, b.String(), err)
		}
	}
}
