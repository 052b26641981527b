package assay

import (
	"context"
	"iter"
	"time"
)

// An Event is one step of a study. Exactly one of its pointers is set.
type Event struct {
	At    time.Time     `json:"at"`
	Spent time.Duration `json:"spent_ns"` // of the study's time budget, when the event was made
	Asked *Proposal     `json:"asked,omitempty"`
	// Batch stands with the first proposal of one Ask: the n that it was called
	// with. The other proposals of that Ask have -1. 0 means 1: a record that
	// was made one proposal at a time.
	Batch int `json:"batch,omitempty"`
	// Memo belongs to the last proposal of one Ask: the result of [Resumer.Memo] after it.
	Memo []byte `json:"memo,omitempty"`
	// Started records the begin of an attempt at a run. It changes no state.
	Started *Start `json:"started,omitempty"`
	Told    *Trial `json:"told,omitempty"`
	// Checked is a run outside the search, which repeats a configuration to measure it better. Its ID is the ID of the
	// repeated trial.
	Checked *Trial `json:"checked,omitempty"`
	// Race stands with Checked: the run was made to find out which configuration is
	// best. One without it compares the best with the first.
	Race   bool    `json:"race,omitempty"`
	Pruned *Pruned `json:"cut,omitempty"`
	// Ordered is the priority of a trial among the waiting trials.
	Ordered *Order `json:"ordered,omitempty"`
	// Withdrawn takes a running trial back: it is [Withdrawn] from here on. The
	// withdrawal of a trial that has ended, or was not asked, changes nothing.
	Withdrawn *Withdrawal `json:"withdrawn,omitempty"`
	// Booked is the end of a remote attempt at a run, whether it counts or not. It changes no state: the result of a
	// counted attempt is a later event.
	Booked *AttemptEnd `json:"booked,omitempty"`
	// Given are configurations that a person wants to be run. The searcher receives them at this place; see [Enqueuer].
	Given *Batch `json:"given,omitempty"`
	// Drifted records that a worker was quarantined, or released.
	Drifted *Drift `json:"drifted,omitempty"`
	// Redone accompanies Checked: the run replaces the runs of a quarantined worker. The searcher receives it as an
	// observation, see [Observer].
	Redone bool `json:"redone,omitempty"`
	// Steered is a person's decision about the study as a whole.
	Steered *StudyCommand `json:"steered,omitempty"`
	Ended   *End          `json:"ended,omitempty"`
}

// A Start is the beginning of one attempt at a run.
type Start struct {
	RunID
	Worker string `json:"where,omitempty"` // the machine or the queue, for people
	// MachineClass is the class of Worker, "" if machine classes are not distinguished.
	MachineClass string `json:"class,omitempty"`
}

// An AttemptEnd is the end of one attempt at a run. If an attempt has several bookings, the last holds: an attempt that
// was taken for lost may come back.
type AttemptEnd struct {
	RunID
	Worker string `json:"where,omitempty"`
	// Why it did not end by itself, such as [WhyLimit]; "" if it did.
	Why string `json:"why,omitempty"`
	// Extra means that another attempt at the same run was booked before and counts.
	Extra bool `json:"extra,omitempty"`
	// Measurement is the measurement so far. Its Elapsed is the cost of the attempt.
	Measurement Measurement `json:"measurement"`
	Reason      string      `json:"reason,omitempty"` // for people
	// Staged is how long it took to bring the inputs to where the run was made. It is no part of the
	// time of the run.
	Staged time.Duration `json:"staged_ns,omitempty"`
	// Queued is how long it waited in the queue of a batch system. It is no part of the time of the run.
	Queued time.Duration `json:"queued_ns,omitempty"`
	// Files is the SHA-256 of the list of the kept files of the run, "" without any. The files may arrive later than the
	// booking, or never.
	Files string `json:"files,omitempty"`
	// Undo is the lost time that earlier bookings of the same attempt added and that this booking takes back. The journal
	// of the study sets it.
	Undo time.Duration `json:"undo_ns,omitempty"`
}

// Why an attempt ended otherwise than by itself. An attempt with one of the last six does not count.
const (
	WhyLimit     = "limit"     // the time of the run, or of its job, was over
	WhyStop      = "stop"      // it was stopped, and its measurement is kept
	WhyCancel    = "cancel"    // it was cancelled
	WhyLost      = "lost"      // its worker, or its job, was silent for too long
	WhyDuplicate = "duplicate" // another attempt at the run was ahead
	WhyTainted   = "tainted"   // its machine stood still meanwhile
	WhySetup     = "setup"     // the job cannot be run on any configuration
	WhyError     = "error"     // the run could not be made there
)

// Counts reports whether the measurement of the attempt is one of its run.
func (b AttemptEnd) Counts() bool {
	switch b.Why {
	case "", WhyLimit, WhyStop:
		return !b.Extra
	}
	return false
}

// Lost returns the change of the time of uncounted attempts by the booking. It is negative if an attempt that was taken
// for lost has come back.
func (b AttemptEnd) Lost() time.Duration {
	if b.Counts() {
		return -b.Undo
	}
	return b.Measurement.Elapsed - b.Undo
}

// A Drift is the record of a worker whose measurements have drifted from its class. Its runs since then do not count,
// and it takes no more runs until a person releases it.
type Drift struct {
	Worker       string    `json:"where"`
	MachineClass string    `json:"class,omitempty"`
	Ratio        float64   `json:"ratio,omitempty"` // of its values to the values of its class
	Since        time.Time `json:"since,omitzero"`  // when the first run began that does not count
	// Trials are those that are run again.
	Trials []int64 `json:"trials,omitempty"`
	Reason string  `json:"reason,omitempty"` // in words
	Over   bool    `json:"over,omitempty"`   // it goes on; the fields before, except Worker and MachineClass, are not set
}

// A Batch is configurations that a person gives to a study, in order.
type Batch struct {
	Configs []Config `json:"configs"`
	By      string   `json:"by,omitempty"`
	// Restores are the trials, in the order of Configs, that these are to be run in place of: they were
	// withdrawn before a run of them had begun, and are wanted after all. A withdrawn trial stays
	// withdrawn. Empty for configurations that are a person's own.
	Restores []int64 `json:"restores,omitempty"`
}

// A StudyCommand is a decision about a study that a server runs.
type StudyCommand struct {
	// Do is "run", "pause", "stop", "priority" or "budget". A study runs on a server, or
	// goes on, since "run"; it is let alone since "pause"; it is over since "stop".
	Do       string `json:"do"`
	Priority int    `json:"priority,omitempty"` // of "priority": of two studies the one of greater Priority goes first
	// Trials and Time are the limits since "budget"; 0 leaves a limit as it is.
	Trials int           `json:"trials,omitempty"`
	Time   time.Duration `json:"time_ns,omitempty"`
	By     string        `json:"by,omitempty"`
	Reason string        `json:"reason,omitempty"`
}

// An Order changes the priority of a trial; see [Job.Priority].
type Order struct {
	Trial    int64  `json:"trial"`
	Priority int    `json:"priority"`
	By       string `json:"by,omitempty"` // who asked for it
}

// A Withdrawal takes a trial back.
type Withdrawal struct {
	Trial  int64  `json:"trial"`
	By     string `json:"by,omitempty"` // who asked for it
	Reason string `json:"reason,omitempty"`
}

// An End is why a session of a study ended; a later session may go on.
type End struct {
	// By is "budget", "trials", "target", "gain", "search", "failures", "interrupt" or "error".
	By string `json:"by"`
	// Why and Gain stand with "gain": why no more is to be gained, in words, and the least gain, relative
	// to the best value, that would have been worth it.
	Why  string  `json:"why,omitempty"`
	Gain float64 `json:"gain,omitempty"`
	// Short is the reason why fewer runs than requested compare the best with the first configuration; "" if all were
	// made.
	Short string `json:"short,omitempty"`
}

// A Position is a place in the record of a study: the number of the event
// before it. Events count from 1, so that 0 is the place before the first.
type Position int64

// A Store keeps studies as append-only sequences of events. It is safe for
// concurrent use, by several processes too.
//
// A study that does not exist is an error that matches fs.ErrNotExist.
type Store interface {
	// Create makes a study with no events. It returns an error that matches
	// fs.ErrExist if there is one of that name.
	Create(ctx context.Context, study string, spec []byte) error
	// Spec returns the specification that was passed to Create.
	Spec(ctx context.Context, study string) ([]byte, error)
	// Studies yields the names in lexical order.
	Studies(ctx context.Context) iter.Seq2[string, error]
	// Append adds events, all or none, if at is the end of the record, and
	// returns the new end. When the error is nil they survive the end of the
	// process and, in a durable store, of the machine.
	//
	// Append returns an error that matches [ErrConflict], and adds nothing, if
	// at is not the end of the record. If exactly these events stand behind at
	// already, that is no error: it returns the position behind them, so that a
	// call of unknown outcome can be made again. After any other error than
	// ErrConflict the outcome is unknown.
	Append(ctx context.Context, study string, at Position, events ...Event) (Position, error)
	// Events yields the events behind a position, in the order of their Append.
	// Behind the end of the record, or any position beyond it, there are none.
	Events(ctx context.Context, study string, after Position) iter.Seq2[Event, error]
}

// ErrConflict means that another process has written to the record of a study.
var ErrConflict = Errorf(ClassConflict, "the record has moved on")

// A Remover is a Store that can forget a study and its events.
type Remover interface {
	Remove(ctx context.Context, study string) error
}

// A Locker is a Store that can make one process the exclusive owner of a study,
// so that no two searchers write to one sequence of events.
type Locker interface {
	// Lock returns ErrLocked, wrapped with who holds it, if another process or
	// an earlier Lock does. The lock ends with release, or with the process.
	Lock(ctx context.Context, study string) (release func() error, err error)
}

// ErrLocked means that another process is running the study.
var ErrLocked = Errorf(ClassLocked, "study is in use")

// A Watcher is a Store that reports events as they are appended.
type Watcher interface {
	// Watch yields the events behind a position, and goes on with those that are
	// appended, by other processes too, within about a second. It ends when ctx
	// is done, without an error, and with one that matches fs.ErrNotExist if the
	// study is removed.
	Watch(ctx context.Context, study string, after Position) iter.Seq2[Event, error]
}

// A Leaser is a Store that makes one process the owner of a study as long as the process renews its lease, and notifies
// it of a loss.
type Leaser interface {
	// Lease returns ErrLocked, wrapped with the name of the holder, if a lease or a lock on the study exists. The study
	// need not exist yet. holder names the caller, for people. A lease that is not renewed within ttl, which must be
	// positive, is lost; so is a lease whose process ends.
	Lease(ctx context.Context, study, holder string, ttl time.Duration) (Lease, error)
}

// A Lease is the right to write to a study, for a while. It is safe for
// concurrent use.
type Lease interface {
	// Fence returns a number greater than for every earlier lease of the study. It identifies late messages of an
	// earlier holder.
	Fence() int64
	// Lost is closed once the lease is lost: at the latest ttl after the last
	// Renew, as the holder's clock has it, and before anybody else gets one.
	// Release does not close it.
	Lost() <-chan struct{}
	// Renew starts ttl again. It returns ErrLocked if the lease has ended.
	Renew(ctx context.Context) error
	// Release ends the lease. The second call does nothing.
	Release() error
}
