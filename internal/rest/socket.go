package rest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MakeToken creates a file with a random token that only this user can read, unless the file exists.
func MakeToken(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, rand.Text()+rand.Text())
	return errors.Join(err, file.Close())
}

// ReadToken returns the token in a file that only its owner can read, with the
// space around it removed.
func ReadToken(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("token: others can read %s (chmod 600)", filepath.Clean(path))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if len(token) < 16 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("token: %s does not hold 16 printable characters or more", filepath.Clean(path))
	}
	return token, nil
}

// DefaultSocket returns the path of the socket of a study that is tuned on line: STUDY.sock in $XDG_RUNTIME_DIR/assay,
// or else in the directory online next to the file of the store, or in the system's temporary directory if the store
// has no file.
func DefaultSocket(storePath, study string) string {
	return filepath.Join(socketDir(storePath), socketName(study))
}

// socketDir is the directory of [DefaultSocket].
func socketDir(storePath string) string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "assay")
	}
	if storePath == "" {
		return filepath.Join(os.TempDir(), fmt.Sprintf("assay-%d", os.Getuid()))
	}
	return filepath.Join(filepath.Dir(storePath), "online")
}

// socketName returns the file name of a study's socket.
func socketName(study string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, study)
	return strings.TrimLeft(name[:min(len(name), 48)], ".") + ".sock"
}
