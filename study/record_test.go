package study_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

var errDisk = errors.New("disk full")

// failing is a store of which some calls of Append fail: those from the first to
// the last, counted from 1. Every other of them has added the events before it
// fails, as a store does whose answer is lost.
type failing struct {
	assay.Store
	mu          sync.Mutex
	first, last int
	n           int
	err         error // the error they return
}

func (f *failing) Append(ctx context.Context, study string, at assay.Position, events ...assay.Event) (assay.Position,
	error,
) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; f.n < f.first || f.n > f.last {
		return f.Store.Append(ctx, study, at, events...)
	}
	if f.n%2 == 0 {
		if _, err := f.Store.Append(ctx, study, at, events...); err != nil {
			return 0, err
		}
	}
	return 0, f.err
}

// recordOf returns the record of the study "s", without its times.
func recordOf(t *testing.T, st assay.Store) (lines []string) {
	t.Helper()
	for e, err := range st.Events(t.Context(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Asked != nil:
			lines = append(lines, fmt.Sprint("asked ", e.Asked.ID, e.Asked.Config))
		case e.Told != nil:
			lines = append(lines, fmt.Sprint("told ", e.Told.ID, e.Told.Config, e.Told.State, e.Told.Value))
		case e.Checked != nil:
			lines = append(lines, fmt.Sprint("checked ", e.Checked.ID, e.Checked.Value))
		case e.Ended != nil:
			lines = append(lines, "ended "+e.Ended.By)
		}
	}
	return lines
}

// A store that fails for a while holds the study up, and that is all: nothing is
// lost, nothing is there twice, and no run is repeated.
func TestStoreFailsForAWhile(t *testing.T) {
	var want []string
	inBubble(t, func(t *testing.T) {
		mem := store.NewMem()
		s := newStudy(t, mem, 10)
		s.Check = 1
		mustRun(t, s)
		want = recordOf(t, mem)
	})
	for first := 1; first <= len(want); first++ {
		for _, times := range []int{1, 3, 8} {
			inBubble(t, func(t *testing.T) {
				mem := store.NewMem()
				s := newStudy(t, mem, 10)
				s.Check = 1
				s.Store = &failing{Store: mem, first: first, last: first + times - 1, err: errDisk}
				r := mustRun(t, s)
				if got := recordOf(t, mem); !slices.Equal(got, want) {
					t.Errorf("append %d fails %d times: got the record\n%s\nwant\n%s", first, times,
						strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if len(r.Trials) != 10 || len(s.Runner.(*fake).ran) != 12 {
					t.Errorf("append %d fails %d times: %d trials, %d runs", first, times, len(r.Trials),
						len(s.Runner.(*fake).ran))
				}
			})
		}
	}
}

// The waits are 10 ms, 20 ms and so on to 5 s, for the time of Patience.
func TestPatience(t *testing.T) {
	for patience, want := range map[time.Duration]struct {
		calls int
		spent time.Duration
	}{
		-1:                     {1, 0},
		10 * time.Millisecond:  {2, 10 * time.Millisecond},
		100 * time.Millisecond: {4, 70 * time.Millisecond},
		20 * time.Second:       {12, 15110 * time.Millisecond},
		0:                      {32, 115110 * time.Millisecond},
	} {
		inBubble(t, func(t *testing.T) {
			s := newStudy(t, store.NewMem(), 10)
			f := &failing{Store: s.Store, first: 1, last: 1 << 30, err: errDisk}
			s.Store, s.Patience = f, patience
			began := time.Now()
			_, err := s.Run(t.Context())
			if !errors.Is(err, errDisk) {
				t.Errorf("patience %v: got %v, want the error of the store", patience, err)
			}
			if got := time.Since(began); f.n != want.calls || got != want.spent {
				t.Errorf("patience %v: %d attempts in %v, want %d in %v", patience, f.n, got, want.calls, want.spent)
			}
			if len(s.Runner.(*fake).ran) != 0 {
				t.Errorf("patience %v: a proposal was run that is not on record", patience)
			}
		})
	}
}

// A store that never works again ends the study. The measurements are in the
// Result, no run starts that is not recorded, and the study can go on later.
func TestStoreFailsForGood(t *testing.T) {
	for _, parallel := range []int{1, 3} {
		for first := 1; first <= 6; first++ {
			inBubble(t, func(t *testing.T) {
				mem := store.NewMem()
				s := newStudy(t, mem, 10)
				s.Parallel = parallel
				f := s.Runner.(*fake)
				s.Store = &failing{Store: mem, first: first, last: 1 << 30, err: errDisk}
				r, err := s.Run(t.Context())
				if !errors.Is(err, errDisk) || strings.Count(err.Error(), errDisk.Error()) != 1 {
					t.Errorf("append %d: got error %v", first, err)
				}
				asked := 0
				for _, line := range recordOf(t, mem) {
					if strings.HasPrefix(line, "asked") {
						asked++
					}
				}
				if len(f.ran) > asked {
					t.Errorf("append %d: %d runs, %d proposals on record: nothing is run that is not recorded", first,
						len(f.ran), asked)
				}
				if len(r.Trials) != len(f.ran) {
					t.Errorf("append %d: %d trials in the result, %d were measured", first, len(r.Trials), len(f.ran))
				}
				if r := mustRun(t, newStudy(t, mem, 10)); len(r.Trials) != 10 {
					t.Errorf("append %d: %d trials after it", first, len(r.Trials))
				}
			})
		}
	}
}

// An error that another attempt cannot change ends the study at once.
func TestStoreErrorsThatAreFinal(t *testing.T) {
	for _, err := range []error{
		assay.ErrConflict, assay.Errorf(assay.ClassUsage, "not storable"),
		assay.Errorf(assay.ClassNotFound, "removed"), context.Canceled,
	} {
		inBubble(t, func(t *testing.T) {
			s := newStudy(t, store.NewMem(), 10)
			f := &failing{Store: s.Store, first: 3, last: 1 << 30, err: err}
			s.Store = f
			if _, got := s.Run(t.Context()); !errors.Is(got, err) || f.n != 3 {
				t.Errorf("got %v after %d calls of Append, want %v after 3", got, f.n, err)
			}
		})
	}
}

// overtaken is a store in which another session writes before the first trial is told.
type overtaken struct{ assay.Store }

func (o overtaken) Append(
	ctx context.Context, study string, at assay.Position, events ...assay.Event,
) (assay.Position, error) {
	if events[0].Told != nil {
		return 0, assay.ErrConflict
	}
	return o.Store.Append(ctx, study, at, events...)
}

// The runs of a session that has lost its study end with it: another session makes
// them again.
func TestConflictEndsTheRuns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 10)
		s.Parallel = 3
		s.Store = overtaken{s.Store}
		began := time.Now()
		r, err := s.Run(t.Context())
		if !errors.Is(err, assay.ErrConflict) || r.EndedBy != "error" ||
			len(r.Trials) != 1 || len(s.Runner.(*fake).ran) != 3 {
			t.Fatalf("got %v, ended by %q, %d trials, %d runs", err, r.EndedBy, len(r.Trials), len(s.Runner.(*fake).ran))
		}
		if took := time.Since(began); took != r.Trials[0].Measurement.Elapsed {
			t.Errorf("the session ended after %v, its first run after %v", took, r.Trials[0].Measurement.Elapsed)
		}
	})
}

// An interrupted study waits no longer for its store.
func TestInterruptWhileTheStoreFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 10)
		s.Store = &failing{Store: s.Store, first: 4, last: 1 << 30, err: errDisk}
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		began := time.Now()
		r, err := s.Run(ctx)
		if err == nil || r.EndedBy != "interrupt" || time.Since(began) > 61*time.Second {
			t.Errorf("got %v, ended by %q after %v", err, r.EndedBy, time.Since(began))
		}
		if len(r.Trials) == 0 {
			t.Error("what was measured is not in the result")
		}
	})
}

// Two sessions of one study: the one that writes first goes on, the other ends
// with ErrConflict and ends its runs. A third session resumes the record.
func TestTwoSessions(t *testing.T) {
	for _, parallel := range []int{1, 3} {
		inBubble(t, func(t *testing.T) {
			want := mustRun(t, newStudy(t, store.NewMem(), 12))
			mem := store.NewMem()
			begin := func(trials int) (*study.Study, chan error) {
				s, done := newStudy(t, mem, trials), make(chan error, 1)
				s.Parallel = parallel
				go func() {
					_, err := s.Run(t.Context())
					done <- err
				}()
				return s, done
			}
			_, one := begin(12)
			time.Sleep(30 * time.Second) // it has told some trials
			late, two := begin(12)
			errs := []error{<-one, <-two}
			conflicts := 0
			for _, err := range errs {
				if errors.Is(err, assay.ErrConflict) {
					conflicts++
				} else if err != nil {
					t.Errorf("got %v", err)
				}
			}
			if conflicts != 1 {
				t.Fatalf("got %v, want one nil and one ErrConflict", errs)
			}
			if parallel == 1 && len(late.Runner.(*fake).ran) == 0 {
				t.Error("the second session ran nothing")
			}
			third := newStudy(t, mem, 14)
			got := mustRun(t, third)
			if g, w := configs(got.Trials)[:12], configs(want.Trials); got.Replayed != 12 || len(g) != len(w) {
				t.Errorf("the third session: %d trials of the record, %v", got.Replayed, g)
			}
			seen := map[string]bool{}
			for _, line := range recordOf(t, mem) {
				if seen[line] && !strings.HasPrefix(line, "ended") {
					t.Errorf("on record twice: %s", line)
				}
				seen[line] = true
			}
		})
	}
}
