package main

import (
	"cmp"
	"io"
	"os"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
)

// describe says what tune would do.
func describe(w io.Writer, p *setup.Problem) error {
	var l report.Lines
	l.Add("space", "%s configurations of %d parameters", p.Space.Size(), p.Space.Dim())
	for _, q := range p.Space.Params {
		l.Add("", "%s", result.ParamText(q))
	}
	for _, r := range p.Space.Relations {
		l.Add("where", "%s", r.Text)
	}
	l.Add("objective", "%s", result.GoalText(p.Goal))
	for _, limit := range p.Goal.Limits {
		l.Add("subject to", "%s", limit.Text)
	}
	search := cmp.Or(p.Definition.Search.Name, "auto")
	l.Add("search", "%s, early stopping: %s, seed %d", search, p.Stopping(), p.Definition.Search.Seed)
	first, err := p.Preview(3)
	if err != nil {
		return err
	}
	for i, c := range first {
		label := ""
		if i == 0 {
			label = "first runs"
			for _, b := range p.Beside(c) {
				l.Add(b.Key, "%s", b.Text)
			}
		}
		if p.Program != nil && p.Definition.App == "" {
			l.AddCommand(label, shellLine(p, c))
		} else {
			l.Add(label, "%s", p.Space.Text(c))
		}
	}
	return l.Write(w)
}

// shellLine returns the command of a problem for a configuration as a line for a shell in
// this process's directory.
func shellLine(p *setup.Problem, c assay.Config) string {
	here, err := os.Getwd()
	if err != nil {
		here = p.Definition.Dir
	}
	return result.CommandLine(p.Argv(c), p.Environment(c), p.Definition.Dir, here)
}
