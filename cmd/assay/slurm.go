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

// A letting lets go of jobs that can go on without this process: at the end of the terminal session, and with --detach
// at any signal that ends the command. Otherwise Ctrl-C waits for what runs, and a second one cancels it.
type letting struct {
	ctx  context.Context
	stop func()
	came chan os.Signal
}

func letsGo(ctx context.Context, outlive, detach bool) *letting {
	if !outlive {
		return &letting{ctx: ctx, stop: func() {}}
	}
	signals := []os.Signal{syscall.SIGHUP}
	if detach {
		signals = append(signals, syscall.SIGINT, syscall.SIGTERM)
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

// said says how to go on, and returns the error of the signal.
func (l *letting) said(w io.Writer) error {
	fmt.Fprintf(w, "detached: the jobs go on. This attaches to them:\n  %s\n", resumeCommand(commandLine()))
	select {
	case s := <-l.came:
		return &exitError{interruptCode(s)}
	default:
		return nil
	}
}
