package study

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// Delays between attempts at an Append that failed: the first, and the longest.
// Each is twice the one before. The first is short, since most stores that fail are
// busy; the longest keeps a store that comes back from being missed for long.
const (
	firstDelay = 10 * time.Millisecond
	lastDelay  = 5 * time.Second
)

// defaultPatience is the longest time that a journal waits for its store.
const defaultPatience = 2 * time.Minute

// A Journal is the one way to add to the record of a study during a session. It holds the position up to which the
// record was read and written, so that the loop and remote runners can write at the same time. It is safe for
// concurrent use. See [Study.Journal].
//
// Appends that arrive while the store is busy go into its next Append together, so that many writers cost little more
// than one. Events are on record in the order of the calls that have returned, and their times, which the journal
// sets once, go up.
//
// An event that cannot be recorded does not happen. Once the patience of the study is at its end, an error of the
// store ends the journal and is returned by all later calls: otherwise a store that fails once would leave a gap, and
// a record with a gap cannot be replayed. Two errors do not end the journal: that the events cannot be stored at all,
// and the end of the caller's context.
type Journal struct {
	store    assay.Store
	study    string
	patience time.Duration
	watch    *stopwatch

	mu       sync.Mutex
	at       assay.Position // in the record: read and written up to here
	past     []assay.Event  // of the record, until the loop takes them
	taken    bool
	attempts assay.Attempts
	err      error         // why the journal has ended, or nil
	broken   chan struct{} // closed when it has
	busy     bool          // a flush is under way: new entries wait in queue
	queue    []*entry
}

// An entry holds the events of one call of Append.
type entry struct {
	events []assay.Event
	// As long as wait is not done another attempt is made.
	wait context.Context
	// write is the context of the Append of this entry alone. Together with others it is not
	// cancelled.
	write context.Context
	done  chan error
	// tried is closed when the first attempt has failed and there will be another.
	tried chan struct{}
}

// Journal reads the record of the study, at the first call, and returns its journal. Run uses the same one. Only
// holders of the journal may write to the study.
func (s *Study) Journal(ctx context.Context) (*Journal, error) {
	if s.journal != nil {
		return s.journal, nil
	}
	clock := s.Clock
	if clock == nil {
		clock = realClock{}
	}
	j := &Journal{
		store: s.Store, study: s.Name, patience: s.Patience, watch: &stopwatch{clock: clock},
		broken: make(chan struct{}),
	}
	if j.patience == 0 {
		j.patience = defaultPatience
	}
	for e, err := range s.Store.Events(ctx, s.Name, 0) {
		if err != nil {
			return nil, err
		}
		j.past = append(j.past, e)
		j.attempts.Take(e)
		j.watch.read(e.Spent)
	}
	j.at = assay.Position(len(j.past))
	s.journal = j
	return j, nil
}

// Past returns the events of the record, those added meanwhile too; nil once Run has begun.
// They are not to be changed.
func (j *Journal) Past() []assay.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clip(j.past)
}

// take returns the events of the record. The journal keeps no events from then on.
func (j *Journal) take() []assay.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	past := j.past
	j.past, j.taken = nil, true
	return past
}

// Position returns the end of the record, as far as the journal has read and written it.
func (j *Journal) Position() assay.Position {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.at
}

// Append adds events, all or none, made now. When it returns nil they are durable. If ctx is
// done while they are being written it returns the error of ctx, and it is unknown whether
// they will be on record: an attempt that has begun goes on.
func (j *Journal) Append(ctx context.Context, events ...assay.Event) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := newEntry(ctx, context.WithoutCancel(ctx), events)
	if err := j.add(e); err != nil {
		return err
	}
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// keep adds events. One attempt is completed even if wait is done, unless write is done too; see entry.
func (j *Journal) keep(wait, write context.Context, events []assay.Event) error {
	e := newEntry(wait, write, events)
	if err := j.add(e); err != nil {
		return err
	}
	select {
	case err := <-e.done:
		return err
	case <-e.tried:
	}
	select {
	case err := <-e.done:
		return err
	case <-wait.Done():
		return context.Cause(wait)
	}
}

func newEntry(wait, write context.Context, events []assay.Event) *entry {
	return &entry{slices.Clone(events), wait, write, make(chan error, 1), make(chan struct{})}
}

// add queues an entry, and writes the queue unless another call is writing.
func (j *Journal) add(e *entry) error {
	j.mu.Lock()
	if j.err != nil {
		defer j.mu.Unlock()
		return j.err
	}
	j.queue = append(j.queue, e)
	first := !j.busy
	j.busy = true
	j.mu.Unlock()
	if first {
		j.flush()
	}
	return nil
}

// flush writes the queue, in one Append. A goroutine makes further attempts and writes entries that arrived
// meanwhile, so that no caller works for others for long.
func (j *Journal) flush() {
	j.mu.Lock()
	batch := j.queue
	j.queue = nil
	at := j.at
	var events []assay.Event
	for _, e := range batch {
		for i := range e.events {
			e.events[i].At, e.events[i].Spent = j.watch.now()
			if b := e.events[i].Booked; b != nil {
				booked := *b
				j.attempts.Settle(&booked)
				e.events[i].Booked = &booked
			}
		}
		events = append(events, e.events...)
	}
	j.mu.Unlock()
	write := batch[0].write
	if len(batch) > 1 {
		write = context.WithoutCancel(write)
	}
	try := func() (assay.Position, error) { return j.store.Append(write, j.study, at, events...) }
	to, err := try()
	if err == nil || final(err) {
		j.finish(batch, to, err)
		return
	}
	for _, e := range batch {
		close(e.tried)
	}
	go func() {
		wait, release := anyOf(batch)
		defer release()
		to, err := insist(wait, j.patience, err, try)
		j.finish(batch, to, err)
	}()
}

// finish answers a batch, and starts the writing of the queue.
func (j *Journal) finish(batch []*entry, to assay.Position, err error) {
	if err != nil && len(batch) > 1 && assay.ClassOf(err) == assay.ClassUsage {
		// One of them cannot be stored. Each is to have its own error.
		for _, e := range batch {
			j.alone(e)
		}
		j.next()
		return
	}
	err = j.settle(batch, to, err)
	for _, e := range batch {
		e.done <- err
	}
	j.next()
}

// alone writes one entry of a batch that could not be stored.
func (j *Journal) alone(e *entry) {
	j.mu.Lock()
	at, err := j.at, j.err
	j.mu.Unlock()
	if err == nil {
		wait, release := anyOf([]*entry{e})
		defer release()
		try := func() (assay.Position, error) {
			return j.store.Append(context.WithoutCancel(e.write), j.study, at, e.events...)
		}
		var to assay.Position
		if to, err = try(); err != nil && !final(err) {
			to, err = insist(wait, j.patience, err, try)
		}
		err = j.settle([]*entry{e}, to, err)
	}
	e.done <- err
}

// settle takes note of an Append, and returns its error as the callers see it.
func (j *Journal) settle(batch []*entry, to assay.Position, err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("study %q: recording: %w", j.study, err)
		if assay.ClassOf(err) != assay.ClassUsage {
			j.err = err
			close(j.broken)
		}
		return err
	}
	j.at = to
	for _, e := range batch {
		for _, ev := range e.events {
			j.attempts.Take(ev)
			if !j.taken {
				j.past = append(j.past, ev)
			}
		}
	}
	return nil
}

// next starts the writing of entries that arrived meanwhile, or refuses them if the journal has ended.
func (j *Journal) next() {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.err != nil:
		for _, e := range j.queue {
			e.done <- j.err
		}
		j.queue = nil
		fallthrough
	case len(j.queue) == 0:
		j.busy = false
	default:
		go j.flush()
	}
}

// anyOf returns a context that is done once every entry of a batch has given up waiting.
func anyOf(batch []*entry) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancel(context.Background())
	left := len(batch)
	var mu sync.Mutex
	var stops []func() bool
	for _, e := range batch {
		stops = append(stops, context.AfterFunc(e.wait, func() {
			mu.Lock()
			defer mu.Unlock()
			if left--; left == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// insist calls try, an Append whose first attempt has failed with err, until it succeeds,
// another attempt is of no use, ctx is done, or patience is at its end. An attempt whose
// outcome is unknown needs no reading back: the same events at the same position
// are no error if the attempt has added them (see [assay.Store]).
func insist(ctx context.Context, patience time.Duration, err error, try func() (assay.Position, error)) (
	assay.Position, error,
) {
	var at assay.Position
	began := time.Now() // the store lives in real time, with any clock of the study
	for delay := firstDelay; err != nil && !final(err) && ctx.Err() == nil; delay = min(2*delay, lastDelay) {
		if waited := time.Since(began); waited+delay > patience {
			if waited > 0 {
				err = fmt.Errorf("%w (after %v of attempts)", err, waited.Round(time.Millisecond))
			}
			return at, err
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return at, err
		}
		at, err = try()
	}
	return at, err
}

// final reports whether another attempt at an Append is of no use. Any other error,
// one without a class included, may be of a disk or a connection that comes back.
func final(err error) bool {
	switch assay.ClassOf(err) {
	case assay.ClassConflict, assay.ClassNotFound, assay.ClassUsage, assay.ClassLocked:
		return true
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, fs.ErrClosed)
}

// Broken is closed when an error of the store has ended the journal; Err returns it then.
func (j *Journal) Broken() <-chan struct{} { return j.broken }

// Err returns why the journal has ended, or nil.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// lost returns the cost of the attempts that do not count.
func (j *Journal) lost() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.attempts.Lost
}

// cpuHours returns the processor hours of all attempts.
func (j *Journal) cpuHours() float64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.attempts.CPUHours
}

// queued returns how long all attempts waited in the queue of a batch system, and how long they ran.
func (j *Journal) queued() (queued, ran time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.attempts.Queued, j.attempts.Ran
}

// claimed reports whether an attempt at an open trial has ever begun.
func (j *Journal) claimed(trial int64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.attempts.Ever(trial)
}

// Opened returns the time since when a run waits, as the record has it: when its trial was asked, or when
// the last attempt at it was booked. It is zero for a run of which the record has no such time: one that
// repeats a trial, or of one that has ended.
func (j *Journal) Opened(id assay.RunID) time.Time {
	if id.Repeat != 0 {
		return time.Time{}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.attempts.Opened(id.Trial)
}

// begun reports whether an attempt at a trial has begun that may still count.
func (j *Journal) begun(trial int64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.attempts.Begun(trial)
}
