package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/assay-run/assay"
)

// A letting detaches from jobs that can outlive this process: at the end of the terminal session, and with --detach at
// any signal that ends the command. Otherwise Ctrl-C waits for running jobs, and a second one cancels them.
type letting struct {
	ctx  context.Context
	stop func()
	came chan os.Signal
}

// detaches is in the context of a command that detaches from its runs at any signal.
type detaches struct{}

// outlives is in the context of a command whose runs continue when its terminal session ends.
type outlives struct{}

// hurries returns which signals end the runs of a command at once, without waiting for a second one.
func hurries(ctx context.Context) func(os.Signal) bool {
	return func(s os.Signal) bool {
		switch {
		case ctx.Value(detaches{}) != nil:
			return false
		case ctx.Value(outlives{}) != nil:
			return s == syscall.SIGQUIT // a job's time is dear: SIGTERM waits as Ctrl-C does
		}
		return s != syscall.SIGINT
	}
}

// letsGo returns a letting. Without outlive, it never detaches.
func letsGo(ctx context.Context, outlive, detach bool) *letting {
	if !outlive {
		return &letting{ctx: ctx, stop: func() {}}
	}
	ctx = context.WithValue(ctx, outlives{}, true)
	signals := []os.Signal{syscall.SIGHUP}
	if detach {
		signals = append(signals, syscall.SIGINT, syscall.SIGTERM)
		ctx = context.WithValue(ctx, detaches{}, true)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	ch := make(chan os.Signal, 1)
	l := &letting{ctx: ctx, came: make(chan os.Signal, 1)}
	signal.Notify(ch, signals...)
	go func() {
		select {
		case s := <-ch:
			l.came <- s
			cancel(assay.ErrDetached)
		case <-ctx.Done():
		}
	}()
	l.stop = func() { signal.Stop(ch); cancel(nil) }
	return l
}

// said prints how to resume, and returns the error of the signal.
func (l *letting) said(w io.Writer) error {
	fmt.Fprintf(w, "detached: the jobs go on. This attaches to them:\n  %s\n", resumeCommand(commandLine()))
	select {
	case s := <-l.came:
		return &exitError{interruptCode(s)}
	default:
		return nil
	}
}
