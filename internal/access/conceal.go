package access

import (
	"io"
	"os"
)

// Conceal makes a file, such as a standard output redirected by a shell, readable for its owner only, before a secret
// is written to it. It leaves anything but a regular file unchanged.
func Conceal(w io.Writer) error {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return err
	}
	return f.Chmod(0o600)
}
