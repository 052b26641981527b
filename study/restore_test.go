package study_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// last returns the trial that was asked last.
func last(t testing.TB, st assay.Store) (id int64) {
	t.Helper()
	for e, err := range st.Events(t.Context(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Asked != nil {
			id = e.Asked.ID
		}
	}
	return id
}

// A proposal that was discarded before it began is proposed next, once, in this session or a later one, and the
// record replays. A run that had begun is not restored.
func TestRestore(t *testing.T) {
	for _, again := range []bool{false, true} {
		inBubble(t, func(t *testing.T) {
			mem, f := store.NewMem(), newFarm(3)
			ctx := t.Context()
			if err := mem.Create(ctx, "s", nil); err != nil {
				t.Fatal(err)
			}
			s := farmStudy(t, mem, f, 12)
			j := journalOf(t, s)
			g := begin(t, s)
			synctest.Wait()
			begun := f.begun[slices.IndexFunc(f.begun, func(id assay.RunID) bool { return id.Trial == 1 })]
			if err := j.Append(ctx, assay.Event{Started: &assay.Start{RunID: begun}}); err != nil {
				t.Fatal(err)
			}
			configs := map[int64]assay.Config{}
			for e := range mem.Events(ctx, "s", 0) {
				if e.Asked != nil {
					configs[e.Asked.ID] = e.Asked.Config
				}
			}
			if err := s.Control.Withdraw(ctx, "ada", "known bad", 1, 2, 3); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // others have been asked in place of them
			if again {
				g.detach(t)
				s = farmStudy(t, mem, f, 12)
				g = begin(t, s)
				synctest.Wait()
			}
			all := s.Control.Discarded()
			if len(all) != 2 || all[0].ID != 2 || all[1].ID != 3 || all[1].Reason != "known bad" || all[0].By != "ada" ||
				!all[1].Config.Equal(configs[3]) || all[0].At.IsZero() {
				t.Fatalf("again %v: can be restored: %+v", again, all)
			}
			before := story(t, mem)
			for name, ids := range map[string][]int64{
				"begun": {3, 1}, "waits at its own place": {2, last(t, mem)},
				"no trial": {2, 99},
			} {
				class := assay.ClassConflict
				if name == "no trial" {
					class = assay.ClassNotFound
				}
				err := s.Control.Restore(ctx, "bob", ids...)
				if assay.ClassOf(err) != class || !strings.Contains(err.Error(), name) {
					t.Errorf("restore %v: %v, want %q", ids, err, name)
				}
			}
			if after := story(t, mem); !slices.Equal(before, after) {
				t.Errorf("what was refused is on record: %v", after[len(before):])
			}
			newest := last(t, mem)
			if err := s.Control.Restore(ctx, "bob", 3, 2); err != nil {
				t.Fatal(err)
			}
			if err := s.Control.Restore(ctx, "bob", 3); assay.ClassOf(err) != assay.ClassConflict {
				t.Errorf("restored twice: %v", err)
			}
			if len(s.Control.Discarded()) != 0 {
				t.Errorf("still to be restored: %v", s.Control.Discarded())
			}
			r := g.wait(t)
			if len(r.Trials) != 12 || slices.Contains(ids(r.Trials), 2) || slices.Contains(ids(r.Trials), 3) {
				t.Errorf("trials %v", ids(r.Trials))
			}
			for i, old := range []int64{2, 3} {
				k := slices.IndexFunc(r.Trials, func(tr assay.Trial) bool { return tr.ID == newest+1+int64(i) })
				if k < 0 || !r.Trials[k].Config.Equal(configs[old]) {
					t.Errorf("again %v: trial %d is not run in place of %d: %v", again, newest+1+int64(i), old, story(t, mem))
				}
			}
			// The record replays: a searcher that departs from it would be an error.
			s = farmStudy(t, mem, f, 13)
			if n := len(begin(t, s).wait(t).Trials); n != 13 {
				t.Errorf("a later session: %d trials", n)
			}
		})
	}
}

// A trial that was put first goes back to its place, unless it has begun.
func TestRestoreOrder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		mem, f := store.NewMem(), newFarm(5)
		s := farmStudy(t, mem, f, 5)
		g := begin(t, s)
		synctest.Wait()
		g.detach(t)
		f.runs, f.order, f.begun, f.rooms = map[assay.RunID]*farmed{}, nil, nil, 1 // they are gone
		s = farmStudy(t, mem, f, 5)
		j := journalOf(t, s)
		g = begin(t, s)
		synctest.Wait()
		ctx := t.Context()
		for id, p := range map[int64]int{1: 3, 4: 5, 5: 7} {
			if err := s.Control.Order(ctx, p, "ada", id); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Append(ctx, assay.Event{Started: &assay.Start{RunID: f.begun[0]}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Control.Restore(ctx, "ada", 5, 1); assay.ClassOf(err) != assay.ClassConflict {
			t.Errorf("one that has begun: %v", err)
		}
		if err := s.Control.Restore(ctx, "ada", 5); err != nil {
			t.Fatal(err)
		}
		if err := s.Control.Restore(ctx, "ada", 5); assay.ClassOf(err) != assay.ClassConflict {
			t.Errorf("a second time: %v", err)
		}
		g.wait(t)
		if want := []int64{1, 4, 2, 3, 5}; !slices.Equal(f.order, want) {
			t.Errorf("run in the order %v, want %v", f.order, want)
		}
		if err := s.Control.Restore(ctx, "ada", 5); !strings.Contains(err.Error(), study.ErrOver.Error()) {
			t.Errorf("after the end: %v", err)
		}
	})
}
