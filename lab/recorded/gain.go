package recorded

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/study"
)

// GainOptions select the studies that are replayed to judge a rule that ends them. All are required
// unless stated.
type GainOptions struct {
	Problems []bench.Problem
	Method   bench.Method
	// StudyStopper makes the rule for a problem.
	StudyStopper func(p *bench.Problem, seed uint64) assay.StudyStopper
	// Trials is the length of each study; the rule may end it in the first half, so that the result of as
	// many trials again is known.
	Trials   int
	Seeds    int
	First    uint64 // the first seed
	Workers  int    // studies at once; 0 means 1
	Progress func(done, total int)
}

// A GainReport is the result of [Gains], in the shape of `assay-lab gain --json`.
type GainReport struct {
	Method string    `json:"method"`
	Least  float64   `json:"gain"` // that was asked for
	Trials int       `json:"trials"`
	Seeds  int       `json:"seeds"`
	Rows   []GainRow `json:"rows"` // one for each study, and the last, without a name, of all
}

// A GainRow is the result of the rule on one study.
type GainRow struct {
	Study   string `json:"study,omitempty"`
	Replays int    `json:"replays"`
	Ended   int    `json:"ended"` // by the rule
	// Right is the number of ended studies that would have gained less than was asked for by as many runs
	// again, and Share is their share, with an exact interval.
	Right  int        `json:"right"`
	Share  float64    `json:"right_share"`
	CI95   [2]float64 `json:"right_ci95"`
	At     float64    `json:"trials_median"` // at which they were ended
	Gained float64    `json:"gained_mean"`   // by doubling the runs, in the ended studies
	Error  float64    `json:"re_median"`     // of the best found when they were ended
	Later  float64    `json:"re_later"`      // likewise after doubling the runs
}

// Gains replays studies beyond where a rule would end them. A study that has nothing more to try ends there,
// which counts as no gain.
func Gains(ctx context.Context, o GainOptions) (GainReport, error) {
	if len(o.Problems) == 0 || o.Seeds < 1 || o.Trials < 2 {
		return GainReport{}, fmt.Errorf("%d problems, %d seeds, %d trials", len(o.Problems), o.Seeds, o.Trials)
	}
	o.First = max(1, o.First)
	outs := make([]gainOutcome, len(o.Problems)*o.Seeds)
	pool := bench.Pool{Workers: o.Workers, Progress: o.Progress}
	err := pool.Each(ctx, len(outs), func(ctx context.Context, _, i int) (err error) {
		p, seed := o.Problems[i/o.Seeds], o.First+uint64(i%o.Seeds)
		if outs[i], err = o.one(ctx, &p, seed); err != nil {
			return fmt.Errorf("%s, seed %d: %w", p.Name, seed, err)
		}
		return nil
	})
	if err != nil {
		return GainReport{}, err
	}
	least := o.StudyStopper(&o.Problems[0], o.First).Least()
	r := GainReport{Method: o.Method.Name, Least: least, Trials: o.Trials, Seeds: o.Seeds}
	for pi := range o.Problems {
		r.Rows = append(r.Rows, gainRow(o.Problems[pi].Name, outs[pi*o.Seeds:(pi+1)*o.Seeds], least))
	}
	r.Rows = append(r.Rows, gainRow("", outs, least))
	return r, nil
}

// A gainOutcome is where a rule ended one replay; ended is 0 if it did not.
type gainOutcome struct {
	ended        int
	gain         float64 // of going on, relative to the best value
	error, later float64
}

// one replays one study, and asks the rule after each trial of its first half, as its loop would.
func (o *GainOptions) one(ctx context.Context, p *bench.Problem, seed uint64) (out gainOutcome, err error) {
	p.ByTrials = true
	res, _, err := play(ctx, p, o.Method, seed, study.Budget{Trials: o.Trials}, 1)
	if err != nil {
		return out, err
	}
	rule := o.StudyStopper(p, seed)
	for n := 1; n <= min(o.Trials/2, len(res.Trials)); n++ {
		if _, over := rule.Enough(res.Trials[:n:n], math.Inf(1)); !over {
			continue
		}
		out.ended = n
		now, found := assay.Best(res.Trials[:n])
		then, _ := assay.Best(res.Trials[:min(2*n, len(res.Trials))])
		if !found {
			return out, fmt.Errorf("ended after %d trials, none of which finished", n)
		}
		out.gain = (now.Value - then.Value) / math.Abs(now.Value)
		out.error, out.later = errorOf(p, now), errorOf(p, then)
		break
	}
	return out, nil
}

func gainRow(name string, outs []gainOutcome, least float64) GainRow {
	r := GainRow{Study: name, Replays: len(outs)}
	var at, gains, errors, later []float64
	for _, out := range outs {
		if out.ended == 0 {
			continue
		}
		r.Ended++
		if out.gain < least {
			r.Right++
		}
		at, gains = append(at, float64(out.ended)), append(gains, out.gain)
		errors, later = append(errors, out.error), append(later, out.later)
	}
	if r.Ended == 0 {
		return r
	}
	share := stats.Proportion(r.Right, r.Ended, 0.95)
	r.Share, r.CI95 = share.Value, [2]float64{share.Low, share.High}
	r.At, r.Gained = stats.Median(at), stats.Mean(gains)
	r.Error, r.Later = stats.Median(errors), stats.Median(later)
	return r
}

// Write writes the report for people.
func (r GainReport) Write(w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "study", ">replays", ">ended", ">at", ">right %", "95 %", ">gained %", ">error %", ">later %")
	for _, row := range r.Rows {
		name := row.Study
		if name == "" {
			name = fmt.Sprintf("all, %s, gain %s %%", r.Method, percent(r.Least))
		}
		if row.Ended == 0 {
			t.Add(name, fmt.Sprint(row.Replays), "0", "", "", "", "", "", "")
			continue
		}
		t.Add(name, fmt.Sprint(row.Replays), fmt.Sprint(row.Ended), fmt.Sprintf("%.0f", row.At), percent(row.Share),
			percent(row.CI95[0])+" – "+percent(row.CI95[1]), fmt.Sprintf("%.2f", 100*row.Gained),
			fmt.Sprintf("%.2f", 100*row.Error), fmt.Sprintf("%.2f", 100*row.Later))
	}
	return t.Write(w)
}
