package main

import (
	"context"
	"io"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/setup"
)

// showOutput prints the kept part of a stream of a trial's run.
func showOutput(ctx context.Context, w io.Writer, h *setup.Store, study string, id int64, stderr bool) error {
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
	// The program's output must not control this terminal.
	all, err := io.ReadAll(kept)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, report.VisibleLines(string(all)))
	return err
}
