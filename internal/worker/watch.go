package worker

import "time"

const (
	// lookEvery is the intended interval between looks.
	lookEvery = time.Second
	// leastGap is the shortest gap that counts. A busy machine may cause shorter ones.
	leastGap = time.Second
)

// A watch finds the times in which a worker did not run, or its machine was suspended. It is not
// safe for concurrent use.
type watch struct {
	slept func() time.Duration

	last      time.Time     // of the last look
	asleep    time.Duration // value of slept then
	recent    time.Duration // the longest gap since take
	silence   time.Duration // the longest time in which the worker did not run
	suspended time.Duration // of the machine, total
}

func newWatch(slept func() time.Duration) *watch {
	return &watch{slept: slept, last: time.Now(), asleep: slept()}
}

// look records the gap since the last look, which should have been at most lookEvery ago. It returns the time in which
// the worker did not run.
func (w *watch) look() time.Duration {
	now, asleep := time.Now(), w.slept()
	silent := now.Sub(w.last) - lookEvery
	slept := asleep - w.asleep
	w.last, w.asleep = now, asleep
	if silent < leastGap {
		silent = 0
	}
	// The two clocks are read one after the other.
	if slept < leastGap/10 {
		slept = 0
	}
	w.silence = max(w.silence, silent)
	w.suspended += slept
	w.recent = max(w.recent, silent, slept)
	return silent
}

// take returns the longest gap since it was called last.
func (w *watch) take() time.Duration {
	gap := w.recent
	w.recent = 0
	return gap
}

// tainted returns the reason why a run that took elapsed is not comparable with others, or "". last is the result of
// the last look, after the end of the run: the end was noticed late by up to last.
func (w *watch) tainted(elapsed, last, lease time.Duration) string {
	switch {
	case w.suspended > 0:
		return "the machine was suspended for " + w.suspended.Round(time.Millisecond).String()
	case lease > 0 && w.silence > lease:
		return "the worker did not run for " + w.silence.Round(time.Millisecond).String()
	case last > elapsed/100:
		return "the worker did not run for " + last.Round(time.Millisecond).String() + " when the run ended"
	}
	return ""
}
