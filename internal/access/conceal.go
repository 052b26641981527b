package access

import (
	"io"
	"os"
)

// Conceal makes a file that is written to, such as a standard output that a shell has opened, one
// that its owner alone can read, before a secret is written to it. What is no regular file is left
// as it is.
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
