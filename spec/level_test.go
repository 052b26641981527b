package spec

import (
	"strings"
	"testing"
)

// A level is part of the identity of a study, and is written as it is read.
func TestLevel(t *testing.T) {
	read := func(more string) *Study {
		t.Helper()
		s, _, err := Parse("s.yaml", []byte("command: [p, '{a}', '{n}']\nparameters: {a: 1..3, n: [1, 10, 100]}\n"+more), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	with, without := read("level: {parameter: n, full: 100}\n"), read("")
	if with.Level != (Level{"n", "100"}) || with.Identity() == without.Identity() {
		t.Errorf("%+v, the same study: %v", with.Level, with.Identity() == without.Identity())
	}
	if d := with.Diff(without); len(d) != 1 || !strings.Contains(d[0], "level") {
		t.Errorf("differs by %q", d)
	}
	if g, err := with.Goal(); err != nil || g.Level == nil || g.Level.Param != 1 || g.Level.Full != 2 ||
		g.Level.Text != "100" {
		t.Errorf("%+v, %v", g.Level, err)
	}
	text, ok := with.YAML()
	if again, _, err := Parse("s.yaml", []byte(text), nil); !ok || err != nil || again.Identity() != with.Identity() {
		t.Errorf("written as %s: %v", text, err)
	}
}

func TestLevelFlaws(t *testing.T) {
	for _, c := range []struct{ more, want string }{
		{"level: {parameter: n}\n", "3:8: level: full is needed, the value of n at which a run is an answer"},
		{"level: {full: 3}\n", "3:8: level: a parameter is needed, such as {parameter: size, full: 100}"},
		{"level: {parameter: m, full: 100}\n", "level: no parameter m"},
		{"level: {parameter: n, full: 99}\n", "3:29: level"},
		{
			"level: {parameter: n, full: 1}\n",
			"3:29: level: n has no value above 0 and well below 1: there is no cheaper level",
		},
		{
			"level: {parameter: k, full: x}\n",
			"level: k has values that are no numbers: a level is a size, of which a smaller one is cheaper",
		},
		{
			"level: {parameter: n, full: 100}\nsubject_to: [max_rss < 5]\n",
			"a run at a lower level does not show whether a limit holds at the full one",
		},
		{"level: {parameter: n, full: 100}\nobjective: {minimize: [elapsed, cpu]}\n", "levels are for one objective"},
		{
			"level: {parameter: n, full: 100}\nstop: {gain: 1%}\n",
			"the further gain is not estimated for studies with levels",
		},
		{"level: {parameter: n, full: 100}\nprior: auto\n", "earlier studies do not help one with levels"},
		{"level: {parameter: n, full: 100}\nrepeat: auto\n", "with level, give the number of runs"},
	} {
		_, _, err := Parse("s.yaml", []byte("command: [p, '{n}', '{k}']\nparameters: {n: [1, 10, 100], k: [x, y]}\n"+c.more),
			nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.more, err, c.want)
		}
	}
}
