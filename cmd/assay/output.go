package main

import (
	"context"
	"io"
	"strconv"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/setup"
)

// showOutput prints what was kept of a stream of a trial's run.
func showOutput(ctx context.Context, w io.Writer, h *setup.Store, study, trial string, stderr bool) error {
	id, err := strconv.ParseInt(trial, 10, 64)
	if err != nil || id < 1 {
		return usagef("%q is not the number of a trial", trial)
	}
	stream := "stdout"
	if stderr {
		stream = "stderr"
	}
	kept, err := h.Output(ctx, study, id, stream)
	if err != nil {
		return err
	}
	defer kept.Close()
	if _, tty := terminal(w); !tty {
		_, err = io.Copy(w, kept)
		return err
	}
	// What a program wrote is no command to this terminal.
	all, err := io.ReadAll(kept)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, report.VisibleLines(string(all)))
	return err
}
