package service

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/assay-run/assay"
)

// A guarded searcher takes turns with the searchers of other studies, and turns a panic into an error, which ends its
// study alone.
type guarded struct {
	assay.Searcher
	turns *turns
	user  user
	study string
	warn  func(string)
	dead  error // of the panic, after which it is not called any more
}

var _ assay.Unwrapper = (*guarded)(nil)

// errClosing is the error of a search that waits for its turn when the Host closes.
var errClosing = assay.Errorf(assay.ClassUnavailable, "the server is ending")

// Unwrap implements [assay.Unwrapper].
func (g *guarded) Unwrap() assay.Searcher { return g.Searcher }

// Ask implements [assay.Searcher].
func (g *guarded) Ask(n int) (ps []assay.Proposal, err error) {
	err = g.turn(func() (err error) {
		ps, err = g.Searcher.Ask(n)
		return err
	})
	return ps, err
}

// Tell implements [assay.Searcher].
func (g *guarded) Tell(trials ...assay.Trial) error {
	return g.turn(func() error { return g.Searcher.Tell(trials...) })
}

func (g *guarded) turn(f func() error) error {
	if g.dead != nil {
		return g.dead
	}
	if !g.turns.take(&g.user) {
		return errClosing
	}
	began := time.Now()
	defer func() { g.turns.give(&g.user, time.Since(began)) }()
	err := safely(g.warn, "the search of study "+g.study, f)
	if p, ok := errors.AsType[*panicError](err); ok {
		g.dead = p
	}
	return err
}

// A panicError has the text of a panic.
type panicError struct{ text string }

func (e *panicError) Error() string { return e.text }

// safely returns the error of f, or an error that describes its panic. warn receives the stack.
func safely(warn func(string), what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			warn(fmt.Sprintf("%s panicked: %v\n%s", what, p, debug.Stack()))
			err = &panicError{fmt.Sprintf("%s panicked: %v", what, p)}
		}
	}()
	return f()
}

// A guardedStopper stops nothing once it has panicked.
type guardedStopper struct {
	assay.Stopper
	study string
	warn  func(string)
}

// Follows implements [assay.CurveStopper].
func (g guardedStopper) Follows() bool {
	f, ok := g.Stopper.(assay.CurveStopper)
	return ok && f.Follows()
}

// Decide implements [assay.Stopper].
func (g guardedStopper) Decide(history []assay.Trial, running assay.Trial) (d assay.Decision) {
	_ = safely(g.warn, "the stopping rule of study "+g.study, func() error {
		d = g.Stopper.Decide(history, running)
		return nil
	})
	return d
}
