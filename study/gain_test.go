package study_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// enders ends a study after so many trials, and notes the budget left that it was given.
type enders struct {
	after int
	least float64
	left  []float64
}

func (e *enders) Least() float64 { return e.least }

func (e *enders) Enough(history []assay.Trial, left float64) (string, bool) {
	e.left = append(e.left, left)
	return fmt.Sprintf("%d are enough", e.after), len(history) >= e.after
}

func TestNoGainEndsTheStudy(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		st := store.NewMem()
		again := func(e assay.StudyStopper, trials int) study.Result {
			s := newStudy(t, st, trials)
			s.StudyStopper, s.Parallel = e, 3
			return mustRun(t, s)
		}
		rule := &enders{after: 6, least: 0.01}
		r := again(rule, 30)
		if r.EndedBy != "gain" || r.Why != "6 are enough" {
			t.Fatalf("ended by %q, %q", r.EndedBy, r.Why)
		}
		// Those in flight are waited for: two of three.
		if n := len(r.Trials); n != 8 {
			t.Errorf("%d trials, want 6 and the two in flight", n)
		}
		if last := rule.left[len(rule.left)-1]; !(math.Abs(last-float64(30-8)/6) <= 1e-9) {
			t.Errorf("the rule was told that %v times what was spent is left", last)
		}
		// It stays ended, though a rule that is asked again would go on, and more trials are allowed.
		if r := again(&enders{after: 100, least: 0.01}, 40); r.EndedBy != "gain" || len(r.Trials) != 8 || r.Why == "" {
			t.Errorf("resumed: %q, %d trials, %q", r.EndedBy, len(r.Trials), r.Why)
		}
		seen, err := study.Recall(t.Context(), &study.Study{Name: "s", Store: st, Space: newSpace(t)})
		if err != nil || seen.EndedBy != "gain" || seen.Why != "6 are enough" {
			t.Errorf("on record: %q, %q, %v", seen.EndedBy, seen.Why, err)
		}
		// Less gain is worth it now: it goes on, and is judged anew.
		if r := again(&enders{after: 12, least: 0.001}, 40); r.EndedBy != "gain" || len(r.Trials) != 14 {
			t.Errorf("with less gain: %q, %d trials", r.EndedBy, len(r.Trials))
		}
		// Without a rule it goes on to its budget.
		if r := again(nil, 20); r.EndedBy != "trials" || len(r.Trials) != 20 || r.Why != "" {
			t.Errorf("without a rule: %q, %d trials, %q", r.EndedBy, len(r.Trials), r.Why)
		}
	})
}

func TestBudgetComesBeforeGain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 5)
		s.StudyStopper = &enders{after: 5, least: 0.01}
		if r := mustRun(t, s); r.EndedBy != "trials" {
			t.Errorf("ended by %q, want trials", r.EndedBy)
		}
	})
}

// A budget that a person gives to a study which ended so is to be used.
func TestBudgetGivenAfterGain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		st := store.NewMem()
		s := newStudy(t, st, 30)
		s.StudyStopper = &enders{after: 4, least: 0.01}
		if r := mustRun(t, s); r.EndedBy != "gain" || len(r.Trials) != 4 {
			t.Fatalf("%q, %d trials", r.EndedBy, len(r.Trials))
		}
		var end assay.Position
		for _, err := range st.Events(t.Context(), "s", 0) {
			if err != nil {
				t.Fatal(err)
			}
			end++
		}
		more := assay.Event{Steered: &assay.StudyCommand{Do: "budget", Trials: 9}}
		if _, err := st.Append(t.Context(), "s", end, more); err != nil {
			t.Fatal(err)
		}
		s = newStudy(t, st, 30)
		s.StudyStopper, s.Control = &enders{after: 4, least: 0.01}, study.NewControl()
		if r := mustRun(t, s); r.EndedBy != "trials" || len(r.Trials) != 9 {
			t.Errorf("with a budget of 9: %q, %d trials", r.EndedBy, len(r.Trials))
		}
	})
}
