package run

import (
	"context"
	"time"

	"github.com/assay-run/assay"
)

// This file has the goroutines beside the goroutine of Run: the context, the limit, the upkeep and the observer.

// upkeepEvery is how often a run is looked after while it goes on: orphans that have ended are waited for before they
// fill the table of processes, and energy counters are read before they wrap around.
const upkeepEvery = time.Second

// watch ends the run when ctx is done or its limit has passed, and observes it. The function that it returns stops all
// that and returns when observe cannot be called any more. The limit counts from the start of the program, not from
// this call. An interrupt that has begun is not waited for by stop: p.ended is for that. The upkeep begins only after
// its first period. A short run therefore starts no goroutine for it.
func (p *process) watch(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (stop func()) {
	unwatch := context.AfterFunc(ctx, func() { p.interrupt(context.Cause(ctx), job.Grace) })
	var limit *time.Timer
	if job.Limit > 0 {
		left := max(0, job.Limit-time.Since(p.start))
		limit = time.AfterFunc(left, func() { p.interrupt(assay.ErrLimit, job.Grace) })
	}
	quit, upkeep := make(chan struct{}), make(chan struct{})
	timer := time.AfterFunc(p.local.upkeep, func() { defer close(upkeep); p.upkeep(quit) })
	observed := make(chan struct{})
	if observe != nil && job.Interval > 0 {
		go func() { defer close(observed); p.observe(job, observe, quit) }()
	} else {
		close(observed)
	}
	return func() {
		unwatch()
		if limit != nil {
			limit.Stop()
		}
		close(quit)
		if !timer.Stop() {
			<-upkeep
		}
		<-observed
	}
}

// upkeep looks after a run until quit is closed.
// upkeep runs on a goroutine of its own. It reaps for all runs of the process, as family does.
func (p *process) upkeep(quit chan struct{}) {
	tick := time.NewTicker(p.local.upkeep)
	defer tick.Stop()
	for {
		if zombies() {
			family.reap(p)
		}
		p.meter.read()
		select {
		case <-quit:
			return
		case <-tick.C:
		}
	}
}

// observe calls f with the measurement so far every interval until quit is closed or the run is being ended. The state
// is looked at after the measurement was taken: a measurement of a run that ended meanwhile is dropped. A tick that
// comes while f still runs is lost, not queued: a slow f is called less often.
func (p *process) observe(job assay.Job, f func(assay.Measurement), quit chan struct{}) {
	tick := time.NewTicker(job.Interval)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		m := p.soFar()
		if job.Live {
			m.Stdout, m.Stderr = p.out.soFar(), p.err.soFar()
		}
		p.mu.Lock()
		over := p.exited || p.cause != nil
		p.mu.Unlock()
		if over {
			return
		}
		f(m)
	}
}
