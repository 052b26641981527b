package table

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// A Replay is a Runner that plays recorded runs back in the simulated time of a
// [SimClock]. It ignores everything of a job but Config, Interval and Limit.
//
// The k-th run of a configuration, counted from 0, is its recorded repetition
// k mod n. A run takes its recorded elapsed time; 1 s if the table has no
// elapsed times at all. While it goes on, elapsed and every other metric that
// grows do so in proportion to the time; metrics that do not grow are known at
// its end only. A recorded failure exits with code 1 after its recorded elapsed
// time, or at once if that is not recorded.
//
// Run is called by an actor of the clock, with a context that carries the
// actor's order ([WithOrder]): then everything that happens, the choice of
// repetitions included, depends on nothing but the calls. It is safe for
// concurrent use.
type Replay struct {
	table *Table
	clock *SimClock
	grows []bool // by index in table.Metrics

	mu   sync.Mutex
	runs []int // runs so far, by index in table.Configs
}

var _ assay.Runner = (*Replay)(nil)

// NewReplay returns a Runner of the recorded runs of a table. grows says which
// metrics can only grow during a run; elapsed always does. A nil clock stands
// for a new one.
func NewReplay(table *Table, clock *SimClock, grows func(metric string) bool) *Replay {
	if clock == nil {
		clock = new(SimClock)
	}
	r := &Replay{table: table, clock: clock, runs: make([]int, len(table.Configs)), grows: make([]bool, len(table.Metrics))}
	for k, name := range table.Metrics {
		r.grows[k] = name == "elapsed" || grows != nil && grows(name)
	}
	return r
}

// Clock returns the clock of the simulation.
func (r *Replay) Clock() *SimClock { return r.clock }

// Skip says that n runs of a configuration have taken place earlier, as those
// of a study that is resumed: the next one is the n-th from here. It returns an
// error if the configuration was not recorded.
func (r *Replay) Skip(c assay.Config, n int) error {
	i, err := r.find(c)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs[i] += n
	return nil
}

func (r *Replay) find(c assay.Config) (int, error) {
	i, ok := r.table.index[c.Key()]
	if !ok {
		return 0, fmt.Errorf("no recorded run of configuration %v", c)
	}
	return i, nil
}

// next returns the recorded run that the next run of a configuration plays.
func (r *Replay) next(i int) recordedRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.runs[i]
	r.runs[i]++
	return r.table.runs[i][k%len(r.table.runs[i])]
}

// Run implements [assay.Runner]. It returns an error if the configuration was
// not recorded.
func (r *Replay) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	i, err := r.find(job.Config)
	if err != nil {
		return assay.Measurement{}, err
	}
	// Of the actors that begin at one moment, the first in order draws first.
	if err := r.clock.Sleep(ctx, 0); err != nil {
		return assay.Measurement{}, err
	}
	run := r.next(i)
	length := r.table.duration(run)
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
		if err := r.clock.Sleep(ctx, pause); err != nil {
			return r.soFar(run, min(r.clock.Now().Sub(begin), end), length), err
		}
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
// end.
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
		m.Metrics["elapsed"] = at.Seconds() // to the nanosecond, as the clock says
	}
	return m
}
