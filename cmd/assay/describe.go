package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
)

// describe says what tune would do.
func describe(w io.Writer, p *setup.Problem) error {
	var l lines
	l.add("space", "%s configurations of %d parameters", p.Space.Size(), p.Space.Dim())
	for _, q := range p.Space.Params {
		l.add("", "%s", paramText(q))
	}
	for _, r := range p.Space.Relations {
		l.add("where", "%s", r.Text)
	}
	l.add("objective", "%s", result.GoalText(p.Goal))
	for _, limit := range p.Goal.Limits {
		l.add("subject to", "%s", limit.Text)
	}
	search, stop := cmp.Or(p.Definition.Search.Name, "auto"), cmp.Or(p.Definition.Stop.Rule, "auto")
	l.add("search", "%s, early stopping: %s, seed %d", search, stop, p.Definition.Search.Seed)
	first, err := p.Preview(3)
	if err != nil {
		return err
	}
	for i, c := range first {
		label, text := "", p.Space.Text(c)
		if i == 0 {
			label = "first runs"
		}
		if p.Program != nil {
			text = shellLine(p, c)
		}
		l.add(label, "%s", text)
	}
	return l.write(w)
}

// paramText describes a parameter in one line.
func paramText(q assay.Param) string {
	switch {
	case !q.Numeric():
		levels := q.Levels
		if len(levels) > 12 {
			levels = append(levels[:10:10], fmt.Sprintf("... %d in all", len(q.Levels)))
		}
		return fmt.Sprintf("%s: %s %s", q.Name, q.Kind, strings.Join(levels, " "))
	case q.Log:
		return fmt.Sprintf("%s: %s %s..%s, logarithmic", q.Name, q.Kind, q.Text(q.Lo), q.Text(q.Hi))
	}
	return fmt.Sprintf("%s: %s %s..%s", q.Name, q.Kind, q.Text(q.Lo), q.Text(q.Hi))
}

// shellLine returns the command of a problem for a configuration as a line for a shell in this
// process's directory.
func shellLine(p *setup.Problem, c assay.Config) string {
	argv := p.Program.Argv(c)
	if env := p.Environment(c); len(env) > 0 {
		argv = slices.Concat([]string{"env"}, env, argv)
	}
	line := report.ShellQuote(argv)
	here, err := os.Getwd()
	if err != nil || p.Definition.Dir == "" || p.Definition.Dir == here {
		return line
	}
	dir := p.Definition.Dir
	if below, err := filepath.Rel(here, dir); err == nil && filepath.IsLocal(below) {
		dir = below
	}
	return report.ShellQuote([]string{"cd", dir}) + " && " + line
}
