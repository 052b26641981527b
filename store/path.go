// This file finds a user's store, by the XDG Base Directory Specification.

package store

import (
	"errors"
	"os"
	"path/filepath"
)

// DefaultPath returns where a user's store is: assay/assay.db in $XDG_STATE_HOME, or in ~/.local/state if that is not
// an absolute path. It makes no file and no directory. A relative XDG_STATE_HOME is ignored, as that specification
// demands.
func DefaultPath() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", errors.New("neither XDG_STATE_HOME nor HOME is set")
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "assay", "assay.db"), nil
}
