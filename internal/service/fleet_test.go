package service_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/service"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// A hall is machines on which the runs of a study outlive servers. A run takes as many seconds as
// its first coordinate. A hall counts the runs that have begun.
type hall struct {
	mu     sync.Mutex
	runs   map[assay.RunID]*shift
	begun  []assay.RunID
	ended  int
	server queue.Control // of late
	gone   chan struct{} // closed when the test is over: the machines are switched off
}

// A shift is one run of the hall.
type shift struct {
	queue.Outcome
	began time.Time
	stop  chan string // a verdict
}

func newHall(t testing.TB) *hall {
	h := &hall{runs: map[assay.RunID]*shift{}, gone: make(chan struct{})}
	t.Cleanup(func() { close(h.gone) })
	return h
}

func (h *hall) control() queue.Control {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.server
}

// work takes and runs in so many slots until ctx is done, which ends the taking alone.
func (h *hall) work(ctx context.Context, c queue.Carrier, slots int) {
	w := queue.Worker{ID: "w", Name: "w", Slots: slots, Apps: []string{queue.Commands}, MachineClass: "c"}
	if _, err := h.control().Hello(ctx, w); err != nil {
		return
	}
	for range slots {
		go func() {
			for ctx.Err() == nil {
				d, err := c.Take(ctx, w.Apps, w.MachineClass)
				if err != nil {
					return
				}
				claim, err := h.control().Claim(ctx, d.Ticket(), w.ID)
				if err == nil && claim.Verdict == queue.Go {
					h.run(claim, d)
				}
				_ = d.Done(ctx)
			}
		}()
	}
}

// run makes a run to its end, whatever becomes of the server, and reports its outcome.
func (h *hall) run(c queue.Claim, d queue.Delivery) {
	id := c.Task.ID
	s := &shift{Outcome: queue.Outcome{ID: id, Worker: "w"}, began: time.Now(), stop: make(chan string, 1)}
	h.mu.Lock()
	h.runs[id] = s
	h.begun = append(h.begun, id)
	h.mu.Unlock()
	end := time.After(time.Duration(c.Task.Job.Config[0]) * time.Second)
	beat := time.NewTicker(c.Beat)
	defer beat.Stop()
	measure := func() assay.Measurement {
		took := time.Since(s.began)
		return assay.Measurement{Elapsed: took, Metrics: map[string]float64{"elapsed": took.Seconds()}}
	}
	for over := false; !over; {
		select {
		case <-h.gone:
			return
		case <-end:
			over = true
		case <-beat.C:
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			_ = d.Renew(ctx)
			v, err := h.control().Beat(ctx, queue.Beat{ID: id, Worker: "w", So: measure()})
			if cancel(); err == nil && v != queue.Go {
				s.Why, over = string(v), true
			}
		}
	}
	s.Measurement = measure()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_ = d.Renew(ctx) // the slot is taken meanwhile
		err := h.control().Tell(ctx, s.Outcome)
		if cancel(); err == nil || assay.ClassOf(err) != assay.ClassUnavailable {
			break
		}
		select {
		case <-h.gone:
			return
		case <-time.After(500 * time.Millisecond):
		}
	}
	h.mu.Lock()
	h.ended++
	h.mu.Unlock()
}

// twice returns an error if a run was begun twice.
func (h *hall) twice() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := map[assay.RunID]bool{}
	for _, id := range h.begun {
		if id.Attempt != 1 || seen[id] {
			return fmt.Errorf("%+v was begun", id)
		}
		seen[id] = true
	}
	return nil
}

// A server is a Host with its fleet.
type server struct {
	*service.Host
	fleet  *queue.Fleet
	warned *[]string
	work   func(slots int)
	end    func()
}

// serve opens a server on a store, whose workers are the hall's.
func serve(t testing.TB, store *setup.Store, h *hall, slots int, change ...func(*service.Options)) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	carrier := queue.NewMemory(0)
	f := queue.New(carrier, queue.Options{})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = f.Serve(ctx)
	}()
	h.mu.Lock()
	h.server = f
	h.mu.Unlock()
	var mu sync.Mutex
	warned := &[]string{}
	o := service.Options{Store: store, Fleet: f, Log: testbed.Warnings(func(text string) {
		mu.Lock()
		defer mu.Unlock()
		*warned = append(*warned, text)
	})}
	for _, c := range change {
		c(&o)
	}
	host, err := service.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{host, f, warned, func(slots int) { h.work(ctx, carrier, slots) }, nil}
	if slots > 0 {
		s.work(slots)
	}
	s.end = sync.OnceFunc(func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		<-served
	})
	return s
}

// define reads a definition as from a study file of that name.
func define(t testing.TB, file, text string) *spec.Study {
	t.Helper()
	def, _, err := spec.Parse(file, []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if def.Pairs == (spec.Pairs{}) {
		def.Pairs.None = true // the runs are counted
	}
	return def
}

// forty has runs of 1 to 40 seconds.
const forty = `command: [prog, '{n}']
parameters: {n: 1..40}
search: {name: random, seed: %d}
budget: {trials: %d}
parallel: %d
prior: {use: none}
`

func fortyOf(t testing.TB, seed, trials, parallel int) *spec.Study {
	return define(t, "", fmt.Sprintf(forty, seed, trials, parallel))
}

func memory(t testing.TB) *setup.Store {
	t.Helper()
	s, err := setup.OpenStore(t.Context(), "memory")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func inBubble(t *testing.T, f func(t *testing.T)) { t.Helper(); synctest.Test(t, f) }

// submit submits a study that must be taken.
func (s *server) submit(t testing.TB, def *spec.Study, name string) {
	t.Helper()
	if _, err := s.Submit(context.Background(), def, name, "ada"); err != nil {
		t.Fatal(err)
	}
}

// steer steers a study, which must do.
func (s *server) steer(t testing.TB, name string, d assay.StudyCommand) {
	t.Helper()
	d.By = "ada"
	if err := s.Steer(context.Background(), name, d); err != nil {
		t.Fatalf("%s %s: %v", d.Do, name, err)
	}
}

// state returns the Info of a study.
func (s *server) state(t testing.TB, name string) service.Info {
	t.Helper()
	i, err := s.Info(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// events returns the record of a study.
func events(t testing.TB, store *setup.Store, name string) (all []assay.Event) {
	t.Helper()
	for e, err := range store.Events(context.Background(), name, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// once returns an error unless each trial of a record ended once, and none without having been asked.
func once(all []assay.Event) error {
	asked, over := map[int64]bool{}, map[int64]bool{}
	var errs []error
	for _, e := range all {
		id := int64(0)
		switch {
		case e.Asked != nil && asked[e.Asked.ID]:
			errs = append(errs, fmt.Errorf("trial %d was asked twice", e.Asked.ID))
		case e.Asked != nil:
			asked[e.Asked.ID] = true
		case e.Told != nil:
			id = e.Told.ID
		case e.Withdrawn != nil:
			id = e.Withdrawn.Trial
		}
		if id > 0 && (over[id] || !asked[id]) {
			errs = append(errs, fmt.Errorf("trial %d ended, and was asked: %v, had ended: %v", id, asked[id], over[id]))
		}
		if id > 0 {
			over[id] = true
		}
	}
	return errors.Join(errs...)
}
