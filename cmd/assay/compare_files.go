package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/abtest"
	"github.com/assay-run/assay/internal/exchange"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// runsCommands are the flags of compare, besides those of keys, that do not apply to measurements of other tools.
var runsCommands = []string{"pairs", "runs", "budget", "warmup", "shell", "seed", "builds", "setup"}

// filesOf returns the arguments if they are files with measurements of other tools, or nil.
func (f *compareFlags) filesOf(cmd *cobra.Command, args []string) []string {
	if cmd.ArgsLenAtDash() >= 0 || f.builds != "" || !slices.ContainsFunc(args, exchange.IsResults) {
		return nil
	}
	return args
}

// compareFiles compares measurements of other tools.
func (f *compareFlags) compareFiles(cmd *cobra.Command, s streams, args []string) ([]abtest.Result, error) {
	for _, name := range append(f.keys.names(), runsCommands...) {
		if cmd.Flags().Changed(name) {
			return nil, usagef("--%s is for commands, and the runs of %s are already made", name, args[0])
		}
	}
	if len(args) > len(letters) {
		return nil, usagef("at most %d sides are compared, not %d", len(letters), len(args))
	}
	gate, err := setup.Gate(&spec.Comparison{FailIf: f.failIf})
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
	sides, err := exchange.Open(args)
	if err != nil {
		return nil, err
	}
	pairs, notes, err := exchange.Match(sides, metric, f.ignore)
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
	var all []abtest.Result
	for _, p := range pairs {
		r := recorded(sides, p)
		if p.Level() != exchange.Files && drift > 0 {
			r.Drift = drift
			r.Limits = []string{fmt.Sprintf("each side is one session, and sessions of one program are taken to differ "+
				"by %s at most (--drift): several files of each side, made in turn, show by how much they do", f.drift)}
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
	name := f.minimize + f.maximize // check has made sure that one is empty
	for _, m := range f.metrics {
		if strings.Contains(m, "=") {
			return "", usagef("--metric %s: files have their own metrics, give the name of one", m)
		}
		if name == "" {
			name = m
		}
	}
	return name, nil
}

// recorded returns a benchmark from files in the form of a measured one.
func recorded(sides []exchange.Side, p exchange.Pair) abtest.Recorded {
	m, level := p.Files[0][0], p.Level()
	r := abtest.Recorded{
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
		r.Sides = append(r.Sides, abtest.Sample{Name: fmt.Sprintf("%c", letters[p.Sides[i]]), Source: source, Values: values})
	}
	return r
}
