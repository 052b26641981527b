package run

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// This file says what a run waits for that takes long. A job that has no limit can wait for
// ever: for a server that is not there, for somebody at a terminal.

// stepKey is the key of the name of a step in a context.
type stepKey struct{}

// during returns a context that says at which step of a run a command is run.
func during(ctx context.Context, step string) context.Context {
	return context.WithValue(ctx, stepKey{}, step)
}

// stepOf returns the step of a context, "run" if it has none.
func stepOf(ctx context.Context) string {
	if step, ok := ctx.Value(stepKey{}).(string); ok {
		return step
	}
	return "run"
}

// Waiting is the time after which a run without a limit is told of, and how many times as long
// as the longest of its step before it must have taken: runs that take an hour each are no news.
const (
	waitingAfter = time.Minute
	waitingTimes = 10
)

// waits remembers how long the steps of runs took.
type waits struct {
	shortest time.Duration // waitingAfter but in tests

	mu      sync.Mutex
	longest map[string]time.Duration
}

// after returns how long a command may take before somebody is told.
func (w *waits) after(step string) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(cmp.Or(w.shortest, waitingAfter), waitingTimes*w.longest[step])
}

// took takes in how long a command took.
func (w *waits) took(step string, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.longest == nil {
		w.longest = map[string]time.Duration{}
	}
	w.longest[step] = max(w.longest[step], d)
}

// wait has somebody told if the main process runs for long and nothing limits it. The function that
// it returns is called with how long it ran. A service has limits of its own.
func (p *process) wait(ctx context.Context, job assay.Job) (arrived func(time.Duration)) {
	l, step := p.local, stepOf(ctx)
	if l.opts.Waiting == nil || job.Limit > 0 || step == "service" {
		return func(time.Duration) {}
	}
	after := l.waits.after(step)
	timer := time.AfterFunc(after, func() { l.opts.Waiting(waitingText(step, job, p.pid, after)) })
	return func(d time.Duration) {
		timer.Stop()
		l.waits.took(step, d)
	}
}

// waitingText says what is waited for.
func waitingText(step string, job assay.Job, pid int, d time.Duration) string {
	argv := strings.Join(job.Argv, " ")
	if rs := []rune(argv); len(rs) > 100 {
		argv = string(rs[:100]) + "…"
	}
	trial := ""
	if job.ID.Trial > 0 {
		trial = fmt.Sprintf("trial %d: ", job.ID.Trial)
	}
	return fmt.Sprintf("%swaiting for %v for the %s (process %d): %q; nothing limits it: --timeout would", trial, d, step,
		pid, argv)
}
