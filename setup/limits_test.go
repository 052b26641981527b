package setup

import (
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
)

// The searcher of a study with limits learns them, unless it is told not to or a penalty takes their place.
func TestLimitsAreLearnedUnless(t *testing.T) {
	for options, want := range map[string]bool{
		"auto":                          true,
		"{name: auto, limits: learn}":   true,
		"{name: auto, limits: worst}":   false,
		"{name: bayes, penalty: 3}":     false,
		"{name: bayes, stopped: drop}":  true,
		"random":                        false,
		"{name: bliss}":                 false,
		"{name: auto, initial: 4}":      true,
		"{name: bayes, limits: worst}":  false,
		"{name: bayes, learner: gp}":    true,
		"{name: bayes, learner: knn}":   true,
		"{name: bayes, learner: boost}": true,
	} {
		def, _, err := spec.Parse("s.yaml", []byte(strings.ReplaceAll(`
command: [echo, '{n}']
parameters: {n: 1..9}
subject_to: max_rss < 1e9 && elapsed <= 2
search: SEARCH
`, "SEARCH", options)), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(def, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.searcher(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := assay.As[assay.LimitLearner](s); ok != want {
			t.Errorf("search: %s learns limits: %v", options, ok)
		}
		if bounds := p.Goal.Bounds(); len(bounds) != 2 || !bounds[0].Grows || !bounds[1].Grows {
			t.Errorf("the bounds of the goal are %+v", bounds)
		}
	}
}

// The bounds of the goal reach the searcher through its wrappers: it proposes otherwise than one that was told of none.
func TestTheSearcherHearsOfTheLimits(t *testing.T) {
	propose := func(limits string) (keys []string) {
		def, _, err := spec.Parse("s.yaml", []byte(`
command: [echo, '{a}', '{b}']
parameters: {a: 1..20, b: 1..20}
subject_to: size <= 60
metrics: {size: "stdout:/([0-9]+)/"}
search: {name: auto, initial: 4, limits: `+limits+`}
`), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(def, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.searcher(nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 12 {
			ps, err := s.Ask(1)
			if err != nil {
				t.Fatal(err)
			}
			c := ps[0].Config
			tr := assay.Trial{Proposal: ps[0], State: assay.Done, Value: 100 / (c[0] + c[1])}
			tr.Measurement.Metrics = map[string]float64{"size": 10 + c[0]*c[1]}
			if broken, err := p.Goal.Broken(tr.Measurement); err != nil {
				t.Fatal(err)
			} else if broken != "" {
				tr.State = assay.Infeasible
			}
			if err := s.Tell(tr); err != nil {
				t.Fatal(err)
			}
			keys = append(keys, c.Key())
		}
		return keys
	}
	if learned, worst := propose("learn"), propose("worst"); slices.Equal(learned, worst) {
		t.Errorf("with limits that are learned the proposals are the same: %v", learned)
	}
}
