package batch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assay-run/assay"
)

// A stage is how far an attempt has come, as far as the Runner knows.
type stage uint8

const (
	wanted  stage = iota // it is to be submitted
	sending              // it is being submitted
	unknown              // it may have been submitted
	placed               // the system has taken it, or has named it
	ended                // its outcome is known, or never will be
)

// An attempt is the latest attempt at a run. The lock of the Runner guards it, but for what is written once.
type attempt struct {
	r   *Runner
	key key
	at  string // the directory of the run
	n   int    // from 1
	job assay.Job

	state    stage
	waiters  []*waiter
	number   string        // of the job, "" if it is not known
	req      Request       // zero after a restart, until it is submitted again
	walltime time.Duration // that was asked for
	cpus     int
	sent     time.Time         // when it was submitted last
	first    time.Time         // when it was first submitted; zero if that is not known
	left     time.Time         // when it left the queue, as far as it is known
	tries    int               // how often it was submitted
	again    time.Time         // not to be submitted before
	begun    bool              // a shim has claimed it
	so       assay.Measurement // the latest; the last one once it has ended
	err      error             // of Run, once it has ended
	seq      int64             // of the latest beat
	heard    time.Time         // when a beat, or the claim, was seen last; zero if never
	absent   int               // queries in a row that did not see the job
	since    time.Time         // of the first of them
	asked    bool              // the accounting was asked
	said     Job               // what the system said of it last
	ordered  string            // stop or cancel
	taking   bool              // the claim is being made here: that there is one says nothing of a shim
	axed     time.Time         // when the system was asked to end it, or is to be
	ends     time.Time         // when it was ordered
}

func (a *attempt) dir() dir { return dir(filepath.Join(a.at, fmt.Sprint(a.n))) }

// name returns the name of the job.
func (a *attempt) name() string {
	where := filepath.Base(a.at)
	return fmt.Sprintf("%s%s-%s-%d", Prefix, a.r.id, where, a.n)
}

// recall reads what the spool has of the latest attempt. It returns false if a new one is to be made: the latest was
// lost, cancelled, or never begun.
func (a *attempt) recall() bool {
	d := a.dir()
	var sp spec
	if ok, err := d.read(specFile, &sp); err != nil || !ok || sp.Name != a.name() {
		return false // it was killed before it was written: nothing was submitted
	}
	a.walltime, a.cpus = sp.Walltime, sp.CPUs
	names, err := d.names()
	if err != nil {
		return false
	}
	var c claim
	claimed, _ := d.read(claimFile, &c)
	var at submission
	_, _ = d.read(submittedFile, &at)
	a.number, a.first = at.Job, at.First
	a.leaves(c)
	var res result
	if ok, _ := d.read(resultFile, &res); ok && res.Name == sp.Name {
		a.r.mu.Lock()
		defer a.r.mu.Unlock()
		if has(names, lostFile) && res.Why == assay.WhyLimit { // it was made once more
			res.Why = assay.WhyLost
		}
		counts := res.counts()
		if counts {
			res = a.end(res)
		}
		a.book(res) // it may have ended while nobody was there
		return counts
	}
	if has(names, lostFile) {
		return false
	}
	if claimed && c.By != byShim {
		return false // taken back before it began
	}
	a.begun = has(names, claimFile)
	a.asked = has(names, askedFile)
	switch {
	case has(names, submittedFile) || a.begun:
		a.state = placed
	case has(names, scriptFile):
		a.state = unknown
	default:
		a.state = wanted // it was never submitted
	}
	a.heard = time.Now() // it has the whole time to be heard of
	return true
}

// anew makes the next attempt at the run: nothing is submitted before its directory is durable.
func (a *attempt) anew() error {
	req, err := a.r.o.Request(a.job)
	if err != nil {
		return err
	}
	*a = attempt{r: a.r, key: a.key, at: a.at, n: a.n + 1, job: a.job, req: req}
	a.walltime, a.cpus = req.Walltime, req.CPUs
	if err := os.MkdirAll(string(a.dir()), 0o700); err != nil {
		return err
	}
	d := a.dir()
	every := max(a.r.o.Every, a.job.Interval)
	job := a.job
	if !filepath.IsAbs(job.Dir) { // a job begins elsewhere
		job.Dir = filepath.Join(a.r.cwd, job.Dir)
	}
	return d.write(specFile, spec{a.name(), a.n, job, every, req.Walltime, req.CPUs})
}

// script returns the text that the system starts.
func (a *attempt) script(req Request) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	for _, line := range req.Setup {
		b.WriteString(line + "\n")
	}
	b.WriteString("exec")
	for _, arg := range append(slices.Clone(a.r.o.Shim), string(a.dir())) {
		b.WriteString(" '" + strings.ReplaceAll(arg, "'", `'\''`) + "'")
	}
	return b.String() + "\n"
}

// finish hands the outcome to all who wait. The lock is held.
func (a *attempt) finish(m assay.Measurement, err error) {
	a.so, a.err = m, err
	for _, w := range a.waiters {
		w.m, w.err = m, err
		if w.cause != nil && !errors.Is(err, assay.ErrSetup) {
			w.err = w.cause
		}
		close(w.done)
	}
	a.waiters = nil
}

// end takes a result that the shim has written, and returns it as it is to be booked. The lock is held.
func (a *attempt) end(res result) result {
	m := res.Measurement
	m.Stdout, m.Stderr = res.Stdout, res.Stderr
	if a.cpus > 0 {
		m.Metrics = withCPUHours(m, a.cpus)
	}
	var err error
	switch where := a.name(); res.Why {
	case "":
	case assay.WhyLimit:
		err = assay.ErrLimit
		if res.Reason != "" { // of the job, not of the run
			err = fmt.Errorf("%s: %w", res.Reason, assay.ErrLimit)
		}
	case assay.WhyStop:
		err = fmt.Errorf("stopped before: %w", assay.ErrLimit)
	case whyAbsent:
		err = told{res.Reason, fs.ErrNotExist}
	case whyDenied:
		err = told{res.Reason, fs.ErrPermission}
	case assay.WhySetup:
		err = fmt.Errorf("%s, on %s: %w: %s", where, res.Node, assay.ErrSetup, res.Reason)
	case assay.WhyError:
		err = fmt.Errorf("%s, on %s: %s", where, res.Node, res.Reason)
	default:
		err = fmt.Errorf("%s, on %s: %s: %w", where, res.Node, res.Reason, assay.ErrLost)
	}
	again := res.Why == assay.WhyLimit && res.Reason != "" && a.r.o.Again != nil && a.ordered == "" &&
		a.r.o.Again(a.job, a.walltime, m)
	if again {
		err = fmt.Errorf("%s was cut at %v and is run again with more: %w", a.name(), a.walltime, assay.ErrLost)
		res.Why = assay.WhyLost
	}
	a.finish(m, err)
	a.forget()
	if again {
		_ = a.dir().write(lostFile, res.Reason) // else it counts after a restart, which is as well
	}
	return res
}

// forget ends the attempt here: the next Run finds in the spool what there is of it. The lock is held.
func (a *attempt) forget() {
	a.state = ended
	if a.r.runs[a.key] == a {
		delete(a.r.runs, a.key)
	}
}

// lose gives the attempt up: nothing that it may come to counts any more. The lock is held, but not while the disk is waited
// for.
func (a *attempt) lose(why string) {
	if a.state == ended {
		return
	}
	a.aside(func(d dir) {
		_ = d.write(lostFile, why)                                          // if it cannot be written it is lost once more
		_ = os.WriteFile(d.path(orderFile), []byte(assay.WhyCancel), 0o600) // in case that it is alive
	})
	if a.state == ended { // it has come to its end meanwhile, or somebody else gave it up
		return
	}
	a.finish(a.so, fmt.Errorf("%s: %s: %w", a.name(), why, assay.ErrLost)) // before it is forgotten
	a.forget()
	a.book(result{Why: assay.WhyLost, Reason: why, Measurement: a.so})
}

// order has the attempt end: at once if it has not begun. The lock is held, but not while the disk is waited for:
// otherwise the end of a study of thousands of jobs would hold up all else.
func (a *attempt) order(keep bool) {
	if a.state == ended || a.ordered == assay.WhyCancel {
		return
	}
	a.ordered, a.ends = assay.WhyCancel, time.Now()
	if keep {
		a.ordered = assay.WhyStop
	}
	d := a.dir()
	if !a.begun {
		a.r.books.Add(1) // Close waits for what is to be cancelled and recorded
		defer a.r.books.Done()
		mine, err := a.takeBack(a.ordered)
		if a.state == ended { // it was given up meanwhile
			return
		}
		if mine && err == nil {
			if a.state != wanted {
				a.condemn()
			}
			// Who waits for it since then is to make it again: its own context says nothing.
			a.finish(assay.Measurement{}, fmt.Errorf("%s was cancelled before it began: %w", a.name(), assay.ErrLost))
			a.forget()
			if a.n > 0 && a.tries > 0 {
				a.book(result{Why: assay.WhyCancel, Reason: "it had not begun"})
			}
			return
		}
	}
	if err := os.WriteFile(d.path(orderFile), []byte(a.ordered), 0o600); err != nil {
		a.condemn() // there is no other way to tell it
	}
}

// aside does something with the directory of the attempt for which the disk is waited for. The lock is held, but not
// meanwhile: the state of the attempt may be another one afterwards.
func (a *attempt) aside(f func(dir)) {
	a.r.mu.Unlock()
	a.r.disk <- struct{}{}
	f(a.dir())
	<-a.r.disk
	a.r.mu.Lock()
}

// takeBack makes the claim of an attempt that is not known to have begun, so that it never does. mine is false if
// somebody has made it before. The lock is held, but not while the disk is waited for.
func (a *attempt) takeBack(by string) (mine bool, err error) {
	a.taking = true
	a.aside(func(d dir) { mine, err = d.take(claim{By: by, At: time.Now().UTC()}) })
	a.taking = false
	return mine, err
}

// condemn has the system end the job. The lock is held.
func (a *attempt) condemn() {
	if !a.axed.IsZero() {
		return
	}
	a.axed = time.Now()
	j := Job{ID: a.number, Name: a.name()}
	if known, ok := a.r.jobs[j.Name]; ok {
		j = known
	}
	a.r.condemns = append(a.r.condemns, j)
	nudge(a.r.axe)
}

// book records what the attempt came to, unless that is on record. The lock is held.
func (a *attempt) book(res result) {
	id := a.job.ID
	id.Attempt = a.n
	if a.r.o.Record == nil || a.job.ID.Attempt <= 0 || a.r.booked[id] || a.r.o.Booked(id) {
		return
	}
	a.r.booked[id] = true
	why := res.Why
	switch why {
	case whyTerm:
		why = assay.WhyLost
	case whyAbsent, whyDenied:
		why = assay.WhyError
	}
	m := res.Measurement
	m.Stdout, m.Stderr = nil, nil
	if a.cpus > 0 { // what it cost, whether it counts or not
		m.Metrics = withCPUHours(m, a.cpus)
	}
	e := assay.Event{Booked: &assay.Booking{
		RunID: id, Where: a.where(res), Why: why, Reason: res.Reason, Measurement: m, Queued: a.queued(m.Elapsed),
	}}
	a.r.books.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.r.ctx), time.Minute)
		defer cancel()
		_ = a.r.o.Record(ctx, e) // of a journal that is broken the loop says it
	})
}

// leaves takes note of when the attempt left the queue, by the clock of the machine that claimed it: but not before it
// was submitted, nor later than now, whatever that clock says. The lock is held.
func (a *attempt) leaves(c claim) {
	if c.By != byShim || a.first.IsZero() || !a.left.IsZero() {
		return
	}
	a.left = c.At
	if now := time.Now(); a.left.After(now) {
		a.left = now
	}
	if a.left.Before(a.first) {
		a.left = a.first
	}
}

// queued returns how long the attempt, which ran so long, waited in the queue: all the time until now
// if it never began, 0 if it is not known when it was submitted. The lock is held.
func (a *attempt) queued(ran time.Duration) time.Duration {
	if a.first.IsZero() {
		return 0
	}
	most := max(0, time.Since(a.first)-ran)
	if a.left.IsZero() {
		return most
	}
	return min(most, a.left.Sub(a.first))
}

// told is an error in the words of another machine, that matches what it was there.
type told struct {
	text string
	is   error
}

func (e told) Error() string { return e.text }
func (e told) Unwrap() error { return e.is }

// where names the machine of a result, for people.
func (a *attempt) where(res result) string {
	if res.Node == "" {
		return a.name()
	}
	return res.Node
}

// withCPUHours returns the metrics with what the run took of its processors.
func withCPUHours(m assay.Measurement, cpus int) map[string]float64 {
	metrics := make(map[string]float64, len(m.Metrics)+1)
	for name, x := range m.Metrics {
		metrics[name] = x
	}
	metrics["cpu_hours"] = m.Elapsed.Hours() * float64(cpus)
	return metrics
}
