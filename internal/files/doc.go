// Package files reads and writes files as a whole, and keeps the inputs and the kept outputs of runs by their content.
//
//   - [Write] and [Read]: a reader sees the old content or the new one, even if the writer is killed, and no file is
//     larger than its reader expects.
//   - A [Store] has the files of a server: by their SHA-256, in a directory, up to a quota.
//   - A [Cache] has the files that a worker used last, up to a quota. [Cache.Place] puts an input
//     into the directory of a run.
//   - [Gather] takes files to keep out of the directory of a run, and a [Manifest] lists them.
//
// Names are untrusted: [NameFlaw] reports invalid ones. A file is compared with its hash whenever it is read whole: a
// file that changed on disk is found, and set aside.
package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/assay-run/assay"
)

// maxName is the longest name of a file, in bytes.
const maxName = 1024

// NameFlaw returns the fault of the name of an input or an output, or "". A name is a path below a directory, with
// slashes, taken literally: it has no escapes.
func NameFlaw(name string) string {
	switch {
	case name == "" || name == ".":
		return "it names no file"
	case len(name) > maxName:
		return "it is longer than 1024 bytes"
	case !utf8.ValidString(name):
		return "it is not UTF-8"
	case strings.HasPrefix(name, "/"):
		return "it is an absolute path"
	case strings.Contains(name, `\`):
		return "it has a backslash"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }):
		return "it has a control character"
	case !fs.ValidPath(name):
		return "it is not a plain path below a directory: no .., no . and no empty part"
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > 255 {
			return "a part of it is longer than 255 bytes"
		}
	}
	return ""
}

// PatternFlaw returns the fault of a pattern of files below a directory, or "".
func PatternFlaw(pattern string) string {
	if _, err := path.Match(pattern, ""); err != nil {
		return "it is no pattern: a [ without its ], or a backslash at its end"
	}
	return NameFlaw(strings.NewReplacer(`\`, "").Replace(pattern))
}

// Is reports whether a text is a SHA-256 in the form used here: 64 hexadecimal digits in lower case.
func Is(hash string) bool {
	return len(hash) == 2*sha256.Size && strings.Trim(hash, "0123456789abcdef") == ""
}

// checkHash returns an error of class usage for an invalid hash.
func checkHash(hash string) error {
	if !Is(hash) {
		return assay.Errorf(assay.ClassUsage, "%.80q is no SHA-256 in 64 hexadecimal digits in lower case", hash)
	}
	return nil
}

// Sum returns the SHA-256 and the size of a reader's content.
func Sum(r io.Reader) (hash string, size int64, err error) {
	h := sha256.New()
	if size, err = io.Copy(h, r); err != nil {
		return "", size, err
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// ErrDamaged means that bytes do not match their hash any more.
var ErrDamaged = errors.New("damaged")

// full returns an error of the disk as one of the class io, others as they are.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EIO) ||
		errors.Is(err, syscall.EROFS) {
		return assay.WithClass(assay.ClassIO, err)
	}
	return err
}
