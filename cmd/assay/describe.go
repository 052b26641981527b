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

// describe prints the plan of tune.
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
	known, err := p.Known()
	if err != nil {
		return err
	}
	for _, k := range known {
		l.Add("helped by", "%s (%d trials)", k.Name, k.Trials)
	}
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
		line, ok := preview(p, c)
		if !ok {
			l.Add(label, "%s", p.Space.Text(c))
			continue
		}
		l.AddCommand(label, line)
	}
	return l.Write(w)
}

// preview returns the line that runs a configuration; ok is false if a run consists of more than one command.
func preview(p *setup.Problem, c assay.Config) (line string, ok bool) {
	if p.Program == nil || p.Definition.App != "" {
		return "", false
	}
	r := result.NewRecipe(p.Definition, p.Program, c, here(p))
	return r.Line(), r.Alone()
}

// here returns the place for which this process prints the commands of a problem.
func here(p *setup.Problem) result.Place {
	return result.Place{
		Here:   workingDirectory(p.Definition.Dir),
		Folder: func(s *assay.Setup) string { return setup.Folder(p.Definition, s) },
	}
}

// workingDirectory returns the working directory of this process, or another one if it is not known.
func workingDirectory(or string) string {
	if dir, err := os.Getwd(); err == nil {
		return dir
	}
	return or
}
