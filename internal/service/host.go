package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// Options of a [Host]. Store and Fleet are needed.
type Options struct {
	Store *setup.Store
	// Fleet makes the runs. Its creator serves it and connects the workers.
	Fleet *queue.Fleet
	// Searching is how many studies may search at once; 0 means one for each processor.
	Searching int
	// Adopt is the time after which a study that its owner has released is taken over, at the latest. A study that
	// has an owner again after half of it is left to that owner: a restart takes less. 0 means 15 s.
	Adopt time.Duration
	// Patience is as in [study.Study]; 0 means its default.
	Patience time.Duration
	// Log receives warnings about faults that do not end a study; it may be nil.
	Log *slog.Logger

	wrap func(study string, s assay.Searcher) assay.Searcher // of tests
}

// closeWithin limits how long Close waits for studies that do not detach.
const closeWithin = 2 * time.Second

// A Host runs many studies. It is safe for concurrent use.
type Host struct {
	o      Options
	turns  *turns
	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup

	external externals

	mu      sync.Mutex
	closed  bool
	active  map[string]*session
	results map[string]outcome // of the sessions here that have ended, by study
	others  map[string]bool    // running studies of other processes
}

// An outcome is the result of a session.
type outcome struct {
	result study.Result
	err    error
}

// Open returns a Host that resumes every study that was running when the last Host ended, and marks the fleet as ready.
// The studies are read when it returns; their searches are restored after that. A study that cannot be resumed is no
// error: Log receives it.
//
// The runs of a study continue until Close, regardless of ctx.
func Open(ctx context.Context, o Options) (*Host, error) {
	o.Searching = cmp.Or(o.Searching, runtime.GOMAXPROCS(0))
	o.Adopt = cmp.Or(o.Adopt, 15*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Host{
		o: o, turns: newTurns(o.Searching), active: map[string]*session{}, results: map[string]outcome{},
		others: map[string]bool{},
	}
	h.external = externals{o: &h.o, turns: h.turns, sessions: map[string]*externalSession{}}
	h.ctx, h.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	names, err := h.running(ctx)
	if err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	room := make(chan struct{}, 2*o.Searching)
	for _, name := range names {
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			h.resume(ctx, name)
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(context.Cause(ctx), h.Close())
	}
	o.Fleet.Ready()
	h.wg.Go(h.adopt)
	return h, nil
}

// running returns the studies to run, from the record.
func (h *Host) running(ctx context.Context) (names []string, err error) {
	for sum, err := range h.o.Store.Summaries(ctx, "", 0) {
		if err != nil {
			return nil, err
		}
		if goesOn(sum) {
			names = append(names, sum.Study)
		}
	}
	return names, nil
}

// goesOn reports whether a server should resume a study.
func goesOn(sum assay.Summary) bool {
	return sum.Ended == "" && (sum.Steered == "run" || sum.Steered == "pause")
}

// resume resumes a study on record. A study locked by another process is tried again later.
func (h *Host) resume(ctx context.Context, name string) {
	if s, err := h.external.find(ctx, name); err == nil && s != nil {
		h.mark(name, false)
		return // its session is opened by the first request
	}
	err := h.start(ctx, name, nil, nil)
	if err == nil || errors.Is(err, assay.ErrLocked) {
		return
	}
	if h.mark(name, false); !errors.Is(err, fs.ErrNotExist) {
		h.o.warner(name)(fmt.Sprintf("it cannot go on: %v", err))
	}
}

// warner returns a function that logs a warning about a study.
func (o *Options) warner(study string) func(string) {
	return func(text string) { o.Log.Warn(text, "study", study) }
}

// mark records whether another process has a study, and reports whether that changed.
func (h *Host) mark(name string, other bool) (news bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	news = h.others[name] != other
	if delete(h.others, name); other {
		h.others[name] = true
	}
	return news
}

// adopt takes over unfinished studies that had no owner at two looks, half of Adopt apart. A server that restarts has
// its studies again in between, and the runs of its workers with them.
func (h *Host) adopt() {
	ticker := time.NewTicker(h.o.Adopt / 2)
	defer ticker.Stop()
	released := map[string]bool{}
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-ticker.C:
		}
		h.mu.Lock()
		names := slices.Collect(maps.Keys(h.others))
		h.mu.Unlock()
		before := released
		released = map[string]bool{}
		for _, name := range names {
			sum, err := h.o.Store.Summary(h.ctx, name)
			switch {
			case err == nil && !goesOn(sum) || errors.Is(err, fs.ErrNotExist):
				h.mark(name, false)
			case err == nil && before[name]:
				h.resume(h.ctx, name)
			case err == nil:
				released[name] = h.released(name)
			}
		}
	}
}

// released reports whether a study of another owner has none now, as far as the store knows.
func (h *Host) released(name string) bool {
	of, ok := h.o.Store.Store.(store.Holder)
	if !ok {
		return true
	}
	by, err := of.Held(h.ctx, name)
	return by == "" && err == nil
}

// Close detaches from every study: their runs continue, and no study ends. It waits for at most two seconds, so that a
// store or a search that hangs does not block the process.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel(assay.ErrDetached)
	h.turns.close()
	done := make(chan struct{})
	var left error
	go func() {
		defer close(done)
		left = h.external.close(context.WithoutCancel(h.ctx))
		h.wg.Wait()
	}()
	timer := time.NewTimer(closeWithin)
	defer timer.Stop()
	select {
	case <-done:
		return left
	case <-timer.C:
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return assay.Errorf(assay.ClassUnavailable, "%d studies did not let go within %v", len(h.active), closeWithin)
}

// closing returns the error of calls of a Host that closes.
func (h *Host) closing() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errClosing
	}
	return nil
}

// session returns the session of a running study, once it is ready, or nil.
func (h *Host) session(ctx context.Context, name string) (*session, error) {
	for {
		h.mu.Lock()
		s := h.active[name]
		h.mu.Unlock()
		if s == nil {
			return nil, h.closing()
		}
		select {
		case <-s.opened:
			if s.openErr == nil {
				return s, nil
			}
			<-s.done // it is forgotten then
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Wait waits for the session of a running study to end or detach, and returns its result. For a study that is not
// running, it returns the result on record.
func (h *Host) Wait(ctx context.Context, name string) (study.Result, error) {
	s, err := h.session(ctx, name)
	if err != nil && assay.ClassOf(err) != assay.ClassUnavailable {
		return study.Result{}, err
	}
	if s != nil {
		select {
		case <-s.done:
			return s.result, s.err
		case <-ctx.Done():
			return study.Result{}, context.Cause(ctx)
		}
	}
	h.mu.Lock()
	o, known := h.results[name]
	h.mu.Unlock()
	if known {
		return o.result, o.err
	}
	def, err := h.o.Store.Definition(ctx, name)
	if err != nil {
		return study.Result{}, err
	}
	return result.Recall(ctx, h.o.Store, name, def)
}
