package term

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// EndSignals returns the signals that end a command with order. A SIGHUP that nohup has switched off stays ignored.
func EndSignals() []os.Signal {
	all := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// UntilSignal returns a context that is done at the first signal that ends a command. A second one ends the process at
// once.
func UntilSignal(ctx context.Context) (context.Context, func()) {
	out, stop := signal.NotifyContext(ctx, EndSignals()...)
	context.AfterFunc(out, stop) // further signals have their default effect
	return out, stop
}

// Signals wait for the signals that end a command.
type Signals struct {
	Drain <-chan struct{} // is closed at the first signal
	Hard  context.Context // is cancelled at the second signal, or at the first if that hurries

	came chan os.Signal
	stop func()
}

// Wait waits for signals until Stop. At the first one it calls first. A closed output pipe is a write error, and does
// not end the process.
func Wait(ctx context.Context, first func(), hurries func(os.Signal) bool) *Signals {
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, EndSignals()...)
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	hard, cancel := context.WithCancel(ctx)
	drain, done := make(chan struct{}), make(chan struct{})
	w := &Signals{Drain: drain, Hard: hard, came: make(chan os.Signal, 1)}
	w.stop = func() { signal.Stop(ch); signal.Stop(pipe); close(done); cancel() }
	go func() {
		select {
		case s := <-ch:
			w.came <- s
			close(drain)
			first()
			if hurries(s) {
				cancel()
			}
		case <-done:
			return
		}
		select {
		case <-ch:
			cancel()
		case <-done:
		}
	}()
	return w
}

// Until returns a context that is cancelled with a cause at the first signal, and a function that ends it.
func (w *Signals) Until(cause error) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(w.Hard)
	go func() {
		select {
		case <-w.Drain:
			cancel(cause)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// Stop ends the wait. It is called once.
func (w *Signals) Stop() { w.stop() }

// First returns the first signal that came, or nil.
func (w *Signals) First() os.Signal { return peek(w.came) }

// peek returns the signal in a channel, and leaves it there; nil if there is none.
func peek(ch chan os.Signal) os.Signal {
	select {
	case s := <-ch:
		ch <- s
		return s
	default:
		return nil
	}
}

// detaches and outlives are in the context of a command whose runs do not end with it; see [Detach].
type (
	detaches struct{}
	outlives struct{}
)

// Detaches reports whether the command of a context detaches from its runs at any signal.
func Detaches(ctx context.Context) bool { return ctx.Value(detaches{}) != nil }

// Hurries returns which signals end the runs of a command at once, without waiting for a second one. SIGINT comes from
// a terminal: current runs may end. SIGTERM and SIGHUP come from a system that waits for a while and then kills, and
// SIGQUIT asks for a quick end, so that every run is ended within its grace period.
func Hurries(ctx context.Context) func(os.Signal) bool {
	return func(s os.Signal) bool {
		switch {
		case Detaches(ctx):
			return false
		case ctx.Value(outlives{}) != nil:
			return s == syscall.SIGQUIT // a job's time is dear: SIGTERM waits as Ctrl-C does
		}
		return s != syscall.SIGINT
	}
}

// A Detachment detaches from jobs that can outlive this process.
type Detachment struct {
	Context context.Context // of the command; it is cancelled when it detaches
	Stop    func()

	came chan os.Signal
}

// Detach returns a detachment from jobs: at the end of the terminal session, and with atAny at any signal that ends the
// command. Otherwise Ctrl-C waits for running jobs, and a second one cancels them. cause is the cause of the cancelled
// context.
func Detach(ctx context.Context, atAny bool, cause error) *Detachment {
	ctx = context.WithValue(ctx, outlives{}, true)
	signals := []os.Signal{syscall.SIGHUP}
	if atAny {
		signals = append(signals, syscall.SIGINT, syscall.SIGTERM)
		ctx = context.WithValue(ctx, detaches{}, true)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	ch := make(chan os.Signal, 1)
	d := &Detachment{Context: ctx, came: make(chan os.Signal, 1)}
	signal.Notify(ch, signals...)
	go func() {
		select {
		case s := <-ch:
			d.came <- s
			cancel(cause)
		case <-ctx.Done():
		}
	}()
	d.Stop = func() { signal.Stop(ch); cancel(nil) }
	return d
}

// Came returns the signal that it detached at, or nil.
func (d *Detachment) Came() os.Signal { return peek(d.came) }
