// Package abtest runs commands in turn until the runs show which command takes less, or whether
// one is slower than a gate allows.
//
//  1. A [Duel] runs its commands in rounds, in an order that is drawn for each, and
//     compares each with the first: [Duel.Run].
//  2. A [Gate] is the difference that fails a comparison: "slower > 3%". Without a number of rounds or a
//     budget, a duel with a gate asks for as many rounds as its noise needs.
//  3. A [Report] holds the results of several duels, for people, for a pull request
//     (Markdown) and for a CI server (JUnit).
package abtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
)

// A Duel is a benchmark: commands that are compared with the first of them.
type Duel struct {
	Name     string    // of the benchmark, or ""
	Commands []Command // 2 or more
	Metric   string    // that is compared, such as elapsed
	Unit     string    // of the metric, for people
	Maximize bool      // more of the metric is better
	Gate     *Gate     // optional
	Pairs    int       // most rounds; 0: with a gate and no budget as many as needed, else no limit
	Warmup   int       // runs of each command before the measured ones
	Budget   time.Duration
	Ignore   bool   // a command that exits with a code other than 0 has run, too
	Seed     uint64 // of the orders
	// Among is the number of comparisons that share one error: all comparisons that are reported together.
	// 0 stands for the comparisons of this duel.
	Among int

	Runner assay.Runner
	Drain  <-chan struct{}         // optional; once closed no round is started
	Notify func(rounds, asked int) // optional; called after each round; asked is 0 where it is not known

	values [][]float64 // of each command, by round
	cpu    [][]float64 // processor time of the same runs; NaN where not measured
	began  time.Time
	asked  int
	rng    *rand.Rand
}

// Progress returns how far the duel is, for people; see Notify.
func (d *Duel) Progress(rounds, asked int) string {
	text := fmt.Sprintf("%d pairs", rounds)
	if asked > 0 {
		text = fmt.Sprintf("%d of about %d pairs", rounds, asked)
	}
	if d.Name != "" {
		text = d.Name + ": " + text
	}
	return text
}

// A Command is one side of a duel.
type Command struct {
	Name string // such as A
	Job  assay.Job
}

const (
	// maxAsked is the most rounds that a duel asks for by itself: the 11th look.
	maxAsked = 454
	// hopelessAt is how many times more than that a noise needs which is given up at.
	hopelessAt = 10
)

// Run runs rounds until every comparison is decided, or the rounds or the budget are spent, or Drain is
// closed. In a round each command that is still of interest runs once, in an order that is drawn.
//
// It looks after 8 rounds, 12, 18, 27, ... and at the end. The order is drawn for each round, so that
// between two equal commands the sign of every difference is the toss of a coin under any disturbance of
// the machine: drift, bursts and heavy tails included. The signed-rank interval of a look then has the
// error that it claims, and the i-th look has a share of 1/(i·(i+1)), so that the sum holds for all
// looks together. It is 0.05 without a gate, and [GateError] on each side with one, divided among the
// comparisons.
//
// A command that fails or takes too long is an error, and a metric that a run does not have is one of
// the class usage.
func (d *Duel) Run(ctx context.Context) ([]Result, error) {
	d.began = time.Now()
	d.rng = rand.New(rand.NewPCG(d.Seed, 0))
	d.values, d.cpu = make([][]float64, len(d.Commands)), make([][]float64, len(d.Commands))
	for range d.Warmup {
		for k := range d.Commands {
			if _, _, err := d.once(ctx, k); err != nil {
				return nil, err
			}
		}
	}
	results := make([]Result, len(d.Commands)-1)
	looks, rounds := 0, 0
	look := func(last bool) (open int) {
		looks++
		for i := range results {
			if !results[i].decided {
				results[i] = d.judge(i+1, looks, last)
			}
			if !results[i].decided {
				open++
			}
		}
		return open
	}
	for next := stats.FirstLook; ; {
		if d.spent(rounds) {
			break
		}
		if err := d.round(ctx, results); err != nil {
			return nil, err
		}
		rounds++
		if d.Notify != nil {
			d.Notify(rounds, d.asked)
		}
		if rounds == next && rounds != d.Pairs {
			if look(false) == 0 || d.enough(results, rounds, looks) {
				return results, nil
			}
			next = stats.NextLook(next)
		}
	}
	look(true)
	return results, nil
}

// round runs each command of a comparison that is not decided, in an order that is
// drawn, and keeps the values only if all have run.
func (d *Duel) round(ctx context.Context, results []Result) error {
	open := []int{0}
	for i, r := range results {
		if !r.decided {
			open = append(open, i+1)
		}
	}
	d.rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	values, cpu := make([]float64, len(d.Commands)), make([]float64, len(d.Commands))
	for _, k := range open {
		var err error
		if values[k], cpu[k], err = d.once(ctx, k); err != nil {
			return err
		}
	}
	for _, k := range open {
		d.values[k], d.cpu[k] = append(d.values[k], values[k]), append(d.cpu[k], cpu[k])
	}
	return nil
}

// spent reports whether no further round is to be run. One is always run.
func (d *Duel) spent(rounds int) bool {
	if rounds == 0 {
		return false
	}
	select {
	case <-d.Drain:
		return true
	default:
	}
	past := time.Since(d.began)
	return d.Pairs > 0 && rounds >= d.Pairs || d.Budget > 0 && past+past/time.Duration(rounds) > d.Budget
}

// enough reports whether a duel that asks for its rounds has had them: as many as its noise needs, or so
// much noise that no number in reach would do. The number of rounds depends on the noise so far.
func (d *Duel) enough(results []Result, rounds, looks int) bool {
	if d.Gate == nil || d.Pairs > 0 || d.Budget > 0 {
		return false
	}
	d.asked = 0
	hopeless := looks > 2 // a noise of few pairs is uncertain itself
	for _, r := range results {
		if r.decided {
			continue
		}
		d.asked = max(d.asked, min(r.asks, maxAsked))
		hopeless = hopeless && r.finds > hopelessAt*maxAsked
	}
	return hopeless || rounds >= d.asked
}

// once runs command k and returns its metric and its processor time.
func (d *Duel) once(ctx context.Context, k int) (value, cpu float64, err error) {
	c := d.Commands[k]
	m, err := d.Runner.Run(ctx, c.Job, nil)
	switch {
	case m.Failure != nil && (err == nil || errors.Is(err, assay.ErrLimit)): // of a hook or a setup
		text := strings.Join(append([]string{"command " + c.Name + ": " + m.Failure.Reason}, m.Failure.Output...), "\n  ")
		return 0, 0, errors.New(text)
	case errors.Is(err, assay.ErrLimit):
		return 0, 0, fmt.Errorf("command %s took more than %s", c.Name, report.Duration(c.Job.Limit))
	case errors.Is(err, assay.ErrSetup):
		return 0, 0, fmt.Errorf("command %s: %w", c.Name, err)
	case err != nil:
		return 0, 0, err
	case m.ExitCode != 0 && !d.Ignore:
		last := assay.LastLine(m.Stderr)
		if last != "" {
			last = ": " + last
		}
		return 0, 0, assay.WithHint(fmt.Errorf("command %s failed with exit code %d%s", c.Name, m.ExitCode, last),
			"see --ignore-failure")
	}
	if value, err = (assay.Goal{Metric: d.Metric}).Value(m); err != nil {
		return 0, 0, assay.WithClass(assay.ClassUsage, fmt.Errorf("command %s: %w", c.Name, err))
	}
	cpu, ok := m.Metric("cpu")
	if !ok {
		cpu = math.NaN()
	}
	return value, cpu, nil
}
