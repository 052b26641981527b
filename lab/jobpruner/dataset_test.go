package jobpruner

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/table"
)

// surface is the time of a made-up program: a bowl over x and y with its least value 1
// at (px, py), with a little unevenness.
func surface(x, y, px, py int) float64 {
	dx, dy := float64(x-px), float64(y-py)
	return 1 + dx*dx + 2*dy*dy + 0.01*float64((x*7+y*3)%5)*math.Abs(dx*dy)
}

// bowls is a table of three machines of 8 × 8 configurations: a and b alike, c not.
func bowls() string {
	var b strings.Builder
	b.WriteString("machine,x,y,t,p,ok\n")
	for _, m := range []struct {
		name   string
		px, py int
	}{{"a", 2, 5}, {"b", 2, 5}, {"c", 6, 1}} {
		for x := range 8 {
			for y := range 8 {
				fmt.Fprintf(&b, "%s,%d,%d,%g,%d,yes\n", m.name, x, y, surface(x, y, m.px, m.py), x+y)
			}
		}
	}
	return b.String()
}

// sourceOf writes a table and returns a source of it.
func sourceOf(t *testing.T, text string) Source {
	t.Helper()
	file := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return Source{
		Name: "bowls", Goal: assay.Goal{Metric: "elapsed"}, Environment: []string{"machine"},
		Spec: table.Spec{
			File: file, Parameters: []string{"x", "y"}, Metrics: map[string][]string{"elapsed": {"t"}, "power": {"p"}},
			OKColumn: "ok", OKEquals: "yes",
		},
	}
}

func mustOpen(t *testing.T, src Source) *DataSet {
	t.Helper()
	d, err := Open(src)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// atMost is a limit on power, which is unknown if power was not measured.
func atMost(watts float64) assay.Limit {
	return assay.Limit{Text: "power", Holds: func(metric func(string) (float64, bool)) (bool, error) {
		x, ok := metric("power")
		if !ok {
			return false, errors.New("no power")
		}
		return x <= watts, nil
	}}
}

// Environments are told apart by their columns, and have the study's parameters alone.
func TestOpenEnvironments(t *testing.T) {
	src := sourceOf(t, bowls())
	d := mustOpen(t, src)
	set := d.Set()
	if set.Name != "bowls" || !slices.Equal(set.Environments, []string{"a", "b", "c"}) {
		t.Fatalf("got %+v", set)
	}
	for _, s := range d.subjects {
		if s.space.Dim() != 2 || s.space.Size().N != 64 || len(s.trials) != 64 || s.optimum != 1 {
			t.Errorf("%s: %v of %d parameters, the optimum %v", s.name, s.space.Size(), s.space.Dim(), s.optimum)
		}
	}
	// a and b are the same surface; c, turned round, is not like them.
	if set.Rank[0] != 1 || set.Rank[1] != 1 || set.NCC[0] < 1-1e-9 || set.Rank[2] > 0.5 {
		t.Errorf("rank correlations %v, cross-correlations %v", set.Rank, set.NCC)
	}

	// The columns of where are the environments if none are given, without their values.
	src.Environment = nil
	src.Spec.Where = map[string]string{"machine": "a"}
	if got := mustOpen(t, src).Set(); !slices.Equal(got.Environments, set.Environments) {
		t.Errorf("environments by where: %v", got.Environments)
	}
	if src.Spec.Where["machine"] != "a" || len(src.Spec.Parameters) != 2 {
		t.Errorf("the caller's spec has changed: %+v", src.Spec)
	}

	// Two columns make a name of two parts; x is no parameter then.
	src.Environment = []string{"machine", "x"}
	src.Spec.Parameters = []string{"y"}
	if got := mustOpen(t, src).Set().Environments; len(got) != 24 || got[0] != "a/0" {
		t.Errorf("environments by two columns: %v", got)
	}
}

// The state of a configuration is the state of a trial that measures the mean of its runs.
func TestOpenStates(t *testing.T) {
	const text = `machine,x,y,t,p,ok
a,0,0,2,1,yes
a,0,0,4,3,yes
a,0,1,5,9,yes
a,1,0,9,1,no
a,1,1,7,,yes
a,2,0,6,2,yes
b,0,0,1,1,yes
`
	src := sourceOf(t, text)
	src.Goal.Limits = []assay.Limit{atMost(5)}
	d := mustOpen(t, src)
	s := d.subjects[0]
	want := []struct {
		state assay.State
		value float64
	}{
		{assay.Done, 3},
		{assay.Infeasible, 5},
		{assay.Failed, math.Inf(1)},
		{assay.Failed, math.Inf(1)},
		{assay.Done, 6},
	}
	for i, w := range want {
		if got := s.trials[i]; got.State != w.state || got.Value != w.value || got.ID != int64(i+1) {
			t.Errorf("configuration %v: %v, %v; want %v, %v", got.Config, got.State, got.Value, w.state, w.value)
		}
	}
	if s.optimum != 3 || s.worst != 6 {
		t.Errorf("from %v to %v, want 3 to 6, the values within the limits", s.optimum, s.worst)
	}
}

// A subject knows the others, never itself.
func TestKnowledge(t *testing.T) {
	d := mustOpen(t, sourceOf(t, bowls()))
	for i, want := range [][]string{{"b", "c"}, {"a", "c"}, {"a", "b"}} {
		got := d.knowledge(d.subjects[i]).Studies()
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s knows %v, want %v", d.subjects[i].name, got, want)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	for want, spoil := range map[string]func(*Source){
		`no column "nope" for a parameter`:            func(s *Source) { s.Environment = []string{"nope"} },
		`no column "z" for a parameter`:               func(s *Source) { s.Spec.Parameters = []string{"x", "z"} },
		`no column "u" for metric elapsed`:            func(s *Source) { s.Spec.Metrics["elapsed"] = []string{"u"} },
		"column x is a parameter, not an environment": func(s *Source) { s.Environment = []string{"x"} },
		"no column identifies environments":           func(s *Source) { s.Environment = nil },
		"environment a has no run within the limits":  func(s *Source) { s.Goal.Limits = []assay.Limit{atMost(-1)} },
		"or the optimum 0":                            func(s *Source) { s.Goal.Metric = "power" },
		"one environment is no knowledge base":        func(s *Source) { s.Environment = []string{"ok"} },
		`column y: "5" is not a value of the parameter`: func(s *Source) {
			s.Params = []assay.Param{{Name: "y", Kind: assay.Integer, Hi: 4}}
		},
	} {
		src := sourceOf(t, bowls())
		spoil(&src)
		if _, err := Open(src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that says %q", err, want)
		}
	}
	src := sourceOf(t, bowls())
	src.Spec.File += ".gone"
	if _, err := Open(src); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that there is not: %v", err)
	}
}
