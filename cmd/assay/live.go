package main

import (
	"io"

	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/setup"
)

// newLive returns the live display of a study on w, and the status line that it uses, which the caller closes.
func newLive(w io.Writer, p *setup.Problem) (*result.Live, *term.Status) {
	_, tty := terminal(w)
	status := term.StatusOn(w)
	return &result.Live{
		Space: p.Space, Goal: p.Goal, Budget: p.Definition.Budget, Simulated: p.Table != nil,
		Screen: status, Terminal: tty,
	}, status
}
