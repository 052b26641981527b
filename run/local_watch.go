package run

import (
	"context"
	"time"

	"github.com/assay-run/assay"
)

// upkeepEvery is how often a run is looked after while it goes on: orphans that
// have ended are waited for before they fill the table of processes, and energy
// counters are read before they wrap around.
const upkeepEvery = time.Second

// watch ends the run when ctx is done or its limit has passed, and observes it.
// The function that it returns stops all that and returns when observe cannot be
// called any more.
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
		go func() { defer close(observed); p.observe(job.Interval, observe, quit) }()
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

// observe calls f with the measurement so far every interval until quit is
// closed or the run is being ended.
func (p *process) observe(interval time.Duration, f func(assay.Measurement), quit chan struct{}) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		m := p.soFar()
		p.mu.Lock()
		over := p.exited || p.cause != nil
		p.mu.Unlock()
		if over {
			return
		}
		f(m)
	}
}
