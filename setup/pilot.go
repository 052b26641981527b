package setup

import (
	"context"
	"path/filepath"
	"time"

	"github.com/assay-run/assay/internal/batch"
)

// Pilots are workers of a fleet in one job of Slurm, one on each of its machines.
type Pilots struct {
	Nodes int
	Time  time.Duration
	Spool string   // the directory that the machines share; "" for the default
	Args  []string // of this program, by which the job begins the workers
	Extra []string // of sbatch
}

// Submit submits the job and returns its number, and the file with the output of the workers.
func (p Pilots) Submit(ctx context.Context) (id, output string, err error) {
	system, err := batch.NewSlurm()
	if err != nil {
		return "", "", err
	}
	spool, err := spoolAt(p.Spool)
	if err != nil {
		return "", "", err
	}
	program, err := shimIn(spool)
	if err != nil {
		return "", "", spoolError(spool, err)
	}
	return system.SubmitPilot(ctx, batch.Pilot{
		Nodes: p.Nodes, Time: p.Time, Dir: filepath.Join(spool, "workers"), Argv: append([]string{program}, p.Args...),
		Extra: p.Extra,
	})
}
