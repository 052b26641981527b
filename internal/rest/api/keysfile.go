package api

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
)

// A keysFile stores idempotency keys, so that a restarted server remembers the writes they belong to. A line is added,
// and synced, before a write begins, and another when it was answered. A write with only the first line was interrupted
// with its server: its outcome is unknown.
//
// The file is rewritten with the live entries once they are less than half of it. It has at most twice [mostReplays]
// responses and [slack] bytes. Secret responses are not stored.
type keysFile struct {
	path string
	f    *os.File
	size int64 // of the file
	live int64 // size after the last rewrite
}

// slack is how much a file may grow before a rewrite is considered.
const slack = 1 << 20

// A keyLine is one line of the file.
type keyLine struct {
	Who    string    `json:"who"`
	Method string    `json:"method"`
	Path   string    `json:"path"`
	Key    string    `json:"key"`
	At     time.Time `json:"at"`
	Body   string    `json:"body"` // SHA-256 of the request
	// Status is 0 when the write begins, and -1 when it may be repeated.
	Status int         `json:"status,omitempty"`
	Header http.Header `json:"header,omitempty"`
	Answer []byte      `json:"answer,omitempty"`
	Secret bool        `json:"secret,omitempty"` // the answer is not kept
}

// forgotten is the status of a key that is free again.
const forgotten = -1

// openKeys opens a file and returns its entries. A truncated line is skipped.
func openKeys(path string, now time.Time) (*keysFile, map[replayKey]*replay, error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, assay.WithClass(assay.ClassIO, fmt.Errorf("the keys of requests: %w", err))
	}
	known := map[replayKey]*replay{}
	s := bufio.NewScanner(bytes.NewReader(b))
	s.Buffer(nil, 4*mostKept)
	for s.Scan() {
		var l keyLine
		body, err := []byte(nil), json.Unmarshal(s.Bytes(), &l)
		if err == nil {
			body, err = hex.DecodeString(l.Body)
		}
		k := replayKey{l.Who, l.Method, l.Path, l.Key}
		if err != nil || len(body) != sha256.Size || now.Sub(l.At) > keepReplays || l.Status == forgotten {
			delete(known, k)
			continue
		}
		known[k] = &replay{
			at: l.At, body: [sha256.Size]byte(body), done: l.Status > 0, lost: l.Status == 0,
			status: l.Status, header: l.Header, answer: l.Answer, secret: l.Secret,
		}
	}
	if err := s.Err(); err != nil {
		return nil, nil, assay.WithHint(assay.WithClass(assay.ClassIO, fmt.Errorf("%s: %w", path, err)),
			"without the file, a request that comes again is carried out again")
	}
	k := &keysFile{path: path}
	return k, known, k.anew(known)
}

// lineOf returns the line of a write.
func lineOf(k replayKey, r *replay) ([]byte, error) {
	l := keyLine{
		Who: k.who, Method: k.method, Path: k.path, Key: k.key, At: r.at.UTC(), Body: hex.EncodeToString(r.body[:]),
		Secret: r.secret,
	}
	if r.done {
		if l.Status = r.status; !r.secret {
			l.Header, l.Answer = r.header, r.answer
		}
	}
	b, err := json.Marshal(l)
	return append(b, '\n'), err
}

// anew rewrites the file.
func (f *keysFile) anew(known map[replayKey]*replay) error {
	var all bytes.Buffer
	for k, r := range known {
		b, err := lineOf(k, r)
		if err != nil {
			return err
		}
		all.Write(b)
	}
	err := files.WriteFile(f.path, all.Bytes(), 0o600)
	if f.f != nil {
		err = errors.Join(err, f.f.Close())
		f.f = nil
	}
	if err == nil {
		f.f, err = os.OpenFile(f.path, os.O_APPEND|os.O_WRONLY, 0o600)
	}
	if err != nil {
		return assay.WithClass(assay.ClassIO, fmt.Errorf("the keys of requests: %w", err))
	}
	f.size, f.live = int64(all.Len()), int64(all.Len())
	return nil
}

// add adds the line of a write, and syncs the file if certain is set.
func (f *keysFile) add(k replayKey, r *replay, known map[replayKey]*replay, certain bool) error {
	b, err := lineOf(k, r)
	if err == nil {
		err = f.write(b)
	}
	if err == nil && certain {
		err = f.f.Sync()
	}
	if err != nil {
		return assay.WithClass(assay.ClassIO, fmt.Errorf("the keys of requests: %w", err))
	}
	if f.size > 2*f.live+slack {
		return f.anew(known)
	}
	return nil
}

// forget records that a key is free again.
func (f *keysFile) forget(k replayKey, r *replay) error {
	b, err := json.Marshal(keyLine{
		Who: k.who, Method: k.method, Path: k.path, Key: k.key, At: r.at.UTC(), Body: hex.EncodeToString(r.body[:]),
		Status: forgotten,
	})
	if err != nil {
		return err
	}
	return f.write(append(b, '\n'))
}

// write adds a line. It first terminates a line that an earlier write left incomplete.
func (f *keysFile) write(b []byte) error {
	if f.f == nil {
		return fs.ErrClosed
	}
	n, err := f.f.Write(b)
	if f.size += int64(n); err != nil && n > 0 {
		_, _ = f.f.WriteString("\n")
	}
	return err
}

// secretive reports whether the answer to a write is kept nowhere: it has a secret in it.
func secretive(method, path string) bool {
	return method == http.MethodPost && strings.TrimSuffix(path, "/") == prefix+"/tokens"
}
