package queue

import (
	"context"
	"errors"
	"time"

	"github.com/assay-run/assay"
)

// A driver is the loop of a study on one server: it asks, runs, stops and tells.
type driver struct {
	s      *simServer
	study  *simStudy
	log    *simLog
	runner *Runner

	// Guarded by the world.
	asked   map[int64]bool
	over    map[int64]bool
	running map[int64]context.CancelCauseFunc
}

// stopped is the cause with which a stopping rule ends a run.
type stopped struct{}

func (stopped) Error() string { return "stopped" }
func (stopped) Stops() bool   { return true }

// drive runs the study until all of its trials are over.
func (d *driver) drive(past []assay.Event) {
	w, ctx := d.s.w, d.s.ctx
	w.diceOf("drive", d.study.name, d.s.epoch).part(ctx)
	w.mu.Lock()
	d.asked, d.over, d.running = map[int64]bool{}, map[int64]bool{}, map[int64]context.CancelCauseFunc{}
	for _, e := range past {
		switch {
		case e.Asked != nil:
			d.asked[e.Asked.ID] = true
		case e.Told != nil:
			d.over[e.Told.ID] = true
		case e.Withdrawn != nil:
			d.over[e.Withdrawn.Trial] = true
			if d.study.withdrawn[e.Withdrawn.Trial].IsZero() {
				d.study.withdrawn[e.Withdrawn.Trial] = time.Now()
			}
		}
	}
	w.mu.Unlock()
	ended := make(chan struct{}, len(d.study.plans))
	n := 0
	for i := range d.study.plans {
		trial := int64(i + 1)
		if w.isOver(d, trial) {
			continue
		}
		if n >= d.study.parallel {
			<-ended
			n--
		}
		w.mu.Lock()
		asked := d.asked[trial]
		w.mu.Unlock()
		if !asked && d.log.Append(ctx, assay.Event{Asked: &assay.Proposal{ID: trial}}) != nil {
			break
		}
		n++
		w.calls.Go(func() {
			d.trial(trial)
			ended <- struct{}{}
		})
		if ctx.Err() != nil {
			break
		}
	}
	for range n {
		<-ended
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() == nil && len(d.over) == len(d.study.plans) {
		d.study.over = true
	}
}

func (w *world) isOver(d *driver, trial int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return d.over[trial]
}

// withdraw takes a trial that was asked back: it is on record first.
func (d *driver) withdraw(trial int64) {
	w := d.s.w
	w.mu.Lock()
	end := d.running[trial]
	w.mu.Unlock()
	if end == nil || d.log.Append(d.s.ctx, assay.Event{Withdrawn: &assay.Withdrawal{Trial: trial}}) != nil ||
		d.s.ctx.Err() != nil { // the server has let go of its studies: nobody is told that it is done
		return
	}
	w.mu.Lock()
	d.study.withdrawn[trial] = time.Now()
	d.over[trial] = true
	w.mu.Unlock()
	end(context.Canceled)
}

// trial runs one trial, with as many attempts as it takes.
func (d *driver) trial(trial int64) {
	w := d.s.w
	ctx, cancel := context.WithCancelCause(d.s.ctx)
	defer cancel(nil)
	w.mu.Lock()
	d.running[trial] = cancel
	p := d.study.plans[trial-1]
	w.mu.Unlock()
	observe := func(m assay.Measurement) {
		if p.stop > 0 && m.Elapsed >= p.stop {
			cancel(stopped{})
		}
	}
	dice := w.diceOf("trial", d.study.name, d.s.epoch, trial)
	for attempt := 1; ; attempt++ {
		dice.part(ctx)
		id := assay.RunID{Study: d.study.name, Trial: trial, Attempt: attempt}
		job := assay.Job{ID: id, Interval: 5 * time.Second, Limit: p.limit}
		m, err := d.runner.Run(ctx, job, observe)
		dice.part(context.Background())
		lost := err != nil && !errors.Is(err, assay.ErrLimit) && !errors.Is(err, stopped{})
		if lost && ctx.Err() == nil {
			if attempt > 100 {
				w.failf("trial %d of %s: %v", trial, d.study.name, err)
				return
			}
			continue
		}
		if lost || w.isOver(d, trial) || d.s.ctx.Err() != nil {
			return
		}
		t := assay.Trial{Proposal: assay.Proposal{ID: trial}, State: assay.Done, Measurement: m}
		if err := d.log.Append(context.Background(), assay.Event{Told: &t}); err == nil {
			w.mu.Lock()
			d.over[trial] = true
			delete(d.running, trial)
			w.mu.Unlock()
		}
		return
	}
}
