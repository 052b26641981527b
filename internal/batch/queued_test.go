package batch

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
)

// A job waited between its submission and now, less its run, whatever the clock of its machine shows.
func TestLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := time.Now()
		time.Sleep(10 * time.Minute)
		for _, c := range []struct {
			name  string
			clock time.Duration // since the submission, when it was claimed
			ran   time.Duration
			want  time.Duration
		}{
			{"the clocks agree", 8 * time.Minute, 90 * time.Second, 8 * time.Minute},
			{"that clock is an hour behind", 8*time.Minute - time.Hour, 90 * time.Second, 0},
			{"that clock is an hour ahead", 8*time.Minute + time.Hour, 90 * time.Second, 8*time.Minute + 30*time.Second},
			{"it ran for longer than it was there", time.Minute, time.Hour, 0},
		} {
			a := &attempt{first: first}
			a.leaves(claim{By: byShim, At: first.Add(c.clock)})
			if got := a.queued(c.ran); got != c.want {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
		a := &attempt{first: first}
		a.leaves(claim{By: assay.WhyLost, At: first.Add(time.Minute)}) // taken back: it never began
		if got := a.queued(0); got != 10*time.Minute {
			t.Errorf("taken back: %v", got)
		}
		if got := (&attempt{}).queued(0); got != 0 {
			t.Errorf("nobody knows when it was submitted: %v", got)
		}
	})
}

// A file of an older version has the number of the job alone.
func TestSubmissionFile(t *testing.T) {
	var s submission
	if err := json.Unmarshal([]byte(`"42"`), &s); err != nil || s.Job != "42" || !s.First.IsZero() {
		t.Errorf("%+v, %v", s, err)
	}
	at := time.Unix(7, 0).UTC()
	b, err := json.Marshal(submission{"43", at})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &s); err != nil || s.Job != "43" || !s.First.Equal(at) {
		t.Errorf("%s: %+v, %v", b, s, err)
	}
}
