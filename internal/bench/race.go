package bench

import (
	"context"
	"hash/fnv"
	"math"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// near is the share by which an answer may be worse than the optimum and still count as found.
const near = 0.02

// A Raced compares a method with a race (see package race) and the same without it, seed
// by seed at the same total time, on one study or, where Study is empty, on all.
type Raced struct {
	Study  string   `json:"study,omitempty"`
	Method string   `json:"method"`
	Budget BudgetAt `json:"budget"`
	// How much worse the answer with the race is: of log(with/without). Below 0 it is better.
	Mean   float64    `json:"difference_mean"`
	CI95   [2]float64 `json:"difference_ci95"`
	Median float64    `json:"difference_median"`
	Better int        `json:"better"` // pairs in which the race has the better answer
	Equal  int        `json:"equal"`
	Worse  int        `json:"worse"`
	// Shares of the seeds whose answer is within 2 % of the optimum.
	Near    float64 `json:"within_2_percent"`
	Without float64 `json:"within_2_percent_without"`
}

// racers returns each method twice: as it is, and with a race.
func racers(ms []Method) []Method {
	var all []Method
	for _, m := range ms {
		all = append(all, m)
		m.Name += "+race"
		all = append(all, m)
	}
	return all
}

// races reports whether a method, by its index, is the second of a pair of [racers].
func (o *Options) races(method int) bool { return o.Race > 0 && method%2 == 1 }

// raced compares the methods, which [racers] has paired.
func (o *Options) raced(cells map[key][]outcome) []Raced {
	var all []Raced
	for mi := 0; mi < len(o.Methods); mi += 2 {
		for bi, b := range o.Budgets {
			var plain, race []outcome
			var rows []Raced
			for pi := range o.Problems {
				a, c := cells[key{pi, mi, bi}], cells[key{pi, mi + 1, bi}]
				plain, race = append(plain, a...), append(race, c...)
				r := compared(a, c)
				at := b.At(&o.Problems[pi])
				r.Study, r.Method = o.Problems[pi].Name, o.Methods[mi].Name
				r.Budget = BudgetAt{Kind: b.Kind, Value: b.Value, Seconds: at.Time.Seconds()}
				rows = append(rows, r)
			}
			r := compared(plain, race)
			r.Method = o.Methods[mi].Name
			r.Budget = BudgetAt{Kind: b.Kind, Value: b.Value, Seconds: b.Time.Seconds()}
			all = append(append(all, rows...), r)
		}
	}
	return all
}

func compared(plain, race []outcome) (r Raced) {
	var d []float64
	n := float64(len(plain))
	for i, p := range plain {
		x := race[i].logRatio - p.logRatio
		d = append(d, x)
		switch {
		case x < 0:
			r.Better++
		case x == 0:
			r.Equal++
		default:
			r.Worse++
		}
		if p.re <= near {
			r.Without++
		}
		if race[i].re <= near {
			r.Near++
		}
	}
	r.Near, r.Without = r.Near/n, r.Without/n
	r.Mean, r.CI95, r.Median = stats.Mean(d), Interval(d), stats.Median(d)
	return r
}

// answered is the outcome of a study that ended with this answer.
func (p *Problem) answered(o outcome, best assay.Trial, found bool) outcome {
	value := p.Worst
	if found {
		if v, ok := p.True(best.Config); ok {
			value = v
		}
	}
	o.re = math.Abs(value-p.Optimum) / math.Abs(p.Optimum)
	o.logRatio = math.Log1p(o.re)
	return o
}

// Shuffled returns a Runner of recorded runs whose first run of a configuration is any of its
// repetitions, another with another seed.
func Shuffled(r assay.Runner, seed uint64) assay.Runner { return shuffled{r, seed} }

type shuffled struct {
	assay.Runner
	seed uint64
}

// Run implements assay.Runner.
func (s shuffled) Run(ctx context.Context, job assay.Job, see func(assay.Measurement)) (assay.Measurement, error) {
	h := fnv.New64a()
	var seed [8]byte
	for i := range seed {
		seed[i] = byte(s.seed >> (8 * i))
	}
	h.Write(seed[:])
	h.Write([]byte(job.Config.Key()))
	job.ID.Repeat += int(h.Sum64() >> 33)
	return s.Runner.Run(ctx, job, see)
}
