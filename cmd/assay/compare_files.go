package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/benchfile"
	"github.com/assay-run/assay/internal/duel"
	"github.com/assay-run/assay/spec"
)

// runsCommands are the flags of compare that mean nothing where somebody else has measured.
var runsCommands = []string{
	"pairs", "runs", "budget", "timeout", "warmup", "prepare", "cleanup", "shell", "seed", "builds", "setup",
}

// filesOf returns the arguments of a comparison of what other tools have measured, or none.
func (f *compareFlags) filesOf(cmd *cobra.Command, args []string) []string {
	if cmd.ArgsLenAtDash() >= 0 || f.builds != "" || !slices.ContainsFunc(args, benchfile.IsResults) {
		return nil
	}
	return args
}

// compareFiles compares what other tools have measured.
func (f *compareFlags) compareFiles(cmd *cobra.Command, s streams, args []string) ([]duel.Result, error) {
	for _, name := range runsCommands {
		if cmd.Flags().Changed(name) {
			return nil, usagef("--%s is of runs, and the runs of %s were made by somebody else", name, args[0])
		}
	}
	if len(args) > len(letters) {
		return nil, usagef("at most %d sides are compared, not %d", len(letters), len(args))
	}
	gate, err := gateOf(&spec.Comparison{FailIf: f.failIf})
	if err != nil {
		return nil, err
	}
	metric, err := f.fileMetric()
	if err != nil {
		return nil, err
	}
	drift := 0.0
	if f.drift != "0" && f.drift != "0%" {
		if drift, err = parsePercent("--drift", f.drift); err != nil {
			return nil, err
		}
		drift /= 100
	}
	sides, err := benchfile.Open(args)
	if err != nil {
		return nil, err
	}
	pairs, notes, err := benchfile.Match(sides, metric, f.ignore)
	if err != nil {
		return nil, err
	}
	for _, n := range notes {
		warnings(s.err)(n)
	}
	among := 0
	for _, p := range pairs {
		among += len(p.Sides) - 1
	}
	var all []duel.Result
	for _, p := range pairs {
		r := recorded(sides, p)
		if p.Level() != benchfile.Files && drift > 0 {
			r.Drift = drift
			r.Limits = []string{fmt.Sprintf("the sides are of one session each, and those of one program are taken to differ "+
				"by %s "+
				"at most (--drift): several files of each side, made in turn, show by how much they do", f.drift)}
		}
		r.Gate, r.Among = gate, among
		if f.minimize != "" || f.maximize != "" {
			r.Maximize = f.maximize != ""
		}
		all = append(all, r.Compare()...)
	}
	return all, nil
}

// fileMetric returns the name of the metric that is compared, or "".
func (f *compareFlags) fileMetric() (string, error) {
	name := f.minimize + f.maximize // check has seen to it that one is empty
	for _, m := range f.metrics {
		if strings.Contains(m, "=") {
			return "", usagef("--metric %s: what was measured has its own metrics, give the name of one", m)
		}
		if name == "" {
			name = m
		}
	}
	return name, nil
}

// recorded returns a benchmark of files as one that is compared.
func recorded(sides []benchfile.Side, p benchfile.Pair) duel.Recorded {
	m, level := p.Files[0][0], p.Level()
	r := duel.Recorded{
		Name: p.Name, Metric: m.Name, Unit: m.Unit, Maximize: m.Maximize, Of: string(level),
	}
	for i, values := range p.Runs(level) {
		s := sides[p.Sides[i]]
		source := []string{s.Name}
		if len(s.Files) > 1 {
			source = nil
			for _, f := range s.Files {
				source = append(source, f.Path)
			}
		}
		r.Sides = append(r.Sides, duel.Sample{Name: fmt.Sprintf("%c", letters[p.Sides[i]]), Source: source, Values: values})
	}
	return r
}
