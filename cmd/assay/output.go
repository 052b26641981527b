package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/assay-run/assay"
)

// outputDir is where the outputs of a study's runs are kept: beside the store,
// not in it, so that a program that floods its output cannot harm the record.
func outputDir(store, study string) string {
	return filepath.Join(store+".outputs", "study-"+url.PathEscape(study))
}

// saveOutput keeps what there is of a run's output, if anything: ID.stdout and
// ID.stderr. A failure costs the output only, and is said.
func saveOutput(warn io.Writer, dir string, t assay.Trial) {
	for _, stream := range []struct {
		name string
		data []byte
	}{{"stdout", t.Measurement.Stdout}, {"stderr", t.Measurement.Stderr}} {
		if len(stream.data) == 0 {
			continue
		}
		err := os.MkdirAll(dir, 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.%s", t.ID, stream.name)), stream.data, 0o600)
		}
		if err != nil {
			fmt.Fprintf(warn, "warning: the output of trial %d is not kept: %v\n", t.ID, err)
			return
		}
	}
}

// showOutput prints what was kept of a stream of a trial's run.
func showOutput(ctx context.Context, w io.Writer, h *storeHandle, study, trial string, stderr bool) error {
	id, err := strconv.ParseInt(trial, 10, 64)
	if err != nil || id < 1 {
		return usagef("%q is not the number of a trial", trial)
	}
	if _, err := h.Spec(ctx, study); err != nil {
		return err
	}
	stream := "stdout"
	if stderr {
		stream = "stderr"
	}
	f, err := os.Open(filepath.Join(outputDir(h.path, study), fmt.Sprintf("%d.%s", id, stream)))
	if errors.Is(err, fs.ErrNotExist) {
		return hasTrial(ctx, h, study, id) // it printed nothing
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// hasTrial returns an error if the study has no trial of that number.
func hasTrial(ctx context.Context, h *storeHandle, study string, id int64) error {
	for row, err := range h.Trials(ctx, study, id-1, 1) {
		if err != nil || row.Trial.ID == id {
			return err
		}
	}
	return usagef("study %q has no trial %d (see assay study trials)", study, id)
}
