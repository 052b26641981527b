package table

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/assay-run/assay"
)

// A Replay is a Runner that plays recorded runs back in the simulated time of a
// [SimClock]. It ignores everything of a job but ID, Config, Interval and Limit.
//
// A run plays the recorded repetition Job.ID.Repeat mod n of its configuration.
// It takes its recorded elapsed time; 1 s if the table has no elapsed times at
// all. While it goes on, elapsed and every other metric that grows do so in
// proportion to the time; metrics that do not grow are known at its end only. A
// recorded failure exits with code 1 after its recorded elapsed time, or at once
// if that is not recorded.
//
// Run is called by an actor of the clock, whose order is Job.ID.Trial: then
// everything that happens depends on nothing but the calls. It is safe for
// concurrent use.
type Replay struct {
	table *Table
	clock *SimClock
	grows []bool // by index in table.Metrics
}

var _ assay.Runner = (*Replay)(nil)

// NewReplay returns a Runner of the recorded runs of a table. grows reports which metrics can only grow during a run;
// elapsed always does. A nil clock stands for a new one.
func NewReplay(table *Table, clock *SimClock, grows func(metric string) bool) *Replay {
	if clock == nil {
		clock = new(SimClock)
	}
	r := &Replay{table: table, clock: clock, grows: make([]bool, len(table.Metrics))}
	for k, name := range table.Metrics {
		r.grows[k] = name == "elapsed" || grows != nil && grows(name)
	}
	return r
}

// Clock returns the clock of the simulation.
func (r *Replay) Clock() *SimClock { return r.clock }

// find returns the recorded run that a job plays.
func (r *Replay) find(job assay.Job) (run recordedRun, err error) {
	i, ok := r.table.index.find(r.table.Configs, job.Config)
	if !ok {
		return run, fmt.Errorf("no recorded run of configuration %v", job.Config)
	}
	if job.ID.Repeat < 0 {
		return run, fmt.Errorf("no recorded run %d", job.ID.Repeat)
	}
	return r.table.runs.at(i, job.ID.Repeat%r.table.runs.count(i)), nil
}

// Run implements [assay.Runner]. It returns an error if the configuration was
// not recorded.
func (r *Replay) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	run, err := r.find(job)
	if err != nil {
		return assay.Measurement{}, err
	}
	// Among runs that begin at one moment and take no time, the first in order ends first.
	if err := r.clock.Sleep(ctx, job.ID.Trial, 0); err != nil {
		return assay.Measurement{}, err
	}
	length := r.table.duration(run)
	// A limit that is as long as the run does not cut it off.
	end, cause := length, error(nil)
	if job.Limit > 0 && job.Limit < length {
		end, cause = job.Limit, assay.ErrLimit
	}
	begin := r.clock.Now()
	for {
		now := r.clock.Now().Sub(begin)
		if now >= end {
			break
		}
		pause := end - now
		if observe != nil && job.Interval > 0 {
			pause = min(pause, job.Interval)
		}
		if err := r.clock.Sleep(ctx, job.ID.Trial, pause); err != nil {
			return r.soFar(run, min(r.clock.Now().Sub(begin), end), length), err
		}
		// At its end a run is not observed: its measurement is returned instead.
		if now += pause; now < end {
			observe(r.soFar(run, now, length))
			if ctx.Err() != nil { // the observer decided to end the run
				return r.soFar(run, now, length), context.Cause(ctx)
			}
		}
	}
	if cause != nil {
		return r.soFar(run, end, length), cause
	}
	return r.table.measurement(run), nil
}

// soFar returns the measurement of a run of that length at a moment before its
// end. A run of length 0 has measured nothing yet. A recorded failure grows as any other
// run does: that it fails is known at its end.
func (r *Replay) soFar(run recordedRun, at, length time.Duration) assay.Measurement {
	m := assay.Measurement{Elapsed: at, Metrics: make(map[string]float64, len(run.values))}
	share := 0.0
	if length > 0 {
		share = float64(at) / float64(length)
	}
	for k, x := range run.values {
		if r.grows[k] && !math.IsNaN(x) {
			m.Metrics[r.table.Metrics[k]] = x * share
		}
	}
	if r.table.elapsed >= 0 {
		m.Metrics["elapsed"] = at.Seconds() // to the nanosecond, as on the clock
	}
	return m
}
