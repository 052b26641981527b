package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay/internal/ledger"
)

// reap has the system end the condemned jobs, several at once.
func (r *Runner) reap() {
	for wait := time.Duration(0); ; {
		if wait > 0 {
			if !r.sleep(wait, nil) {
				return
			}
		} else if !r.sleep(r.o.Poll, r.axe) {
			return
		}
		if !r.sleep(min(r.o.Look, 200*time.Millisecond), nil) { // to collect more jobs
			return
		}
		r.mu.Lock()
		jobs := slices.Clone(r.condemns)
		r.mu.Unlock()
		if len(jobs) == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), callLimit)
		err := r.o.System.Cancel(ctx, jobs...)
		cancel()
		if err != nil {
			wait = min(max(2*wait, r.o.Poll), slowest)
			r.once(fmt.Sprintf("jobs are not cancelled yet: %v", err))
			continue
		}
		wait = 0
		r.mu.Lock()
		r.condemns = slices.Delete(r.condemns, 0, len(jobs))
		r.mu.Unlock()
	}
}

// lower reduces the time limit of waiting jobs that need less by now: the largest group of jobs with the same new time.
// The others follow after the next query.
func (r *Runner) lower() {
	group, to := r.lowerable()
	if len(group) == 0 {
		return
	}
	r.mu.Lock()
	jobs := make([]Job, 0, len(group))
	for _, a := range group {
		jobs = append(jobs, a.said)
	}
	r.mu.Unlock()
	var wg sync.WaitGroup
	errs := make([]error, len(group))
	for i, a := range group { // the shim's limit changes before Slurm's: it ends the run in time
		wg.Go(func() {
			r.disk <- struct{}{}
			defer func() { <-r.disk }()
			errs[i] = a.dir().write(lowerFile, to)
		})
	}
	wg.Wait()
	ctx, cancel := context.WithTimeout(r.ctx, callLimit)
	defer cancel()
	if errors.Join(errs...) != nil {
		return // it is tried again
	}
	n, _ := r.o.System.Lower(ctx, to, jobs...) // the others are tried again
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range group[:n] {
		a.walltime = to
	}
}

// lowerable returns attempts whose jobs wait and are to have the same time, which is less than they have, and that
// time.
func (r *Runner) lowerable() (group []*attempt, to time.Duration) {
	groups := map[time.Duration][]*attempt{}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.runs {
		if a.State != ledger.Placed || a.begun || a.said.State != Waiting || a.walltime == 0 || a.run.Want != "" {
			continue
		}
		req, err := r.o.Request(a.job)
		if err != nil || req.Walltime <= 0 || req.Walltime > a.walltime*9/10 {
			continue
		}
		t := req.Walltime
		groups[t] = append(groups[t], a)
		if n := len(groups[t]) - len(groups[to]); n > 0 || n == 0 && t < to {
			to = t
		}
	}
	group = groups[to]
	slices.SortFunc(group, func(a, b *attempt) int {
		if before(a.key, b.key) {
			return -1
		}
		return 1
	})
	return group[:min(len(group), lowered)], to
}

// lowered is how many jobs are lowered after one query, at most.
const lowered = 500
