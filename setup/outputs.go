package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/assay-run/assay"
)

// outputs is where the outputs of a study's runs are kept: beside the store, not in
// it, so that a program that floods its output cannot harm the record.
// The name of the study is escaped, since it may hold a slash. There must be a place for them.
func (s *Store) outputs(study string) string {
	return filepath.Join(cmp.Or(s.Outputs, s.Path+".outputs"), "study-"+url.PathEscape(study))
}

// keepsOutputs reports whether there is a place for outputs.
func (s *Store) keepsOutputs() bool { return s.Outputs != "" || s.Path != "" }

// A keeper keeps the outputs of the runs of one study, in the session of a process.
type keeper struct {
	dir  string
	warn func(string)

	once  sync.Once
	mu    sync.Mutex
	bytes int64 // in dir
	full  bool
}

// keeper returns the keeper of the outputs of a study. warn is called for outputs that are not kept.
func (s *Store) keeper(study string, warn func(string)) *keeper {
	return &keeper{dir: s.outputs(study), warn: warn}
}

// keep stores the output of a run, if any: ID.stdout and ID.stderr, readable by the user alone, since a program may
// print secrets. A later attempt at the same trial replaces them. A failure costs the output only, and is reported to
// warn. A full disk is reported once: see [roomForOutput].
func (k *keeper) keep(t assay.Trial) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := int64(len(t.Measurement.Stdout) + len(t.Measurement.Stderr))
	if n == 0 || k.full {
		return
	}
	k.once.Do(func() { k.bytes = bytesIn(k.dir) })
	if why := roomForOutput(filepath.Dir(filepath.Dir(k.dir)), k.bytes, n); why != "" {
		k.full = true
		k.warn(fmt.Sprintf("the output of trial %d and of later ones is not kept: %s", t.ID, why))
		return
	}
	k.bytes += n
	dir, warn := k.dir, k.warn
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
			warn(fmt.Sprintf("the output of trial %d is not kept: %v", t.ID, err))
			return
		}
	}
}

// bytesIn returns the size of the files in a directory, 0 without the directory.
func bytesIn(dir string) (sum int64) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
	}
	return sum
}

// Output opens the stored output of a trial's run, "stdout" or "stderr": it is empty if the run printed nothing. It
// returns an error that matches fs.ErrNotExist if no such study exists, and one of the class usage if it has no such
// trial.
func (s *Store) Output(ctx context.Context, study string, trial int64, stream string) (io.ReadCloser, error) {
	if _, err := s.Spec(ctx, study); err != nil {
		return nil, err
	}
	if !s.keepsOutputs() {
		return nil, usagef("this store keeps no outputs of runs")
	}
	f, err := os.Open(filepath.Join(s.outputs(study), fmt.Sprintf("%d.%s", trial, stream)))
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	for row, err := range s.Trials(ctx, study, trial-1, 1) {
		if err != nil {
			return nil, err
		}
		if row.Trial.ID == trial {
			return io.NopCloser(strings.NewReader("")), nil
		}
	}
	return nil, usagef("study %q has no trial %d (see assay study trials)", study, trial)
}
