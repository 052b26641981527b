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
