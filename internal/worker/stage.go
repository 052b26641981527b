package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
)

// Blobs are the files of a server, as a worker reaches them. An error of the class unavailable means that the call may
// be made again later.
type Blobs interface {
	// Blob opens a file by its SHA-256, from a byte offset on. If again is set, the server first verifies the file's hash.
	Blob(ctx context.Context, hash string, from int64, again bool) (io.ReadCloser, error)
	// PutBlob has the server keep the file at a path. files is the list of a run of the study that names it, "" for the
	// list itself.
	PutBlob(ctx context.Context, hash, path, study, files string) error
}

const (
	defaultCache = 10 << 30
	defaultKeep  = 7 * 24 * time.Hour
	// stagePatience is how long inputs that cannot be fetched are tried for while the server answers beats.
	stagePatience = 5 * time.Minute
)

// errStaging means that this worker cannot provide the inputs now: another worker may, or this one later.
var errStaging = errors.New("the inputs are not here")

// An unfitError matches [assay.ErrSetup]: no configuration can be run here.
type unfitError struct{ error }

func unfit(format string, args ...any) error { return unfitError{fmt.Errorf(format, args...)} }

// Is reports whether target is [assay.ErrSetup].
func (unfitError) Is(target error) bool { return target == assay.ErrSetup }

// Unwrap returns the wrapped error.
func (e unfitError) Unwrap() error { return e.error }

// openFiles opens the file stores of the worker:
//
//	cache/     inputs, by their content
//	runs/N     the directory of the run of slot N, if it has one of its own
//	kept/KEY   the outputs of an attempt: see kept
func (w *worker) openFiles() (err error) {
	if w.Cache <= 0 {
		w.Cache = defaultCache
	}
	if w.Keep <= 0 {
		w.Keep = defaultKeep
	}
	if err := files.RemoveAll(filepath.Join(w.Dir, "runs")); err != nil { // of a worker that was killed
		return err
	}
	if w.cache, err = files.OpenCache(filepath.Join(w.Dir, "cache"), w.Cache); err != nil {
		return err
	}
	w.kept, err = openKept(filepath.Join(w.Dir, "kept"), w.Keep, &w.out)
	return err
}

// needsStaging reports whether a run needs preparation.
func needsStaging(j assay.Job) bool { return j.Apart() || len(j.Shared) > 0 }

// stage prepares a run: it checks the shared paths, and gives a run with inputs or outputs a directory with the inputs
// and nothing else. The directory of a slot is always the same, so that its name does not differ between runs.
//
// The error matches [assay.ErrSetup] if it is the same for every configuration, and errStaging if another worker may
// succeed; it is the cause of ctx if ctx is done.
func (w *worker) stage(ctx context.Context, job *assay.Job, slot int) error {
	for _, at := range job.Shared {
		info, err := os.Stat(at.Path)
		switch {
		case err != nil:
			return unfit("shared path %s is not on worker %s: %w", at.Path, w.Name, errors.Unwrap(err))
		case at.Size >= 0 && (!info.Mode().IsRegular() || info.Size() != at.Size):
			return unfit("shared path %s is another file on worker %s: it has %d bytes, not %d", at.Path, w.Name, info.Size(),
				at.Size)
		}
	}
	if !job.Apart() {
		return nil
	}
	if w.Blobs == nil {
		return unfit("worker %s does not know where the server keeps the files of its studies (assay worker --api ADDRESS)",
			w.Name)
	}
	dir := filepath.Join(w.Dir, "runs", strconv.Itoa(slot))
	err := files.RemoveAll(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errStaging, err)
	}
	job.Dir = dir
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", errStaging, err)
	}
	defer root.Close()
	for _, in := range job.Inputs {
		if err := w.place(ctx, root, in); err != nil {
			return err
		}
	}
	return nil
}

// place puts an input into the directory of a run. It keeps trying while the server does not answer at all.
func (w *worker) place(ctx context.Context, root *os.Root, in assay.Input) error {
	patience := stagePatience
	for wait := newBackoff(); ; {
		began := time.Now()
		err := w.cache.Place(ctx, root, in, w.Blobs.Blob)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EIO):
			return fmt.Errorf("%w: input %s: %w", errStaging, in.Name, err)
		case assay.ClassOf(err) != assay.ClassUnavailable:
			return unfit("%w", err)
		}
		if !wait.sleep(ctx) {
			return context.Cause(ctx)
		}
		if !w.serverAway() {
			patience -= time.Since(began)
		}
		if patience < 0 {
			return unfit("the server answers, but its API for files does not (assay worker --api gives its address): %w", err)
		}
	}
}

// serverAway reports whether the server did not answer the last call.
func (w *worker) serverAway() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.away
}

// unstage removes the directory of a run.
func (w *worker) unstage(job assay.Job) {
	if !job.Apart() || filepath.Dir(job.Dir) != filepath.Join(w.Dir, "runs") {
		return
	}
	if err := files.RemoveAll(job.Dir); err != nil {
		w.out.f("the directory of a run cannot be removed: %v", err)
	}
}
