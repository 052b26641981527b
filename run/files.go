package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"golang.org/x/sys/unix"
)

// WithFiles returns a Runner that writes a job's Files into its directory before everything else, and restores the
// previous files when the job and its hooks have ended, with any outcome. A file that did not exist before is
// removed.
//
// The previous file is kept beside it under the name NAME.assay-before meanwhile: if this process is killed, the next
// run of such a job restores it at its end. No path leads out of the directory, not even by links. Among jobs with
// files in one directory, also of other processes, one runs at a time.
//
// A file that cannot be written makes a run that failed, at the step "files". Inner is given jobs without files.
func WithFiles(inner assay.Runner) assay.Runner { return filed{inner} }

// filed is stateless and as safe for concurrent use as its inner runner.
type filed struct{ inner assay.Runner }

// before is the suffix of the name of a previous file.
const before = ".assay-before"

// Run implements [assay.Runner].
func (f filed) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	files := job.Files
	job.Files = nil
	if len(files) == 0 {
		return f.inner.Run(ctx, job, observe)
	}
	failed := func(m assay.Measurement, err error) assay.Measurement {
		m.Failure = assay.NewFailure("files", "files: "+err.Error(), nil, nil)
		return m
	}
	unlock, err := lockDir(ctx, job.Dir)
	switch {
	case ctx.Err() != nil:
		return assay.Measurement{}, context.Cause(ctx)
	case err != nil:
		return failed(assay.Measurement{}, err), nil
	}
	defer unlock()
	restore, err := place(job.Dir, files)
	if err != nil {
		return failed(assay.Measurement{}, errors.Join(err, restore())), nil
	}
	m, err := f.inner.Run(ctx, job, observe)
	if e := restore(); e != nil && err == nil && m.Failure == nil {
		m = failed(m, e)
	}
	return m, err
}

// lockDir takes the right to write files of jobs in a directory, and waits for it.
func lockDir(ctx context.Context, dir string) (unlock func(), err error) {
	if dir == "" {
		dir = "."
	}
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		switch err := unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return func() { d.Close() }, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			d.Close()
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		select {
		case <-ctx.Done():
			d.Close()
			return nil, context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// place writes files. The function that it returns restores the previous ones of all files that were written; it is
// never nil.
func place(dir string, files []assay.File) (restore func() error, err error) {
	if dir == "" {
		dir = "."
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return func() error { return nil }, err
	}
	var undo []func() error
	restore = func() (err error) {
		for _, u := range slices.Backward(undo) {
			err = errors.Join(err, u())
		}
		return errors.Join(err, root.Close())
	}
	for _, f := range files {
		made, err := folders(root, filepath.Dir(f.Name))
		undo = append(undo, made)
		if err != nil {
			return restore, err
		}
		back, err := aback(root, f.Name)
		if err != nil {
			return restore, err
		}
		undo = append(undo, back)
		if err := root.WriteFile(f.Name, []byte(f.Text), 0o666); err != nil {
			return restore, err
		}
	}
	return restore, nil
}

// folders makes a folder of a root and its missing parents; the function removes the new ones, if they are otherwise
// empty.
func folders(root *os.Root, dir string) (remove func() error, err error) {
	var made []string
	for d := dir; d != "." && d != string(filepath.Separator); d = filepath.Dir(d) {
		if _, err := root.Stat(d); errors.Is(err, fs.ErrNotExist) {
			made = append(made, d)
		}
	}
	remove = func() error {
		for _, d := range made { // the innermost first
			_ = root.Remove(d)
		}
		return nil
	}
	return remove, root.MkdirAll(dir, 0o777)
}

// aback moves the file of a name aside, and returns the function that restores it.
func aback(root *os.Root, name string) (restore func() error, err error) {
	gone := func(err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	info, err := root.Lstat(name)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a folder", name)
	}
	there := err == nil
	if _, err := root.Lstat(name + before); err == nil { // left by a process that was killed: name is its own
		if err := gone(root.Remove(name)); err != nil {
			return nil, err
		}
	} else if there {
		if err := root.Rename(name, name+before); err != nil {
			return nil, err
		}
	}
	return func() error {
		if err := gone(root.Remove(name)); err != nil {
			return err
		}
		return gone(root.Rename(name+before, name))
	}, nil
}
