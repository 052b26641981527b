package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

const (
	// callLimit is how long one call of a System may take.
	callLimit = time.Minute
	// slowest is the longest time between two queries of a system that fails.
	slowest = 5 * time.Minute
	// many is how many jobs make queries dear: they are made half as often then.
	many = 1000
	// tries is how often an attempt is submitted that the system does not know.
	tries = 3
)

// sleep waits, and returns false if the Runner was closed meanwhile.
func (r *Runner) sleep(d time.Duration, early <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-early:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// submit submits the waiting attempts, one after the other.
func (r *Runner) submit() {
	for {
		a := r.next()
		if a == nil {
			if !r.sleep(r.o.Poll, r.kick) {
				return
			}
			continue
		}
		r.send(a)
		if !r.sleep(r.o.Gap, nil) {
			return
		}
	}
}

// next returns the attempt to submit next, nil if no attempt waits.
func (r *Runner) next() (next *attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for _, a := range r.runs {
		if a.State != ledger.Open || a.again.After(now) {
			continue
		}
		if next == nil || a.job.Priority > next.job.Priority ||
			a.job.Priority == next.job.Priority && before(a.key, next.key) {
			next = a
		}
	}
	if next != nil {
		next.State = ledger.Placing
	}
	return next
}

func before(a, b key) bool {
	if a.trial != b.trial {
		return a.trial < b.trial
	}
	return a.repeat < b.repeat
}

// send submits an attempt, which is on record before.
func (r *Runner) send(a *attempt) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), callLimit)
	defer cancel()
	req, err := r.prepared(ctx, a)
	if err != nil {
		r.o.Warn(fmt.Sprintf("%s is not submitted yet: %v", a.name(), err))
		r.mu.Lock()
		defer r.mu.Unlock()
		if a.State == ledger.Placing {
			a.State, a.again = ledger.Open, time.Now().Add(r.o.Poll)
		}
		return
	}
	r.mu.Lock()
	if a.first.IsZero() {
		a.first = time.Now().UTC()
	}
	r.mu.Unlock()
	id, err := r.o.System.Submit(ctx, req)
	r.sent(a, req, id, err)
}

// prepared writes the script of an attempt, and has it recorded.
func (r *Runner) prepared(ctx context.Context, a *attempt) (Request, error) {
	req, d := a.req, a.dir()
	if req.Name == "" {
		var err error
		if req, err = r.o.Request(a.job); err != nil {
			return req, err
		}
		if a.walltime > 0 {
			req.Walltime = min(req.Walltime, a.walltime) // its result is judged by this time
		}
	}
	req.Name, req.Script, req.Output = a.name(), d.path(scriptFile), d.path(printedFile)
	if req.Dir == "" {
		req.Dir = string(d)
	}
	if err := os.WriteFile(req.Script, []byte(a.script(req)), 0o700); err != nil {
		return req, err
	}
	if r.o.Record == nil || a.job.ID.Attempt <= 0 || a.tries > 0 {
		return req, nil
	}
	return req, r.o.Record(ctx, assay.Event{Started: &assay.Start{RunID: a.id(), Worker: req.Name}})
}

// sent records the outcome of a submission.
func (r *Runner) sent(a *attempt, req Request, id string, err error) {
	if err == nil {
		// For people, and it saves a query after a restart. No other writer comes first.
		_ = a.dir().write(submittedFile, submission{id, a.first})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a.tries++
	a.req, a.sent, a.absent = req, time.Now(), 0
	if a.State == ledger.Ended { // taken back meanwhile: it would do nothing
		if err == nil {
			a.number, a.axed = id, time.Time{}
			a.condemn()
		}
		return
	}
	switch {
	case err == nil:
		a.State, a.number = ledger.Placed, id
	case errors.Is(err, ErrRefused):
		r.refuse(a, err)
	case errors.Is(err, ErrFull):
		a.tries--
		a.State, a.again = ledger.Open, time.Now().Add(r.o.Poll)
		r.warn(fmt.Sprintf("%v; it is tried again", err))
	default:
		a.State = ledger.Unclear
		r.warn(fmt.Sprintf("it is not known whether jobs were submitted: %v; they are looked for", err))
	}
}

// warn warns once of each text. The lock is held.
func (r *Runner) warn(text string) {
	if !r.said[text] {
		r.said[text] = true
		go r.o.Warn(text)
	}
}

// refuse ends an attempt that the system will never take. The lock is held.
func (r *Runner) refuse(a *attempt, err error) {
	if mine, e := a.dir().take(claim{By: "refused", At: time.Now().UTC()}); !mine || e != nil {
		a.State = ledger.Unclear // it has begun all the same
		return
	}
	res := result{Why: assay.WhySetup, Reason: err.Error()}
	if a.req.Varies {
		a.close(res, assay.Measurement{Failure: assay.NewFailure("run", err.Error(), nil, nil)}, nil)
		return
	}
	a.close(res, assay.Measurement{}, fmt.Errorf("%w: %w", assay.ErrSetup, err))
}

// poll asks the system for all jobs, again and again.
func (r *Runner) poll() {
	wait := r.o.Poll
	for r.sleep(wait, nil) {
		if !r.open() {
			wait = r.o.Poll
			continue
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(r.ctx, callLimit)
		jobs, err := r.o.System.Poll(ctx)
		cancel()
		if r.ctx.Err() != nil {
			return
		}
		if err != nil {
			wait = min(2*wait, slowest)
			r.once(fmt.Sprintf("the batch system does not answer: %v; runs go on, and it is asked again", err))
			continue
		}
		wait = r.o.Poll
		if len(jobs) > many {
			wait *= 2
		}
		r.took(began, jobs)
	}
}

// open reports whether there is an attempt of which the system may know.
func (r *Runner) open() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.runs {
		if a.State == ledger.Placed || a.State == ledger.Unclear {
			return true
		}
	}
	return false
}

// took takes in the answer to a query that began then.
func (r *Runner) took(began time.Time, jobs []Job) {
	var doubted []*attempt
	r.mu.Lock()
	r.jobs = make(map[string]Job, len(jobs))
	for _, j := range jobs {
		if old, twice := r.jobs[j.Name]; !twice || old.State == Over {
			r.jobs[j.Name] = j // of several of one name, one that is alive
		}
	}
	now := time.Now()
	for _, a := range r.runs {
		if (a.State == ledger.Placed || a.State == ledger.Unclear) && a.sent.Before(began) && a.unseen(now) {
			doubted = append(doubted, a)
		}
	}
	r.mu.Unlock()
	slices.SortFunc(doubted, func(a, b *attempt) int {
		if before(a.key, b.key) {
			return -1
		}
		return 1
	})
	found := r.account(doubted)
	for _, a := range doubted {
		r.doubt(a, found[a.name()])
	}
	r.stray()
	r.lower()
}

// unseen takes in the answer to a query, and reports whether the attempt is to be doubted: for a while nothing was seen
// of it. The lock is held.
func (a *attempt) unseen(now time.Time) bool {
	j, known := a.r.jobs[a.name()]
	if known {
		a.said, a.number = j, j.ID
		a.State = ledger.Placed
	}
	if known && j.State != Over {
		a.absent = 0
		return false
	}
	if a.absent++; a.absent == 1 {
		a.since = now
	}
	return a.absent >= 2 && now.Sub(a.since) >= a.r.o.Unseen && a.Silent(now) >= a.r.o.Unseen
}

// look looks into the spool, again and again. An attempt whose job waits is looked at once a query.
func (r *Runner) look() {
	var full time.Time
	for r.sleep(r.o.Look, nil) {
		all := time.Since(full) >= r.o.Poll
		if all {
			full = time.Now()
		}
		r.mu.Lock()
		var at []*attempt
		for _, a := range r.runs {
			if a.State == ledger.Placed && (all || a.begun || a.said.State != Waiting) || a.State == ledger.Unclear ||
				a.State == ledger.Placing {
				at = append(at, a)
			}
		}
		r.mu.Unlock()
		for _, a := range at {
			r.visit(a)
			if r.ctx.Err() != nil {
				return
			}
		}
	}
}

// visit reads the state of an attempt from the spool. It reports whether it has ended or has just shown a sign of life.
func (r *Runner) visit(a *attempt) (news bool) {
	d := a.dir()
	names, err := d.names()
	if err != nil {
		r.once(fmt.Sprintf("the spool cannot be read: %v", err))
		return true // an unreadable spool decides nothing
	}
	var c claim
	if has(names, claimFile) {
		_, _ = d.read(claimFile, &c)
	}
	if has(names, resultFile) && r.visitResult(a, c) {
		return true
	}
	var b beat
	beats := false
	if has(names, beatFile) {
		beats, _ = d.read(beatFile, &b)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.State == ledger.Ended {
		return true
	}
	if has(names, claimFile) && !a.begun && !a.taking {
		r.claimed, news = true, true
		a.begins(c)
	}
	if beats && a.beat(b) {
		news = true
	}
	if a.run.Want != "" && a.begun && time.Since(a.ends) >= r.o.Wait {
		a.condemn()
	}
	return news
}

// visitResult ends an attempt by its result, and reports whether that is there.
func (r *Runner) visitResult(a *attempt, c claim) bool {
	var res result
	if ok, _ := a.dir().read(resultFile, &res); !ok || res.Name != a.name() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.claimed = true
	if a.State != ledger.Ended {
		a.leaves(c)
		a.end(res)
	}
	return true
}

// begins takes in the claim of the shim that has begun the attempt. The lock is held.
func (a *attempt) begins(c claim) {
	a.begun, a.Heard = true, time.Now()
	a.leaves(c)
	if a.State == ledger.Unclear {
		a.State = ledger.Placed
	}
}

// beat takes in a beat of the shim, and reports whether it is a new one: another look may have been faster, and have
// seen a later one. The lock is held.
func (a *attempt) beat(b beat) bool {
	if b.Seq <= a.seq {
		return false
	}
	grown := b.Measurement.Elapsed > a.Latest.Elapsed // else it was not observed since
	a.seq = b.Seq
	a.Report(b.Measurement, 0, 0, time.Now())
	if grown {
		a.show()
	}
	return true
}

// show has those who observe the run see its latest measurement. The lock is held.
func (a *attempt) show() {
	for _, c := range a.run.Calls {
		select {
		case c.Beats <- ledger.Observation{M: a.Latest}:
		default: // it is at the one before
		}
	}
}
