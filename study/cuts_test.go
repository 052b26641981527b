package study_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// The cuts of a searcher are on record once, before the proposals that came after them; a session that goes on does
// not record them again.
func TestCutsAreRecordedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		st := store.NewMem()
		session := func(trials int) {
			s := newStudy(t, st, trials)
			s.Cuts = func() (cuts []assay.Pruned) { // one more after each second trial of the whole study
				told := 0
				for e, err := range st.Events(t.Context(), "s", 0) {
					if err != nil {
						t.Fatal(err)
					}
					if e.Told != nil {
						told++
					}
				}
				for i := range told / 2 {
					cuts = append(cuts, assay.Pruned{Param: "x", Values: []string{fmt.Sprint(40 - i)}, Reason: fmt.Sprint("cut ", i)})
				}
				return cuts
			}
			mustRun(t, s)
		}
		session(5)
		session(9)
		var got []string
		told := 0
		for e, err := range st.Events(t.Context(), "s", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Told != nil {
				told++
			}
			if e.Pruned != nil {
				got = append(got, fmt.Sprintf("%s after %d", e.Pruned.Reason, told))
			}
		}
		if want := []string{"cut 0 after 2", "cut 1 after 4", "cut 2 after 6", "cut 3 after 8"}; !slices.Equal(got, want) {
			t.Errorf("on record are %q, want %q", got, want)
		}
	})
}

// The shorter limit ends a run, the limit of the job or the rest of the time budget, and the reason names it.
func TestShorterLimitEndsARun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for _, tt := range []struct {
			limit, budget, want time.Duration
			reason              string
		}{
			{5 * time.Second, 0, 5 * time.Second, "limit"},
			{5 * time.Second, 100 * time.Second, 5 * time.Second, "limit"},
			{100 * time.Second, 7 * time.Second, 7 * time.Second, "time budget"},
			{0, 7 * time.Second, 7 * time.Second, "time budget"},
		} {
			s := newStudy(t, store.NewMem(), 1)
			s.Budget.Time = tt.budget
			s.Command = func(assay.Config) (assay.Job, error) {
				return assay.Job{Config: assay.Config{40}, Limit: tt.limit}, nil // of 40 s
			}
			r := mustRun(t, s)
			if len(r.Trials) != 1 || r.Trials[0].State != assay.Censored || r.Trials[0].Value != tt.want.Seconds() ||
				!strings.Contains(r.Trials[0].Reason, tt.reason) {
				t.Errorf("a limit of %v, a budget of %v: %+v, want an end after %v by the %s",
					tt.limit, tt.budget, r.Trials, tt.want, tt.reason)
			}
		}
	})
}
