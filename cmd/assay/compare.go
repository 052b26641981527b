package main

import (
	"bytes"
	"errors"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/abtest"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/setup"
)

type compareFlags struct {
	keys     keyFlags
	pairs    int
	budget   string
	warmup   int
	metrics  []string
	minimize string
	maximize string
	failIf   string
	shell    bool
	ignore   bool
	seed     uint64
	builds   string
	setup    string
	json     bool
	markdown bool
	junit    string
	drift    string
}

func compareCommand(s streams) *cobra.Command {
	f := &compareFlags{}
	cmd := &cobra.Command{
		Use:   "compare [BENCH.yaml | BEFORE AFTER [...]] [flags] [-- COMMAND A -- COMMAND B [-- ...]]",
		Short: "show which of two commands is faster, if the data can",
		Long: `compare runs commands in turn, in a random order for each round, so that
disturbances of the machine affect all alike. It reports the difference of each
from the first, with a confidence interval; ~ if no difference is shown.

It stops as soon as the answer is known. It looks after 8 rounds, 12, 18, 27, ...
and at the end; the i-th look has a share of 1/(i·(i+1)) of the error, so that all
looks together show a difference that is not there in at most 5 % of cases.

With --fail-if it is a gate. Exit code 4: a command is slower than the limit.
5: the budget does not suffice for an answer. 0: no command is slower. Each of the
first two is wrong in at most 1 of 100 reports. Without --pairs and --budget it
makes as many pairs as the noise needs. See docs/gate.md.

BEFORE and AFTER are files of other tools: of hyperfine, pytest-benchmark, Google
Benchmark or JMH in JSON, or target/criterion, of which DIR:NAME is a baseline.
Nothing is run: their benchmarks are compared by name. A side may be several files
with commas between them. See docs/compare-files.md.`,
		Example: `  assay compare -- gzip -1 -kf data -- zstd -1 -kf data
  assay compare --metric cpu --fail-if 'slower > 3%' -- ./prog-before data -- ./prog-after data
  assay compare --fail-if 'slower > 3%' before.json after.json
  assay compare --builds main HEAD --setup make --fail-if 'slower > 3%' -- ./{setup}/prog data`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args) },
	}
	fl := cmd.Flags()
	fl.IntVar(&f.pairs, "pairs", 0, "most runs of each command (default 40; with --fail-if as many as the noise needs)")
	fl.IntVarP(&f.pairs, "runs", "n", 0, "the same as --pairs")
	fl.StringVar(&f.budget, "budget", "", "`time` for all runs, such as 2m")
	fl.IntVar(&f.warmup, "warmup", 0, "runs of each command before the measured ones")
	fl.StringArrayVar(&f.metrics, "metric", nil,
		"`metric` to compare: elapsed (the default), cpu, max_rss, energy, ...; or NAME=SOURCE: the forms of assay tune")
	fl.StringVar(&f.minimize, "minimize", "", "`metric` to compare, of which less is better")
	fl.StringVar(&f.maximize, "maximize", "", "`metric` to compare, of which more is better")
	f.keys.add(cmd, nil, "timeout", "prepare", "cleanup", "verify")
	fl.StringVar(&f.failIf, "fail-if", "", "`limit` of a gate: 'slower > 3%'; also more and less, of the metric")
	fl.BoolVar(&f.shell, "shell", false, "run each command, one string, by sh -c")
	fl.BoolVarP(&f.ignore, "ignore-failure", "i", false, "a command that exits with a code other than 0 has run, too")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the orders (default drawn)")
	fl.StringVar(&f.builds, "builds", "", "compare the command in two commits: --builds `REV1` REV2")
	fl.StringVar(&f.setup, "setup", "", "shell command that builds a commit, in its directory {setup}")
	fl.StringVar(&f.drift, "drift", "10%",
		"for files: how much two sessions of one program may differ, if a side is one file")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.BoolVar(&f.markdown, "markdown", false, "print Markdown, for a comment on a pull request")
	fl.StringVar(&f.junit, "junit", "", "write a JUnit `file`, too")
	return cmd
}

// run is the command: read, check, build, compare, and report.
func (f *compareFlags) run(cmd *cobra.Command, s streams, args []string) error {
	if !cmd.Flags().Changed("seed") {
		f.seed = rand.Uint64() //nolint:gosec // an order, not a secret
	}
	files := f.filesOf(cmd, args)
	if files == nil && cmd.Flags().Changed("drift") {
		return usagef("--drift is of files that other tools have written")
	}
	if files != nil {
		if err := f.check(cmd); err != nil {
			return err
		}
		all, err := f.compareFiles(cmd, s, files)
		if err != nil {
			return err
		}
		return f.print(s, all, nil)
	}
	signals := interrupts(cmd.Context())
	defer signals.Stop()
	def, done, err := f.load(signals, cmd, s, args)
	defer done()
	if sig := signals.First(); err != nil && sig != nil {
		return &exitError{interruptCode(sig)}
	}
	if err != nil {
		return err
	}
	gate, err := setup.Gate(def)
	if err != nil {
		return err
	}
	c, err := setup.Compare(cmd.Context(), def, warnings(s.err))
	if err != nil {
		return err
	}
	defer c.Close()
	status := term.StatusOn(s.err)
	all, err := c.Duels(signals.Hard, abtest.Duel{
		Gate: gate, Warmup: f.warmup, Ignore: f.ignore, Seed: f.seed, Drain: signals.Drain,
	}, status.Set)
	status.Close()
	if sig := signals.First(); sig != nil && signals.Hard.Err() != nil {
		return errors.Join(f.writeJUnit(all, err), &exitError{interruptCode(sig)}) // the second signal: no result exists
	}
	if err = f.print(s, all, err); signals.First() != nil && (err == nil || isVerdict(err)) {
		return &exitError{interruptCode(signals.First())}
	}
	return err
}

// writeJUnit writes the JUnit file, if requested.
func (f *compareFlags) writeJUnit(all []abtest.Result, failed error) error {
	if f.junit == "" {
		return nil
	}
	var b bytes.Buffer
	if err := abtest.NewReport(all).WriteJUnit(&b, failed); err != nil {
		return err
	}
	return files.WriteFile(f.junit, b.Bytes(), 0o644)
}

// isVerdict reports whether an error is the exit code of a gate.
func isVerdict(err error) bool {
	e, ok := errors.AsType[*exitError](err)
	return ok && (e.code == codeSlower || e.code == codeUnknown)
}

// print reports the results of comparisons. failed is the error that ended them, or nil. The returned error has the
// exit code of a gate that was not passed.
func (f *compareFlags) print(s streams, all []abtest.Result, failed error) error {
	out := abtest.NewReport(all)
	err := errors.Join(failed, f.writeJUnit(all, failed))
	switch {
	case err != nil:
		return err
	case f.json:
		err = writeJSON(s.out, out)
	case f.markdown:
		err = out.WriteMarkdown(s.out)
	default:
		err = out.Write(s.out)
	}
	switch {
	case err != nil:
		return err
	case out.Outcome == abtest.Failed:
		return &exitError{codeSlower}
	case out.Outcome == abtest.Unknown:
		return &exitError{codeUnknown}
	}
	return nil
}
