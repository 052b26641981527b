package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/run"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/stats"
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

// A duel is two commands that are compared.
type duel struct {
	flags  *compareFlags
	argv   [2][]string
	limit  time.Duration
	end    time.Time // zero for no budget
	values [2][]float64
	unit   string
}

func (f *compareFlags) run(cmd *cobra.Command, s streams, args []string) error {
	d, err := f.duel(cmd, args)
	if err != nil {
		return err
	}
	local, err := setup.Local(cmd.Context(), "compare", true)
	if err != nil {
		return err
	}
	defer local.Close()
	drain, hard, which, stop := interrupts(cmd.Context(), func() {})
	defer stop()
	status := newStatus(s.err)
	c, looks, early, err := d.race(hard, drain, local, status.Set)
	status.Close()
	if err != nil {
		return err
	}
	if len(d.values[1]) == 0 {
		return &exitError{interruptCode(which())}
	}
	out := d.outcome(c, looks, early)
	if f.json {
		err = writeJSON(s.out, out)
	} else {
		err = out.write(s.out, d.unit)
	}
	if sig := which(); err == nil && sig != nil {
		return &exitError{interruptCode(sig)}
	}
	return err
}

// duel reads the command line.
func (f *compareFlags) duel(cmd *cobra.Command, args []string) (*duel, error) {
	d := &duel{flags: f}
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
			d.end = time.Now().Add(v)
			if !cmd.Flags().Changed("runs") {
				f.runs = math.MaxInt
			}
		}},
		{"timeout", f.timeout, func(v time.Duration) { d.limit = v }},
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
		return nil, usagef("more than one -- after the first: which one parts the commands? Write them as two strings with --shell")
	}
	d.argv = [2][]string{args[:i], args[i+1:]}
	for k, argv := range d.argv {
		if f.shell {
			d.argv[k] = []string{"/bin/sh", "-c", strings.Join(argv, " ")}
		} else if _, err := run.LookPath(argv[0], ""); err != nil {
			return nil, usageError(err)
		}
	}
	d.unit = (&config.Study{}).Unit(f.metric)
	return d, nil
}

// firstLook is after how many pairs a verdict is looked for at first: at 0.975 a
// rank test of fewer than 7 pairs shows nothing.
const firstLook = 8

// race runs pairs until a look tells, or the runs, the budget or the patience
// of the user are spent.
func (d *duel) race(ctx context.Context, drain <-chan struct{}, r assay.Runner, say func(string)) (c stats.Comparison, looks int, early bool, err error) {
	for range d.flags.warmup {
		for k := range 2 {
			if _, err := d.once(ctx, r, k); err != nil {
				return c, 0, false, err
			}
		}
	}
	look := func() bool {
		looks++
		level := 1 - 0.05/float64(looks*(looks+1))
		c = stats.ComparePaired(d.values[0], d.values[1], stats.CompareOptions{Level: level})
		return c.Verdict != stats.Undecided
	}
	for next := firstLook; ; {
		n := len(d.values[0])
		if n >= d.flags.runs || n > 0 && d.over(drain) {
			break
		}
		var pair [2]float64
		for _, k := range [][]int{{0, 1}, {1, 0}}[n%2] {
			if pair[k], err = d.once(ctx, r, k); err != nil {
				return c, 0, false, err
			}
		}
		d.values[0], d.values[1] = append(d.values[0], pair[0]), append(d.values[1], pair[1])
		say(fmt.Sprintf("%d pairs", n+1))
		if n+1 == next && n+1 < d.flags.runs {
			if look() {
				return c, looks, true, nil
			}
			next = next * 3 / 2
		}
	}
	look()
	return c, looks, false, nil
}

// over reports whether the budget is spent or the user wants an end.
func (d *duel) over(drain <-chan struct{}) bool {
	select {
	case <-drain:
		return true
	default:
		return !d.end.IsZero() && time.Now().After(d.end)
	}
}

// once runs command k and returns its metric.
func (d *duel) once(ctx context.Context, r assay.Runner, k int) (float64, error) {
	name := string(rune('A' + k))
	m, err := r.Run(ctx, assay.Job{Argv: d.argv[k], Limit: d.limit, Grace: grace}, nil)
	switch {
	case errors.Is(err, assay.ErrLimit):
		return 0, fmt.Errorf("command %s took more than %s", name, report.Duration(d.limit))
	case err != nil:
		return 0, err
	case m.ExitCode != 0 && !d.flags.ignore:
		return 0, fmt.Errorf("command %s failed with exit code %d%s (see --ignore-failure)", name, m.ExitCode, lastLine(m.Stderr))
	}
	x, err := assay.Goal{Metric: d.flags.metric}.Value(m)
	if err != nil {
		return 0, usageError(err)
	}
	return x, nil
}

// lastLine returns ": " and the last line of an output, or "".
func lastLine(b []byte) string {
	text := strings.TrimSpace(string(b))
	text = text[strings.LastIndexByte(text, '\n')+1:]
	if text == "" {
		return ""
	}
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "..."
	}
	return ": " + strings.ToValidUTF8(text, "?")
}

// comparison is what `assay compare --json` prints: a contract.
type comparison struct {
	Metric   string      `json:"metric"`
	A        side        `json:"a"`
	B        side        `json:"b"`
	Change   *float64    `json:"change"` // (b - a)/|a|; null if there is none
	CI       [2]*float64 `json:"ci"`     // null on a side without a bound
	Level    float64     `json:"level"`  // of the interval, for all looks together 0.95
	P        float64     `json:"p"`
	Pairs    int         `json:"pairs"`
	Looks    int         `json:"looks"`
	Early    bool        `json:"stopped_early"`
	Verdict  string      `json:"verdict"` // "less": B takes less than A; "more" or "~"
	Warnings []string    `json:"warnings,omitempty"`
}

type side struct {
	Command []string `json:"command"`
	Min     float64  `json:"min"`
	Median  float64  `json:"median"`
	Mean    float64  `json:"mean"`
	CV      *float64 `json:"cv"`
}

func (d *duel) outcome(c stats.Comparison, looks int, early bool) comparison {
	o := comparison{
		Metric: d.flags.metric, Change: finite(c.Change), CI: [2]*float64{finite(c.Low), finite(c.High)}, Level: c.Level,
		P: c.P, Pairs: c.N, Looks: looks, Early: early, Verdict: c.Verdict.String(),
	}
	if c.Low <= -1 && c.Verdict == stats.Undecided {
		o.CI[0] = nil // a ratio of pairs has no bound but 0
	}
	for k, s := range []*side{&o.A, &o.B} {
		x := d.values[k]
		*s = side{d.argv[k], stats.Min(x), stats.Median(x), stats.Mean(x), finite(stats.StdDev(x) / math.Abs(stats.Mean(x)))}
	}
	for _, w := range c.Warnings {
		o.Warnings = append(o.Warnings, forPeople(w))
	}
	return o
}

// write prints the comparison for people.
func (o comparison) write(w io.Writer, unit string) error {
	var l lines
	for _, s := range []struct {
		name string
		side side
	}{{"A", o.A}, {"B", o.B}} {
		spread := ""
		if s.side.CV != nil {
			spread = fmt.Sprintf(", standard deviation %.2g %%", 100**s.side.CV)
		}
		l.add(s.name, "%s", report.ShellQuote(s.side.Command))
		l.add("", "median %s, min %s%s", showMetric(s.side.Median, unit), showMetric(s.side.Min, unit), spread)
	}
	end := fmt.Sprintf("%d pairs of runs", o.Pairs)
	if o.Early {
		end += ", which are enough"
	}
	switch {
	case o.Change == nil:
		l.add("verdict", "%s there is no relative difference (%s)", o.Verdict, end)
	case o.Verdict == "~":
		l.add("verdict", "~ no difference is shown: %s (%s)", showChange(o.gain()), end)
	default:
		what := o.Metric
		if what == "elapsed" {
			what = "time"
		}
		l.add("verdict", "B takes %s %s %s than A (%s)", showChange(o.gain()), o.Verdict, what, end)
	}
	for _, text := range o.Warnings {
		l.add("warning", "%s", text)
	}
	return l.write(w)
}

func (o comparison) gain() *gain {
	return &gain{Change: *o.Change, CI95: o.CI, Runs: o.Pairs, Verdict: o.Verdict}
}
