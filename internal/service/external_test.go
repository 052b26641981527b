package service_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/service"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// askedOf is an external study.
func askedOf(t testing.TB, trials int) *spec.Study {
	t.Helper()
	text := fmt.Sprintf("parameters: {x: {type: int, min: 1, max: 1000}}\nbudget: {trials: %d}\nsearch: {name: random, "+
		"seed: 1}\n", trials)
	def, _, err := spec.Parse("loop.yaml", []byte(text), func(s *spec.Study) error {
		s.SetAsked()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func tell(id int64, x float64) []study.Report { return []study.Report{{ID: id, Value: &x}} }

// The trials that a server hands out and is told are on record, and the next server goes on with them.
func TestAskedGoesOnAfterARestart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ctx := context.Background()
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 1)
		s.submit(t, askedOf(t, 4), "")
		if i := s.state(t, "loop"); i.State != service.Running {
			t.Errorf("a study that is asked is %s", i.State)
		}
		a, err := s.Ask(ctx, "loop", 3, -1)
		if err != nil || len(a.Trials) != 3 {
			t.Fatal(a, err)
		}
		if _, _, err := s.Tell(ctx, "loop", tell(1, 5)); err != nil {
			t.Fatal(err)
		}
		s.end()

		s = serve(t, store, h, 1)
		defer func() { s.end() }()
		if i := s.state(t, "loop"); i.State != service.Running {
			t.Errorf("after a restart it is %s", i.State)
		}
		r, res, err := s.Tell(ctx, "loop", tell(2, 4))
		if err != nil || r.Open != 1 || res.Best.ID != 2 {
			t.Errorf("told after a restart: %+v, %+v, %v", r, res, err)
		}
		a, err = s.Ask(ctx, "loop", 5, -1)
		if err != nil || len(a.Trials) != 1 || a.Trials[0].ID != 4 || a.Open != 2 {
			t.Errorf("asked after a restart: %+v, %v", a, err)
		}
		s.steer(t, "loop", assay.StudyCommand{Do: "pause"})
		if i := s.state(t, "loop"); i.State != service.Paused {
			t.Errorf("paused: %s", i.State)
		}
		if _, err := s.Ask(ctx, "loop", 1, -1); assay.ClassOf(err) != assay.ClassConflict {
			t.Errorf("asked in a pause: %v", err)
		}
		s.steer(t, "loop", assay.StudyCommand{Do: "run"})
		if err := s.Withdraw(ctx, "loop", []int64{3}, "ada", "never mind"); err != nil {
			t.Error(err)
		}
		if err := s.Order(ctx, "loop", []int64{4}, "ada"); assay.ClassOf(err) != assay.ClassConflict {
			t.Errorf("ordered: %v", err)
		}
		if err := s.Enqueue(ctx, "loop", []assay.Config{{777}}, "ada"); err != nil {
			t.Error(err)
		}
		if a, err := s.Ask(ctx, "loop", 1, -1); err != nil || len(a.Trials) != 1 || a.Trials[0].Config[0] != 777 {
			t.Errorf("what was given: %+v, %v", a, err)
		}
		for id := int64(4); id <= 5; id++ {
			if r, _, err = s.Tell(ctx, "loop", tell(id, 9)); err != nil {
				t.Error(id, err)
			}
		}
		if i := s.state(t, "loop"); r.Ended != "trials" || i.State != service.Ended {
			t.Errorf("at the end: %+v, %s", r, i.State)
		}
		s.submit(t, askedOf(t, 6), "loop") // with more of a budget it goes on
		if a, err := s.Ask(ctx, "loop", 9, -1); err != nil || len(a.Trials) == 0 || a.Ended != "" {
			t.Errorf("with more of a budget: %+v, %v", a, err)
		}
		if err := once(events(t, store, "loop")); err != nil {
			t.Error(err)
		}
	})
}

// Each of several askers gets trials of its own, and studies whose runs are made here are not asked.
func TestAskersAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ctx := context.Background()
		s := serve(t, memory(t), newHall(t), 1)
		defer s.end()
		s.submit(t, askedOf(t, 100), "loop")
		var mu sync.Mutex
		var ids []int64
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				a, err := s.Ask(ctx, "loop", 5, -1)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				for _, h := range a.Trials {
					ids = append(ids, h.ID)
				}
			})
		}
		wg.Wait()
		slices.Sort(ids)
		if len(slices.Compact(slices.Clone(ids))) != 50 || len(ids) != 50 {
			t.Errorf("trials %v", ids)
		}
		s.submit(t, fortyOf(t, 1, 3, 1), "ours")
		_, err := s.Ask(ctx, "ours", 1, -1)
		if assay.ClassOf(err) != assay.ClassConflict || !strings.Contains(err.Error(), "is not external") {
			t.Errorf("asked of a command: %v", err)
		}
		if _, err := s.Ask(ctx, "nothing", 1, -1); assay.ClassOf(err) != assay.ClassNotFound {
			t.Errorf("asked of nothing: %v", err)
		}
	})
}

// A server that was frozen while another one had the study takes the study back. It knows the trials that the other one
// handed out.
func TestAskedBehindTheRecord(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ctx := context.Background()
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 1)
		defer func() { s.end() }()
		s.submit(t, askedOf(t, 9), "")
		if _, err := s.Ask(ctx, "loop", 1, -1); err != nil {
			t.Fatal(err)
		}
		at, err := store.Summary(ctx, "loop")
		if err != nil {
			t.Fatal(err)
		}
		twin := serve(t, memory(t), newHall(t), 1)
		defer func() { twin.end() }()
		twin.submit(t, askedOf(t, 9), "")
		both, err := twin.Ask(ctx, "loop", 2, -1)
		if err != nil || len(both.Trials) != 2 {
			t.Fatal(both, err)
		}
		other := both.Trials[1].Proposal
		events := []assay.Event{{At: at.Last, Asked: &other}, {At: at.Last, Withdrawn: &assay.Withdrawal{Trial: 1}}}
		if _, err := store.Append(ctx, "loop", assay.Position(at.Events), events...); err != nil {
			t.Fatal(err)
		}
		if back, err := s.Recall(ctx, "loop", 1<<62, "ada", ""); err != nil || len(back) != 0 {
			t.Errorf("recalled: %+v, %v", back, err)
		}
		if r, _, err := s.Tell(ctx, "loop", tell(2, 4)); err != nil || r.Told != 1 {
			t.Errorf("a trial of the other server: %+v, %v", r, err)
		}
		if _, _, err := s.Tell(ctx, "loop", tell(1, 3)); assay.ClassOf(err) != assay.ClassConflict {
			t.Errorf("a withdrawn trial: %v", err)
		}
	})
}
