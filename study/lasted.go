package study

import (
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// lasted holds how long runs took, kept as they end: the rest of the budget is asked for at every step.
type lasted struct {
	roll *assay.ConfigIndex
	// once is how long the run of a configuration took, by its number; 0 if it has none, or less than 0 if it has
	// several, which are in runs, the shortest first.
	once []time.Duration
	runs map[int][]time.Duration
	// any is whether there is a run.
	any bool
	// beside is the time of a trial that is done besides its run, such as the start of a service: the least of all,
	// since one may have waited for a setup. It is known once runs has an entry.
	beside time.Duration
}

// trial takes in a trial of the search.
func (d *lasted) trial(t assay.Trial) {
	if t.State != assay.Done {
		return
	}
	beside := max(0, t.Ended.Sub(t.Started)-t.Measurement.Elapsed)
	if !d.any || beside < d.beside {
		d.beside = beside
	}
	d.run(t)
}

// run takes in a run, which may be one that was made again, however it ended.
func (d *lasted) run(t assay.Trial) {
	if d.roll == nil {
		d.roll = &assay.ConfigIndex{}
	}
	d.any = true
	took := max(t.Measurement.Elapsed, 1)
	once := slot(&d.once, d.roll, t.Config)
	if *once == 0 {
		*once = took
		return
	}
	n, _ := d.roll.Find(t.Config)
	if d.runs == nil {
		d.runs = map[int][]time.Duration{}
	}
	if *once > 0 {
		d.runs[n], *once = []time.Duration{*once}, -1
	}
	i, _ := slices.BinarySearch(d.runs[n], took)
	d.runs[n] = slices.Insert(d.runs[n], i, took)
}

// typical returns how long a run of a configuration is to be expected to take: the upper quartile of
// its runs, which of few is the longest. The shortest is partly luck, and of many the longest is too.
func (d *lasted) typical(c assay.Config) time.Duration {
	once := at(d.once, d.roll, c)
	if once >= 0 {
		return once
	}
	n, _ := d.roll.Find(c)
	runs := d.runs[n]
	return runs[len(runs)*3/4]
}

// least returns the least time of a trial besides its run.
func (d *lasted) least() time.Duration { return d.beside }
