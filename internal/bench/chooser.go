package bench

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/spec"
)

// A chooser is a way to search without a study around it: it chooses each run and, at the end, the answer.
type chooser interface {
	// next returns the configuration to run, or nil to end the search. left is the rest of the time budget.
	next(left time.Duration) (assay.Config, error)
	// add takes in a run of c. ok is false if the run failed or broke a limit.
	add(c assay.Config, value float64, ok bool, took time.Duration) error
	// answer returns the configuration that is recommended, or nil.
	answer() assay.Config
}

// mostRuns is the most runs of a chooser, since recorded failures may take no time.
const mostRuns = 1000

// chosen is the search of a chooser within a time budget.
type chosen struct {
	answer     assay.Config // nil for none
	runs       int
	all, again time.Duration // in runs, and of this in runs of configurations that had run
	own        time.Duration // of the chooser, in real time
}

// choose plays a chooser on a table of runs within p.Time. A run that the rest of the budget does not suffice for is
// paid for and not known. The chooser's own time costs rate of the clock's.
func choose(ctx context.Context, p *Problem, c chooser, runs *table.Table, rate float64) (out chosen, err error) {
	clock := &table.SimClock{}
	clock.Enter()
	defer clock.Leave()
	runner, began := table.NewReplay(runs, clock, spec.Grows), clock.Now()
	repeats := map[string]int{}
	took := func(t0 time.Time) error {
		d := time.Since(t0)
		out.own += d
		return clock.Sleep(ctx, 0, time.Duration(rate*float64(d)))
	}
	for out.runs < mostRuns {
		t0 := time.Now()
		config, err := c.next(p.Time - clock.Now().Sub(began))
		if err == nil {
			err = took(t0)
		}
		left := p.Time - clock.Now().Sub(began)
		if err != nil {
			return out, err
		}
		if config == nil || left <= 0 {
			break
		}
		key := config.Key()
		start := clock.Now()
		m, err := runner.Run(ctx, assay.Job{
			ID: assay.RunID{Trial: int64(out.runs + 1), Repeat: repeats[key]}, Config: config, Limit: left,
		}, nil)
		length := clock.Now().Sub(start)
		out.all += length
		if repeats[key] > 0 {
			out.again += length
		}
		if errors.Is(err, assay.ErrLimit) {
			break
		}
		if err != nil {
			return out, err
		}
		repeats[key]++
		out.runs++
		value, ok := judged(p.Goal, m)
		t0 = time.Now()
		if err := c.add(config, value, ok, length); err != nil {
			return out, err
		}
		if err := took(t0); err != nil {
			return out, err
		}
	}
	out.answer = c.answer()
	return out, nil
}

// judged returns the value of a run, and whether it ended well and within the limits.
func judged(g assay.Goal, m assay.Measurement) (float64, bool) {
	value, err := g.Value(m)
	if err != nil || m.ExitCode != 0 {
		return 0, false
	}
	broken, err := g.Broken(m)
	return value, err == nil && broken == ""
}

// random runs configurations by chance, each once, and recommends the best run. With top it keeps time back to run that
// many of the best ones again, again times each, in turn; the time of these runs, but at most half of the
// budget. It recommends the least median of all their runs.
type random struct {
	order      []assay.Config
	budget     time.Duration
	top, again int

	tried  []triedConfig
	rounds []int // of tried: the runs that are still to be repeated, in order
	ran    time.Duration
	runs   int
}

type triedConfig struct {
	config assay.Config
	values []float64
}

func newRandom(p *Problem, seed uint64, top, again int) chooser {
	r := &random{order: slices.Collect(p.Space.All()), budget: p.Time, top: top, again: again}
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(r.order), func(i, j int) { r.order[i], r.order[j] = r.order[j], r.order[i] })
	return r
}

func (r *random) next(left time.Duration) (assay.Config, error) {
	if r.rounds == nil && (len(r.order) == 0 || left <= r.reserve()) {
		r.rounds = []int{}
		slices.SortStableFunc(r.tried, func(a, b triedConfig) int { return cmp.Compare(a.values[0], b.values[0]) })
		for range r.again {
			for i := range min(r.top, len(r.tried)) {
				r.rounds = append(r.rounds, i)
			}
		}
	}
	if r.rounds == nil {
		c := r.order[0]
		r.order = r.order[1:]
		return c, nil
	}
	if len(r.rounds) == 0 {
		return nil, nil
	}
	return r.tried[r.rounds[0]].config, nil
}

// reserve returns the time that is kept back for repeated runs.
func (r *random) reserve() time.Duration {
	if r.runs == 0 {
		return 0
	}
	return min(time.Duration(r.top*r.again)*r.ran/time.Duration(r.runs), r.budget/2)
}

func (r *random) add(c assay.Config, value float64, ok bool, took time.Duration) error {
	r.ran, r.runs = r.ran+took, r.runs+1
	if r.rounds == nil {
		if ok {
			r.tried = append(r.tried, triedConfig{c, []float64{value}})
		}
		return nil
	}
	i := r.rounds[0]
	r.rounds = r.rounds[1:]
	if ok {
		r.tried[i].values = append(r.tried[i].values, value)
	}
	return nil
}

func (r *random) answer() assay.Config {
	var best *triedConfig
	for i := range r.tried {
		t := &r.tried[i]
		if best == nil || len(t.values) > 1 && len(best.values) == 1 ||
			(len(t.values) > 1) == (len(best.values) > 1) && stats.Median(t.values) < stats.Median(best.values) {
			best = t
		}
	}
	if best == nil {
		return nil
	}
	return best.config
}
