package study_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// cycle is a searcher that proposes the configurations 1 to n in turn, again and
// again.
type cycle struct{ n, last int64 }

func (c *cycle) Ask(int) ([]assay.Proposal, error) {
	c.last++
	return []assay.Proposal{{ID: c.last, Config: assay.Config{float64((c.last-1)%c.n + 1)}}}, nil
}

func (c *cycle) Tell(...assay.Trial) error { return nil }

// named is a Runner that notes the IDs of its jobs.
type named struct {
	fake
	mu  sync.Mutex
	ids []assay.RunID
}

func (r *named) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	r.mu.Lock()
	r.ids = append(r.ids, job.ID)
	r.mu.Unlock()
	return r.fake.Run(ctx, job, observe)
}

func newNamed(t *testing.T, st assay.Store, trials int) (*study.Study, *named) {
	t.Helper()
	s, r := newStudy(t, st, trials), &named{}
	s.Runner, s.Searcher = r, &cycle{n: 3}
	return s, r
}

func TestRunIDs(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, r := newNamed(t, store.NewMem(), 5)
		r.lose, s.Check = 2, 2
		// The best must not be the first proposal, or nothing is checked.
		s.Goal = assay.Goal{Metric: "score", Maximize: true}
		mustRun(t, s)
		want := []assay.RunID{
			{Study: "s", Trial: 1, Attempt: 1},
			{Study: "s", Trial: 1, Attempt: 2},
			{Study: "s", Trial: 1, Attempt: 3},
			{Study: "s", Trial: 2, Attempt: 1},
			{Study: "s", Trial: 3, Attempt: 1},
			{Study: "s", Trial: 4, Repeat: 1, Attempt: 1},
			{Study: "s", Trial: 5, Repeat: 1, Attempt: 1},
			// The checks: the best, then the first, and so on.
			{Study: "s", Trial: 3, Repeat: 1, Attempt: 1},
			{Study: "s", Trial: 1, Repeat: 2, Attempt: 1},
			{Study: "s", Trial: 3, Repeat: 2, Attempt: 1},
			{Study: "s", Trial: 1, Repeat: 3, Attempt: 1},
		}
		if !slices.Equal(r.ids, want) {
			t.Errorf("got  %v\nwant %v", r.ids, want)
		}
	})
}

// A run has one ID, whichever session begins it: after every event of a record a
// new session goes on with the IDs that were to come. The last session, with a
// larger budget, counts the checks of the one before.
func TestRunIDsAfterResume(t *testing.T) {
	for _, parallel := range []int{1, 3} {
		inBubble(t, func(t *testing.T) {
			whole := store.NewMem()
			session := func(st assay.Store, trials int) *named {
				s, r := newNamed(t, st, trials)
				s.Parallel, s.Goal = parallel, assay.Goal{Metric: "score", Maximize: true}
				if parallel == 1 { // else it may be another of equals that is best, and is checked
					s.Check = 2
				}
				mustRun(t, s)
				return r
			}
			want := session(whole, 7).ids
			want = append(want, session(whole, 9).ids...)
			seen := map[assay.RunID]bool{}
			for _, id := range want {
				if seen[id] {
					t.Errorf("%v is run twice", id)
				}
				seen[id] = true
			}
			n := 0
			for range whole.Events(t.Context(), "s", 0) {
				n++
			}
			for k := range n {
				st := prefix(t, whole, k)
				ids := append(session(st, 7).ids, session(st, 9).ids...)
				for _, id := range ids {
					if !seen[id] {
						t.Errorf("parallel %d, killed after %d events: %v was never begun by a session that was not",
							parallel, k, id)
					}
				}
				if parallel == 1 && fmt.Sprint(ids) != fmt.Sprint(want[len(want)-len(ids):]) {
					t.Errorf("killed after %d events: ran\n%v, want\n%v", k, ids, want[len(want)-len(ids):])
				}
			}
		})
	}
}
