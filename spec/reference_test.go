package spec

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// The reference has every metric that there is without being asked for, and every source of others.
func TestReferenceOfMetrics(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Metrics

This page is made from the code. How metrics are declared, and when they are looked at: [study
files](../format/study.md#metrics). What is minimized, maximized or limited is one of these.

## Without being asked

Runs are measured from outside, over the whole tree of processes, in base units. Where less of a metric is better and
it only grows while a run goes on, a study can
[end runs early](../searchers.md#stopping-rules).

| metric | unit | what it is | only grows | which runs have it |
|---|---|---|---|---|
`)
	seen := map[string]bool{}
	for _, m := range BuiltinMetrics() {
		if m.Text == "" || seen[m.Name] {
			t.Errorf("%s: %q, a second time %v", m.Name, m.Text, seen[m.Name])
		}
		seen[m.Name] = true
		grows := map[bool]string{true: "yes"}[Grows(m.Name)]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.Name, m.Unit, m.Text, grows, cmp.Or(m.Of, "all"))
	}
	b.WriteString(`
A replayed table has the metrics that its study file names. Of those ` + "`cost`" + ` only grows too, and any may be
declared with ` + "`grows: true`" + `.

## From what a run leaves or says

| in a study file | on the command line | what it is |
|---|---|---|
`)
	for _, k := range assay.SourceKinds() {
		text := map[assay.SourceKind]string{
			assay.FromStdout:  "the one group of the expression, in the last match of the standard output",
			assay.FromStderr:  "the same of the standard error",
			assay.FromJSON:    "a number in a JSON file, by a pointer of RFC 6901; without one the file is the number",
			assay.FromSize:    "the size of a file, in bytes",
			assay.FromCommand: "the one number that a line for `sh -c` prints after the run",
			assay.FromGPU: "the use of the graphics cards during the run: `energy` (J), `power` (W), `memory` (B) " +
				"or `utilization` (%)",
		}[k]
		if text == "" {
			t.Errorf("no text for %v", k)
		}
		form := k.Argument().String()
		fmt.Fprintf(&b, "| `{%v: %s}` | `--metric NAME=%v:%s` | %s |\n", k, strings.Trim(form, "/"), k, form, text)
	}
	testbed.Current(t, "../docs/reference/metrics.md", b.String(), "go test ./spec -run ReferenceOfMetrics")
}
