package main

import (
	"io"

	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/setup"
)

// newLive returns what shows a study on w while it runs, and the status line that it is
// shown on, which the caller closes.
func newLive(w io.Writer, p *setup.Problem) (*result.Live, *term.Status) {
	_, tty := terminal(w)
	status := term.StatusOn(w)
	return &result.Live{
		Space: p.Space, Goal: p.Goal, Budget: p.Definition.Budget, Simulated: p.Table != nil,
		Screen: status, Terminal: tty,
	}, status
}
