package setup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// The reference has every option of searchers and of stopping rules, with the values that it takes.
func TestReferenceOfSearchers(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Options of searchers and stopping rules\n\nThis page is made from the code. Where each comes from, " +
		"and when to use it: " +
		"[searchers](../searchers.md).\n\n```yaml\nsearch: {name: pso, seed: 1, particles: 12}\nstop: {rule: posterior, " +
		"audit: 5%}\n```\n\n" +
		"An option that is left out has the default of its row.\n")
	for _, part := range []struct {
		title, key string
		rows       []Row
	}{
		{"Searchers", "search: {name: %s}", Searchers()},
		{"Stopping rules", "stop: {rule: %s}", Stoppers()},
	} {
		fmt.Fprintf(&b, "\n## %s\n", part.title)
		for _, r := range part.rows {
			fmt.Fprintf(&b, "\n### %s\n\n`"+part.key+"`: %s.\n", r.Name, r.Name, r.Summary)
			if len(r.Options) == 0 {
				continue
			}
			b.WriteString("\n| option | takes |\n|---|---|\n")
			for _, o := range r.Options {
				if o.Takes == "" {
					t.Errorf("%s: nobody knows what %s takes", r.Name, o.Key)
				}
				fmt.Fprintf(&b, "| `%s` | %s |\n", o.Key, o.Takes)
			}
		}
	}
	b.WriteString("\n## Learners\n\nThe option `learner` of [bayes](#bayes):\n\n| `learner` | meaning |\n|---|---|\n")
	for _, r := range Learners() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.Name, r.Summary)
	}
	testbed.Current(t, "../docs/reference/searchers.md", b.String(), "go test ./setup -run ReferenceOfSearchers")
}
