package api

import (
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

// A checked definition is described in words, and nothing is made; a wrong one is an error with
// its place.
func TestCheck(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	c := r.client(t, "operator")
	before := r.state(t)
	got, err := c.Check(ctx, Submission{File: "name: new\ncommand: [prog, '{n}', '<b>', '{m}']\n" +
		"parameters: {n: 1..3, m: [a, b]}\n" +
		"where: [n > 1]\nsearch: grid\nmetrics: {size: {stdout: 'size ([0-9]+)'}}\nsubject_to: [size <= 7]\n"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "new" || got.Executes != "command" || got.Size != "4" ||
		len(got.Parameters) != 2 || got.Search != "grid" ||
		!slices.Equal(got.Relations, []string{"n > 1"}) || !slices.Equal(got.Limits, []string{"size <= 7"}) ||
		len(got.First) != 3 || !strings.HasPrefix(got.First[0], "prog ") || got.Objective != "minimize elapsed" {
		t.Errorf("%+v", got)
	}
	got, err = c.Check(ctx, Submission{Name: "mine", File: "app: x264\nparameters: {n: 1..3}\n"})
	if err != nil || got.Name != "mine" || got.Executes != "" || len(got.First) == 0 ||
		!strings.HasPrefix(got.First[0], "n=") {
		t.Errorf("%+v, %v", got, err)
	}
	for file, place := range map[string]string{
		"command: [prog]\nparameters: {n: 3..1}\n":                        "study.yaml:2:",
		"command: [prog, '{m}']\nparameters: {n: 1..3}\n":                 "study.yaml:1:",
		"command: [prog, '{n}']\nparameters: {n: 1..3}\nbugdet: 3m\n":     "study.yaml:3:1",
		"command: [prog, '{n}'\nparameters: {n: 1..3}\n":                  "study.yaml:",
		"replay: {file: x.csv, parameters: [n], metrics: {elapsed: e}}\n": "assay tune",
	} {
		_, err := c.Check(ctx, Submission{File: file})
		if assay.ClassOf(err) != assay.ClassUsage || !strings.Contains(err.Error(), place) {
			t.Errorf("%q: %v, want %s", file, err, place)
		}
	}
	if after := r.state(t); after != before {
		t.Errorf("something was made: %s, before %s", after, before)
	}
}
