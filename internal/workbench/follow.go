package workbench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// A follower has attributes follow their traces while a program runs.
type follower struct {
	traces map[string]assay.Trace
	// set brings levels into force: all that vary, of which those named in changed are others than
	// before.
	set func(levels map[string]float64, changed []string) error

	mu      sync.Mutex
	began   time.Time // when the program started; zero until then
	levels  map[string]float64
	since   time.Time
	courses map[string]course
	failed  error
}

// newFollower returns a follower of traces, of which the first levels are in force already.
func newFollower(traces map[string]assay.Trace, set func(map[string]float64, []string) error) *follower {
	f := &follower{traces: traces, set: set, since: time.Now(), courses: map[string]course{}}
	f.levels, _ = f.at(0)
	return f
}

// at returns the levels of all traces at a time since the start of the program, and how long they hold; 0 for ever.
func (f *follower) at(since time.Duration) (levels map[string]float64, hold time.Duration) {
	levels = map[string]float64{}
	for name, t := range f.traces {
		level, until := t.Level(since)
		levels[name] = level
		if until > since && (hold == 0 || until-since < hold) {
			hold = until - since
		}
	}
	return levels, hold
}

// follow sets the levels as the traces have them, from the start of the program, which is now, until ctx is
// done, or no trace changes any more, or a level cannot be set.
func (f *follower) follow(ctx context.Context) {
	f.mu.Lock()
	f.began = time.Now()
	f.mu.Unlock()
	for {
		since := time.Since(f.began)
		levels, hold := f.at(since)
		if err := f.change(levels); err != nil || hold == 0 {
			return
		}
		timer := time.NewTimer(since + hold - time.Since(f.began)) // to set levels takes time
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// change brings levels into force and notes from when on.
func (f *follower) change(levels map[string]float64) error {
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		if levels[name] != f.levels[name] {
			changed = append(changed, name)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	before := time.Now()
	err := f.set(levels, changed)
	after := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.failed = fmt.Errorf("after %v, %v: %w", before.Sub(f.began).Round(time.Millisecond), changed, err)
		return f.failed
	}
	for name, was := range f.levels {
		is := levels[name]
		f.courses[name] = append(f.courses[name], span{f.since, before, was, was},
			span{before, after, min(was, is), max(was, is)})
	}
	f.levels, f.since = levels, after
	return nil
}

// been returns the levels in force so far, and an error if a level could not be set. It is called after
// follow has returned.
func (f *follower) been() (map[string]course, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]course{}
	for name, level := range f.levels {
		out[name] = append(slices.Clip(f.courses[name]), span{f.since, time.Now(), level, level})
	}
	return out, f.failed
}

// means returns the time-weighted means of the levels over so much time since the start of the program.
func (f *follower) means(elapsed time.Duration) map[string]float64 {
	courses, _ := f.been()
	out := map[string]float64{}
	for name, c := range courses {
		out[name] = c.within(f.began, f.began.Add(elapsed)).mean()
	}
	return out
}

// adjust sets the levels of the traces, each by its own mechanism.
func (r *benchRun) adjust(levels map[string]float64, changed []string) error {
	if r.bench.deaf {
		return nil
	}
	staged := false
	for _, name := range changed {
		switch {
		case name == CPU && r.quota:
			if err := r.program.reset(cpuSetting(levels[CPU])); err != nil {
				return err
			}
		case name == CPU:
			r.setDuty(levels[CPU] / float64(r.cpus))
		case name == Disk && r.storage != nil:
			if err := r.storage.reset(diskSetting(r.device, levels[Disk])); err != nil {
				return err
			}
		default:
			staged = true
		}
	}
	if !staged {
		return nil
	}
	now := stageLevels{RTT: r.want.rtt, Bandwidth: r.want.bandwidth}
	if x, ok := levels[RTT]; ok {
		now.RTT = seconds(x)
	}
	if x, ok := levels[Bandwidth]; ok {
		now.Bandwidth = x
	}
	if x, ok := levels[Disk]; ok && r.storage == nil {
		now.Rate = x
	}
	_, err := r.stage.ask(stageAsk{Do: askSet, Levels: &now}, stageTime)
	return err
}
