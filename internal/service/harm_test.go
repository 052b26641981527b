package service_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/service"
)

// A failing store takes no events of one study while it fails.
type failing struct {
	assay.Store
	study string
	fails atomic.Bool
}

var errDisk = errors.New("disk full")

func (f *failing) Append(ctx context.Context, study string, at assay.Position, events ...assay.Event) (assay.Position,
	error,
) {
	if study == f.study && f.fails.Load() {
		return 0, errDisk
	}
	return f.Store.Append(ctx, study, at, events...)
}

func (f *failing) Lock(ctx context.Context, study string) (func() error, error) {
	return f.Store.(assay.Locker).Lock(ctx, study)
}

// A store that fails for one study ends that one once its patience is at its end, and no other.
// The study shows the reason, and goes on after a command to run.
func TestStoreFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		f := &failing{Store: store.Store, study: "a"}
		store.Store = f
		s := serve(t, store, h, 4, func(o *service.Options) { o.Patience = 10 * time.Second })
		defer s.end()
		ctx := t.Context()
		for _, name := range []string{"a", "b"} {
			s.submit(t, fortyOf(t, 1, 8, 2), name)
		}
		time.Sleep(5 * time.Second)
		f.fails.Store(true)
		if _, err := s.Wait(ctx, "a"); !errors.Is(err, errDisk) {
			t.Errorf("a: %v", err)
		}
		if i := s.state(t, "a"); i.State != service.Idle || !strings.Contains(i.Why, "disk full") {
			t.Errorf("a: %+v", i)
		}
		if r, err := s.Wait(ctx, "b"); err != nil || len(r.Trials) != 8 {
			t.Errorf("b: %d trials, %v", len(r.Trials), err)
		}
		f.fails.Store(false)
		s.steer(t, "a", assay.StudyCommand{Do: "run"})
		if r, err := s.Wait(ctx, "a"); err != nil || len(r.Trials) != 8 {
			t.Errorf("a again: %d trials, %v", len(r.Trials), err)
		}
		for _, name := range []string{"a", "b"} {
			if err := once(events(t, store, name)); err != nil {
				t.Error(err)
			}
		}
	})
}

// A search that panics ends its study with its message, and no other.
func TestSearchPanics(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 4, func(o *service.Options) { service.Wreck(o, "a", 5) })
		defer s.end()
		ctx := t.Context()
		for _, name := range []string{"a", "b"} {
			s.submit(t, fortyOf(t, 1, 8, 2), name)
		}
		if _, err := s.Wait(ctx, "a"); err == nil ||
			!strings.Contains(err.Error(), "panicked: runtime error: index out of range") {
			t.Errorf("a: %v", err)
		}
		i := s.state(t, "a")
		if i.State != service.Ended || i.Ended != "error" || !strings.Contains(i.Why, "the search of study a panicked") {
			t.Errorf("a: %+v", i)
		}
		if r, err := s.Wait(ctx, "b"); err != nil || len(r.Trials) != 8 {
			t.Errorf("b: %d trials, %v", len(r.Trials), err)
		}
		told := 0
		for _, e := range events(t, store, "a") {
			if e.Told != nil {
				told++
			}
		}
		if told != len(h.begun)-8 {
			t.Errorf("%d of %d runs of a are on record: what was in flight counts", told, len(h.begun)-8)
		}
		where := false
		for _, w := range *s.warned {
			where = where || strings.Contains(w, "service.(*wrecked)")
		}
		if !where {
			t.Errorf("nobody is told where: %q", *s.warned)
		}
	})
}

// Two hundred studies of random search run at once in one process.
func TestTwoHundredStudies(t *testing.T) {
	const studies, trials = 200, 5
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 50)
		before := heap()
		var wg sync.WaitGroup
		for i := range studies {
			wg.Go(func() { s.submit(t, fortyOf(t, i, trials, 2), fmt.Sprint("s", i)) })
		}
		wg.Wait()
		time.Sleep(30 * time.Second)
		if after := heap(); after > before {
			t.Logf("%d studies that go on take %d KiB of the heap", studies, (after-before)>>10)
		}
		began := time.Now()
		s.end()
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("letting go of %d studies took %v", studies, took)
		}
		s = serve(t, store, h, 50)
		defer s.end()
		for i := range studies {
			if r, err := s.Wait(t.Context(), fmt.Sprint("s", i)); err != nil || len(r.Trials) != trials {
				t.Fatalf("s%d: %d trials, %v", i, len(r.Trials), err)
			}
		}
		if err := h.twice(); err != nil || len(h.begun) != studies*trials {
			t.Error(len(h.begun), err)
		}
	})
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A search that does not come back holds no other study up, and the end of the server for two
// seconds at most.
func TestSearchHangs(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 4, func(o *service.Options) {
			o.Searching = 2
			service.Hang(o, "a", time.Hour)
		})
		for _, name := range []string{"a", "b"} {
			s.submit(t, fortyOf(t, 1, 4, 2), name)
		}
		if r, err := s.Wait(t.Context(), "b"); err != nil || len(r.Trials) != 4 {
			t.Errorf("b: %d trials, %v", len(r.Trials), err)
		}
		began := time.Now()
		err := s.Close()
		if took := time.Since(began); took > 2*time.Second || !strings.Contains(fmt.Sprint(err), "1 studies") {
			t.Errorf("closed in %v: %v", took, err)
		}
		time.Sleep(2 * time.Hour) // it comes back
		s.end()
	})
}

// One study whose runs are short and many does not keep the machines from another.
func TestFairShare(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 4)
		defer s.end()
		s.submit(t, fortyOf(t, 1, 40, 40), "wide")
		s.submit(t, fortyOf(t, 2, 40, 4), "slim")
		time.Sleep(150 * time.Second)
		h.mu.Lock()
		defer h.mu.Unlock()
		begun := map[string]int{}
		for _, id := range h.begun {
			begun[id.Study]++
		}
		if w, sl := begun["wide"], begun["slim"]; w > 2*sl || sl > 2*w {
			t.Errorf("begun: %v", begun)
		}
	})
}
