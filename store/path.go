// This file finds a user's store, by the XDG Base Directory Specification.

package store

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
)

// DefaultPath returns where a user's store is: assay/assay.db in $XDG_STATE_HOME, or in ~/.local/state if that is not
// an absolute path; ~ is $HOME, or the home directory of the user in the system's database. It makes no file and no
// directory. A relative XDG_STATE_HOME is ignored, as that specification demands.
func DefaultPath() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil { // a service manager sets no HOME
			if u, err := user.Current(); err == nil {
				home = u.HomeDir
			}
		}
		if home == "" {
			return "", errors.New("neither XDG_STATE_HOME nor HOME is set, and the user has no home directory")
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "assay", "assay.db"), nil
}
