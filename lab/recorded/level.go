package recorded

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/study"
)

// LevelOptions select the studies with levels that are compared with the same studies at the full level
// alone. All are required unless stated.
type LevelOptions struct {
	Problems []bench.Problem
	Method   bench.Method
	Within   float64 // the share above the optimum that is good enough
	Times    float64 // the budget of time, in median run times at the full level
	Seeds    int
	First    uint64 // optional: the first seed
	Workers  int    // studies at once; 0 means 1
	Progress func(done, total int)
}

// A LevelReport is the result of [Levels], in the shape of `assay-lab level --json`.
type LevelReport struct {
	Method string     `json:"method"`
	Within float64    `json:"within"`
	Times  float64    `json:"budget_x"`
	Seeds  int        `json:"seeds"`
	Rows   []LevelRow `json:"rows"`
	// Time is the geometric mean over the studies of LevelRow.Time, each study weighing the same, and CI95 its
	// interval over the seeds.
	Time float64    `json:"time_ratio"`
	CI95 [2]float64 `json:"time_ci95"`
}

// A LevelRow compares the two on one study.
type LevelRow struct {
	Study string      `json:"study"`
	Full  LevelSearch `json:"full"`
	With  LevelSearch `json:"levels"`
	// Time is the time with levels until a configuration is good enough, as a share of that without: the geometric
	// mean over the seeds. A search that finds none counts with its whole budget.
	Time float64    `json:"time_ratio"`
	CI95 [2]float64 `json:"time_ci95"`
}

// A LevelSearch is one of them.
type LevelSearch struct {
	Reached int     `json:"reached"`       // seeds that found a configuration that is good enough
	Time    float64 `json:"time_median_s"` // until then, or the whole budget
	Error   float64 `json:"re_mean"`       // of the best at the end of the budget
	Runs    float64 `json:"runs_mean"`
	Answers float64 `json:"full_runs_mean"` // runs that ended at the full level
}

// Levels runs each study with its levels and without, with the same time.
func Levels(ctx context.Context, o LevelOptions) (LevelReport, error) {
	if len(o.Problems) == 0 || o.Seeds < 2 || !(o.Times > 0) || !(o.Within > 0) {
		return LevelReport{}, fmt.Errorf("%d problems, %d seeds, %v run times, within %v", len(o.Problems), o.Seeds, o.Times,
			o.Within)
	}
	for i := range o.Problems {
		if p := &o.Problems[i]; p.Goal.Level == nil {
			return LevelReport{}, assay.Errorf(assay.ClassUsage, "%s: it has no levels (level: {parameter: ..., full: ...})",
				p.Name)
		}
	}
	o.First = max(1, o.First)
	outs := make([][2]levelOutcome, len(o.Problems)*o.Seeds)
	pool := bench.Pool{Workers: o.Workers, Progress: o.Progress}
	err := pool.Each(ctx, len(outs), func(ctx context.Context, _, i int) error {
		p, seed := o.Problems[i/o.Seeds], o.First+uint64(i%o.Seeds)
		full, err := atFull(&p)
		if err == nil {
			outs[i][0], err = o.one(ctx, full, seed)
		}
		if err == nil {
			outs[i][1], err = o.one(ctx, &p, seed)
		}
		if err != nil {
			return fmt.Errorf("%s, seed %d: %w", p.Name, seed, err)
		}
		return nil
	})
	if err != nil {
		return LevelReport{}, err
	}
	r := LevelReport{Method: o.Method.Name, Within: o.Within, Times: o.Times, Seeds: o.Seeds}
	all := make([]float64, o.Seeds)
	for pi := range o.Problems {
		row := LevelRow{Study: o.Problems[pi].Name}
		ratios := make([]float64, o.Seeds)
		of := outs[pi*o.Seeds : (pi+1)*o.Seeds]
		for i, out := range of {
			ratios[i] = math.Log(out[1].time.Seconds() / out[0].time.Seconds())
			all[i] += ratios[i] / float64(len(o.Problems))
		}
		row.Full, row.With = levelSearch(of, 0), levelSearch(of, 1)
		row.Time, row.CI95 = ratioOf(ratios)
		r.Rows = append(r.Rows, row)
	}
	r.Time, r.CI95 = ratioOf(all)
	return r, nil
}

// atFull returns the problem at the full level alone.
func atFull(p *bench.Problem) (*bench.Problem, error) {
	q := *p
	var err error
	q.Space, err = p.Space.Fixed(p.Goal.Level.Param, p.Goal.Level.Full)
	q.Goal.Level = nil
	return &q, err
}

// A levelOutcome is the result of one search.
type levelOutcome struct {
	time          time.Duration // until a configuration was good enough, or the budget
	reached       bool
	error         float64
	runs, answers int
}

func (o *LevelOptions) one(ctx context.Context, p *bench.Problem, seed uint64) (out levelOutcome, err error) {
	p.Time = time.Duration(o.Times * float64(p.Median))
	res, start, err := play(ctx, p, o.Method, seed, study.Budget{Time: p.Time}, 1)
	if err != nil {
		return out, err
	}
	out.time, out.error = p.Time, errorOf(p, assay.Trial{})
	best := math.Inf(1)
	for _, t := range res.Trials {
		out.runs++
		if t.State != assay.Done || t.Ended.Sub(start) > p.Time {
			continue
		}
		out.answers++
		if t.Value >= best {
			continue
		}
		best, out.error = t.Value, errorOf(p, t)
		if out.error <= o.Within && !out.reached {
			out.reached, out.time = true, t.Ended.Sub(start)
		}
	}
	return out, nil
}

func levelSearch(outs [][2]levelOutcome, which int) (s LevelSearch) {
	var times []float64
	n := float64(len(outs))
	for _, out := range outs {
		o := out[which]
		if o.reached {
			s.Reached++
		}
		times = append(times, o.time.Seconds())
		s.Error += o.error / n
		s.Runs += float64(o.runs) / n
		s.Answers += float64(o.answers) / n
	}
	s.Time = stats.Median(times)
	return s
}

// Write writes the report for people.
func (r LevelReport) Write(w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "study", "", ">found", ">after s", ">error %", ">runs", ">full", ">time", "95 %")
	add := func(name, what string, s LevelSearch, ratio, ci string) {
		t.Add(name, what, fmt.Sprintf("%d of %d", s.Reached, r.Seeds), fmt.Sprintf("%.3g", s.Time), percent(s.Error),
			fmt.Sprintf("%.0f", s.Runs), fmt.Sprintf("%.0f", s.Answers), ratio, ci)
	}
	interval := func(ci [2]float64) string { return fmt.Sprintf("%.2f – %.2f", ci[0], ci[1]) }
	for _, row := range r.Rows {
		add(row.Study, "full level", row.Full, "", "")
		add("", "levels", row.With, fmt.Sprintf("%.2f", row.Time), interval(row.CI95))
	}
	t.Add(fmt.Sprintf("all, %s, within %s %%", r.Method, percent(r.Within)), "", "", "", "", "", "",
		fmt.Sprintf("%.2f", r.Time), interval(r.CI95))
	return t.Write(w)
}
