package recorded

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/study"
)

// ParallelOptions select the studies that are searched one run at a time and several at once. All are
// required unless stated.
type ParallelOptions struct {
	Problems []bench.Problem
	Method   bench.Method
	Runs     int     // at once, from 2
	Within   float64 // the share above the optimum that is good enough
	Trials   int     // the budget
	Seeds    int
	First    uint64 // optional: the first seed
	Workers  int    // studies at once; 0 means 1
	Progress func(done, total int)
}

// A ParallelReport is the result of [Parallel], in the shape of `assay-lab parallel --json`.
type ParallelReport struct {
	Method   string        `json:"method"`
	Parallel int           `json:"parallel"`
	Within   float64       `json:"within"`
	Trials   int           `json:"trials"`
	Seeds    int           `json:"seeds"`
	Rows     []ParallelRow `json:"rows"`
	// Runs and Time are the geometric means over the studies of the rows' ratios, each study weighing the
	// same, and the intervals are over the seeds.
	Runs     float64    `json:"runs_ratio"`
	RunsCI95 [2]float64 `json:"runs_ci95"`
	Time     float64    `json:"time_ratio"`
	TimeCI95 [2]float64 `json:"time_ci95"`
	// Blind is as Runs of one run at a time whose first Parallel proposals are made without a result. A search with
	// several at once cannot avoid this part of its cost.
	Blind     float64    `json:"blind_ratio"`
	BlindCI95 [2]float64 `json:"blind_ci95"`
}

// A ParallelRow compares the two on one study.
type ParallelRow struct {
	Study string         `json:"study"`
	One   ParallelSearch `json:"one"`
	Many  ParallelSearch `json:"many"`
	Blind ParallelSearch `json:"blind"` // one at a time, after as many proposals without a result as there are at once
	// Runs is the runs until a configuration is good enough with several at once, as a share of those one at a time: the
	// geometric mean over the seeds. A search that finds none counts with its whole budget. Time is the same of the time.
	Runs     float64    `json:"runs_ratio"`
	RunsCI95 [2]float64 `json:"runs_ci95"`
	Time     float64    `json:"time_ratio"`
	TimeCI95 [2]float64 `json:"time_ci95"`
	// BlindRuns is as Runs for Blind.
	BlindRuns     float64    `json:"blind_ratio"`
	BlindRunsCI95 [2]float64 `json:"blind_ci95"`
}

// A ParallelSearch is one of them.
type ParallelSearch struct {
	Reached int     `json:"reached"`     // seeds that found a configuration that is good enough
	Runs    float64 `json:"runs_median"` // until then, or the whole budget
	Half    float64 `json:"re_half"`     // mean error of the best after half of the budget
	Error   float64 `json:"re_mean"`     // and at its end
}

// Parallel searches each study one run at a time, and with several at once, with the same number of runs. Runs end in
// the order of their recorded times, and the next begins as soon as one ends. They are counted in the order in which
// they were asked for: of several at once the good ones end first, and would count for less.
func Parallel(ctx context.Context, o ParallelOptions) (ParallelReport, error) {
	if len(o.Problems) == 0 || o.Seeds < 2 || o.Trials < 2 || o.Runs < 2 || !(o.Within > 0) {
		return ParallelReport{}, fmt.Errorf("%d problems, %d seeds, %d of %d trials at once, within %v",
			len(o.Problems), o.Seeds, o.Runs, o.Trials, o.Within)
	}
	o.First = max(1, o.First)
	outs := make([][3]parallelOutcome, len(o.Problems)*o.Seeds)
	pool := bench.Pool{Workers: o.Workers, Progress: o.Progress}
	err := pool.Each(ctx, len(outs), func(ctx context.Context, _, i int) (err error) {
		seed := o.First + uint64(i%o.Seeds)
		for k, n := range []int{1, o.Runs, 1} {
			p, m := o.Problems[i/o.Seeds], o.Method
			if k == 2 {
				m = blindly(m, o.Runs)
			}
			if outs[i][k], err = o.one(ctx, &p, m, seed, n); err != nil {
				return fmt.Errorf("%s, seed %d, %d at once: %w", p.Name, seed, n, err)
			}
		}
		return nil
	})
	if err != nil {
		return ParallelReport{}, err
	}
	r := ParallelReport{Method: o.Method.Name, Parallel: o.Runs, Within: o.Within, Trials: o.Trials, Seeds: o.Seeds}
	allRuns, allTime, allBlind := make([]float64, o.Seeds), make([]float64, o.Seeds), make([]float64, o.Seeds)
	for pi := range o.Problems {
		row := ParallelRow{Study: o.Problems[pi].Name}
		runs, times, blind := make([]float64, o.Seeds), make([]float64, o.Seeds), make([]float64, o.Seeds)
		of := outs[pi*o.Seeds : (pi+1)*o.Seeds]
		for i, out := range of {
			runs[i] = math.Log(float64(out[1].runs) / float64(out[0].runs))
			times[i] = math.Log(out[1].time.Seconds() / out[0].time.Seconds())
			blind[i] = math.Log(float64(out[2].runs) / float64(out[0].runs))
			allRuns[i] += runs[i] / float64(len(o.Problems))
			allBlind[i] += blind[i] / float64(len(o.Problems))
			allTime[i] += times[i] / float64(len(o.Problems))
		}
		row.One, row.Many, row.Blind = parallelSearch(of, 0), parallelSearch(of, 1), parallelSearch(of, 2)
		row.BlindRuns, row.BlindRunsCI95 = ratioOf(blind)
		row.Runs, row.RunsCI95 = ratioOf(runs)
		row.Time, row.TimeCI95 = ratioOf(times)
		r.Rows = append(r.Rows, row)
	}
	r.Runs, r.RunsCI95 = ratioOf(allRuns)
	r.Time, r.TimeCI95 = ratioOf(allTime)
	r.Blind, r.BlindCI95 = ratioOf(allBlind)
	return r, nil
}

// A blind searcher gets no result before it has made left proposals, or none without one.
type blind struct {
	assay.Searcher
	left int
	held []assay.Trial
}

// blindly returns a method whose first n proposals are made without a result.
func blindly(m bench.Method, n int) bench.Method {
	build := m.New
	m.New = func(p *bench.Problem, seed uint64) (assay.Searcher, assay.Stopper, error) {
		s, stop, err := build(p, seed)
		return &blind{Searcher: s, left: n}, stop, err
	}
	return m
}

// Unwrap returns the searcher, for its further methods.
func (b *blind) Unwrap() assay.Searcher { return b.Searcher }

// Ask implements [assay.Searcher].
func (b *blind) Ask(n int) ([]assay.Proposal, error) {
	ps, err := b.Searcher.Ask(n)
	b.left -= len(ps)
	if len(ps) == 0 && err == nil && len(b.held) > 0 { // it waits for a result
		b.left = 0
		if err := b.Tell(); err != nil {
			return nil, err
		}
		return b.Searcher.Ask(n)
	}
	return ps, err
}

// Tell implements [assay.Searcher].
func (b *blind) Tell(trials ...assay.Trial) error {
	b.held = append(b.held, trials...)
	if b.left > 0 {
		return nil
	}
	held := b.held
	b.held = nil
	return b.Searcher.Tell(held...)
}

// A parallelOutcome is the result of one search.
type parallelOutcome struct {
	runs        int           // in the order in which they were asked for, up to one that is good enough, or the budget
	time        time.Duration // until one was, or of the whole search
	reached     bool
	half, error float64
}

func (o *ParallelOptions) one(ctx context.Context, p *bench.Problem, m bench.Method, seed uint64,
	n int,
) (out parallelOutcome, err error) {
	p.ByTrials = true
	res, start, err := play(ctx, p, m, seed, study.Budget{Trials: o.Trials}, n)
	if err != nil {
		return out, err
	}
	out.runs, out.error = o.Trials, errorOf(p, assay.Trial{})
	trials := slices.SortedFunc(slices.Values(res.Trials), func(a, b assay.Trial) int { return cmp.Compare(a.ID, b.ID) })
	best := math.Inf(1)
	for i, t := range trials {
		if t.State == assay.Done && t.Value < best {
			best, out.error = t.Value, errorOf(p, t)
		}
		if i < o.Trials/2 {
			out.half = out.error
		}
		if out.error <= o.Within && !out.reached {
			out.reached, out.runs = true, i+1
		}
	}
	for _, t := range res.Trials { // in the order in which they ended
		out.time = t.Ended.Sub(start)
		if t.State == assay.Done && errorOf(p, t) <= o.Within {
			break
		}
	}
	return out, nil
}

func parallelSearch(outs [][3]parallelOutcome, which int) (s ParallelSearch) {
	var runs []float64
	n := float64(len(outs))
	for _, out := range outs {
		o := out[which]
		if o.reached {
			s.Reached++
		}
		runs = append(runs, float64(o.runs))
		s.Half += o.half / n
		s.Error += o.error / n
	}
	s.Runs = stats.Median(runs)
	return s
}

// Write writes the report for people.
func (r ParallelReport) Write(w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "study", ">at once", ">found", ">after runs", fmt.Sprintf(">%% after %d", r.Trials/2),
		fmt.Sprintf(">%d", r.Trials), ">runs", "95 %", ">time", "95 %")
	interval := func(ci [2]float64) string { return fmt.Sprintf("%.2f – %.2f", ci[0], ci[1]) }
	add := func(name, n string, s ParallelSearch, ratios ...string) {
		t.Add(append([]string{
			name, n, fmt.Sprintf("%d of %d", s.Reached, r.Seeds), fmt.Sprintf("%.3g", s.Runs), percent(s.Half),
			percent(s.Error),
		}, ratios...)...)
	}
	for _, row := range r.Rows {
		add(row.Study, "1", row.One)
		add("", fmt.Sprintf("1 after %d", r.Parallel), row.Blind, fmt.Sprintf("%.2f", row.BlindRuns),
			interval(row.BlindRunsCI95))
		add("", fmt.Sprint(r.Parallel), row.Many, fmt.Sprintf("%.2f", row.Runs), interval(row.RunsCI95),
			fmt.Sprintf("%.2f", row.Time), interval(row.TimeCI95))
	}
	median := func(of func(ParallelRow) float64) string {
		var all []float64
		for _, row := range r.Rows {
			all = append(all, of(row))
		}
		return fmt.Sprintf("%.2f", stats.Median(all))
	}
	after := fmt.Sprintf("1 after %d", r.Parallel)
	t.Add("median of the studies", after, "", "", "", "", median(func(row ParallelRow) float64 { return row.BlindRuns }))
	t.Add("", fmt.Sprint(r.Parallel), "", "", "", "", median(func(row ParallelRow) float64 { return row.Runs }), "",
		median(func(row ParallelRow) float64 { return row.Time }))
	t.Add("all", after, "", "", "", "", fmt.Sprintf("%.2f", r.Blind), interval(r.BlindCI95))
	t.Add(fmt.Sprintf("all, %s, within %s %%", r.Method, percent(r.Within)), "", "", "", "", "",
		fmt.Sprintf("%.2f", r.Runs), interval(r.RunsCI95), fmt.Sprintf("%.2f", r.Time), interval(r.TimeCI95))
	return t.Write(w)
}
