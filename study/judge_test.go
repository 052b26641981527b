package study

import (
	"testing"

	"github.com/assay-run/assay"
)

// The best is the least value; of runs that differ it is the least median. One that fails when it is run again is
// refuted, and the next one has to be run again before it is recommended.
func TestJudge(t *testing.T) {
	plain := newJudge(newSession(&Study{}).Study, &assay.ConfigIndex{})
	contest := newJudge(&Study{Race: true}, &assay.ConfigIndex{})
	for _, j := range []*judge{plain, contest} {
		for i, seconds := range []float64{10, 6, 8} {
			j.remember(ran(int64(i+1), float64(i+1), seconds))
			j.choose()
		}
		if j.best().ID != 2 || j.first().ID != 1 || j.size() != 3 || !j.tried(assay.Config{3}) || j.tried(assay.Config{4}) {
			t.Errorf("the best is %+v of %d", j.best(), j.size())
		}
	}
	contest.recheck(ran(2, 2, 12), true)
	contest.recheck(ran(2, 2, 12), true)
	if contest.choose(); contest.best().ID != 3 {
		t.Errorf("the best is trial %d, though that ran in 6, 12 and 12 s", contest.best().ID)
	}
	broken := ran(3, 3, 8)
	broken.State = assay.Failed
	contest.recheck(broken, true)
	contest.choose()
	if b := contest.best(); b.ID == 3 || !contest.broke(ran(3, 3, 8)) || len(contest.refuted()) != 1 {
		t.Errorf("the best is %+v, refuted %+v", b, contest.refuted())
	}
	if r := contest.answer(); len(r.Races) != 3 || len(r.Trials) != 3 || len(r.Refuted) != 1 {
		t.Errorf("%+v", r)
	}
	if got, ok := contest.state(3); !ok || got != assay.Done {
		t.Errorf("trial 3 is %v", got)
	}
}

// The best is compared with the first proposal. If the run of that was stopped, the first trial that is done takes its
// place, in the order of the proposals, unless the first proposal is a declared default.
func TestBaseline(t *testing.T) {
	stopped := ran(1, 1, 10)
	stopped.State, stopped.Decision = assay.Censored, &assay.Decision{Stop: true}
	failed := ran(1, 1, 10)
	failed.State = assay.Failed
	for _, tt := range []struct {
		name     string
		declared bool
		trials   []assay.Trial
		want     int64
	}{
		{"done", false, []assay.Trial{ran(2, 2, 6), ran(1, 1, 10)}, 1},
		{"stopped", false, []assay.Trial{ran(3, 3, 4), stopped, ran(2, 2, 6)}, 2},
		{"stopped alone", false, []assay.Trial{stopped}, 1},
		{"a stopped default", true, []assay.Trial{stopped, ran(2, 2, 6)}, 1},
		{"failed", false, []assay.Trial{failed, ran(2, 2, 6)}, 1},
		{"running", false, []assay.Trial{ran(2, 2, 6)}, 0},
	} {
		j := newJudge(&Study{Race: true, Declared: tt.declared}, &assay.ConfigIndex{})
		for _, run := range tt.trials {
			j.remember(run)
		}
		j.choose()
		got := int64(0)
		if f := j.first(); f != nil {
			got = f.ID
		}
		if r := j.answer(); got != tt.want || r.First.ID != tt.want {
			t.Errorf("%s: the baseline is trial %d, in the result %d, want %d", tt.name, got, r.First.ID, tt.want)
		}
	}
}
