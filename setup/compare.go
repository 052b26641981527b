package setup

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/abtest"
	"github.com/assay-run/assay/run"
	"github.com/assay-run/assay/spec"
)

// A Comparison is benchmarks whose commands are ready to run on this machine. It must be
// closed.
type Comparison struct {
	assay.Runner
	Jobs  [][]assay.Job // of the commands of each benchmark, in their order
	def   *spec.Comparison
	close func() error
}

// Close closes the runner.
func (c *Comparison) Close() error { return c.close() }

// Compare opens a comparison that has been checked. Its jobs are the same as in studies of these commands, with
// hooks and metrics. An error is of the class usage if a program is missing. warn is called for problems that do not
// end the comparison.
func Compare(ctx context.Context, def *spec.Comparison, warn func(string)) (*Comparison, error) {
	c := &Comparison{def: def}
	var most *Problem // the problem with the most needs of the runner
	for _, b := range def.Benchmarks {
		var jobs []assay.Job
		for _, v := range b.Commands {
			p := &Problem{Definition: v.Study, opts: Options{Pin: true, Warn: warn}}
			var err error
			if p.Program, err = v.Study.Program(); err != nil {
				return nil, usageError(err)
			}
			j, err := p.job(assay.Config{})
			if err != nil {
				return nil, err
			}
			j.Interval = 0 // no observer
			if !strings.Contains(j.Argv[0], assay.SetupDir) {
				if _, err := run.LookPath(j.Argv[0], j.Dir); err != nil {
					return nil, usageError(fmt.Errorf("%s%w", v.Study.At("command"), err))
				}
			}
			if most == nil || j.Setup != nil {
				most = p
			}
			jobs = append(jobs, j)
		}
		c.Jobs = append(c.Jobs, jobs)
	}
	o, err := openLocal(ctx, most, "compare")
	if err != nil {
		return nil, err
	}
	c.Runner, c.close = o.Runner, o.close
	return c, nil
}

// Gate returns the gate of a comparison, or nil. An error is of the class usage.
func Gate(def *spec.Comparison) (*abtest.Gate, error) {
	if def.FailIf == "" {
		return nil, nil
	}
	gate, err := abtest.ParseGate(def.FailIf)
	if err != nil {
		return nil, usagef("%s%v", cmp.Or(def.At("fail_if"), "--fail-if "), err)
	}
	return gate, nil
}

// defaultPairs is the most pairs of a comparison without a gate.
const defaultPairs = 40

// Duels runs the benchmarks one after the other, as duels with the gate, the warm-up, the seed and the channel of with.
// Each may take its share of the rest of the budget. progress is called with a line for people after each round. The
// results that exist are returned with an error, too.
func (c *Comparison) Duels(
	ctx context.Context, with abtest.Duel, progress func(string),
) (all []abtest.Result, err error) {
	with.Runner, with.Pairs = c, c.def.Pairs
	if with.Pairs == 0 && c.def.Budget == 0 && with.Gate == nil {
		with.Pairs = defaultPairs
	}
	for _, b := range c.def.Benchmarks {
		with.Among += len(b.Commands) - 1
	}
	began := time.Now()
	for i, b := range c.def.Benchmarks {
		goal, d := b.Commands[0].Study.Objective, with
		d.Name, d.Metric, d.Maximize = b.Name, cmp.Or(goal.Metric, "elapsed"), goal.Maximize
		d.Unit, d.Seed = b.Commands[0].Study.Unit(d.Metric), with.Seed+uint64(i)
		if c.def.Budget > 0 {
			d.Budget = max((c.def.Budget-time.Since(began))/time.Duration(len(c.def.Benchmarks)-i), 1)
		}
		for k, v := range b.Commands {
			d.Commands = append(d.Commands, abtest.Command{Name: v.Name, Job: c.Jobs[i][k]})
		}
		d.Notify = func(rounds, asked int) { progress(d.Progress(rounds, asked)) }
		results, err := d.Run(ctx)
		if err != nil {
			if b.Name != "" {
				err = fmt.Errorf("benchmark %s: %w", b.Name, err)
			}
			return all, err
		}
		all = append(all, results...)
		select {
		case <-with.Drain:
			return all, nil
		default:
		}
	}
	return all, nil
}
