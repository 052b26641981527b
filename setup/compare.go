package setup

import (
	"context"
	"fmt"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/run"
	"github.com/assay-run/assay/spec"
)

// A Comparison is benchmarks whose commands are ready to run on this machine. It must be
// closed.
type Comparison struct {
	assay.Runner
	Jobs  [][]assay.Job // of the commands of each benchmark, in their order
	close func() error
}

// Close closes the runner.
func (c *Comparison) Close() error { return c.close() }

// Compare opens a comparison that has been checked. Its jobs are the same as in studies of these commands, with
// hooks and metrics. An error is of the class usage if a program is missing. warn is called for problems that do not
// end the comparison.
func Compare(ctx context.Context, def *spec.Comparison, warn func(string)) (*Comparison, error) {
	c := &Comparison{}
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
