package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/assay-run/assay"
)

// A State of an attempt. Those before Placed are not known to have begun.
type State uint8

// States of an attempt; see the package comment.
const (
	Open State = iota
	Placing
	Unclear
	Placed
	Lost
	Ended
)

// An Attempt is one attempt at a run. Its owner's record of it embeds it.
type Attempt struct {
	N     int
	State State
	Since time.Time // of its state

	Worker       string // the machine or the job, for people
	MachineClass string // of its machine
	Heard        time.Time
	// Latest is the last measurement: the outcome, once it has ended.
	Latest assay.Measurement
	// Before is the value of Latest before the end of an attempt that was cancelled or given up for
	// another; nil for others.
	Before *assay.Measurement

	Tainted bool   // its machine or its clock stood still
	Ahead   bool   // another attempt at the run is ahead
	Halted  bool   // its worker was ordered to end it
	Past    bool   // it was booked in an earlier session
	Why     string // it was booked with
	Reason  string
}

// An Entry is an attempt in its owner's record: a pointer to a type that embeds an [Attempt].
type Entry interface {
	comparable
	Entry() *Attempt
}

// Entry implements [Entry] for types that embed an attempt.
func (a *Attempt) Entry() *Attempt { return a }

// Alive reports whether the attempt runs, or will.
func (a *Attempt) Alive() bool { return a.State < Lost }

// Place puts the attempt where it runs from now on.
func (a *Attempt) Place(where, class string, now time.Time) {
	a.State, a.Worker, a.MachineClass, a.Heard, a.Since = Placed, where, class, now, now
}

// Silent returns the time since the last report of the attempt.
func (a *Attempt) Silent(now time.Time) time.Duration { return now.Sub(a.Heard) }

// Progress returns how long the attempt has run.
func (a *Attempt) Progress(now time.Time) time.Duration {
	if a.State != Placed {
		return 0
	}
	return a.Latest.Elapsed + a.Silent(now)
}

// Report takes in the sign of life of an attempt, with the measurement so far. A gap longer than the
// lease, in which the machine or its clock stood still, taints the attempt: its measurements are not
// taken. Report returns whether the measurement was taken as the latest: reports may overtake each
// other.
func (a *Attempt) Report(m assay.Measurement, gap, lease time.Duration, now time.Time) bool {
	a.Heard = now
	if gap > lease {
		a.Tainted = true
		return false
	}
	if m.Elapsed < a.Latest.Elapsed {
		return false
	}
	a.Latest = m
	a.Latest.Stdout, a.Latest.Stderr = nil, nil
	return true
}

// Ignorable reports whether the attempt ended without evidence about the run, and must not count against the caller's
// attempts: it was cancelled, a duplicate, or could not be set up in an earlier session.
func (a *Attempt) Ignorable() bool {
	if a.State != Ended {
		return false
	}
	return a.Why == assay.WhyCancel || a.Why == assay.WhyDuplicate || a.Why == assay.WhySetup && a.Past
}

// Err returns the error of a run whose attempt has ended; nil if it ended by itself. who names the attempt, for people.
func (a *Attempt) Err(who string) error {
	switch a.Why {
	case "":
		return nil
	case assay.WhyLimit:
		if a.Reason == "" {
			return assay.ErrLimit
		}
		return fmt.Errorf("%s: %w", a.Reason, assay.ErrLimit) // of the job, not of the run
	case assay.WhyStop:
		if a.Reason == "" {
			return fmt.Errorf("stopped before: %w", assay.ErrLimit)
		}
		return fmt.Errorf("stopped before (%s): %w", a.Reason, assay.ErrLimit)
	case assay.WhyTainted:
		return fmt.Errorf("%s: the machine stood still meanwhile: %w", who, assay.ErrLost)
	case assay.WhySetup:
		return fmt.Errorf("%s: %w: %s", who, assay.ErrSetup, a.Reason)
	case assay.WhyError:
		return errors.New(who + ": " + a.Reason)
	}
	return fmt.Errorf("%s: %w", who, assay.ErrLost)
}
