package abtest

import (
	"math"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// A Result is the result of a comparison: B, one of the commands, against A, the first. Its JSON is a
// contract.
type Result struct {
	Benchmark string      `json:"benchmark,omitempty"`
	Metric    string      `json:"metric"`
	Goal      string      `json:"goal"` // minimize or maximize
	A         Side        `json:"a"`
	B         Side        `json:"b"`
	Change    *float64    `json:"change"` // (b - a)/|a|; null without a result
	CI        [2]*float64 `json:"ci"`     // null on a side without a bound
	Level     float64     `json:"level"`  // of the interval, for all looks together 0.95, or 0.98 with a gate
	P         float64     `json:"p"`
	Pairs     int         `json:"pairs"`
	Runs      []int       `json:"runs,omitempty"` // of a and b, if another tool has measured them and they are no pairs
	Of        string      `json:"of,omitempty"`   // the unit of these: files, processes or rounds
	// the assumed relative difference of sessions, which the interval allows for
	Drift   float64 `json:"drift,omitempty"`
	Looks   int     `json:"looks"`
	Early   bool    `json:"stopped_early"`
	Verdict string  `json:"verdict"`           // "less": B takes less than A; "more" or "~"
	Limit   string  `json:"limit,omitempty"`   // of the gate, "slower > 3 %"
	Outcome Outcome `json:"outcome,omitempty"` // of the gate
	// Needs is the approximate number of pairs that would decide it, if these have not; 0 if unknown.
	Needs    int      `json:"pairs_needed,omitempty"`
	Advice   []string `json:"advice,omitempty"` // changes that would help, if it is undecided
	Warnings []string `json:"warnings,omitempty"`
	Seconds  float64  `json:"seconds"` // that the duel took so far

	unit        string
	words       string // the limit for people
	decided     bool
	noise       float64 // see [noise]
	asks, finds int     // pairs that it needs to pass an equal, and to find a slowdown
}

// A Side is the runs of one of the commands.
type Side struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
	Min     float64  `json:"min"`
	Median  float64  `json:"median"`
	Mean    float64  `json:"mean"`
	CV      *float64 `json:"cv"` // standard deviation / |mean|
}

// judge compares command k with the first at a look. A comparison that is undecided at the last look
// gets advice.
func (d *Duel) judge(k, look int, last bool) Result {
	b := d.values[k]
	a := d.values[0][:len(b)]
	among := max(d.Among, len(d.Commands)-1)
	total := 0.025 / float64(among) // on each side
	if d.Gate != nil {
		total = GateError / float64(among)
	}
	c := stats.ComparePaired(a, b, stats.CompareOptions{Level: 1 - 2*stats.LookError(total, look)})
	r := Result{
		Benchmark: d.Name, Metric: d.Metric, Goal: "minimize",
		A: d.side(0, a), B: d.side(k, b),
		Change: assay.Finite(c.Change), CI: [2]*float64{assay.Finite(c.Low), assay.Finite(c.High)}, Level: c.Level,
		P: c.P, Pairs: c.N, Looks: look, Verdict: c.Verdict.String(),
		Seconds: time.Since(d.began).Seconds(), unit: d.Unit,
	}
	if d.Maximize {
		r.Goal = "maximize"
	}
	if c.Low <= -1 && c.Verdict == stats.Undecided {
		r.CI[0] = nil // a ratio of pairs has no bound but 0
	}
	for _, w := range c.Warnings {
		r.Warnings = append(r.Warnings, w.Error())
	}
	r.decided = c.Verdict != stats.Undecided
	if d.Gate != nil {
		r.Limit, r.words, r.Outcome = d.Gate.String(), d.Gate.words(d.Metric), Unknown
		if r.Change != nil {
			r.Outcome = d.Gate.judge(c.Low, c.High, d.Maximize)
		}
		r.decided = r.Outcome != Unknown
	}
	r.Early = r.decided && !last
	if !r.decided {
		r.ask(d, a, b, total)
		r.advise(d, d.cpu[0][:len(b)], d.cpu[k], total)
	}
	return r
}

func (d *Duel) side(k int, x []float64) Side {
	mean := stats.Mean(x)
	c := d.Commands[k]
	argv := make([]string, len(c.Job.Argv))
	for i, a := range c.Job.Argv {
		argv[i] = strings.ReplaceAll(a, assay.SetupDir, "{setup}")
	}
	return Side{c.Name, argv, stats.Min(x), stats.Median(x), mean, assay.Finite(stats.StdDev(x) / math.Abs(mean))}
}
