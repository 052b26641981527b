package bench

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/study"
)

// AnswerOptions select the searches whose answers are judged. All are required unless stated.
type AnswerOptions struct {
	Problems []Problem
	Tables   []*table.Table // of the problems
	Players  []Player
	Budgets  []float64 // in median run times
	Noise    []Noise   // of tables without repeated runs; the others have their own
	// Run is how long a median run takes, for a method's own time: of a budget of ten runs, a tenth of Run costs a
	// hundredth.
	Run      time.Duration
	Seeds    int
	First    uint64 // optional: the first seed
	Workers  int    // searches at once; 0 means 1
	Progress func(done, total int)
}

// A Player is a way to get an answer.
type Player struct {
	Name   string
	method Method // a whole study, unless choose is set
	choose func(ctx context.Context, worker int, p *Problem, seed uint64) (chooser, error)
	close  func()
}

// Players returns the players of a comma-separated list: methods as a user of `assay tune` has them; random, which
// recommends the best of runs by chance; random-top3, which runs the best three again, five times each; and perfect,
// which knows the best configuration. peers are NAME=COMMAND, a program that searches.
func Players(text string, peers []string) ([]Player, error) {
	var all []Player
	for name := range Items(text) {
		switch name {
		case "random":
			all = append(all, randomPlayer(name, 0, 0))
		case "random-top3":
			all = append(all, randomPlayer(name, 3, 5))
		case "perfect":
			all = append(all, Player{Name: name, method: perfect()})
		default:
			ms, err := Methods(name)
			if err != nil {
				return nil, err
			}
			all = append(all, Player{Name: name, method: ms[0]})
		}
	}
	for _, text := range peers {
		p, err := newPeer(text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// randomPlayer runs configurations by chance, and the best top of them again so often.
func randomPlayer(name string, top, again int) Player {
	return Player{Name: name, choose: func(_ context.Context, _ int, p *Problem, seed uint64) (chooser, error) {
		return newRandom(p, seed, top, again), nil
	}}
}

// An answered is the outcome of one search.
type answered struct {
	regret float64 // of the true value of the answer, as a share of the optimum
	judged bool    // the first configuration has a true value, so a verdict is right or not
	shown  bool    // the verdict is that the answer is better than the first configuration
	right  bool    // see AnswerRow.Right
	untrue bool    // shown, and not better
	bound  bool    // the gain has an interval
	covers bool    // which covers the true one
	used   float64 // share of the budget that runs took
	again  float64 // and that repeated runs took
	runs   int     // of the search
	ownMS  float64 // own time for each of these, in ms
}

// Answers lets each player search each problem at each noise with each seed and budget, and judges its answer.
func Answers(ctx context.Context, o AnswerOptions) (AnswerReport, error) {
	if len(o.Problems) == 0 || len(o.Tables) != len(o.Problems) || len(o.Players)*len(o.Budgets)*len(o.Noise) == 0 ||
		o.Seeds < 1 || o.Run <= 0 {
		return AnswerReport{}, fmt.Errorf("%d problems, %d tables, %d players, %d budgets, %d noises, %d seeds, a run of %v",
			len(o.Problems), len(o.Tables), len(o.Players), len(o.Budgets), len(o.Noise), o.Seeds, o.Run)
	}
	o.First = max(1, o.First)
	for _, player := range o.Players {
		if player.close != nil {
			defer player.close()
		}
	}
	var surfaces []surface
	for i := range o.Problems {
		s, err := o.surfaces(i)
		if err != nil {
			return AnswerReport{}, fmt.Errorf("%s: %w", o.Problems[i].Name, err)
		}
		surfaces = append(surfaces, s...)
	}
	outs := make([][]answered, len(surfaces)*o.Seeds) // by player and budget
	pool := Pool{Workers: o.Workers, Progress: o.Progress}
	err := pool.Each(ctx, len(outs), func(ctx context.Context, worker, i int) (err error) {
		s, seed := &surfaces[i/o.Seeds], o.First+uint64(i%o.Seeds)
		if outs[i], err = o.answers(ctx, worker, s, seed); err != nil {
			return fmt.Errorf("%s, seed %d: %w", s.problem.Name, seed, err)
		}
		return nil
	})
	if err != nil {
		return AnswerReport{}, err
	}
	return o.report(surfaces, outs), nil
}

// A surface is a problem with one noise.
type surface struct {
	problem *Problem
	table   *table.Table
	noise   Noise
	stream  int
}

// fewestRepeats is how many recorded runs of its configurations, in the median, are the noise of a table.
const fewestRepeats = 3

// surfaces returns the problem of a table with each noise. Its true values are the medians of the recorded runs.
func (o *AnswerOptions) surfaces(of int) ([]surface, error) {
	p, t := o.Problems[of], o.Tables[of]
	if p.front != nil {
		return nil, assay.Errorf(assay.ClassUsage, "an answer has one objective")
	}
	p.True = medians(t, p.Goal)
	if err := p.findOptimum(); err != nil {
		return nil, err
	}
	var counts []float64
	for _, c := range t.Configs {
		counts = append(counts, float64(len(t.Measurements(c))))
	}
	if stats.Median(counts) >= fewestRepeats {
		return []surface{{&p, t, Own, 0}}, nil
	}
	var all []surface
	for i, noise := range o.Noise {
		all = append(all, surface{&p, t, noise, i})
	}
	return all, nil
}

// medians returns the true values of a table whose runs differ: the medians of its good runs. Like [Truth], it
// knows which configurations are feasible.
func medians(t *table.Table, goal assay.Goal) func(assay.Config) (value float64, feasible bool) {
	truth := Truth(t, goal)
	known := map[string]float64{}
	for _, c := range t.Configs {
		var values []float64
		for _, m := range t.Measurements(c) {
			if v, err := goal.Value(m); err == nil && m.ExitCode == 0 {
				values = append(values, v)
			}
		}
		if _, ok := truth(c); ok && len(values) > 0 {
			known[c.Key()] = stats.Median(values)
		}
	}
	return func(c assay.Config) (float64, bool) {
		v, ok := known[c.Key()]
		return v, ok
	}
}

// answers lets each player search a surface with a seed and each budget.
func (o *AnswerOptions) answers(
	ctx context.Context, worker int, s *surface, seed uint64,
) (outs []answered, err error) {
	runs := s.noise.Runs(s.table, seed, s.stream)
	rate := float64(s.problem.Median) / float64(o.Run)
	for i := range o.Players {
		player := &o.Players[i]
		for _, x := range o.Budgets {
			p := *s.problem
			p.Time = time.Duration(x * float64(p.Median))
			out, err := player.search(ctx, worker, &p, runs, seed, rate)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", player.Name, err)
			}
			outs = append(outs, out)
		}
	}
	return outs, nil
}

// search plays one search and judges its answer.
func (pl *Player) search(
	ctx context.Context, worker int, p *Problem, runs *table.Table, seed uint64, rate float64,
) (answered, error) {
	if pl.choose == nil {
		meter := new(Meter)
		res, err := Whole(ctx, p, pl.method, runs, seed, meter, rate)
		return p.answerOf(&res, meter), err
	}
	c, err := pl.choose(ctx, worker, p, seed)
	if err != nil {
		return answered{}, err
	}
	out, err := choose(ctx, p, c, runs, rate)
	return answered{
		regret: p.regret(out.answer), used: out.all.Seconds() / p.Time.Seconds(),
		again: out.again.Seconds() / p.Time.Seconds(), runs: out.runs,
		ownMS: out.own.Seconds() * 1e3 / float64(max(1, out.runs)),
	}, err
}

// regret returns how far the true value of a configuration is from the optimum. Without one, or if it is infeasible, it
// is the regret of the worst configuration.
func (p *Problem) regret(c assay.Config) float64 {
	value := p.Worst
	if c != nil {
		if v, ok := p.True(c); ok {
			value = v
		}
	}
	return math.Abs(value-p.Optimum) / math.Abs(p.Optimum)
}

// answerOf judges the answer of a study.
func (p *Problem) answerOf(res *study.Result, meter *Meter) answered {
	var best assay.Config
	if res.Found {
		best = res.Best.Config
	}
	n := len(res.Trials)
	searched, again := ranFor(res.Trials), ranFor(res.Races)+ranFor(res.Checks)
	out := answered{
		regret: p.regret(best), used: (searched + again).Seconds() / p.Time.Seconds(),
		again: again.Seconds() / p.Time.Seconds(), runs: n,
		ownMS: (res.Overhead + meter.Deciding).Seconds() * 1e3 / float64(max(1, n)),
	}
	if res.First.Config == nil {
		return out
	}
	first, ok := p.True(res.First.Config)
	if out.judged = ok; !ok || best == nil {
		return out
	}
	value, _ := p.True(best)
	verdict, compared := res.Verdict(p.Goal)
	if compared {
		want := stats.Less
		if p.Goal.Maximize {
			want = stats.More
		}
		out.shown = verdict.Verdict == want
		change := (p.Goal.Show(value) - p.Goal.Show(first)) / math.Abs(p.Goal.Show(first))
		out.bound = verdict.Low > -1 && !math.IsInf(verdict.High, 0)
		out.covers = out.bound && verdict.Low <= change && change <= verdict.High
	}
	out.right, out.untrue = rightOf(out.shown, first, value)
	return out
}

// rightOf reports whether a verdict is right, by the true values of the first configuration and of the answer, which
// are to be minimized, and whether it shows a gain that is not real.
func rightOf(shown bool, first, answer float64) (right, untrue bool) {
	if shown {
		return answer < first, answer >= first
	}
	return (first-answer)/math.Abs(first) < study.Little, false
}

// ranFor returns how long runs took together.
func ranFor(runs []assay.Trial) (sum time.Duration) {
	for _, t := range runs {
		sum += t.Measurement.Elapsed
	}
	return sum
}
