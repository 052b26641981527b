package online_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/online"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
)

// forgets is a store that keeps nothing, so that the memory of a session can be seen.
type forgets struct{ assay.Store }

func (forgets) Append(_ context.Context, _ string, at assay.Position, es ...assay.Event) (assay.Position, error) {
	return at + assay.Position(len(es)), nil
}

func (forgets) Events(context.Context, string, assay.Position) iter.Seq2[assay.Event, error] {
	return func(func(assay.Event, error) bool) {}
}

// keeps is a searcher that keeps every trial, for the control.
type keeps struct {
	assay.Searcher
	all *[]assay.Trial
}

func (k keeps) Tell(ts ...assay.Trial) error {
	*k.all = append(*k.all, ts...)
	return k.Searcher.Tell(ts...)
}

// heldPerTrial has ranks report so many trials, twice, and returns how many bytes the second half of them left.
func heldPerTrial(t *testing.T, all *[]assay.Trial) float64 {
	t.Helper()
	const ranks, trials = 16, 20_000
	space, err := assay.NewSpace([]assay.Param{
		{Name: "x", Kind: assay.Integer, Lo: 1, Hi: 10_000}, {Name: "y", Kind: assay.Integer, Lo: 1, Hi: 10_000},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, online.Options{
		Name: "o", Space: space, Store: forgets{}, Default: assay.Config{1, 1}, Deadline: time.Hour,
		Searcher: func(int) (assay.Searcher, error) {
			var r assay.Searcher = search.NewRandom(space, 1) // in constant memory: see there
			if all != nil {
				r = keeps{r, all}
			}
			return r, nil
		},
	})
	for r := range ranks {
		join(t, s, r)
	}
	var heap [2]uint64
	for half := range heap {
		for s.Status().Trials < int64((half+1)*trials) {
			for r := range ranks {
				turn := fetch(t, s, r)
				report(t, s, r, turn, 1+turn.Config[0])
			}
		}
		runtime.GC()
		runtime.GC() // pooled values go with the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heap[half] = m.HeapAlloc
	}
	shut(t, s)
	runtime.KeepAlive(all)
	return (float64(heap[1]) - float64(heap[0])) / trials
}

// A session keeps nothing of a trial that is told: only the record on the disk grows with a long session, and the
// state of its searcher. The control keeps the trials.
func TestSessionIsBounded(t *testing.T) {
	testbed.Outside(t)
	control := heldPerTrial(t, &[]assay.Trial{})
	got := heldPerTrial(t, nil)
	if got > 20 || control < 100 {
		t.Errorf("%.1f bytes are kept of each trial, want 0; by the control %.1f, want some 100", got, control)
	}
	t.Logf("counted: %.1f bytes are kept of each of 20,000 trials; by the control %.0f", max(got, 0), control)
}

// Ranks that join look at no other rank: however many there are, a look at all of them is taken four times in a
// deadline. Each of them that went silent is found all the same.
func TestJoinsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, forgets{store.NewMem()})
		o.Deadline = 40 * time.Second
		s := open(t, o)
		const ranks = 10_000
		for r := range ranks {
			join(t, s, r)
			if r%100 == 0 {
				time.Sleep(100 * time.Millisecond) // 10 s in all: one look or two
			}
		}
		if n := s.Status().Ranks; n != ranks {
			t.Errorf("%d ranks are alive, want %d", n, ranks)
		}
		joined := s.Looks()
		if joined > 2*ranks {
			t.Errorf("%d looks at a member while %d joined, want at most two each", joined, ranks)
		}
		// The one that comes first takes the rank of one that has been silent, without a look at all others.
		time.Sleep(time.Minute)
		if err := s.Join(7, "another"); err != nil {
			t.Error(err)
		}
		if n := s.Status().Ranks; n != 1 {
			t.Errorf("%d ranks are alive after a minute, want the one that joined", n)
		}
		if err := s.Join(7, "a third"); !errors.Is(err, online.ErrRankTaken) {
			t.Errorf("a rank that is alive: %v", err)
		}
		for r := range 100 { // the dead come back
			fetchAs(t, s, fmt.Sprint("p", r+100))
		}
		if n := s.Status().Ranks; n != 101 {
			t.Errorf("%d ranks are alive, want 101", n)
		}
		for r := range 100 {
			if err := s.Leave(fmt.Sprint("p", r+100)); err != nil {
				t.Error(err)
			}
		}
		if n := s.Status().Ranks; n != 1 {
			t.Errorf("%d ranks are alive, want 1", n)
		}
		shut(t, s)
		t.Logf("counted: %d ranks joined with %.1f looks at a rank each", ranks, float64(joined)/ranks)
	})
}

func fetchAs(t *testing.T, s *online.Session, instance string) {
	t.Helper()
	if _, err := s.Fetch(instance); err != nil {
		t.Fatal(err)
	}
}
