package service_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
)

// A run that was put first or discarded can be restored until a worker has claimed it: here, and after a
// restart.
func TestRestore(t *testing.T) {
	for _, restart := range []bool{false, true} {
		inBubble(t, func(t *testing.T) {
			store, h := memory(t), newHall(t)
			s := serve(t, store, h, 0)
			ctx := t.Context()
			s.submit(t, fortyOf(t, 1, 12, 6), "a")
			synctest.Wait()
			was := map[int64]string{}
			for _, e := range s.fleet.Queue() {
				was[e.ID.Trial] = e.Config
			}
			if err := s.Order(ctx, "a", []int64{4, 6}, "ada"); err != nil {
				t.Fatal(err)
			}
			if err := s.Withdraw(ctx, "a", []int64{1, 5}, "ada", "known bad"); err != nil {
				t.Fatal(err)
			}
			if restart {
				s.end()
				s = serve(t, store, h, 0)
				synctest.Wait()
			}
			var waits []string
			for _, d := range s.Discarded() {
				waits = append(waits, fmt.Sprintf("%s/%d %s %s", d.Study, d.ID, d.Config, d.Reason))
			}
			if want := []string{"a/1 " + was[1] + " known bad", "a/5 " + was[5] + " known bad"}; !slices.Equal(waits, want) {
				t.Errorf("restart %v: %q can be restored, want %q", restart, waits, want)
			}
			if err := s.Restore(ctx, "a", []int64{4, 5}, "ada"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the study has received the command
			var order []int64
			first := map[int64]bool{}
			for _, e := range s.fleet.Queue() {
				order = append(order, e.ID.Trial)
				first[e.ID.Trial] = e.Priority > 0
			}
			if order[0] != 6 || !first[6] || first[4] || !slices.Contains(order, 4) || len(s.Discarded()) != 1 {
				t.Errorf("restart %v: %v, %d can be restored", restart, order, len(s.Discarded()))
			}
			if err := s.Restore(ctx, "b", []int64{1}, ""); assay.ClassOf(err) != assay.ClassNotFound {
				t.Errorf("no study: %v", err)
			}
			s.work(1)
			time.Sleep(500 * time.Millisecond) // the first was claimed
			if err := s.Restore(ctx, "a", []int64{6}, "ada"); assay.ClassOf(err) != assay.ClassConflict {
				t.Errorf("one that was claimed: %v", err)
			}
			if err := s.Withdraw(ctx, "a", []int64{6}, "ada", ""); err != nil {
				t.Fatal(err)
			}
			if err := s.Restore(ctx, "a", []int64{6}, "ada"); assay.ClassOf(err) != assay.ClassConflict {
				t.Errorf("one that was claimed before it was discarded: %v", err)
			}
			r, err := s.Wait(ctx, "a")
			if err != nil || len(r.Trials) != 12 {
				t.Errorf("%d trials, %v", len(r.Trials), err)
			}
			var ran []string
			for _, tr := range r.Trials {
				ran = append(ran, "n="+assay.FormatNumber(tr.Config[0]))
			}
			if !slices.Contains(ran, was[5]) || slices.Contains(ran, was[1]) {
				t.Errorf("restart %v: run were %v; restored was %s, and not %s", restart, ran, was[5], was[1])
			}
			if err := s.Restore(ctx, "a", []int64{1}, ""); assay.ClassOf(err) != assay.ClassConflict {
				t.Errorf("of a study that has ended: %v", err)
			}
			s.end()
		})
	}
}
