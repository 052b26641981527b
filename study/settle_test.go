package study_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// steady runs a configuration for two seconds, the first trial's for one.
type steady struct{}

func (steady) Run(_ context.Context, j assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	takes := 2 * time.Second
	if j.ID.Trial == 1 {
		takes = time.Second
	}
	time.Sleep(takes)
	return assay.Measurement{Elapsed: takes}, nil
}

// batches is a store that counts the trials of each append. It takes ten seconds for each.
type batches struct {
	slow
	told   []int
	refuse int64 // it cannot store a trial with this ID
}

func (b *batches) Append(ctx context.Context, name string, at assay.Position, events ...assay.Event) (
	assay.Position, error,
) {
	n := 0
	for _, e := range events {
		if e.Told != nil {
			n++
			if e.Told.ID == b.refuse {
				return 0, assay.Errorf(assay.ClassUsage, "not storable")
			}
		}
	}
	if n > 0 {
		b.told = append(b.told, n)
	}
	return b.slow.Append(ctx, name, at, events...)
}

func newBatches(t *testing.T) (*batches, *study.Study) {
	b := &batches{slow: slow{Store: store.NewMem(), takes: 10 * time.Second}}
	s := newStudy(t, b, 16)
	s.Runner, s.Parallel = steady{}, 8
	return b, s
}

// Trials that end while the store is busy are recorded together, and the search is asked once for the
// trials in their place. A session that goes on finds the same.
func TestTrialsThatEndTogetherAreRecordedTogether(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b, s := newBatches(t)
		a := &asking{Searcher: s.Searcher}
		s.Searcher = a
		if r := mustRun(t, s); len(r.Trials) != 16 {
			t.Fatalf("%d trials", len(r.Trials))
		}
		// While the first is recorded, and another asked for, the other seven end; and so on.
		if !slices.Equal(b.told, []int{1, 7, 1, 7}) || !slices.Equal(a.ns, []int{8, 1, 7}) {
			t.Errorf("16 trials were recorded as %v and asked for as %v", b.told, a.ns)
		}
		again := newStudy(t, b, 16)
		again.Parallel = 8
		if r := mustRun(t, again); len(r.Trials) != 16 || r.Replayed != 16 {
			t.Errorf("%d trials, %d of them replayed", len(r.Trials), r.Replayed)
		}
	})
}

// A trial that cannot be stored ends the session, and takes none with it that ended at the same time.
func TestTrialThatCannotBeStoredTakesNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b, s := newBatches(t)
		b.refuse = 5
		if _, err := s.Run(t.Context()); assay.ClassOf(err) != assay.ClassUsage {
			t.Fatalf("the session ends with %v", err)
		}
		told := map[int64]bool{}
		for e := range b.Events(t.Context(), "s", 0) {
			if e.Told != nil {
				told[e.Told.ID] = true
			}
		}
		if len(told) != 7 || told[5] {
			t.Errorf("on record are %v, want the other seven", told)
		}
	})
}
