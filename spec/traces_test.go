package spec

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

const tracedStudy = `
command: [cat, /db/in]
workbench:
  data: db
  mount: /db
  traces:
    evening: evening.csv
    outage: [[0, 100Mbit], [20, 1Mbit], [25s, 50Mbit]]
    pulse: {points: [[0, 0.5], [1, 0.1]], every: 2s}
parameters:
  bandwidth: [20Mbit, evening, outage]
  cpu: [pulse]
`

func parseTraced(t *testing.T, study, evening string) (*Study, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "evening.csv"), []byte(evening), 0o644); err != nil {
		t.Fatal(err)
	}
	s, _, err := Parse(filepath.Join(dir, "s.yaml"), []byte(study), nil)
	return s, err
}

// A trace is a value of its resource. Its number is its mean, a configuration has it, and the record
// has its points.
func TestTraces(t *testing.T) {
	s, err := parseTraced(t, tracedStudy, "seconds,level\n0,80Mbit\n# later\n10, 40000000\n40,1Gbit\n")
	if err != nil {
		t.Fatal(err)
	}
	space, err := s.Space()
	if err != nil {
		t.Fatal(err)
	}
	if p := space.Params[0]; p.Kind != assay.Ordinal || !slices.Equal(p.Numbers, []float64{20e6, 50e6, 2005e6 / 25}) {
		t.Errorf("bandwidth is %v of %v", p.Kind, p.Numbers)
	}
	c, err := space.Parse(map[string]string{"bandwidth": "evening", "cpu": "pulse"})
	if err != nil {
		t.Fatal(err)
	}
	w := s.Workbench
	if got, want := w.Resources(space, c), map[string]float64{"bandwidth": 50e6, "cpu": 0.3}; !maps.Equal(got, want) {
		t.Errorf("resources %v, want %v", got, want)
	}
	traces := w.Followed(space, c)
	if len(traces) != 2 || len(traces["bandwidth"].Points) != 3 || traces["cpu"].Every != 2*time.Second {
		t.Errorf("traces %v", traces)
	}
	if c, _ = space.Parse(map[string]string{"bandwidth": "20Mbit", "cpu": "pulse"}); len(w.Followed(space, c)) != 1 {
		t.Errorf("a level is no trace: %v", w.Followed(space, c))
	}
	// The record has the levels, not the file, and is another study if they change.
	text, ok := s.YAML()
	if !ok || strings.Contains(text, "evening.csv") {
		t.Errorf("YAML, %v:\n%s", ok, text)
	}
	other, err := parseTraced(t, tracedStudy, "0,80Mbit\n10,40Mbit\n41,1Gbit\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := s.Diff(other); len(diff) != 1 || !strings.Contains(diff[0], "workbench") {
		t.Errorf("difference: %v", diff)
	}
}

// A bad trace is one message with its place: of the study file, or of the trace's own.
func TestBadTraces(t *testing.T) {
	good := "0,1Mbit\n"
	for _, c := range []struct{ from, to, evening, want string }{
		{"", "", "0,80Mbit\n5,fast\n", `evening.csv:2:1: trace evening: "fast" is no level: a number is needed, such as 0.5`},
		{"", "", "0,1Mbit\n7,2Mbit\n7,3Mbit\n", "evening.csv:3:1: trace evening: second 7 does not come after second 7"},
		{"", "", "3,1Mbit\n", "evening.csv:1:1: trace evening: the first level is at second 3, not at second 0"},
		{"", "", "0,1Mbit,x\n", "evening.csv:1:1: trace evening: a line is seconds,level, not 3 columns"},
		{"", "", "0,\"1\n", "evening.csv:1:"},
		{"", "", "noon,1Mbit\n", `evening.csv:1:1: trace evening: "noon" is no time of a trace, in seconds from 0`},
		{"", "", "-1,1Mbit\n", "evening.csv:1:1: trace evening: -1 is no time of a trace"},
		{"", "", "seconds,level\n", "evening.csv: trace evening: no levels"},
		{"evening: evening.csv", "evening: gone.csv", good, "s.yaml:7:14: trace evening: open "},
		{"[20, 1Mbit]", "[20]", good, "s.yaml:8:28: trace outage: a point is [seconds, level]"},
		{"[20, 1Mbit]", "[0, 1Mbit]", good, "s.yaml:8:28: trace outage: second 0 does not come after second 0"},
		{"every: 2s", "every: 1s", good, "s.yaml:9:5: trace pulse: it begins again every 1s, before its last level at 1s"},
		{"every: 2s", "each: 2s", good, `s.yaml:9:43: unknown key "each" in trace pulse`},
		{"cpu: [pulse]", "cpu: [1]", good, "s.yaml:9:5: trace pulse: no resource follows it"},
		{"cpu: [pulse]", "memory: [pulse]", good, "trace pulse: memory does not vary during a run"},
		{"bandwidth: [20Mbit, evening", "bandwidth: [20Mbit, evenin", good, `"evenin" is no number`},
		{"evening: evening.csv", "5M: evening.csv", good, "s.yaml:7:5: trace 5M: the name of a trace must not be a number"},
	} {
		if !strings.Contains(tracedStudy, c.from) {
			t.Fatalf("no %q", c.from)
		}
		_, err := parseTraced(t, strings.Replace(tracedStudy, c.from, c.to, 1), c.evening)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q: %v\nwant %s", c.to, c.evening, err, c.want)
		} else if e := err.Error(); c.from == "" && strings.Count(strings.TrimSpace(e), "\n") > 0 {
			t.Errorf("%q: more than one message: %s", c.evening, e)
		}
	}
}
