package stop_test

import (
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/stop"
)

// A run is compared with the runs at its level: below the full one with the runs outside the best third there.
func TestLevel(t *testing.T) {
	at := func(id int64, level, value float64) assay.Trial {
		tr := trial(id, assay.Done, value)
		tr.Config = assay.Config{0, level}
		if level < 2 {
			tr.State = assay.Infeasible
		}
		return tr
	}
	history := []assay.Trial{at(1, 2, 100), at(2, 0, 1), at(3, 0, 2), at(4, 0, 3), at(5, 1, 30)}
	rule := stop.Level{Rule: stop.Incumbent{}, Param: 1, Full: 2, Keep: 3}
	for _, c := range []struct {
		what         string
		level, value float64
		stop         bool
	}{
		{"better than the full level", 2, 99, false},
		{"worse than the full level", 2, 101, true},
		{"worse than the best at the lowest, but not than the next", 0, 1.5, false},
		{"worse than the second at the lowest", 0, 2.5, true},
		{"worse than the lowest, better than the only one at its level", 1, 29, false},
		{"worse than the only one at its level", 1, 31, true},
	} {
		running := trial(9, assay.Running, c.value)
		running.Config = assay.Config{0, c.level}
		if d := rule.Decide(history, running); d.Stop != c.stop {
			t.Errorf("%s: %+v", c.what, d)
		}
	}
	if history[1].State != assay.Infeasible {
		t.Error("the history was changed")
	}
}

// A level follows curves if its rule does.
func TestLevelFollows(t *testing.T) {
	level := stop.Level{Rule: stop.Incumbent{}, Param: 0, Full: 1, Keep: 3}
	if level.Follows() {
		t.Error("it follows curves")
	}
	if !(stop.Level{Rule: stop.Median{}}).Follows() {
		t.Error("it does not follow curves")
	}
}
