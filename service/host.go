package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/queue"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/study"
)

// Options of a [Host]. Store and Fleet are needed.
type Options struct {
	Store *setup.Store
	// Fleet makes the runs. Whoever made it serves it and lets workers speak to it.
	Fleet *queue.Fleet
	// Check is how often the best and the first configuration of each study are run again in
	// the end; 0 means as often as it takes to tell, see [setup.AutoCheck], negative not at all.
	Check int
	// Searching is how many studies may search at once; 0 means one for each processor.
	Searching int
	// Adopt is how often studies that another owner had are looked at; 0 means 15 s.
	Adopt time.Duration
	// Patience is that of [study.Study]; 0 means its default.
	Patience time.Duration
	// Warn is told, for people, of what went wrong and ends no study; nil means nobody.
	Warn func(string)

	wrap func(study string, s assay.Searcher) assay.Searcher // of tests
}

// closeWithin is how long Close waits for studies that do not let go.
const closeWithin = 2 * time.Second

// A Host runs many studies. It is safe for concurrent use.
type Host struct {
	o      Options
	turns  *turns
	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	active   map[string]*session
	results  map[string]outcome          // of the sessions here that have ended, by study
	others   map[string]bool             // studies that go on and that somebody else has
	external map[string]*externalSession // of external studies
}

// An outcome is what a session came to.
type outcome struct {
	result study.Result
	err    error
}

// Open returns a Host that goes on with every study which was running when the last one ended,
// and has the fleet know that these are all. The studies are read when it returns; their
// searches are brought to where they were after that. A study that cannot go on is no error:
// Warn is told of it.
//
// The runs of a study go on until Close, whatever becomes of ctx.
func Open(ctx context.Context, o Options) (*Host, error) {
	o.Searching = cmp.Or(o.Searching, runtime.GOMAXPROCS(0))
	o.Adopt = cmp.Or(o.Adopt, 15*time.Second)
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	h := &Host{
		o: o, turns: newTurns(o.Searching), active: map[string]*session{}, results: map[string]outcome{},
		others: map[string]bool{}, external: map[string]*externalSession{},
	}
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

// running returns the studies that are to go on, by the record.
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

// goesOn reports whether a server is to go on with a study.
func goesOn(sum assay.Summary) bool {
	return sum.Ended == "" && (sum.Steered == "run" || sum.Steered == "pause")
}

// resume goes on with a study on record. One that somebody else has is looked at again later.
func (h *Host) resume(ctx context.Context, name string) {
	if s, err := h.asked(ctx, name); err == nil && s != nil {
		h.mark(name, false)
		return // its desk is opened when somebody asks or tells
	}
	err := h.start(ctx, name, nil, nil)
	if err == nil || errors.Is(err, assay.ErrLocked) {
		return
	}
	if h.mark(name, false); !errors.Is(err, fs.ErrNotExist) {
		h.o.Warn(fmt.Sprintf("study %s cannot go on: %v", name, err))
	}
}

// mark says whether somebody else has a study, and reports whether that is news.
func (h *Host) mark(name string, other bool) (news bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	news = h.others[name] != other
	if delete(h.others, name); other {
		h.others[name] = true
	}
	return news
}

// adopt takes over studies whose owner has let go of them without an end.
func (h *Host) adopt() {
	ticker := time.NewTicker(h.o.Adopt)
	defer ticker.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-ticker.C:
		}
		h.mu.Lock()
		names := make([]string, 0, len(h.others))
		for name := range h.others {
			names = append(names, name)
		}
		h.mu.Unlock()
		for _, name := range names {
			sum, err := h.o.Store.Summary(h.ctx, name)
			if err == nil && !goesOn(sum) || errors.Is(err, fs.ErrNotExist) {
				h.mark(name, false)
			} else if err == nil {
				h.resume(h.ctx, name)
			}
		}
	}
}

// Close lets go of every study: their runs go on, and no study ends. It waits for them for at
// most two seconds, so that a store or a search that hangs does not hold the process up.
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
		left = h.leaveDesks(context.WithoutCancel(h.ctx))
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

// session returns the session of a study that goes on here, or nil, once it is ready.
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

// Wait waits for the session of a study that goes on here to end, or to be let go of, and returns
// what it came to. Of one that does not go on it returns what is on record.
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
