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
	"github.com/assay-run/assay/internal/ledger"
)

// An attempt is the latest attempt at a run. The lock of the Runner guards it, except for fields that are written once.
//
// It is open until it is submitted, and unclear if it may have been submitted. A placed attempt was accepted or listed
// by the system.
type attempt struct {
	ledger.Attempt
	run ledger.Run[*attempt] // has no other attempt: those before are in the spool
	r   *Runner
	key key
	at  string // the directory of the run
	job assay.Job

	number   string        // of the job, "" if it is not known
	req      Request       // zero after a restart, until it is submitted again
	walltime time.Duration // that was asked for
	cpus     int
	sent     time.Time // when it was submitted last
	first    time.Time // when it was first submitted; zero if that is not known
	left     time.Time // when it left the queue, as far as it is known
	tries    int       // how often it was submitted
	again    time.Time // not to be submitted before
	begun    bool      // a shim has claimed it
	err      error     // of Run, once it has ended
	seq      int64     // of the latest beat
	absent   int       // queries in a row that did not see the job
	since    time.Time // of the first of them
	asked    bool      // the accounting was asked
	said     Job       // the last state from the system
	taking   bool      // the claim is being made here: a claim is no sign of a shim
	axed     time.Time // when the system was asked to end it, or is to be
	ends     time.Time // when it was ordered
	// recorded is closed when its booking is on record; nil if it has none in this session.
	recorded chan struct{}
}

// newAttempt returns an attempt of a run.
func newAttempt(r *Runner, k key, at string, n int, job assay.Job) *attempt {
	a := &attempt{Attempt: ledger.Attempt{N: n}, r: r, key: k, at: at, job: job}
	a.run.Attempts = []*attempt{a}
	return a
}

func (a *attempt) dir() dir { return dir(filepath.Join(a.at, fmt.Sprint(a.N))) }

// name returns the name of the job.
func (a *attempt) name() string {
	where := filepath.Base(a.at)
	return fmt.Sprintf("%s%s-%s-%d", Prefix, a.r.id, where, a.N)
}

// recall reads the latest attempt from the spool. It returns false if a new attempt is needed: the latest was lost,
// cancelled, or never begun.
func (a *attempt) recall() bool {
	d := a.dir()
	var sp assignment
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
		return a.recallResult(res, has(names, lostFile))
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
		a.State = ledger.Placed
	case has(names, scriptFile):
		a.State = ledger.Unclear
	default:
		a.State = ledger.Open // it was never submitted
	}
	a.Heard = time.Now() // the full time until the first sign of it
	return true
}

// recallResult takes the result of an attempt that has ended, maybe between two sessions, and reports whether it
// counts.
func (a *attempt) recallResult(res result, lost bool) bool {
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	if lost && res.Why == assay.WhyLimit { // it was made once more
		res.Why = assay.WhyLost
	}
	a.State = ledger.Placed
	if res.counts() {
		a.end(res)
		return true
	}
	if b, ok := a.booking(res); ok {
		a.record(b)
	}
	return false
}

// anew makes the next attempt at the run: nothing is submitted before its directory is durable.
func (a *attempt) anew() error {
	req, err := a.r.o.Request(a.job)
	if err != nil {
		return err
	}
	*a = *newAttempt(a.r, a.key, a.at, a.N+1, a.job)
	a.run.Attempts[0], a.req = a, req
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
	return d.write(specFile, assignment{a.name(), a.N, job, every, req.Walltime, req.CPUs})
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
	a.Latest, a.err = m, err
	for _, c := range slices.Clone(a.run.Calls) {
		if c.Cause != nil && !errors.Is(err, assay.ErrSetup) {
			a.run.Finish(c, m, c.Cause)
		} else {
			a.run.Finish(c, m, err)
		}
	}
}

// end takes in a result that the shim has written. The lock is held.
func (a *attempt) end(res result) {
	m := res.Measurement
	m.Stdout, m.Stderr = res.Stdout, res.Stderr
	if a.cpus > 0 {
		m.Metrics = withCPUHours(m, a.cpus)
	}
	var err error
	switch res.Why {
	case whyAbsent:
		err = told{res.Reason, fs.ErrNotExist}
	case whyDenied:
		err = told{res.Reason, fs.ErrPermission}
	default:
		err = a.outcome(res)
	}
	again := res.Why == assay.WhyLimit && res.Reason != "" && a.r.o.Again != nil && a.run.Want == "" &&
		a.r.o.Again(a.job, a.walltime, m)
	if again {
		err = fmt.Errorf("%s was cut at %v and is run again with more: %w", a.name(), a.walltime, assay.ErrLost)
		res.Why = assay.WhyLost
	}
	a.close(res, m, err)
	if again {
		_ = a.dir().write(lostFile, res.Reason) // else it counts after a restart, which is as well
	}
}

// outcome returns the error of a result that another machine has written.
func (a *attempt) outcome(res result) error {
	ended := ledger.Attempt{Why: res.word(), Reason: res.Reason}
	who := fmt.Sprintf("%s, on %s", a.name(), res.Node)
	if ended.Why != assay.WhySetup && ended.Why != assay.WhyError && res.Reason != "" {
		who += ": " + res.Reason
	}
	return ended.Err(who)
}

// close ends the attempt: its outcome goes to all who wait, and on record. The lock is held.
func (a *attempt) close(res result, m assay.Measurement, err error) {
	b, ok := a.booking(res)
	a.run.End(a, b, m)
	a.finish(m, err) // before it is forgotten
	a.forget()
	if ok {
		a.record(b)
	}
}

// forget ends the attempt here: the next Run reads it from the spool. The lock is held.
func (a *attempt) forget() {
	a.State = ledger.Ended
	if a.r.runs[a.key] == a {
		delete(a.r.runs, a.key)
	}
}

// lose gives the attempt up: a later result of it does not count. The lock is held, but not while waiting for the disk.
func (a *attempt) lose(why string) {
	if a.State == ledger.Ended {
		return
	}
	a.aside(func(d dir) {
		_ = d.write(lostFile, why)                                        // if it cannot be written it is lost once more
		_ = os.WriteFile(d.path(orderFile), []byte(ledger.Cancel), 0o600) // in case that it is alive
	})
	if a.State == ledger.Ended { // it has ended meanwhile, or was given up elsewhere
		return
	}
	if a.State == ledger.Open && a.tries > 0 {
		a.State = ledger.Unclear // a job of it may be there
	}
	res := result{Why: assay.WhyLost, Reason: why, Measurement: a.Latest}
	a.close(res, a.Latest, fmt.Errorf("%s: %s: %w", a.name(), why, assay.ErrLost))
}

// order has the attempt end, of which was was wanted before: at once if it has not begun. The lock is held, but not
// while the disk is waited for: otherwise the end of a study of thousands of jobs would hold up all else.
func (a *attempt) order(was string) {
	if a.State == ledger.Ended || was == ledger.Cancel {
		return
	}
	a.ends = time.Now()
	d := a.dir()
	if !a.begun {
		a.r.books.Add(1) // Close waits for its cancellation and record
		defer a.r.books.Done()
		mine, err := a.takeBack(a.run.Want)
		if a.State == ledger.Ended { // it was given up meanwhile
			return
		}
		if mine && err == nil {
			a.cancel()
			return
		}
	}
	if err := os.WriteFile(d.path(orderFile), []byte(a.run.Want), 0o600); err != nil {
		a.condemn() // its shim cannot be reached otherwise
	}
}

// cancel ends an attempt that has not begun, and never will. The lock is held.
func (a *attempt) cancel() {
	if a.State != ledger.Open {
		a.condemn()
	}
	// A caller that has started to wait since then must retry: its own context has not ended.
	err := fmt.Errorf("%s was cancelled before it began: %w", a.name(), assay.ErrLost)
	if a.tries > 0 || a.State >= ledger.Unclear {
		a.close(result{Why: assay.WhyCancel, Reason: "it had not begun"}, assay.Measurement{}, err)
		return
	}
	a.finish(assay.Measurement{}, err) // the record does not have it
	a.forget()
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

// takeBack makes the claim of an attempt that is not known to have begun, so that it never begins. mine is false if
// another claim exists. The lock is held, but not while waiting for the disk.
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

// booking returns how the end of the attempt is booked, and whether it is to be. The lock is held.
func (a *attempt) booking(res result) (assay.AttemptEnd, bool) {
	m := res.Measurement
	if a.cpus > 0 { // its cost, whether it counts or not
		m.Metrics = withCPUHours(m, a.cpus)
	}
	a.Worker = a.where(res)
	return a.run.Book(a, assay.AttemptEnd{
		RunID: a.id(), Why: res.word(), Reason: res.Reason, Measurement: m, Queued: a.queued(m.Elapsed),
	}, time.Now(), 0)
}

// id returns the name of the attempt on record.
func (a *attempt) id() assay.RunID {
	id := a.job.ID
	id.Attempt = a.N
	return id
}

// record has a booking recorded that is not on record yet. The lock is held.
func (a *attempt) record(b assay.AttemptEnd) {
	if a.r.o.Record == nil || a.job.ID.Attempt <= 0 || a.r.booked[b.RunID] || a.r.o.Booked(b.RunID) {
		return
	}
	a.r.booked[b.RunID] = true
	done := make(chan struct{})
	a.recorded = done
	a.r.books.Go(func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.r.ctx), time.Minute)
		defer cancel()
		_ = a.r.o.Record(ctx, assay.Event{Booked: &b}) // the loop reports a broken journal
	})
}

// leaves records when the attempt left the queue, by the clock of the machine that claimed it, but not before its
// submission nor later than now. The lock is held.
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

// queued returns how long the attempt, which ran for the time ran, waited in the queue: all the time until now if it
// never began, 0 if the time of its submission is unknown. The lock is held.
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

// told is an error with the text of an error on another machine. It matches the same sentinel errors.
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

// withCPUHours returns the metrics with the processor time of the run.
func withCPUHours(m assay.Measurement, cpus int) map[string]float64 {
	metrics := make(map[string]float64, len(m.Metrics)+1)
	for name, x := range m.Metrics {
		metrics[name] = x
	}
	metrics["cpu_hours"] = m.Elapsed.Hours() * float64(cpus)
	return metrics
}
