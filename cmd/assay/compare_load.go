package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// load returns the comparison of a command line, with a function to call when it is over. It runs the necessary builds,
// which end at the first signal.
func (f *compareFlags) load(
	signals *term.Signals, cmd *cobra.Command, s streams, args []string,
) (def *spec.Comparison, done func(), err error) {
	done = func() {}
	if err := f.check(cmd); err != nil {
		return nil, done, err
	}
	before, commands := splitCommands(cmd.ArgsLenAtDash(), args)
	edit := func(c *spec.Comparison) error { return f.apply(cmd, c) }
	if f.builds != "" {
		revisions := append([]string{f.builds}, before...)
		if len(revisions) < 2 || len(commands) != 1 || len(commands[0]) == 0 {
			return nil, done, usagef("two commits and one command are needed: " +
				"assay compare --builds REV1 REV2 --setup 'make' -- ./{setup}/prog")
		}
		ctx, stop := signals.Until(nil)
		defer stop()
		return setup.CompareCommits(ctx, setup.CommitsOptions{
			Revisions: revisions, Build: f.setup, Command: commands[0], Shell: f.shell, Log: s.err, Warn: warnings(s.err),
		}, edit)
	}
	switch {
	case f.setup != "":
		return nil, done, usagef("--setup builds the commits of --builds: name them")
	case len(before) == 1 && commands == nil:
		def, err = spec.LoadComparison(before[0], edit)
		return def, done, err
	case len(before) > 1 && commands == nil:
		return nil, done, usagef("one file of benchmarks at a time, not %d, and commands come after --", len(before))
	case len(before) > 0:
		return nil, done, usagef("%s: a file of benchmarks has its own commands, none come after --", before[0])
	case len(commands) < 2 || slices.ContainsFunc(commands, func(argv []string) bool { return len(argv) == 0 }):
		return nil, done, usagef("two commands are needed: assay compare -- COMMAND A -- COMMAND B")
	case len(commands) > len(letters):
		return nil, done, usagef("at most %d commands are compared, not %d", len(letters), len(commands))
	}
	b := spec.Benchmark{}
	for i, argv := range commands {
		b.Commands = append(b.Commands, spec.Variant{Name: letters[i : i+1], Study: setup.Literal(argv, f.shell)})
	}
	def = &spec.Comparison{Benchmarks: []spec.Benchmark{b}}
	if err := edit(def); err != nil {
		return nil, done, err
	}
	return def, done, def.Check()
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// splitCommands parts the arguments before the first -- from the commands after it.
func splitCommands(dash int, args []string) (before []string, commands [][]string) {
	if dash < 0 {
		return args, nil
	}
	before, args = args[:dash], args[dash:]
	commands = [][]string{nil}
	for _, a := range args {
		if a == "--" {
			commands = append(commands, nil)
			continue
		}
		last := len(commands) - 1
		commands[last] = append(commands[last], a)
	}
	return before, commands
}

// check checks the flags that need nothing else.
func (f *compareFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case (given("pairs") || given("runs")) && f.pairs < 1 || f.warmup < 0:
		return usagef("--pairs is at least 1 and --warmup at least 0")
	case given("minimize") && given("maximize"):
		return usagef("--minimize and --maximize exclude each other")
	case f.json && f.markdown:
		return usagef("--json and --markdown exclude each other: both go to the standard output")
	case given("builds") && f.builds == "":
		return usagef("--builds: which commits?")
	}
	if f.junit != "" {
		if info, err := os.Stat(filepath.Dir(f.junit)); err != nil || !info.IsDir() {
			return usagef("--junit %s: there is no directory %s", f.junit, filepath.Dir(f.junit))
		}
	}
	return nil
}

// apply puts the flags over a comparison.
func (f *compareFlags) apply(cmd *cobra.Command, c *spec.Comparison) error {
	given := cmd.Flags().Changed
	if given("fail-if") {
		c.FailIf = f.failIf
	}
	if f.pairs > 0 {
		c.Pairs = f.pairs
	}
	if given("budget") {
		v, err := spec.ParseDuration(f.budget)
		if err != nil || v <= 0 {
			return usagef("--budget %s: not a duration such as 90s or 10m", f.budget)
		}
		c.Budget = v
	}
	for _, b := range c.Benchmarks {
		for _, v := range b.Commands {
			if err := f.applyTo(cmd, v.Study); err != nil {
				return err
			}
		}
	}
	return nil
}

// applyTo puts the flags over one command.
func (f *compareFlags) applyTo(cmd *cobra.Command, st *spec.Study) error {
	given := cmd.Flags().Changed
	if err := f.keys.apply(cmd, st); err != nil {
		return err
	}
	st.Metrics = slices.Clone(st.Metrics)
	compared := ""
	for _, text := range f.metrics {
		name := text
		if strings.Contains(text, "=") {
			m, err := spec.MetricSpec(text)
			if err != nil {
				return usageError(err)
			}
			st.Metrics, name = append(st.Metrics, m), m.Name
		}
		if compared == "" {
			compared = name
		}
	}
	flag := "metric"
	switch {
	case given("minimize"):
		compared, flag = f.minimize, "minimize"
	case given("maximize"):
		compared, flag = f.maximize, "maximize"
	case compared == "":
		return nil
	}
	if err := st.CheckMetric(compared); err != nil {
		return usagef("--%s: %v", flag, err)
	}
	st.Objective = spec.Objective{Metric: compared, Maximize: given("maximize")}
	return nil
}
