package setup

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
)

// pageTables returns the rows of the tables of docs/searchers.md, by their headings.
func pageTables() map[string][]string {
	options := func(r Row) string {
		return orNone(names(r.Options, func(o Option) string { return o.Key }))
	}
	page := map[string][]string{
		"## Searchers":              {"| `--search` | effect | options |", "|---|---|---|"},
		"## Learners of bayes":      {"| `learner` | meaning |", "|---|---|"},
		"## Stopping rules":         {"| `--stop` | effect | options |", "|---|---|---|"},
		"## Methods of assay bench": {"| `--methods` | meaning | searcher | stopping rule |", "|---|---|---|---|"},
		"## Runners":                {"| `--on` | effect |", "|---|---|"},
		"## Stores":                 {"| `--store` | meaning |", "|---|---|"},
	}
	add := func(heading, format string, args ...any) {
		page[heading] = append(page[heading], fmt.Sprintf(format, args...))
	}
	for _, r := range Searchers() {
		add("## Searchers", "| `%s` | %s | %s |", r.Name, r.Summary, options(r))
	}
	for _, r := range Stoppers() {
		add("## Stopping rules", "| `%s` | %s | %s |", r.Name, r.Summary, options(r))
	}
	short := map[string][]Row{"## Learners of bayes": Learners(), "## Runners": Runners(), "## Stores": Stores()}
	for heading, table := range short {
		for _, r := range table {
			add(heading, "| `%s` | %s |", r.Name, r.Summary)
		}
	}
	for _, m := range NamedMethods() {
		add("## Methods of assay bench", "| `%s` | %s | %s | %s |", m.Name, m.Summary, withOptions(m.Searcher,
			m.Search), withOptions(m.Stopper, m.Stop))
	}
	return page
}

// withOptions writes a name and its options as in a study file.
func withOptions(name string, options map[string]any) string {
	text := "`" + name + "`"
	for _, key := range []string{"learner", "stopped", "penalty", "model", "base", "after", "confidence"} {
		if v, ok := options[key]; ok {
			text += fmt.Sprintf(", %s %v", key, v)
		}
	}
	return text
}

const searchersPage = "../docs/searchers.md"

// The page of the searchers has the rows of the tables, in their order. With
// UPDATE_DOCS=1 it is written.
func TestSearchersPage(t *testing.T) {
	b, err := os.ReadFile(searchersPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for heading, want := range pageTables() {
		_, part, ok := strings.Cut(page, "\n"+heading+"\n")
		if !ok {
			t.Errorf("%s: no heading %q", searchersPage, heading)
			continue
		}
		part, _, _ = strings.Cut(part, "\n## ")
		got := tableIn(part)
		if os.Getenv("UPDATE_DOCS") != "" {
			page = strings.Replace(page, strings.Join(got, "\n"), strings.Join(want, "\n"), 1)
			continue
		}
		for _, flaw := range tableFlaws(got, want) {
			t.Errorf("%s, under %q: %s\nUPDATE_DOCS=1 go test ./setup -run SearchersPage writes it",
				searchersPage, heading, flaw)
		}
	}
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(searchersPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tableFlaws returns the flaws of the rows of a page: only the rows concerned.
func tableFlaws(got, want []string) (flaws []string) {
	for _, row := range want {
		if !slices.Contains(got, row) {
			flaws = append(flaws, "this row is missing:\n"+row)
		}
	}
	for _, row := range got {
		if !slices.Contains(want, row) {
			flaws = append(flaws, "this row is of nothing in the table:\n"+row)
		}
	}
	if flaws == nil && !slices.Equal(got, want) {
		flaws = append(flaws, "the rows are not in the order of the table, or one is there twice")
	}
	return flaws
}

func TestTableFlaws(t *testing.T) {
	want := []string{"a", "b", "c"}
	for _, c := range []struct{ got, flaws []string }{
		{want, nil},
		{[]string{"b", "c"}, []string{"missing:\na"}},
		{[]string{"a", "B", "c"}, []string{"missing:\nb", "nothing in the table:\nB"}},
		{[]string{"a", "c", "b"}, []string{"order"}},
		{[]string{"a", "b", "c", "c"}, []string{"twice"}},
		{nil, []string{"missing:\na", "missing:\nb", "missing:\nc"}},
	} {
		got := tableFlaws(c.got, want)
		if !slices.EqualFunc(got, c.flaws, strings.Contains) {
			t.Errorf("%q: got %q, want %q", c.got, got, c.flaws)
		}
	}
}

// The guide has a row for every kind of metric sources.
func TestGuideOfMetricSources(t *testing.T) {
	const guide = "../docs/guide.md"
	page, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	for form := range strings.SplitSeq(assay.SourceForms(), ", ") {
		if !strings.Contains(string(page), "`"+form+"`") {
			t.Errorf("%s: the table of metric sources has no `%s`", guide, form)
		}
	}
}

// tableIn returns the lines of the first table of a part of a page.
func tableIn(part string) (rows []string) {
	for line := range strings.Lines(part) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case strings.HasPrefix(line, "|"):
			rows = append(rows, line)
		case rows != nil:
			return rows
		}
	}
	return rows
}

// TestMethodsAreMade makes every method on a small space.
func TestMethodsAreMade(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{
		{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9},
		{Name: "c", Kind: assay.Categorical, Levels: []string{"a", "b", "c"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range Methods() {
		s, stopper, err := m.Make(space, assay.Goal{}, 1, spec.Budget{})
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		if (stopper == nil) != (m.Stopper == noStop) {
			t.Errorf("%s: stopper %v of rule %s", m.Name, stopper, m.Stopper)
		}
		// Every trial of a small study, so that each learner is fitted.
		var history []assay.Trial
		for {
			ps, err := s.Ask(1)
			if err != nil {
				break
			}
			tr := assay.Trial{Proposal: ps[0], State: assay.Done, Value: 1 + ps[0].Config[0]*(1+ps[0].Config[1])}
			if stopper != nil {
				running := tr
				running.State, running.Value = assay.Running, tr.Value/2
				if d := stopper.Decide(history, running); d.Stop {
					tr.State, tr.Value, tr.Decision = assay.Censored, running.Value, &d
				}
			}
			if tr.ID == 5 {
				tr.State = assay.Infeasible
			}
			history = append(history, tr)
			if err := s.Tell(tr); err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
		}
		if len(history) != 27 && m.Searcher != LearningSearcher {
			t.Errorf("%s made %d trials of 27", m.Name, len(history))
		}
	}
}

func TestWrongOptions(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		searcher, stopper string
		search, stop      map[string]any
		want              string
	}{
		{
			"bayes", "none",
			map[string]any{"learner": "oracle"},
			nil,
			`search option learner: "oracle" is not one of forest, gp`,
		},
		{"bayes", "none", map[string]any{"stopped": "maybe"}, nil, `"maybe" is neither impute nor drop`},
		{"bayes", "none", map[string]any{"penalty": 0.5}, nil, "search option penalty: 0.5 is not a number from 1.01"},
		{"bayes", "none", map[string]any{"penal": 2.0}, nil, `has no option "penal"`},
		{
			"random", "predictive", nil,
			map[string]any{"model": "oracle"},
			`stop option model: "oracle" is neither aft nor boost`,
		},
		{"random", "predictive", nil, map[string]any{"confidence": 1.0}, "stop option confidence: 1 is not a number"},
		{"random", "predictive", nil, map[string]any{"after": 1.5}, "stop option after: 1.5 is not a whole number"},
		{"random", "static", nil, map[string]any{"after": 2.0}, `stopping rule static has no option "after"`},
		{"random", "never", nil, nil, `no stopping rule "never" (there are auto, none`},
		{"oracle", "none", nil, nil, `no searcher "oracle" (there are auto, bayes`},
		{
			"nimo", "none",
			map[string]any{"threshold": 2.0},
			nil,
			"search option threshold: it is an option of method: published",
		},
		{
			"nimo", "none",
			map[string]any{"method": "published", "regression": "trees"},
			nil,
			"search option regression: method: published has linear regression alone",
		},
		{"nimo", "none", map[string]any{"cores": "c"}, nil, `search option cores: there is no parameter "c"`},
	} {
		st := &spec.Study{
			Search: spec.Method{Name: c.searcher, Options: c.search},
			Stop:   spec.Stop{Rule: c.stopper, Options: c.stop},
		}
		err := (&Problem{Definition: st, Space: space}).readMethod()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// memory returns an empty store that keeps nothing.
func memory(t testing.TB) *Store {
	t.Helper()
	s, err := OpenStore(t.Context(), "memory")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
