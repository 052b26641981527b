package queue

import (
	"bytes"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// A Live is the state of a run from the latest beat of its worker.
type Live struct {
	ID     assay.RunID
	State  string // "open" or "placed"
	Worker string // that has it, by name
	Since  time.Time
	Silent time.Duration // since the last beat
	So     assay.Measurement
	// Stdout and Stderr are the ends of its outputs so far, together at most [MaxTail].
	Stdout, Stderr []byte
}

// Live returns the run of a trial that is running or waiting, and false if no such run exists. It returns the
// attempt that has run longest.
func (f *Fleet) Live(study string, trial int64) (l Live, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.studies[study]
	if m == nil {
		return l, false
	}
	now := f.o.Now()
	var best *attempt
	for key, r := range m.runs {
		if key.trial != trial || r.Counts() || r.Closed {
			continue
		}
		for _, a := range r.Attempts {
			if a.Alive() && (best == nil || a.Progress(now) > best.Progress(now) ||
				a.Progress(now) == best.Progress(now) && a.run.key.repeat > best.run.key.repeat) {
				best = a
			}
		}
	}
	if best == nil {
		return l, false
	}
	l = Live{ID: best.id(), State: "open", Since: best.Since}
	if best.State == ledger.Placed {
		l.State, l.Worker, l.Silent, l.So = "placed", best.Worker, best.Silent(now), best.Latest
		l.Stdout, l.Stderr = bytes.Clone(best.tail[0]), bytes.Clone(best.tail[1])
	}
	return l, true
}

// Needs returns nil if a running attempt of one of the workers has an input with that hash. An error of class
// unavailable means that this is not known yet, because the server has just started. Any other error means that no
// attempt has it.
func (f *Fleet) Needs(hash string, mine func(worker string) bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	unknown := false
	for _, a := range f.placed {
		if a.worker != "" && !mine(a.worker) {
			continue
		}
		// The record knows neither the ID of a worker nor the job.
		if a.worker == "" || a.run.Parted && len(a.run.job.Inputs) == 0 {
			unknown = true
		}
		if a.worker == "" {
			continue
		}
		for _, in := range a.run.job.Inputs {
			if in.SHA256 == hash {
				return nil
			}
		}
	}
	if unknown {
		return errUnready
	}
	return assay.Errorf(assay.ClassNotFound, "no run of this worker has the input %.80s", hash)
}

// tails returns the ends of the outputs of a beat, which comes from a worker.
func tails(b Beat) [2][]byte {
	end := func(p []byte) []byte { return bytes.Clone(p[max(0, len(p)-MaxTail):]) }
	return [2][]byte{end(b.Tail), end(b.ErrTail)}
}

// isHash reports whether a text is a SHA-256 in hexadecimal digits.
func isHash(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }
