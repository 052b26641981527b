package access

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Decision records a change of permissions, or of the applications that a worker offers.
type Decision struct {
	At time.Time `json:"at"`
	By string    `json:"by"` // the name of a token, a user of the server's machine, or a worker
	Do string    `json:"do"` // one of the constants below
	// On is the subject: the name of a token, or the ID of a worker.
	On      string     `json:"on"`
	Role    Role       `json:"role,omitempty"`
	Studies []string   `json:"studies,omitempty"`
	Apps    []string   `json:"apps,omitempty"`
	Expires *time.Time `json:"expires,omitempty"`
}

// The actions in a [Decision].
const (
	TokenAdded   = "token added"
	TokenRevoked = "token revoked"
	AppsOffered  = "applications offered" // by a worker, other ones than before
)

// An Audit is a file that is only added to, one JSON object a line. Several processes may have it
// open. It is safe for concurrent use.
type Audit struct {
	path string
	mu   sync.Mutex
}

// AuditFile is the name of the audit in the directory of a server.
const AuditFile = "audit.jsonl"

// OpenAudit returns the audit of a file, which is made with its first entry.
func OpenAudit(path string) *Audit { return &Audit{path: path} }

// Add writes an entry. When it returns nil the entry is durable. A line that a crash has truncated remains as a line of
// its own.
func (a *Audit) Add(e Decision) error {
	e.At = time.Now().UTC().Truncate(time.Second)
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	f, err := os.OpenFile(a.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	line = append(line, '\n')
	last := []byte{'\n'}
	if info.Size() > 0 {
		if _, err := f.ReadAt(last, info.Size()-1); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	if last[0] != '\n' {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(line); err != nil {
		return err
	}
	if err := f.Sync(); err != nil || info.Size() > 0 {
		return err
	}
	d, err := os.Open(filepath.Dir(a.path)) // the file is new
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// Entries returns the last entries, at most limit of them, 0 for all, the earliest first. A truncated line is skipped.
func (a *Audit) Entries(limit int) (all []Decision, err error) {
	b, err := os.ReadFile(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(b) {
		var e Decision
		if json.Unmarshal(line, &e) == nil {
			all = append(all, e)
		}
	}
	if limit > 0 && len(all) > limit {
		all = all[len(all)-limit:]
	}
	return all, nil
}
