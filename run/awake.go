package run

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/proc"
	"golang.org/x/sys/unix"
)

// Awake returns a Runner that gives up a measurement whose end was noticed too late: the machine was suspended during
// the run, or this process was stopped (Ctrl-Z, SIGSTOP) when the run ended. Such a run took no longer, but it seems
// so. Run returns the measurement and [assay.ErrLost] then, so that the study makes another attempt.
//
// A process that was stopped in the middle of a run and goes on before its end has lost nothing. The
// program that runs is in a session of its own: Ctrl-Z does not stop it.
func Awake(inner assay.Runner) assay.Runner { return awake{inner, proc.Slept} }

type awake struct {
	inner assay.Runner
	slept func() time.Duration // of the machine, since its start
}

// Unwrap returns the inner Runner, for a caller that looks for its abilities.
func (a awake) Unwrap() assay.Runner { return a.inner }

// leastSleep is the shortest suspension that counts: two clocks are read one after the other.
const leastSleep = 10 * time.Millisecond

// A run may have ended during a stop of this process if the process went on shortly before it noticed the end: within
// nearEnd, as a share of the run's time, or within leastNotice, because a busy machine delays the notice.
const (
	nearEnd     = 0.01
	leastNotice = 50 * time.Millisecond
)

// Run implements [assay.Runner].
func (a awake) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	slept := a.slept()
	goneOn := followContinues()
	m, err := a.inner.Run(ctx, job, observe)
	end := time.Now()
	last := goneOn()
	if ctx.Err() != nil {
		return m, err // it did not end by itself
	}
	if d := a.slept() - slept; d >= leastSleep {
		return m, fmt.Errorf("the machine was suspended for %v during the run: %w", d.Round(time.Millisecond), assay.ErrLost)
	}
	if !last.IsZero() && end.Sub(last) < max(leastNotice, time.Duration(nearEnd*float64(m.Elapsed))) {
		return m, fmt.Errorf("assay was stopped when the run ended: %w", assay.ErrLost)
	}
	return m, err
}

// followContinues notes when this process is sent SIGCONT. The function that it returns ends that, and
// returns when the last one came, the zero time if none did.
func followContinues() (last func() time.Time) {
	signals, end, ended := make(chan os.Signal, 1), make(chan struct{}), make(chan time.Time, 1)
	signal.Notify(signals, unix.SIGCONT)
	go func() {
		var at time.Time
		for {
			select {
			case <-signals:
				at = time.Now()
			case <-end:
				select {
				case <-signals:
					at = time.Now()
				default:
				}
				ended <- at
				return
			}
		}
	}()
	return func() time.Time {
		signal.Stop(signals) // signals sent before are in the channel when it returns
		close(end)
		return <-ended
	}
}
