package spec

import (
	"slices"
	"strings"
	"testing"
)

const conditional = `
name: c
command: [prog, --solver, "{solver}", --trees, "{trees}", "{deep?-d}", "{deep}", "--kernel={kernel}", -v, "{solver}"]
prepare: "true"
env: {TREES_ENV: "{trees}", SOLVER_ENV: "{solver}"}
files:
  conf: |
    solver = {solver}
    trees = {trees}
    end
parameters:
  deep:   {type: int, min: 1, max: 3, when: trees > 100}
  trees:  {type: int, min: 10, max: 500, when: "solver == 'forest'"}
  kernel: {type: categorical, values: [rbf, poly], when: "solver == 'svm'"}
  solver: {type: categorical, values: [svm, forest]}
where: ["trees + deep <= 400"]
budget: {trials: 5}
`

// A parameter that is not in force is no argument, with the option of its name, no line of a file, and no
// variable.
func TestConditionalProgram(t *testing.T) {
	s, _, err := Parse("c.yaml", []byte(conditional), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Program()
	if err != nil {
		t.Fatal(err)
	}
	space, err := s.Space()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		texts map[string]string
		argv  string
		file  string
		env   int
	}{
		{
			map[string]string{"solver": "svm", "kernel": "poly"},
			"prog --solver svm --kernel=poly -v svm",
			"solver = svm\nend\n", 5,
		},
		{
			map[string]string{"solver": "forest", "trees": "50"},
			"prog --solver forest --trees 50 -v forest",
			"solver = forest\ntrees = 50\nend\n", 6,
		},
		{
			map[string]string{"solver": "forest", "trees": "200", "deep": "2"},
			"prog --solver forest --trees 200 -d 2 -v forest", "solver = forest\ntrees = 200\nend\n", 8,
		},
	} {
		c, err := space.Parse(tt.texts)
		if err != nil {
			t.Fatal(err)
		}
		if argv := strings.Join(p.Argv(c), " "); argv != tt.argv {
			t.Errorf("%v runs %q, want %q", tt.texts, argv, tt.argv)
		}
		if files := p.Files(c); files[0].Text != tt.file {
			t.Errorf("%v writes %q, want %q", tt.texts, files[0].Text, tt.file)
		}
		if env := p.Env(c); len(env) != tt.env {
			t.Errorf("%v has the variables %q, want %d", tt.texts, env, tt.env)
		}
	}
	// A relation constrains nothing if it names a parameter that is not in force.
	if _, err := space.Parse(map[string]string{"solver": "forest", "trees": "399", "deep": "3"}); err == nil {
		t.Error("the relation is not kept")
	}
	written, ok := s.YAML()
	if again, _, err := Parse("again.yaml", []byte(written), nil); !ok || err != nil || again.Identity() != s.Identity() {
		t.Errorf("written and read again it is another study: %v, %s", err, written)
	}
	other := strings.Replace(conditional, "trees > 100", "trees > 200", 1)
	if o, _, err := Parse("o.yaml", []byte(other), nil); err != nil || o.Identity() == s.Identity() ||
		len(o.Diff(s)) == 0 {
		t.Errorf("another condition is the same study: %v", err)
	}
}

func TestConditionMistakes(t *testing.T) {
	for _, tt := range []struct{ from, to, says string }{
		{"trees > 100", "treees > 100", "c.yaml:12:45: "},
		{"trees > 100", "treees > 100", "did you mean trees"},
		{"== 'forest'", "== 'wood'", "has no value 'wood'"},
		{"trees > 100", "deep > 1", "hangs on itself"},
		{"trees > 100", "true", "names no parameter"},
		{"categorical, values: [rbf, poly]", "permutation, values: [rbf, 'po,ly']", "has a comma"},
	} {
		_, _, err := Parse("c.yaml", []byte(strings.Replace(conditional, tt.from, tt.to, 1)), nil)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.to, err, tt.says)
		}
	}
}

// An application may be run without a parameter that has a condition in its file.
func TestConditionalApp(t *testing.T) {
	apps, err := ParseApps("apps.yaml", []byte(`
fit:
  command: [fit, --trees, "{trees}", "--solver={solver}"]
  parameters: {trees: {type: int, min: 1, max: 9, when: "solver == 'forest'"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	job, err := apps.Apps[0].Job(map[string]string{"solver": "svm"})
	if err != nil || !slices.Equal(job.Argv, []string{"fit", "--solver=svm"}) {
		t.Errorf("%q, %v", job.Argv, err)
	}
	if _, err := apps.Apps[0].Job(map[string]string{"trees": "5"}); err == nil {
		t.Error("a parameter without a condition may be left out")
	}
}
