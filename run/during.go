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

// This file reports long waits of runs. A job without a limit can wait for ever: for a server that does not exist,
// for input at a terminal.

// stepKey is the key of the name of a step in a context.
type stepKey struct{}

// during returns a context that names the step of a run in which a command is run.
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

// A run without a limit is reported after waitingAfter, and after waitingTimes the longest time of its step before
// it: if runs take an hour each, a long run is not reported.
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

// after returns how long a command may take before it is reported.
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

// wait reports a main process that runs for long without a limit. The function that it returns is called with the
// time that it ran. A service has its own limits.
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

// waitingText describes the wait.
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
