package study

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
)

// Less time is kept for the comparison if runs are alike: for as many pairs as show a difference, or for one if these
// do not fit into a fifth of the budget. The longest of many runs does not decide.
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
		l.judge.remember(first)
		l.judge.recheck(run(1, 1, tt.again), true)
		l.judge.remember(best)
		l.judge.choose()
		if got := l.race.checkReserve(); got != tt.want {
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

// Time for as many pairs as show a difference is kept where it is just a fifth of the budget.
func TestReserveThatJustFits(t *testing.T) {
	for budget, want := range map[time.Duration]time.Duration{
		320 * time.Second: 64 * time.Second, 319 * time.Second: 16 * time.Second,
	} {
		l := newLoop(&Study{Race: true, Check: 5, Budget: Budget{Time: budget}})
		l.judge.remember(ran(1, 1, 10))
		l.judge.recheck(ran(1, 1, 10), true)
		l.judge.remember(ran(2, 2, 6))
		l.judge.choose()
		if got := l.race.checkReserve(); got != want {
			t.Errorf("of %v %v is kept back, want %v", budget, got, want)
		}
	}
}

// ran is a trial that is done.
func ran(id int64, at, seconds float64) assay.Trial {
	return assay.Trial{
		Proposal: assay.Proposal{ID: id, Config: assay.Config{at}}, State: assay.Done, Value: seconds,
		Measurement: assay.Measurement{Elapsed: time.Duration(seconds * float64(time.Second))},
	}
}

// The noisier the runs, the more is kept back for the race: 3 % of the budget for each per cent of noise, 30 % at
// most, and nothing where runs are alike or are not made again.
func TestReserveOfTheRace(t *testing.T) {
	for _, tt := range []struct {
		name  string
		again float64 // of the first, which took 100 s
		check int
		none  bool
	}{
		{"a little noise", 103, 5, false},
		{"more noise", 108, 5, false},
		{"much noise", 300, 5, false},
		{"alike", 100, 5, true},
		{"without runs at the end", 103, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLoop(&Study{Race: true, Check: tt.check, Budget: Budget{Time: 10_000 * time.Second}})
			l.judge.remember(ran(1, 1, 100))
			l.judge.recheck(ran(1, 1, tt.again), true)
			for i := range int64(manyTried) {
				l.judge.remember(ran(i+2, float64(i+2), 200))
			}
			l.judge.choose()
			noise := l.judge.field.Noise()
			if !tt.none && !(noise > 0) {
				t.Fatalf("the noise is %v", noise)
			}
			want := time.Duration(min(0.3, 3*noise) * 1e4 * float64(time.Second))
			if tt.none {
				want = 0
			}
			if got := l.race.reserve() - l.race.checkReserve(); got.Round(time.Millisecond) != want.Round(time.Millisecond) {
				t.Errorf("with noise of %v %v is kept back, want %v", noise, got, want)
			}
		})
	}
}

// A decider stops a run at its first value of 2 and more, and counts how often it is asked.
type decider struct{ asked int }

func (d *decider) Decide(_ []assay.Trial, running assay.Trial) assay.Decision {
	d.asked++
	return assay.Decision{Stop: running.Value >= 2}
}

// A rule is not asked about a measurement without the metric, nor once it has stopped the run: its first
// decision is the one on record.
func TestObserver(t *testing.T) {
	l := newLoop(&Study{Goal: assay.Goal{Metric: "steps", Grows: true}})
	rule, stops := &decider{}, []error(nil)
	var audit *assay.Decision
	see := l.run.observer(rule, assay.Trial{}, func(err error) { stops = append(stops, err) }, &audit)
	for i, steps := range []float64{1, -1, 2, 3, 4} { // -1: without the metric
		m := assay.Measurement{Elapsed: time.Duration(i) * time.Second}
		if steps > 0 {
			m.Metrics = map[string]float64{"steps": steps}
		}
		see(m)
	}
	var stop *stopError
	if rule.asked != 2 || len(stops) != 1 || !errors.As(stops[0], &stop) || stop.At != 2*time.Second {
		t.Errorf("asked %d times, stopped by %v; want one stop after 2 s, at the second question", rule.asked, stops)
	}
}

// A run is observed at least as often as its job asks, and each fortieth of the best run if that is more
// often, but not more often than Finest, and not if the best run is shorter than the interval of the job.
func TestInterval(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for _, tt := range []struct{ finest, best, every, want time.Duration }{
		{0, 20 * s, 3 * s, 3 * s},           // not asked for
		{10 * ms, 0, 3 * s, 3 * s},          // there is no best
		{10 * ms, 20 * s, 0, 0},             // not observed
		{10 * ms, 2 * s, 3 * s, 3 * s},      // too short
		{10 * ms, 3 * s, 3 * s, 75 * ms},    // just long enough
		{10 * ms, 20 * s, 3 * s, 500 * ms},  // a fortieth
		{800 * ms, 20 * s, 3 * s, 800 * ms}, // Finest
		{5 * s, 20 * s, 3 * s, 3 * s},       // never less often than the job asks
		{10 * ms, 400 * s, 3 * s, 3 * s},
	} {
		l := newLoop(&Study{Finest: tt.finest})
		if tt.best > 0 {
			best := ran(1, 1, tt.best.Seconds())
			l.judge.top = &best
		}
		if got := l.judge.interval(tt.every); got != tt.want {
			t.Errorf("%+v: every %v", tt, got)
		}
	}
}

// Another attempt to record is of no use where the answer will be the same: not after a conflict, a wrong use or the
// end of the caller. Any other error may be of a disk that comes back.
func TestFinal(t *testing.T) {
	for err, want := range map[error]bool{
		assay.ErrConflict: true, assay.ErrLocked: true, context.Canceled: true, context.DeadlineExceeded: true,
		fs.ErrClosed: true, assay.Errorf(assay.ClassNotFound, "gone"): true, assay.Errorf(assay.ClassUsage, "wrong"): true,
		errors.New("disk full"): false, fs.ErrPermission: false,
	} {
		if got := final(fmt.Errorf("append: %w", err)); got != want {
			t.Errorf("%v: final %v", err, got)
		}
	}
}

// A caller that reached a gate while it was closed passes when it opens, however often it was closed.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		ctx, cancel := context.WithCancel(t.Context())
		if !g.pass(ctx) {
			t.Error("a gate that was never closed holds somebody up")
		}
		done := make(chan bool)
		wait := func(ctx context.Context) { go func() { done <- g.pass(ctx) }() }
		g.set(false)
		wait(t.Context())
		wait(ctx)
		synctest.Wait()
		g.set(false) // again
		wait(t.Context())
		synctest.Wait()
		select {
		case <-done:
			t.Error("somebody passed a closed gate")
		default:
		}
		cancel()
		if <-done {
			t.Error("one who went away passed")
		}
		g.set(true)
		g.set(true)
		for range 2 {
			if !<-done {
				t.Error("one who waited did not pass")
			}
		}
	})
}
