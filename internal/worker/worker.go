package worker

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/proc"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/run"
	"github.com/assay-run/assay/spec"
)

// Options configure a worker. Control, Carrier, Runner and Dir are required.
type Options struct {
	Control queue.Control
	Carrier queue.Carrier
	// Runner makes the runs. It is the caller's to close.
	Runner assay.Runner
	Apps   *spec.Apps // its applications; may be nil
	Accept bool       // it runs any command of the server too
	// Dir is the directory of the worker, with its identity and its unsent outcomes. One worker at a time may use it.
	Dir string
	// ID is a result of [Identity]; "" derives it from the name.
	ID      string
	Slots   int    // runs at once; 0 means 1
	Name    string // for people; "" means the name of the machine
	Labels  map[string]string
	Version string
	// Until is the time when the worker ends: it takes nothing that is expected to take longer. The zero time means no
	// end.
	Until time.Time
	// Alone, if positive, limits how long an idle worker waits for a server that does not answer. It then ends.
	Alone time.Duration
	// Idle, if positive, limits how long a worker waits for a run. It then drains.
	Idle time.Duration
	// Drain, once closed, has the worker take nothing more and return when nothing runs.
	Drain <-chan struct{}
	Out   io.Writer    // the log; may be nil
	Log   *slog.Logger // receives the log if Out is nil; it may be nil
	// Blobs is the source of inputs and the destination of outputs; if nil, runs that have any are refused.
	Blobs Blobs
	Cache int64         // bytes of inputs that are kept for the next runs; 0 means 10 GiB
	Keep  time.Duration // how long the whole outputs of runs are kept here; 0 means 7 days
	// Ran is called with each run that has ended and its failure, "" without one. It must not block; it may be nil.
	Ran func(id assay.RunID, start, end time.Time, failure string)
	// Machine describes the machine; the zero value means this one.
	Machine Machine
	// Slept returns how long the machine has been suspended since its start; nil means [proc.Slept].
	Slept func() time.Duration
}

const (
	// helloEvery is the interval of Hello calls: the delay until the worker learns of an order to drain, or that the
	// server is back.
	helloEvery = queue.HelloEvery
	// callLimit is how long one call of the server may take.
	callLimit = 10 * time.Second
	// untilGrace is the time before Until at which runs are ended, so that their outcomes can be sent.
	untilGrace = 5 * time.Second
	// goneLimit is how long the directory of a worker may be missing before the worker drains and ends with an error.
	goneLimit = 20 * time.Second
	// lastWords limits how long an ending worker tries to send outcomes while the server is away.
	lastWords = 10 * time.Second
)

// errOver is the cause with which a worker that ends, ends its runs.
var errOver = errors.New("the worker was ended")

// errEvicted is errOver by the server's will.
var errEvicted = errors.New("the worker was evicted")

type worker struct {
	Options
	spool spool
	cache *files.Cache
	kept  *kept
	users map[string][]string // the command prefix for each user
	self  queue.Worker
	out   lines

	// kill is done when runs must end, take as soon as the worker takes nothing more.
	kill, take context.Context
	evict      context.CancelCauseFunc
	drain      context.CancelFunc

	mu      sync.Mutex
	busy    map[string]bool // by keyOf: attempts that run or whose outcomes are being sent
	told    []string        // attempts sent lately: a repeated ticket for one of them runs nothing
	runs    int             // attempts that run
	idle    time.Time       // since when none does
	heard   time.Time       // when the server answered last
	away    bool            // reported already
	refused error           // why this worker ends before it is asked to
	aside   chan struct{}   // not nil in quarantine: closed when it ends
	// waits is done when slots no longer wait for tickets: with take, or in quarantine.
	waits    context.Context
	endWaits context.CancelFunc
}

// Run runs a worker until it is drained, evicted or ctx is done. It returns nil if it ended as ordered, and an error if
// it could not begin, or if the server rejects it.
func Run(ctx context.Context, o Options) error {
	w, unlock, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer unlock()
	w.kill, w.evict = context.WithCancelCause(ctx)
	defer w.evict(nil)
	w.take, w.drain = context.WithCancel(w.kill)
	defer w.drain()
	w.waits, w.endWaits = context.WithCancel(w.take)
	defer func() { w.endWaits() }()
	stop := w.timers()
	defer stop()

	m := w.Machine
	w.out.f("worker %s  %s  class %s (%s)%s", w.Name, report.Count(w.Slots, "slot", "slots"),
		w.self.MachineClass, m, w.appWords())
	left, err := w.spool.outcomes()
	if err != nil {
		return err
	}
	if err := w.greet(); err != nil {
		return w.ended(err)
	}
	if len(left) > 0 {
		w.out.f("%s of an earlier session: sending to the server", report.Count(len(left), "outcome", "outcomes"))
	}
	for _, o := range left {
		w.mu.Lock()
		w.busy[keyOf(o.ID)] = true
		w.mu.Unlock()
	}
	var slots sync.WaitGroup
	slots.Go(func() {
		for _, o := range left {
			w.tell(o)
			w.release(o.ID)
		}
	})
	for n := range w.Slots {
		slots.Go(func() { w.slot(n) })
	}
	over := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() { w.hello(over) })
	beside.Go(func() { w.send(over) })
	if w.Idle > 0 {
		beside.Go(func() { w.wanted(over) })
	}
	slots.Wait()
	close(over)
	beside.Wait()
	return w.ended(nil)
}

// open prepares a worker: it locks the directory, and no run of an earlier worker remains.
func open(ctx context.Context, o Options) (*worker, func(), error) {
	o.Slots = max(o.Slots, 1)
	if o.Name == "" {
		o.Name, _ = os.Hostname()
	}
	if o.Slept == nil {
		o.Slept = proc.Slept
	}
	if o.Machine.CPU == "" && o.Machine.Release == "" {
		o.Machine = ThisMachine()
	}
	apps := o.Apps.Names()
	if o.Accept {
		apps = append(apps, queue.Commands)
	}
	if len(apps) == 0 {
		return nil, nil, assay.WithHint(assay.Errorf(assay.ClassUsage, "the worker has nothing to run"),
			"--apps FILE names the applications it runs; --accept-commands lets it run any command")
	}
	users, err := runAs(o.Apps)
	if err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, nil, err
	}
	unlock, err := lock(o.Dir)
	if err != nil {
		return nil, nil, err
	}
	w := &worker{Options: o, users: users, busy: map[string]bool{}, heard: time.Now(), idle: time.Now()}
	if w.out.w = o.Out; o.Out == nil {
		w.out.log = o.Log
	}
	if w.ID == "" {
		if w.ID, err = Identity(o.Dir, "worker"); err != nil {
			unlock()
			return nil, nil, err
		}
	}
	if w.spool, err = openSpool(o.Dir); err == nil {
		err = w.sweep(ctx)
	}
	if err == nil {
		err = w.openFiles()
	}
	if err != nil {
		unlock()
		return nil, nil, err
	}
	w.self = queue.Worker{
		ID: w.ID, Name: o.Name, Boot: o.Machine.Boot, Version: o.Version, Slots: o.Slots, Apps: apps, Labels: o.Labels,
		MachineClass: o.Machine.Class(), Machine: o.Machine.String(),
	}
	return w, unlock, nil
}

// sweep ends the processes that a killed worker of this directory has left. An attempt whose outcome is in the spool
// has ended by itself.
func (w *worker) sweep(ctx context.Context) error {
	ids, err := w.spool.running()
	if err != nil {
		return err
	}
	studies := make([]string, 0, len(ids))
	for _, id := range ids {
		studies = append(studies, id.Study)
	}
	slices.Sort(studies)
	for _, study := range slices.Compact(studies) {
		swept, err := run.Sweep(ctx, study)
		if err != nil {
			return err
		}
		if swept.Processes+swept.Groups > 0 {
			w.out.f("%s: processes that a killed worker left running are ended", study)
		}
	}
	for _, id := range ids {
		w.spool.end(id)
	}
	return nil
}

// timers has the worker drain when it is asked to, and end its runs shortly before its time is over.
func (w *worker) timers() (stop func()) {
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		var over <-chan time.Time
		if !w.Until.IsZero() {
			t := time.NewTimer(time.Until(w.Until) - untilGrace)
			defer t.Stop()
			over = t.C
		}
		drain := w.Drain
		for {
			select {
			case <-drain:
				drain = nil
				w.drain()
				w.out.f("draining: no new runs are taken, current runs continue")
			case <-over:
				over = nil
				w.evict(errOver)
			case <-quit:
				return
			}
		}
	})
	return func() { close(quit); wg.Wait() }
}

// ended returns the error of a worker after its last run.
func (w *worker) ended(err error) error {
	w.mu.Lock()
	err = cmp.Or(err, w.refused)
	w.mu.Unlock()
	if left, e := w.spool.outcomes(); e == nil && len(left) > 0 {
		w.out.f("%s not sent: left to the next worker with the directory %s",
			report.Count(len(left), "outcome", "outcomes"), w.Dir)
	}
	return err
}

// hello calls Hello at intervals, until over is closed.
func (w *worker) hello(over <-chan struct{}) {
	t := time.NewTicker(proc.Paced(helloEvery))
	defer t.Stop()
	var gone time.Time // since when the directory is missing
	for {
		select {
		case <-t.C:
		case <-over:
			return
		}
		if _, err := os.Stat(w.Dir); !errors.Is(err, fs.ErrNotExist) {
			gone = time.Time{}
		} else if gone.IsZero() {
			gone = time.Now()
		} else if time.Since(gone) >= proc.Paced(goneLimit) && w.take.Err() == nil {
			w.refuse(assay.Errorf(assay.ClassIO, "the directory of the worker was removed: %w", err))
		}
		_, err := w.call(w.obey)
		switch class := assay.ClassOf(err); {
		case err == nil || w.take.Err() != nil:
		case class == assay.ClassUsage || class == assay.ClassConflict:
			w.out.f("the server does not want this worker any more: %v", err)
			w.refuse(err)
		case w.alone():
			w.out.f("the server does not answer, and nothing runs: the worker ends")
			w.drain()
		}
	}
}

// refuse drains the worker, which ends with an error.
func (w *worker) refuse(err error) {
	w.mu.Lock()
	w.refused = err
	w.mu.Unlock()
	w.drain()
}

// greet makes the first Hello call, and repeats it while the server is away. Its error is the reason why the server
// rejects this worker, or that the worker was ended meanwhile.
func (w *worker) greet() error {
	for wait := newBackoff(); ; {
		_, err := w.call(w.obey)
		switch {
		case err == nil:
			return nil
		case assay.ClassOf(err) != assay.ClassUnavailable:
			return err
		case w.alone():
			return err
		}
		if !wait.sleep(w.take) {
			return nil
		}
	}
}

// obey calls Hello and follows the server's order.
func (w *worker) obey(ctx context.Context) error {
	self := w.self
	if !w.Until.IsZero() {
		self.Until = max(time.Until(w.Until)-untilGrace, 1) // 0 would be no limit
	}
	order, err := w.Control.Hello(ctx, self)
	if err != nil {
		return err
	}
	if order.Evict && w.kill.Err() == nil {
		w.out.f("evicted: current runs are ended")
		w.evict(errEvicted)
	}
	w.setAside(order)
	if order.Drain && w.take.Err() == nil {
		w.out.f("drained by the server: no new runs are taken, current runs continue")
		w.drain()
	}
	return nil
}

// call calls the server once, and records whether it answered. Calls outlive the context of the worker, because
// outcomes are sent when it ends.
func (w *worker) call(f func(context.Context) error) (answered bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.kill), callLimit)
	defer cancel()
	err = f(ctx)
	if err != nil && ctx.Err() != nil {
		err = assay.WithClass(assay.ClassUnavailable, err)
	}
	answered = assay.ClassOf(err) != assay.ClassUnavailable
	w.mu.Lock()
	said := w.away
	if w.away = !answered; answered {
		w.heard = time.Now()
	}
	w.mu.Unlock()
	switch {
	case answered && said:
		w.out.f("the server is back")
	case !answered && !said:
		w.out.f("the server does not answer: current runs continue (%v)", err)
	}
	return answered, err
}

// count notes that n more attempts run.
func (w *worker) count(n int) {
	w.mu.Lock()
	w.runs += n
	w.idle = time.Now()
	w.mu.Unlock()
}

// alone reports whether the server has been away for as long as Options.Alone allows while nothing runs. Unsent
// outcomes wait in the spool for the next worker.
func (w *worker) alone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Alone > 0 && w.runs == 0 && time.Since(w.heard) >= w.Alone
}

// claim makes an attempt this worker's; false if it is already.
func (w *worker) claim(id assay.RunID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := keyOf(id)
	if w.busy[key] || slices.Contains(w.told, key) {
		return false
	}
	w.busy[key] = true
	return true
}

// release ends the ownership of an attempt. This worker does not begin it again.
func (w *worker) release(id assay.RunID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.busy, keyOf(id))
	w.told = append(w.told[max(0, len(w.told)-maxTold):], keyOf(id))
}

// maxTold is how many attempts a worker remembers.
const maxTold = 256

// A backoff is a delay before a call is repeated: 0.1 to 2.5 s, at random, so that the workers of a restarted server do
// not all call at once, and its runs send beats well within a lease.
type backoff struct{ next time.Duration }

func newBackoff() *backoff { return &backoff{200 * time.Millisecond} }

// sleep waits; false if ctx was done first.
func (b *backoff) sleep(ctx context.Context) bool {
	t := time.NewTimer(b.next/2 + rand.N(b.next/2))
	defer t.Stop()
	b.next = min(2*b.next, 2500*time.Millisecond)
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// appWords names the applications for the first line.
func (w *worker) appWords() string {
	s := ""
	if names := w.Apps.Names(); len(names) > 0 {
		s = "  apps"
		for _, n := range names {
			s += " " + n
		}
	}
	if w.Accept {
		s += "  any command"
	}
	return s
}
