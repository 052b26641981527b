package bench

import (
	"context"
	"time"

	"github.com/assay-run/assay"
)

// A Meter adds up, in real time, the time of a searcher and a stopping rule: the learning overhead of
// Ding et al. 2022, §5.5. It belongs to one [Cell].
type Meter struct {
	Learning time.Duration // in the searcher
	Deciding time.Duration // in Decide
}

// A sleeper is a simulated clock on which time can be spent.
type sleeper interface {
	Sleep(ctx context.Context, order int64, d time.Duration) error
}

// metering measures the time of a cell's searcher and stopper, and spends it on the clock, unless that
// is nil. The program of a run goes on while the rule decides about it, as a real program does: a
// decision to stop costs the time of the decision.
type metering struct {
	*Meter
	ctx   context.Context
	clock sleeper
	rate  float64 // of the clock's time to real time
}

// took adds to a sum the time since t0.
func (m *metering) took(sum *time.Duration, t0 time.Time, trial int64) error {
	d := time.Since(t0)
	*sum += d
	if m.clock == nil {
		return nil
	}
	return m.clock.Sleep(m.ctx, trial, time.Duration(m.rate*float64(d)))
}

// A meteredSearcher has every ability of the searcher inside.
type meteredSearcher struct {
	assay.Searcher
	*metering
}

// Unwrap returns the searcher inside.
func (s meteredSearcher) Unwrap() assay.Searcher { return s.Searcher }

// Ask implements [assay.Searcher].
func (s meteredSearcher) Ask(n int) ([]assay.Proposal, error) {
	t0 := time.Now()
	ps, err := s.Searcher.Ask(n)
	if late := s.took(&s.Learning, t0, 0); err == nil {
		err = late
	}
	return ps, err
}

// Tell implements [assay.Searcher].
func (s meteredSearcher) Tell(trials ...assay.Trial) error {
	t0 := time.Now()
	err := s.Searcher.Tell(trials...)
	if late := s.took(&s.Learning, t0, 0); err == nil {
		err = late
	}
	return err
}

type meteredStopper struct {
	assay.Stopper
	*metering
}

// Decide implements [assay.Stopper]. The end of the context is seen by the run itself.
func (s meteredStopper) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	t0 := time.Now()
	d := s.Stopper.Decide(history, running)
	_ = s.took(&s.Deciding, t0, running.ID)
	return d
}
