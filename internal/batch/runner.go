package batch

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/ledger"
)

// Options of a [Runner]. A zero duration means the documented default.
type Options struct {
	System System
	// Dir is the directory of the study in the spool; it is made.
	Dir string
	// Shim is the command that starts a [Shim]; the directory of the attempt is its last argument.
	Shim []string
	// Request returns the request to the system for a job; nil requests nothing special. Name, Script and Output are set
	// by the Runner. An error of the class usage ends the study.
	Request func(assay.Job) (Request, error)
	// Again decides about a run that reached the end of its job's time: true retries it with another Request. nil never
	// does.
	Again func(job assay.Job, walltime time.Duration, m assay.Measurement) bool
	// Record, if set, adds to the record of the study: the begin of an attempt, before it is submitted, and its result. An
	// error prevents the submission.
	Record func(context.Context, ...assay.Event) error
	// Booked reports whether the record has the result of an attempt of an earlier session; nil means never.
	Booked func(assay.RunID) bool
	// Warn is called with warnings, for people, about problems that the Runner handles itself; nil drops them.
	Warn func(text string)

	Poll   time.Duration // between two queries; 0 means 30 s
	Look   time.Duration // between two looks into the spool; 0 means 5 s, and Poll at most
	Unseen time.Duration // how long a job that is not seen is waited for; 0 means 60 s
	Every  time.Duration // between two beats of a shim, at least; 0 means 1 s
	Gap    time.Duration // between two jobs that are submitted; 0 means 1 s
	// Wait is how long an attempt has to obey an order, before the system is asked to end it; 0 means 30 s.
	Wait time.Duration
}

// A Runner makes runs as jobs of a batch system. Its runs outlive their callers: it finds them again in its spool. A
// run has one outcome: Run of any attempt at it returns the one that counts.
//
// The causes of a context have the same meaning as for the Runner of package queue. [assay.ErrDetached] leaves the job
// alone. An error with a method Stops() bool decides itself whether the measurement is kept. [context.Canceled],
// [context.DeadlineExceeded] and errors of the class conflict cancel the run, and all others stop it.
//
// The directory belongs to one Runner at a time; the owner of the study ensures this.
type Runner struct {
	o    Options
	id   string // of the study in the spool: names its jobs
	cwd  string // where this process began
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
	// books are events on their way to the record.
	books sync.WaitGroup
	kick  chan struct{} // there is something to submit
	axe   chan struct{} // there is something to cancel
	disk  chan struct{} // held by who makes an attempt durable: more at once make no disk faster

	mu       sync.Mutex
	runs     map[key]*attempt
	booked   map[assay.RunID]bool  // in this session
	finding  map[key]chan struct{} // runs being looked up in the spool; closed when done
	unnamed  int
	jobs     map[string]Job // as of the last query, by name
	strays   map[string]*stray
	condemns []Job // to be cancelled
	claimed  bool  // some shim was seen to begin: the spool is shared
	closed   bool
	said     map[string]bool
}

// A key names a run of a study.
type key struct {
	study  string
	trial  int64
	repeat int
}

var (
	_ assay.Runner = (*Runner)(nil)
	_ assay.Queuer = (*Runner)(nil)
)

// Queues implements [assay.Queuer].
func (r *Runner) Queues() bool { return true }

// New returns a Runner on a directory of the spool, which must be closed.
func New(o Options) (*Runner, error) {
	o.Poll = cmp.Or(o.Poll, 30*time.Second)
	o.Look = min(cmp.Or(o.Look, 5*time.Second), o.Poll)
	o.Unseen = cmp.Or(o.Unseen, time.Minute)
	o.Every = cmp.Or(o.Every, time.Second)
	o.Gap = cmp.Or(o.Gap, time.Second)
	o.Wait = cmp.Or(o.Wait, 30*time.Second)
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.Booked == nil {
		o.Booked = func(assay.RunID) bool { return false }
	}
	if o.Request == nil {
		o.Request = func(assay.Job) (Request, error) { return Request{}, nil }
	}
	if !filepath.IsAbs(o.Dir) {
		return nil, assay.Errorf(assay.ClassUsage, "the spool %s is no absolute path: jobs are started elsewhere", o.Dir)
	}
	if strings.ContainsAny(o.Dir, "\n\x00") {
		return nil, assay.Errorf(assay.ClassUsage, "the spool %q has a line break in its name", o.Dir)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	id, err := identity(o.Dir)
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	r := &Runner{
		o: o, id: id, cwd: cwd, kick: make(chan struct{}, 1), axe: make(chan struct{}, 1), runs: map[key]*attempt{},
		booked: map[assay.RunID]bool{},
		disk:   make(chan struct{}, writers), finding: map[key]chan struct{}{},
		jobs: map[string]Job{}, said: map[string]bool{},
	}
	r.ctx, r.stop = context.WithCancel(context.Background())
	r.wg.Go(r.poll)
	r.wg.Go(r.look)
	r.wg.Go(r.submit)
	r.wg.Go(r.reap)
	return r, nil
}

// writers is how many attempts are made durable at once.
const writers = 16

// identity returns the name of the jobs of a directory. It is made once, so that a new study of the same name elsewhere
// does not adopt the jobs of this one.
func identity(dir string) (string, error) {
	path := filepath.Join(dir, "id")
	b, err := os.ReadFile(path)
	if id := strings.TrimSpace(string(b)); err == nil && len(id) == 8 {
		return id, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var random [4]byte
	rand.Read(random[:])
	id := hex.EncodeToString(random[:])
	return id, files.WriteFile(path, []byte(id+"\n"), 0o600)
}

// Close detaches from all runs, as with [assay.ErrDetached]. It first completes pending cancellations.
func (r *Runner) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	for _, a := range r.runs {
		a.finish(assay.Measurement{}, assay.ErrDetached)
	}
	r.mu.Unlock()
	r.stop()
	r.wg.Wait()
	r.books.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r.mu.Lock()
	rest := r.condemns
	r.mu.Unlock()
	if len(rest) == 0 {
		return nil
	}
	if err := r.o.System.Cancel(ctx, rest...); err != nil {
		return fmt.Errorf("%d jobs are not cancelled, and will do nothing when they begin: %w", len(rest), err)
	}
	return nil
}

var errClosed = assay.Errorf(assay.ClassConflict, "the study has left the batch system")

// Run implements [assay.Runner].
func (r *Runner) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	if ctx.Err() != nil {
		return assay.Measurement{}, context.Cause(ctx)
	}
	a, c, err := r.attach(job, observe != nil)
	if err != nil {
		return assay.Measurement{}, err
	}
	defer close(c.Left)
	defer r.recorded(a)
	ended := ctx.Done()
	var patience <-chan time.Time
	leave := func() bool {
		ended = nil
		now := r.leave(a, c, context.Cause(ctx))
		patience = time.After(2*r.o.Wait + r.o.Unseen)
		return now
	}
	for {
		select {
		case <-c.Done:
			return c.M, c.Err
		case o := <-c.Beats:
			if observe(o.M); ctx.Err() != nil && ended != nil && leave() {
				return c.M, c.Err
			}
		case <-ended:
			if leave() {
				return c.M, c.Err
			}
		case <-patience:
			r.giveUp(a, c)
		}
	}
}

// recorded waits until the booking of an attempt that has ended is on record: its cost counts against the budget before
// its caller begins another job.
func (r *Runner) recorded(a *attempt) {
	r.mu.Lock()
	done := a.recorded
	r.mu.Unlock()
	if done != nil {
		<-done
	}
}

// attach finds the run of a job in the spool or makes it, and waits for it.
func (r *Runner) attach(job assay.Job, observes bool) (*attempt, *ledger.Call, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil, errClosed
	}
	id := job.ID
	if id.Attempt <= 0 {
		r.unnamed++
		id.Trial, id.Repeat = 0, r.unnamed
	}
	k := key{id.Study, id.Trial, id.Repeat}
	a := r.runs[k]
	for a == nil {
		if others := r.finding[k]; others != nil { // another call looks for the same run
			r.mu.Unlock()
			<-others
			r.mu.Lock()
		} else {
			found := make(chan struct{})
			r.finding[k] = found
			r.mu.Unlock() // a disk takes its time, and others are not to wait for it
			r.disk <- struct{}{}
			var err error
			a, err = r.find(k, job)
			<-r.disk
			r.mu.Lock()
			delete(r.finding, k)
			close(found)
			if err != nil {
				return nil, nil, err
			}
		}
		if r.closed {
			return nil, nil, errClosed
		}
		if a == nil {
			a = r.runs[k]
		}
	}
	c := a.run.Wait(id.Attempt, job.Interval, observes)
	if a.State == ledger.Ended {
		a.run.Finish(c, a.Latest, a.err)
		return a, c, nil
	}
	r.runs[k] = a
	if a.State == ledger.Open {
		nudge(r.kick)
	}
	return a, c, nil
}

// find returns the latest attempt at a run, if it is alive or has ended with a result that counts, or else makes a new
// one. The lock is not held; no other call finds the same run meanwhile.
func (r *Runner) find(k key, job assay.Job) (*attempt, error) {
	at := filepath.Join(r.o.Dir, fmt.Sprintf("%d-%d", k.trial, k.repeat))
	if job.ID.Attempt <= 0 {
		var random [4]byte
		rand.Read(random[:])
		at = filepath.Join(r.o.Dir, fmt.Sprintf("aside-%x", random))
	}
	n, err := latest(at)
	if err != nil {
		return nil, err
	}
	a := newAttempt(r, k, at, n, job)
	if n > 0 && a.recall() {
		return a, nil
	}
	return a, a.anew()
}

// latest returns the number of the latest attempt in the directory of a run, 0 without an attempt.
func latest(at string) (int, error) {
	entries, err := os.ReadDir(at)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	n := 0
	for _, e := range entries {
		var i int
		if _, err := fmt.Sscanf(e.Name(), "%d", &i); err == nil {
			n = max(n, i)
		}
	}
	return n, err
}

// leave ends a call of Run whose context is done. It reports whether Run returns now.
func (r *Runner) leave(a *attempt, c *ledger.Call, cause error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Over() {
		return true
	}
	was := a.run.Want
	a.run.Leave(c, cause)
	switch {
	case !c.Over():
		a.order(was)
	case len(a.run.Calls) == 0 && a.State == ledger.Open:
		delete(r.runs, a.key) // it is not submitted any more
	}
	return c.Over()
}

// giveUp ends a call of Run whose run does not obey.
func (r *Runner) giveUp(a *attempt, c *ledger.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !c.Over() {
		r.books.Add(1) // Close waits for the record
		defer r.books.Done()
		a.lose("it did not end after the order to end")
	}
}

// nudge wakes who waits on c.
func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// once warns once of each text. The lock is not held.
func (r *Runner) once(text string) {
	r.mu.Lock()
	before := r.said[text]
	r.said[text] = true
	r.mu.Unlock()
	if !before {
		r.o.Warn(text)
	}
}
