package setup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/spec"
)

// optionValues has a good and a bad value of every option of the tables.
var optionValues = map[string]struct{ good, bad string }{
	"initial": {"5", "0"}, "population": {"5", "1"}, "penalty": {"10", "1"}, "learner": {"gp", "oracle"},
	"stopped": {"drop", "guess"},
	"limits":  {"worst", "guess"},
	"levels":  {"3", "1"}, "points": {"7", "1.5"}, "minimal": {"true", "perhaps"}, "size": {"0.5", "2"},
	"restarts": {"-1", "-2"}, "grow": {"true", "2"}, "particles": {"4", "many"}, "inertia": {"0.5", "1.5"},
	"pull":   {"1", "5"},
	"chains": {"2", "0"}, "hot": {"1", "0.001"}, "cooling": {"0.9", "1"}, "alpha": {"0.3", "0"},
	"mesh":   {"0.5", "0.01"},
	"target": {"5", "0"}, "runs": {"4", "0"}, "method": {"published", "printed"}, "regression": {"trees", "forest"},
	"reference": {"rand", "mean"}, "traversal": {"dynamic", "random"}, "design": {"l2-i2", "l3"},
	"error":     {"random-set", "none"},
	"threshold": {"2", "-1"}, "predictors": {"[compute, disk]", "[compute, weather]"}, "cores": {"n", "cpus"},
	"compute_attributes": {"[n, c]", "[n, m]"}, "network_attributes": {"[c]", "[m]"}, "disk_attributes": {"n", "m"},
	"other_attributes": {"n", "m"}, "data_flow_attributes": {"n", "m"}, "known_data_flow": {"true", "2"},
	"train_on_screening": {"true", "2"}, "reciprocal": {"[n]", "[m]"}, "less_is_more": {"[n]", "[m]"},
	"from": {"3", "0"}, "base": {"0.5", "0"}, "distribution": {"normal", "cauchy"}, "level": {"0.01", "0.9"},
	"groups": {"[n, c]", "[n, m]"}, "turn": {"5", "0"},
	"model": {"boost", "forest"}, "rounds": {"auto", "0"}, "after": {"3", "0"},
	"confidence": {"0.9", "1"}, "spare": {"0.1", "-1"}, "audit": {"5%", "60%"},
}

// publishedOptions are the options of nimo that need its method published.
var publishedOptions = []string{
	"reference", "traversal", "design", "error", "threshold", "predictors",
	"compute_attributes", "network_attributes", "disk_attributes", "other_attributes", "data_flow_attributes",
	"known_data_flow", "train_on_screening", "reciprocal",
}

func smallSpace(t testing.TB) *assay.Space {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{
		{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9}, {
			Name: "c", Kind: assay.Categorical,
			Levels: []string{"a", "b", "c"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// withOption reads a definition with one option of a searcher or a stopping rule.
func withOption(t testing.TB, section, row, key, value string) (*Problem, error) {
	t.Helper()
	name := "name"
	if section == "stop" {
		name = "rule"
	}
	more := ""
	if slices.Contains(publishedOptions, key) {
		more = ", method: published"
	}
	if key == "turn" {
		more = ", groups: [n]"
	}
	text := fmt.Sprintf("command: ['true', '{n}{c}']\nparameters: {n: 1..9, c: [a, b, c]}\n%s: {%s: %s, %s: %s%s}\n",
		section, name, row, key, value, more)
	if name == "rule" && (row == "median" || row == "curve") {
		text += "progress: {metric: loss, source: 'stdout:/loss ([0-9]+)/'}\nobjective: {minimize: loss}\n"
	}
	return New(define(t, "f.yaml", text), Options{})
}

// Every option of every row is read, and a value that it cannot have is refused with
// its place.
func TestOptions(t *testing.T) {
	tables := map[string][]Row{"search": Searchers(), "stop": Stoppers()}
	seen := map[string]bool{}
	for section, table := range tables {
		for _, row := range table {
			if _, err := withOption(t, section, row.Name, "nonsense", "1"); err == nil ||
				!strings.Contains(err.Error(), `has no option "nonsense"`) {
				t.Errorf("%s %s with an option that it has not: %v", section, row.Name, err)
			}
			for _, o := range row.Options {
				seen[o.Key] = true
				v, ok := optionValues[o.Key]
				if !ok {
					t.Errorf("this test has no values for option %s of %s", o.Key, row.Name)
					continue
				}
				if _, err := withOption(t, section, row.Name, o.Key, v.good); err != nil {
					t.Errorf("%s %s: %s: %s: %v", section, row.Name, o.Key, v.good, err)
				}
				_, err := withOption(t, section, row.Name, o.Key, v.bad)
				want := fmt.Sprintf("%s option %s: ", section, o.Key)
				if err == nil || !strings.HasPrefix(err.Error(), "f.yaml:3:") ||
					!strings.Contains(err.Error(), want) || assay.ClassOf(err) != assay.ClassUsage {
					t.Errorf("%s %s: %s: %s: %v", section, row.Name, o.Key, v.bad, err)
				}
				if o.Takes == "" {
					t.Errorf("%s %s: %s does not say what it takes", section, row.Name, o.Key)
				}
			}
		}
	}
	for key := range optionValues {
		if !seen[key] {
			t.Errorf("no row has option %s", key)
		}
	}
}

// An option that is read changes the searcher: two values give two searches, in a
// space where they can.
func TestOptionsAreUsed(t *testing.T) {
	space := smallSpace(t)
	for _, c := range []struct {
		row string
		a   map[string]any
	}{
		{"lhs", map[string]any{"points": 5.0}},
		{"pso", map[string]any{"particles": 2.0}},
		{"sa", map[string]any{"initial": 2.0}},
		{"gps", map[string]any{"initial": 2.0}},
		{"grasp", map[string]any{"initial": 2.0}},
		{"pro", map[string]any{"size": 0.9}},
		{"nm", map[string]any{"size": 0.9}},
		{"bayes", map[string]any{"initial": 3.0}},
		{"bayes", map[string]any{"learner": "linear"}},
		{"auto", map[string]any{"initial": 3.0}},
		{"bliss", map[string]any{"initial": 3.0}},
	} {
		if plain, other := trace(t, searcherWith(t, c.row, space, nil), 15), trace(t, searcherWith(t, c.row, space,
			c.a), 15); plain == other {
			t.Errorf("%s with %v searches as without", c.row, c.a)
		}
	}
}

// trace returns the first n proposals of a searcher, one by one, in a made-up world.
func trace(t testing.TB, s assay.Searcher, n int) string {
	t.Helper()
	var text strings.Builder
	for range n {
		ps, err := s.Ask(3)
		if err != nil || len(ps) == 0 {
			break
		}
		for _, p := range ps {
			fmt.Fprint(&text, p.Config, " ")
			x, y := p.Config[0], p.Config[1]
			if err := s.Tell(assay.Trial{Proposal: p, State: assay.Done, Value: 2 + (x-6)*(x-6) + y}); err != nil {
				t.Fatal(err)
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// Every searcher of the table, by its name alone, obeys the rules of searchers.
func TestEverySearcher(t *testing.T) {
	for _, row := range Searchers() {
		if row.Name == LearningSearcher {
			continue // it learns the cost of configurations, not which is best; see package costmodel
		}
		t.Run(row.Name, func(t *testing.T) {
			s, err := NewSearcher(row.Name, smallSpace(t), 1)
			if err != nil {
				t.Fatal(err)
			}
			if text := trace(t, s, 5); text == "" {
				t.Error("it proposes nothing")
			}
		})
	}
	if _, err := NewSearcher("oracle", smallSpace(t), 1); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("a searcher that there is not: %v", err)
	}
}

// Every learner of the table is one.
func TestEveryLearner(t *testing.T) {
	for _, l := range learners() {
		t.Run(l.name, func(t *testing.T) {
			for _, drop := range []bool{false, true} {
				made := newLearner(l.name, drop, 1)
				d := assay.Data{X: [][]float64{}, Y: nil}
				for i := range 30 {
					x := float64(i) / 30
					d.X, d.Y = append(d.X, []float64{x, 1 - x*x}), append(d.Y, 3*x)
					d.Censored = append(d.Censored, i == 20)
				}
				p, err := made.Fit(d)
				if err != nil {
					t.Fatal(err)
				}
				if lo, hi := p.Predict(d.X[2]).Mean, p.Predict(d.X[28]).Mean; !(lo < hi) {
					t.Errorf("drop %v: %v is not below %v", drop, lo, hi)
				}
			}
		})
	}
}

// Every stopping rule of the table is one.
func TestEveryStopper(t *testing.T) {
	for _, row := range Stoppers() {
		t.Run(row.Name, func(t *testing.T) {
			def := &spec.Study{
				Stop: spec.Stop{Rule: row.Name}, Command: []string{"true"},
				Params: []spec.Param{{Name: "n", Type: "int", Min: 1, Max: 9}},
			}
			makes, err := readStopper(def)
			if err != nil {
				t.Fatal(err)
			}
			space, err := def.Space()
			if err != nil {
				t.Fatal(err)
			}
			s := makes(def, space)
			if (s == nil) != (row.Name == noStop) {
				t.Fatalf("rule %s is %v", row.Name, s)
			}
			if s == nil {
				return
			}
			assaytest.TestStopper(t, func() assay.Stopper { return makes(def, space) })
		})
	}
}
