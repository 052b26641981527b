package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/queue"
)

// A spool stores unsent outcomes and the current attempts, in a directory:
//
//	spool/KEY.json       an outcome
//	spool/KEY.refused    an outcome that the server does not want, such as one of a study that was removed
//	running/KEY.json     an attempt that runs, or ran when the worker was killed
//
// It is safe for concurrent use.
type spool struct{ dir string }

func openSpool(dir string) (spool, error) {
	for _, sub := range []string{"spool", "running"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return spool{}, err
		}
		tmp, _ := filepath.Glob(filepath.Join(dir, sub, ".tmp-*")) // of a worker that was killed
		for _, t := range tmp {
			os.Remove(t)
		}
	}
	return spool{dir}, nil
}

// keyOf returns a name for the files of an attempt.
func keyOf(id assay.RunID) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %d %d", id.Study, id.Trial, id.Repeat, id.Attempt))
	return hex.EncodeToString(sum[:16])
}

func (s spool) path(sub string, id assay.RunID, ext string) string {
	return filepath.Join(s.dir, sub, keyOf(id)+ext)
}

// begin records that an attempt runs. The entry need not be durable: if the machine goes down, the run is lost too.
func (s spool) begin(id assay.RunID) error {
	b, err := json.Marshal(id)
	if err != nil {
		return err
	}
	return os.WriteFile(s.path("running", id, ".json"), b, 0o600)
}

// end forgets that an attempt ran.
func (s spool) end(id assay.RunID) { os.Remove(s.path("running", id, ".json")) }

// running returns the attempts that ran when an earlier worker of this directory was killed.
func (s spool) running() (ids []assay.RunID, err error) {
	err = s.each("running", func(_ string, b []byte) error {
		var id assay.RunID
		if json.Unmarshal(b, &id) == nil && id.Study != "" { // else it was cut off by the end of the machine
			ids = append(ids, id)
		}
		return nil
	})
	return ids, err
}

// put keeps an outcome. It is durable when put returns nil.
func (s spool) put(o queue.Outcome) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return files.WriteFile(s.path("spool", o.ID, ".json"), b, 0o600)
}

// drop forgets an outcome.
func (s spool) drop(id assay.RunID) error { return os.Remove(s.path("spool", id, ".json")) }

// refuse sets an outcome aside that will never be wanted.
func (s spool) refuse(id assay.RunID) error {
	return os.Rename(s.path("spool", id, ".json"), s.path("spool", id, ".refused"))
}

// outcomes returns the unsent outcomes.
func (s spool) outcomes() (all []queue.Outcome, err error) {
	err = s.each("spool", func(name string, b []byte) error {
		var o queue.Outcome
		if err := json.Unmarshal(b, &o); err != nil {
			return assay.Errorf(assay.ClassIO, "the outcome %s cannot be read: %w", name, err)
		}
		all = append(all, o)
		return nil
	})
	return all, err
}

// each calls f with the files of a directory, in order of their names.
func (s spool) each(sub string, f func(name string, b []byte) error) error {
	entries, err := os.ReadDir(filepath.Join(s.dir, sub))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		name := filepath.Join(s.dir, sub, e.Name())
		b, err := os.ReadFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		default:
			if err := f(name, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// hashOf returns the SHA-256 of some bytes, in hexadecimal.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
