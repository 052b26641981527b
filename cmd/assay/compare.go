package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/internal/duel"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/run"
	"github.com/assay-run/assay/setup"
)

type compareFlags struct {
	runs    int
	budget  string
	timeout string
	warmup  int
	metric  string
	shell   bool
	ignore  bool
	json    bool
}

func compareCommand(s streams) *cobra.Command {
	f := &compareFlags{}
	cmd := &cobra.Command{
		Use:   "compare [flags] -- COMMAND A -- COMMAND B",
		Short: "say which of two commands is faster, or that it cannot be told",
		Long: `compare runs two commands in turn, A B, B A, A B, ..., so that a drift of the
machine hits both alike, and says by how much B differs from A, with a confidence
interval; ~ if no difference is shown.

It stops as soon as it can tell. It looks after 8 pairs, 12, 18, 27, ... and at
the end; the i-th look has an error of 0.05/(i·(i+1)), so that all looks
together show a difference that is not there in at most 5 % of cases.`,
		Example: `  assay compare -- gzip -1 -kf data -- zstd -1 -kf data
  assay compare -n 100 --shell -- 'sort data | uniq' -- 'sort -u data'`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args) },
	}
	fl := cmd.Flags()
	fl.IntVarP(&f.runs, "runs", "n", 40, "most runs of each command")
	fl.StringVar(&f.budget, "budget", "", "`time` for all runs, such as 2m")
	fl.StringVar(&f.timeout, "timeout", "", "limit of one run")
	fl.IntVar(&f.warmup, "warmup", 0, "runs of each command before the measured ones")
	fl.StringVar(&f.metric, "metric", "elapsed", "`metric` to compare: elapsed, cpu, max_rss, energy, ...")
	fl.BoolVar(&f.shell, "shell", false, "run each command, one string, by sh -c")
	fl.BoolVarP(&f.ignore, "ignore-failure", "i", false, "a command that exits with a code other than 0 has run, too")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *compareFlags) run(cmd *cobra.Command, s streams, args []string) error {
	d, err := f.duel(cmd, args)
	if err != nil {
		return err
	}
	local, err := setup.Local(cmd.Context(), "compare", true, warnings(s.err))
	if err != nil {
		return err
	}
	defer local.Close()
	drain, hard, which, stop := interrupts(cmd.Context(), func() {})
	defer stop()
	status := newStatus(s.err)
	d.Runner, d.Drain, d.Notify = local, drain, func(pairs int) { status.Set(fmt.Sprintf("%d pairs", pairs)) }
	out, err := d.Run(hard)
	status.Close()
	if err != nil {
		return err
	}
	if f.json {
		err = writeJSON(s.out, out)
	} else {
		err = writeDuel(s.out, out)
	}
	if sig := which(); err == nil && sig != nil {
		return &exitError{interruptCode(sig)}
	}
	return err
}

// duel reads the command line.
func (f *compareFlags) duel(cmd *cobra.Command, args []string) (*duel.Duel, error) {
	d := &duel.Duel{Metric: f.metric, Warmup: f.warmup, Ignore: f.ignore}
	if f.runs < 1 || f.warmup < 0 {
		return nil, usagef("--runs is at least 1 and --warmup at least 0")
	}
	if err := config.CheckBuiltin(f.metric); err != nil {
		return nil, usagef("--metric: %v", err)
	}
	for _, t := range []struct {
		flag, text string
		set        func(time.Duration)
	}{
		{"budget", f.budget, func(v time.Duration) {
			d.Budget = v
			if !cmd.Flags().Changed("runs") {
				f.runs = math.MaxInt
			}
		}},
		{"timeout", f.timeout, func(v time.Duration) { d.Limit = v }},
	} {
		if !cmd.Flags().Changed(t.flag) {
			continue
		}
		v, err := config.ParseDuration(t.text)
		if err != nil || v <= 0 {
			return nil, usagef("--%s %s: not a duration such as 90s or 10m", t.flag, t.text)
		}
		t.set(v)
	}
	i := slices.Index(args, "--")
	if cmd.ArgsLenAtDash() != 0 || i < 1 || i == len(args)-1 {
		return nil, usagef("two commands are needed: assay compare -- COMMAND A -- COMMAND B")
	}
	if slices.Contains(args[i+1:], "--") {
		return nil, usagef("more than one -- after the first: which one parts the commands? " +
			"Write them as two strings with --shell")
	}
	d.Argv = [2][]string{args[:i], args[i+1:]}
	for k, argv := range d.Argv {
		if f.shell {
			d.Argv[k] = []string{"/bin/sh", "-c", strings.Join(argv, " ")}
		} else if _, err := run.LookPath(argv[0], ""); err != nil {
			return nil, usageError(err)
		}
	}
	d.Pairs = f.runs
	return d, nil
}

// writeDuel prints a comparison for people.
func writeDuel(w io.Writer, o duel.Result) error {
	unit := (&config.Study{}).Unit(o.Metric)
	var l report.Lines
	for _, s := range []struct {
		name string
		side duel.Side
	}{{"A", o.A}, {"B", o.B}} {
		spread := ""
		if s.side.CV != nil {
			spread = fmt.Sprintf(", standard deviation %.2g %%", 100**s.side.CV)
		}
		l.AddCommand(s.name, report.ShellQuote(s.side.Command))
		l.Add("", "median %s, min %s%s", report.Metric(s.side.Median, unit), report.Metric(s.side.Min, unit), spread)
	}
	end := fmt.Sprintf("%d pairs of runs", o.Pairs)
	if o.Early {
		end += ", which are enough"
	}
	switch {
	case o.Change == nil:
		l.Add("verdict", "%s there is no relative difference (%s)", o.Verdict, end)
	case o.Verdict == "~":
		l.Add("verdict", "~ no difference is shown: %s (%s)", duelGain(o).Text(), end)
	default:
		what := o.Metric
		if what == "elapsed" {
			what = "time"
		}
		l.Add("verdict", "B takes %s %s %s than A (%s)", duelGain(o).Text(), o.Verdict, what, end)
	}
	for _, text := range o.Warnings {
		l.Add("warning", "%s", text)
	}
	return l.Write(w)
}

func duelGain(o duel.Result) *result.Gain {
	return &result.Gain{Change: *o.Change, CI95: o.CI, Runs: o.Pairs, Verdict: o.Verdict}
}
