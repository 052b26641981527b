package bench

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
)

// An AnswerReport is the result of [Answers], in the shape of `assay bench answer --json`.
type AnswerReport struct {
	Studies []string    `json:"studies"`
	Seeds   int         `json:"seeds"`
	RunS    float64     `json:"run_s"` // that a median run takes, for methods' own time
	Rows    []AnswerRow `json:"rows"`
}

// An AnswerRow is one method with one budget on one study with one noise, or on all of them where both are empty.
//
// The regret is how far the true median of the recommended configuration is above the least of the table, as a share of
// it; of the worst configuration if a search recommends none. Over several studies a figure is the geometric mean of
// 1 + the figures of each study and noise, minus 1. Intervals are of 95 %, over seeds.
type AnswerRow struct {
	Study  string  `json:"study,omitempty"`
	Noise  string  `json:"noise,omitempty"`
	Method string  `json:"method"`
	Budget float64 `json:"budget_x"`

	Mean   Figure `json:"regret_mean"`
	Median Figure `json:"regret_median"`
	P90    Figure `json:"regret_p90"`
	// Right is the share of right verdicts on the recommended configuration and the first one, of the studies whose first
	// configuration has a true value: a gain is shown and the true median is better, or none is shown and the true
	// median is less than 1 % better. A study that recommends none is not right. Untrue is the share that shows a gain
	// where the true median is not better. Methods without a verdict have neither.
	Right  *Figure `json:"right,omitempty"`
	Untrue *Figure `json:"untrue,omitempty"`
	// Covered is the share of the intervals of the gain that cover the true one; Bound is the share of the studies that
	// have an interval.
	Covered *Figure `json:"covered,omitempty"`
	Bound   *Figure `json:"bound,omitempty"`
	Used    float64 `json:"used_mean"` // share of the budget that all runs took
	Again   Figure  `json:"again"`     // share of the budget that repeated runs took
	Trials  float64 `json:"trials_mean"`
	OwnMS   Figure  `json:"own_ms_per_trial"` // real time: it depends on the machine

	BySeed []float64 `json:"regret_by_seed,omitempty"` // of one study with one noise
}

// A Figure is a value with its interval.
type Figure struct {
	Value float64    `json:"value"`
	CI95  [2]float64 `json:"ci95"`
}

func figureOf(e stats.Estimate) Figure {
	if math.IsInf(e.Low, 0) || math.IsInf(e.High, 0) {
		return Figure{e.Value, [2]float64{e.Value, e.Value}}
	}
	return Figure{e.Value, [2]float64{e.Low, e.High}}
}

// report sums up the searches, which are by surface and seed, then by player and budget.
func (o *AnswerOptions) report(surfaces []surface, outs [][]answered) AnswerReport {
	r := AnswerReport{Seeds: o.Seeds, RunS: o.Run.Seconds()}
	for i := range o.Problems {
		r.Studies = append(r.Studies, o.Problems[i].Name)
	}
	cells := func(of []int) (all [][][]answered) {
		for _, i := range of {
			all = append(all, outs[i*o.Seeds:(i+1)*o.Seeds])
		}
		return all
	}
	var every []int
	var names []string
	byNoise := map[string][]int{}
	for i, s := range surfaces {
		every = append(every, i)
		if byNoise[s.noise.Name] == nil {
			names = append(names, s.noise.Name)
		}
		byNoise[s.noise.Name] = append(byNoise[s.noise.Name], i)
		r.Rows = append(r.Rows, o.rows(s.problem.Name, s.noise.Name, cells([]int{i}))...)
	}
	for _, name := range names {
		r.Rows = append(r.Rows, o.rows("", name, cells(byNoise[name]))...)
	}
	r.Rows = append(r.Rows, o.rows("", "", cells(every))...)
	return r
}

// rows sums up cells: surfaces, with the searches of each seed.
func (o *AnswerOptions) rows(study, noise string, cells [][][]answered) (rows []AnswerRow) {
	for bi, x := range o.Budgets {
		for pi, player := range o.Players {
			picked := make([][]answered, len(cells))
			for i, bySeed := range cells {
				for _, outs := range bySeed {
					picked[i] = append(picked[i], outs[pi*len(o.Budgets)+bi])
				}
			}
			row := AnswerRow{Study: study, Noise: noise, Method: player.Name, Budget: x}
			row.regrets(picked)
			row.costs(picked)
			if player.choose == nil {
				row.verdicts(slices.Concat(picked...))
			}
			if study != "" {
				for _, out := range picked[0] {
					row.BySeed = append(row.BySeed, out.regret)
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// over returns a statistic of the seeds with its interval: the bootstrap draws seeds, each for all cells.
func over(seeds int, statistic func(seeds []int) float64) Figure {
	numbers, at := make([]float64, seeds), make([]int, seeds)
	for i := range numbers {
		numbers[i] = float64(i)
	}
	return figureOf(stats.Bootstrap(numbers, func(drawn []float64) float64 {
		for i, x := range drawn {
			at[i] = int(x)
		}
		return statistic(at)
	}, stats.BootstrapOptions{Seed: 1, Resamples: 500}))
}

func (r *AnswerRow) regrets(cells [][]answered) {
	values := make([]float64, len(cells[0]))
	figure := func(of func([]float64) float64) Figure {
		return over(len(values), func(seeds []int) float64 {
			sum := 0.0
			for _, cell := range cells {
				for i, seed := range seeds {
					values[i] = cell[seed].regret
				}
				sum += math.Log1p(of(values))
			}
			return math.Expm1(sum / float64(len(cells)))
		})
	}
	r.Mean, r.Median = figure(stats.Mean), figure(stats.Median)
	r.P90 = figure(func(x []float64) float64 { return stats.Quantile(x, 0.9) })
}

func (r *AnswerRow) costs(cells [][]answered) {
	n := len(cells[0])
	mean := func(of func(answered) float64) Figure {
		return over(n, func(seeds []int) float64 {
			sum := 0.0
			for _, cell := range cells {
				for _, seed := range seeds {
					sum += of(cell[seed])
				}
			}
			return sum / float64(len(cells)*len(seeds))
		})
	}
	r.Again = mean(func(a answered) float64 { return a.again })
	r.OwnMS = mean(func(a answered) float64 { return a.ownMS })
	for _, a := range slices.Concat(cells...) {
		r.Used += a.used / float64(n*len(cells))
		r.Trials += float64(a.runs) / float64(n*len(cells))
	}
}

func (r *AnswerRow) verdicts(all []answered) {
	judged, right, untrue, bound, covers := 0, 0, 0, 0, 0
	for _, a := range all {
		for _, c := range []struct {
			is bool
			n  *int
		}{{a.judged, &judged}, {a.right, &right}, {a.untrue, &untrue}, {a.bound, &bound}, {a.covers, &covers}} {
			if c.is {
				*c.n++
			}
		}
	}
	share := func(k, n int) *Figure {
		if n == 0 {
			return nil
		}
		f := figureOf(stats.Proportion(k, n, 0.95))
		return &f
	}
	r.Right, r.Untrue, r.Bound = share(right, judged), share(untrue, judged), share(bound, judged)
	r.Covered = share(covers, bound)
}

// Write writes the rows of all studies for people.
func (r AnswerReport) Write(w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "noise", ">budget", "method", ">regret %", "95 %", ">median %", "95 %", ">p90 %", "95 %",
		">right %", "95 %", ">untrue %", ">covered %", "95 %", ">of", ">again %", "95 %", ">trials", ">own ms")
	for _, row := range r.Rows {
		if row.Study != "" {
			continue
		}
		noise := row.Noise
		if noise == "" {
			noise = "all"
		}
		t.Add(noise, fmt.Sprintf("%gx", row.Budget), row.Method, row.Mean.value(), row.Mean.interval(), row.Median.value(),
			row.Median.interval(), row.P90.value(), row.P90.interval(), row.Right.value(), row.Right.interval(),
			row.Untrue.value(), row.Covered.value(), row.Covered.interval(), row.Bound.value(), row.Again.value(),
			row.Again.interval(), fmt.Sprintf("%.1f", row.Trials), fmt.Sprintf("%.1f", row.OwnMS.Value))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s, %s; a median run takes %s\n", report.Count(len(r.Studies), "study", "studies"),
		report.Count(r.Seeds, "seed", "seeds"), report.Seconds(r.RunS))
	return err
}

// value returns a share in per cent, "" for none.
func (f *Figure) value() string {
	if f == nil {
		return ""
	}
	return percent(f.Value)
}

func (f *Figure) interval() string {
	if f == nil {
		return ""
	}
	return percent(f.CI95[0]) + " – " + percent(f.CI95[1])
}
