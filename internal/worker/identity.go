package worker

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
	"golang.org/x/sys/unix"
)

// Identity returns the ID of the worker of a directory, which it makes at the first start:
// "PREFIX-" and 16 hexadecimal digits, where prefix is the name of the worker's token, or any other
// name of letters, digits, - and _. Another prefix makes another worker.
func Identity(dir, prefix string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "id")
	b, err := os.ReadFile(path)
	switch id := strings.TrimSpace(string(b)); {
	case err == nil && IDHasPrefix(id, prefix):
		return id, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	var random [8]byte
	rand.Read(random[:])
	id := prefix + "-" + hex.EncodeToString(random[:])
	return id, files.WriteFile(path, []byte(id+"\n"), 0o600)
}

// IDHasPrefix reports whether [Identity] can have made id from a prefix.
func IDHasPrefix(id, prefix string) bool {
	digits, ok := strings.CutPrefix(id, prefix+"-")
	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}

// lock makes this process the only worker of a directory, until it ends or unlock is called.
func lock(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, assay.WithHint(assay.Errorf(assay.ClassLocked, "another worker has the directory %s", dir),
			"--data DIR gives this one a directory of its own")
	}
	return func() { f.Close() }, nil
}

// Taken reports whether a worker has a directory at this moment.
func Taken(dir string) bool {
	unlock, err := lock(dir)
	if err == nil {
		unlock()
	}
	return assay.ClassOf(err) == assay.ClassLocked
}
