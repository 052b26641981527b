package study

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// An Asider is a Runner that can quarantine a worker.
type Asider interface {
	// SetAside lets a worker take nothing more until a person resumes it. reason is for people.
	SetAside(where, class, reason string)
}

// lookForDrift sets a worker aside that has drifted.
func (l *loop) lookForDrift(ctx context.Context) error {
	d, ok := l.judge.drifted()
	if !ok || detached(ctx) {
		return nil
	}
	d.Reason = driftText(d, l.Goal.Metric, l.clock.Now())
	if err := l.record.keep(ctx, assay.Event{Drifted: &d}); err != nil {
		return err
	}
	l.race.spoil(l.judge.setAside(d))
	if a, ok := l.Runner.(Asider); ok {
		a.SetAside(d.Worker, d.MachineClass, d.Reason)
	}
	l.judge.choose()
	l.notify(false)
	return nil
}

// of reports whether a run is one that a drift has not count.
func of(d assay.Drift, t assay.Trial) bool {
	return t.Measurement.Worker == d.Worker && t.Measurement.MachineClass == d.MachineClass && !t.Started.Before(d.Since)
}

// driftText describes a drift in words. The time is local to the machine that the study runs on.
func driftText(d assay.Drift, metric string, now time.Time) string {
	since := d.Since.Local()
	when := since.Format("15:04")
	if y, m, day := now.Local().Date(); since.Year() != y || since.Month() != m || since.Day() != day {
		when = since.Format("2 January 15:04")
	}
	share := fmt.Sprintf("%.0f %%", 100*math.Abs(d.Ratio-1))
	if metric == "elapsed" {
		how := "slower"
		if d.Ratio < 1 {
			how = "faster"
		}
		return fmt.Sprintf("%s is %s %s than its class since %s", d.Worker, share, how, when)
	}
	how := "above"
	if d.Ratio < 1 {
		how = "below"
	}
	return fmt.Sprintf("the %s that %s measures is %s %s its class since %s", metric, d.Worker, share,
		how, when)
}

// setAside has the runs of a worker that drifted not count, and returns the trials that are to be run again.
func (j *judge) setAside(d assay.Drift) (again []assay.Proposal) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for k := range j.known() {
		if k.purpose == searched && slices.Contains(d.Trials, k.ID) {
			again = append(again, k.Proposal)
		}
		if of(d, k.Trial) {
			j.purposes[k.number] = spoilt
		}
	}
	j.model.SetAside(d.Worker, d.MachineClass, d.Since)
	j.version = j.model.Version()
	j.recount()
	return again
}

// drifted returns a drift that the runs show, and which trials do not count because of it.
func (b *blocked) drifted() (d assay.Drift, ok bool) {
	found, ok := b.model.Drift()
	if !ok {
		return d, false
	}
	d = assay.Drift{Worker: found.Worker, MachineClass: found.MachineClass, Ratio: found.Ratio, Since: found.Since}
	for k := range b.known() {
		if k.purpose == searched && of(d, k.Trial) && k.State != assay.Failed {
			d.Trials = append(d.Trials, k.ID)
		}
	}
	return d, true
}
