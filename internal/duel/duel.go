// Package duel runs two commands in turn until it can tell which takes less.
package duel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/stats"
)

// grace is how long a command has from SIGTERM to SIGKILL.
const grace = time.Second

// A Duel is two commands that are compared, A and B.
type Duel struct {
	Argv   [2][]string
	Metric string        // that is compared, such as elapsed
	Pairs  int           // most pairs of runs, at least 1
	Warmup int           // runs of each command before the measured ones
	Limit  time.Duration // of one run; 0 for none
	Budget time.Duration // for all runs; 0 for none. At least one pair is run
	Ignore bool          // a command that exits with a code other than 0 has run, too

	Runner assay.Runner
	Drain  <-chan struct{} // optional; once closed no pair is started
	Notify func(pairs int) // optional; called after each pair

	values [2][]float64
}

// A Result is what a duel came to. Its JSON is a contract.
type Result struct {
	Metric   string      `json:"metric"`
	A        Side        `json:"a"`
	B        Side        `json:"b"`
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

// A Side is the runs of one of the commands.
type Side struct {
	Command []string `json:"command"`
	Min     float64  `json:"min"`
	Median  float64  `json:"median"`
	Mean    float64  `json:"mean"`
	CV      *float64 `json:"cv"` // standard deviation / |mean|
}

// firstLook is after how many pairs a verdict is looked for at first: at 0.975 a
// rank test of fewer than 7 pairs shows nothing.
const firstLook = 8

// Run runs pairs, A B, B A, A B, ..., so that a drift of the machine hits both alike,
// until a look tells, or the pairs or the budget are spent, or Drain is closed. It looks
// after 8 pairs, 12, 18, 27, ... and at the end; the i-th look has an error of
// 0.05/(i·(i+1)), so that all looks together show a difference that is not there in at
// most 5 % of cases.
//
// A command that fails or takes too long is an error, and a metric that a run does not
// have is one of the class usage.
func (d *Duel) Run(ctx context.Context) (Result, error) {
	began := time.Now()
	for range d.Warmup {
		for k := range 2 {
			if _, err := d.once(ctx, k); err != nil {
				return Result{}, err
			}
		}
	}
	looks := 0
	var c stats.Comparison
	look := func() bool {
		looks++
		level := 1 - 0.05/float64(looks*(looks+1))
		c = stats.ComparePaired(d.values[0], d.values[1], stats.CompareOptions{Level: level})
		return c.Verdict != stats.Undecided
	}
	for next := firstLook; ; {
		n := len(d.values[0])
		if n >= d.Pairs || n > 0 && d.over(began) {
			break
		}
		if err := d.pair(ctx, n); err != nil {
			return Result{}, err
		}
		if n+1 == next && n+1 < d.Pairs {
			if look() {
				return d.result(c, looks, true), nil
			}
			next = next * 3 / 2
		}
	}
	look()
	return d.result(c, looks, false), nil
}

// pair runs both commands, in the order of pair n.
func (d *Duel) pair(ctx context.Context, n int) (err error) {
	var pair [2]float64
	for _, k := range [][]int{{0, 1}, {1, 0}}[n%2] {
		if pair[k], err = d.once(ctx, k); err != nil {
			return err
		}
	}
	d.values[0], d.values[1] = append(d.values[0], pair[0]), append(d.values[1], pair[1])
	if d.Notify != nil {
		d.Notify(n + 1)
	}
	return nil
}

// over reports whether the budget is spent or an end is wanted.
func (d *Duel) over(began time.Time) bool {
	select {
	case <-d.Drain:
		return true
	default:
		return d.Budget > 0 && time.Since(began) > d.Budget
	}
}

// once runs command k and returns its metric.
func (d *Duel) once(ctx context.Context, k int) (float64, error) {
	name := string(rune('A' + k))
	m, err := d.Runner.Run(ctx, assay.Job{Argv: d.Argv[k], Limit: d.Limit, Grace: grace}, nil)
	switch {
	case errors.Is(err, assay.ErrLimit):
		return 0, fmt.Errorf("command %s took more than %s", name, report.Duration(d.Limit))
	case err != nil:
		return 0, err
	case m.ExitCode != 0 && !d.Ignore:
		last := assay.LastLine(m.Stderr)
		if last != "" {
			last = ": " + last
		}
		return 0, assay.WithHint(fmt.Errorf("command %s failed with exit code %d%s", name, m.ExitCode, last),
			"see --ignore-failure")
	}
	x, err := assay.Goal{Metric: d.Metric}.Value(m)
	return x, assay.WithClass(assay.ClassUsage, err)
}

// result returns what the runs came to.
func (d *Duel) result(c stats.Comparison, looks int, early bool) Result {
	r := Result{
		Metric: d.Metric, Change: finite(c.Change), CI: [2]*float64{finite(c.Low), finite(c.High)}, Level: c.Level,
		P: c.P, Pairs: c.N, Looks: looks, Early: early, Verdict: c.Verdict.String(),
	}
	if c.Low <= -1 && c.Verdict == stats.Undecided {
		r.CI[0] = nil // a ratio of pairs has no bound but 0
	}
	for k, s := range []*Side{&r.A, &r.B} {
		x := d.values[k]
		mean := stats.Mean(x)
		*s = Side{d.Argv[k], stats.Min(x), stats.Median(x), mean, finite(stats.StdDev(x) / math.Abs(mean))}
	}
	for _, w := range c.Warnings {
		r.Warnings = append(r.Warnings, w.Error())
	}
	return r
}

func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}
