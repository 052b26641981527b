package study

import (
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// The time of a trial beside its own is the least of the trials that are done. The time of a configuration is the
// upper quartile of its runs, however they ended: of up to four the longest, of five the fourth.
func TestLasted(t *testing.T) {
	began := time.Unix(1000, 0)
	trial := func(x float64, state assay.State, elapsed, whole time.Duration) assay.Trial {
		return assay.Trial{
			Proposal: assay.Proposal{Config: assay.Config{x}}, State: state,
			Measurement: assay.Measurement{Elapsed: elapsed}, Started: began, Ended: began.Add(whole),
		}
	}
	const s = time.Second
	var d lasted
	for i, tt := range []struct {
		trial   assay.Trial
		beside  time.Duration
		typical time.Duration // of that configuration
	}{
		{trial(1, assay.Censored, 9*s, 9*s), 0, 0}, // one that is not done teaches nothing
		{trial(1, assay.Done, 10*s, 13*s), 3 * s, 10 * s},
		{trial(2, assay.Done, 4*s, 9*s), 3 * s, 4 * s},
		{trial(1, assay.Done, 8*s, 10*s), 2 * s, 10 * s},
		{trial(2, assay.Done, 6*s, 8*s), 2 * s, 6 * s},
		{trial(3, assay.Failed, 1*s, 1*s), 2 * s, 0},
		{trial(3, assay.Done, 5*s, 4*s), 0, 5 * s}, // the clock was set back
	} {
		d.trial(tt.trial)
		if got := d.typical(tt.trial.Config); d.beside != tt.beside || got != tt.typical {
			t.Errorf("after trial %d: %v beside, %v to expect; want %v and %v", i, d.beside, got, tt.beside, tt.typical)
		}
	}
	d.run(trial(1, assay.Infeasible, 20*s, 50*s))
	if got := d.typical(assay.Config{1}); got != 20*s || d.beside != 0 {
		t.Errorf("a run again of 20 s leaves %v, and %v beside", got, d.beside)
	}
	for _, x := range []time.Duration{30, 5} { // 5, 8, 10, 20, 30
		d.run(trial(1, assay.Done, x*s, x*s))
	}
	if got := d.typical(assay.Config{1}); got != 20*s {
		t.Errorf("of five runs %v is to be expected, want 20 s", got)
	}
}
