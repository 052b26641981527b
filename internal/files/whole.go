package files

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/assay-run/assay"
)

// Write writes a file with the content from write. The content is on the disk before it has the name, so
// that neither an error, nor kill -9, nor a power failure leaves a part of it, or loses the old content.
// An existing file keeps its mode; a new one has mode perm less the umask. A link is followed. A file
// that is not regular, such as a terminal or a pipe, is written in place.
func Write(path string, perm fs.FileMode, write func(io.Writer) error) error {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return writeTo(path, write)
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), ".tmp-"+rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return aimed(err, path)
	}
	defer os.Remove(f.Name()) // nothing once it is renamed
	w := bufio.NewWriter(f)
	err = errors.Join(write(w), w.Flush())
	if info != nil {
		err = errors.Join(err, f.Chmod(info.Mode().Perm()))
	}
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return aimed(err, path)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return aimed(err, path)
	}
	return SyncDir(filepath.Dir(path))
}

// WriteFile is [Write] of data.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return Write(path, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteAll writes files below a directory, which is created.
func WriteAll(dir string, all []assay.File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range all {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := WriteFile(path, []byte(f.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Mistaken returns an error of the system about a path that a user has given, as one of the class usage if it is a
// mistake: the path does not exist, is of the wrong kind, or may not be read. It returns any other error unchanged.
func Mistaken(err error) error {
	for _, is := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.EISDIR} {
		if errors.Is(err, is) {
			return assay.WithClass(assay.ClassUsage, err)
		}
	}
	return err
}

// SyncDir makes the names in a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// RemoveAll removes a folder, also if a program took its own right to write from parts of it.
func RemoveAll(path string) error {
	err := os.RemoveAll(path)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(p string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}

// ErrTooLarge reports that a file is larger than its reader expects.
var ErrTooLarge = errors.New("too large")

// Read reads a file of at most limit bytes. A larger one is [ErrTooLarge], which is found without
// reading it if the size is known.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tooLarge := fmt.Errorf("%s: %w: more than %d MiB", path, ErrTooLarge, limit>>20)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > limit {
		return nil, tooLarge
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = tooLarge
	}
	return b, err
}

// writeTo writes to an existing file in place.
func writeTo(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(write(w), w.Flush(), f.Close())
}

// aimed has an error of the temporary file name the file that it is for.
func aimed(err error, path string) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: "write", Path: path, Err: e.Err}
	}
	return err
}
