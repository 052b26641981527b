package study

import (
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// Where runs are alike less time is kept for the comparison: for as many pairs as show a difference, or,
// if they do not fit into a fifth of the budget, for one. Of many runs it is not the longest that counts.
func TestReserveOfQuietRuns(t *testing.T) {
	run := func(id int64, at float64, took time.Duration) assay.Trial {
		return assay.Trial{
			Proposal: assay.Proposal{ID: id, Config: assay.Config{at}}, State: assay.Done, Value: took.Seconds(),
			Measurement: assay.Measurement{Elapsed: took},
		}
	}
	for _, tt := range []struct {
		name   string
		budget time.Duration
		again  time.Duration // of the first, the second time
		want   time.Duration
	}{
		{"noisy", 1000 * time.Second, 12 * time.Second, 5 * 18 * time.Second},
		{"noisy, short", 100 * time.Second, 12 * time.Second, 20 * time.Second},
		{"quiet", 1000 * time.Second, 10 * time.Second, 4 * 16 * time.Second},
		{"quiet, short", 300 * time.Second, 10 * time.Second, 16 * time.Second},
		{"quiet, too short", 50 * time.Second, 10 * time.Second, 10 * time.Second},
	} {
		l := newLoop(&Study{Race: true, Check: 5, Budget: Budget{Time: tt.budget}})
		first, best := run(1, 1, 10*time.Second), run(2, 2, 6*time.Second)
		l.remember(first)
		l.recheck(run(1, 1, tt.again), true)
		l.remember(best)
		l.choose()
		if got := l.checkReserve(); got != tt.want {
			t.Errorf("%s: %v is kept back, want %v", tt.name, got, tt.want)
		}
	}
	var d lasted
	for i := range 8 {
		d.run(run(1, 1, time.Duration(8-i)*time.Second))
	}
	if got := d.typical(assay.Config{1}); got != 7*time.Second {
		t.Errorf("of 1 to 8 s a run takes %v", got)
	}
	if got := d.typical(assay.Config{2}); got != 0 {
		t.Errorf("of none a run takes %v", got)
	}
}
