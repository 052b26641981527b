package batch

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
)

// The files of an attempt; see the package comment.
const (
	specFile      = "spec.json"
	scriptFile    = "script"
	submittedFile = "submitted"
	claimFile     = "claim"
	beatFile      = "beat.json"
	orderFile     = "order"
	resultFile    = "result.json"
	lostFile      = "lost"
	askedFile     = "asked" // the accounting was asked for it
	lowerFile     = "walltime"
	secondFile    = "second-start" // a job found that the attempt was begun before
	printedFile   = "job.out"      // output of the script itself
)

// A dir is the directory of an attempt.
type dir string

func (d dir) path(name string) string { return filepath.Join(string(d), name) }

// An assignment is the run to make.
type assignment struct {
	Name     string        `json:"name"`               // of the attempt
	Attempt  int           `json:"attempt"`            // from 1
	Job      assay.Job     `json:"job"`                //
	Every    time.Duration `json:"every_ns"`           // how often the shim beats, and looks for an order
	Walltime time.Duration `json:"walltime,omitempty"` // that was asked for; 0 for none
	CPUs     int           `json:"cpus,omitempty"`     // that were asked for
}

// A submission is the record of a job that the batch system has accepted.
type submission struct {
	Job   string    `json:"job"`   // its number
	First time.Time `json:"first"` // when the attempt was first submitted
}

// UnmarshalJSON implements [json.Unmarshaler]: a file of an older version has the number alone.
func (s *submission) UnmarshalJSON(b []byte) error {
	type plain submission
	if json.Unmarshal(b, &s.Job) == nil {
		return nil
	}
	return json.Unmarshal(b, (*plain)(s))
}

// A claim names the owner of an attempt.
type claim struct {
	By   string    `json:"by"`            // "shim", or why the Runner took it
	Job  string    `json:"job,omitempty"` // the number of the job
	Node string    `json:"node,omitempty"`
	PID  int       `json:"pid,omitempty"`
	Boot string    `json:"boot,omitempty"`
	At   time.Time `json:"at"` // by the clock of who made it, for people
}

// byShim is who made the claim of an attempt that has begun.
const byShim = "shim"

// A beat is the sign of life of an attempt.
type beat struct {
	Seq         int64             `json:"seq"`
	Measurement assay.Measurement `json:"measurement"`
}

// Why an attempt ended, beside the words of [assay.AttemptEnd]: these are on record as others.
const (
	whyTerm   = "term"   // the job was ended from outside
	whyAbsent = "absent" // the program is not there: no attempt can pass
	whyDenied = "denied" // it may not be run
)

// A result is the result of an attempt.
type result struct {
	Name        string            `json:"name"` // of the attempt: a result of another attempt is ignored
	Why         string            `json:"why,omitempty"`
	Reason      string            `json:"reason,omitempty"`
	Measurement assay.Measurement `json:"measurement"`
	Stdout      []byte            `json:"stdout,omitempty"`
	Stderr      []byte            `json:"stderr,omitempty"`
	Node        string            `json:"node,omitempty"`
	Job         string            `json:"job,omitempty"`
}

// word returns the word of the record for why it ended.
func (r result) word() string {
	switch r.Why {
	case whyTerm:
		return assay.WhyLost
	case whyAbsent, whyDenied:
		return assay.WhyError
	}
	return r.Why
}

// counts reports whether the measurement is one of the run: that it cannot be started is.
func (r result) counts() bool {
	return r.Why == whyAbsent || r.Why == whyDenied || (assay.AttemptEnd{Why: r.Why}).Counts()
}

// names returns the names in the directory. On a network file system, reading the directory makes new names visible.
func (d dir) names() ([]string, error) {
	f, err := os.Open(string(d))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// read reads a JSON file; ok is false if it is not there, or not whole.
func (d dir) read(name string, v any) (ok bool, err error) {
	b, err := os.ReadFile(d.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return json.Unmarshal(b, v) == nil, nil
}

// write writes a JSON file that is durable.
func (d dir) write(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return files.WriteFile(d.path(name), b, 0o600)
}

// take makes the claim of an attempt. mine is false if another claim exists.
func (d dir) take(c claim) (mine bool, err error) {
	b, err := json.Marshal(c)
	if err != nil {
		return false, err
	}
	f, err := os.OpenFile(d.path(claimFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return true, err // it is ours all the same: only one claim can be made
	}
	return true, files.SyncDir(string(d))
}

// has reports whether there is a file of that name among names.
func has(names []string, name string) bool { return slices.Contains(names, name) }
