package queue

import (
	"context"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// Commands is the application of jobs that bring their own command. Only a worker that
// accepts commands offers it.
const Commands = "command"

// A Task is the work of a worker: one run.
type Task struct {
	ID  assay.RunID `json:"id"`
	App string      `json:"app"`
	// Job is the run. Its Argv is empty unless App is [Commands]: workers define the commands of applications.
	Job assay.Job `json:"job"`
	// Values are the texts of the parameters, by name, for use in the command of an application.
	Values map[string]string `json:"values,omitempty"`
	// Expected is the expected duration of the run; 0 if unknown.
	Expected time.Duration `json:"expected_ns,omitempty"`
}

// A Worker is the description that a worker sends of itself.
type Worker struct {
	ID           string            `json:"id"`   // made at its first start, kept in its directory
	Name         string            `json:"name"` // for messages
	Boot         string            `json:"boot"` // another one after each start of the machine
	Version      string            `json:"version"`
	Slots        int               `json:"slots"`
	Apps         []string          `json:"apps"`
	Labels       map[string]string `json:"labels,omitempty"`
	MachineClass string            `json:"class"`              // hash of the properties that make machines alike
	Machine      string            `json:"machine"`            // the class in words
	Until        time.Duration     `json:"until_ns,omitempty"` // how much longer it lives; 0 for no limit
}

// A Ticket is the message of the queue: room for one run of an application. It holds no command, no value and no
// secret.
type Ticket struct {
	ID           string `json:"id"`
	App          string `json:"app"`
	MachineClass string `json:"class,omitempty"` // of machines; "" is any
}

// A Claim is the answer to a worker that was delivered a ticket.
type Claim struct {
	Verdict Verdict       `json:"verdict"` // Go or Drop
	Task    Task          `json:"task"`    // meaningful if Go
	Lease   time.Duration `json:"lease_ns"`
	Beat    time.Duration `json:"beat_ns"` // the longest time between beats of the worker
}

// A Verdict is the server's decision on an attempt.
type Verdict string

const (
	Go        Verdict = ledger.Go        // run it, or continue
	Drop      Verdict = "drop"           // this ticket has nothing to run
	Stop      Verdict = ledger.Stop      // end it: the value so far is a lower bound
	Cancel    Verdict = ledger.Cancel    // end it: nothing is learned
	Duplicate Verdict = ledger.Duplicate // end it: a further attempt is ahead
)

// A Beat is the sign of life of an attempt.
type Beat struct {
	ID     assay.RunID       `json:"id"`
	Worker string            `json:"worker"` // its ID
	So     assay.Measurement `json:"so_far"`
	// Gap is the longest time since the run began in which the worker's own clock stood or
	// the worker did not run. One longer than the lease taints the attempt.
	Gap time.Duration `json:"gap_ns,omitempty"`
	// Tail and ErrTail are the ends of the outputs so far, together at most [MaxTail].
	Tail    []byte `json:"tail,omitempty"`
	ErrTail []byte `json:"err_tail,omitempty"`
}

// MaxTail is how many bytes of the outputs so far go with a [Beat].
const MaxTail = 4 << 10

// An Outcome is the end of an attempt.
type Outcome struct {
	ID          assay.RunID       `json:"id"`
	Worker      string            `json:"worker"`
	Measurement assay.Measurement `json:"measurement"`
	// Why is "" if the run ended by itself, or "limit", "stop", "cancel", "duplicate" or
	// "tainted", which goes before the others if a Gap was longer than the lease; "setup"
	// if the job cannot be run on any configuration, "error" if nothing was learned. See
	// [assay.AttemptEnd].
	Why    string `json:"why,omitempty"`
	Reason string `json:"reason,omitempty"`
	Stdout []byte `json:"stdout,omitempty"`
	Stderr []byte `json:"stderr,omitempty"`
	// Staged and Files are as in [assay.AttemptEnd]. The files named by Files arrive after the outcome.
	Staged time.Duration `json:"staged_ns,omitempty"`
	Files  string        `json:"files,omitempty"`
}

// A Control is the server's side of a fleet, as workers see it. Every call is idempotent: a repeated call has the same
// result and counts once. An error of class unavailable means that the call should be repeated later; the worker
// continues meanwhile. After any other error of Claim the worker leaves the ticket, calls Hello and follows its order;
// after any other error of Tell the outcome will never be accepted.
type Control interface {
	// Hello registers a worker, or updates its description. It is the worker's first call, and is repeated every
	// [HelloEvery].
	Hello(ctx context.Context, w Worker) (Order, error)
	// Claim turns a delivered ticket into the open run that comes first, and records it.
	Claim(ctx context.Context, t Ticket, worker string) (Claim, error)
	// Beat reports progress and returns whether to continue.
	Beat(ctx context.Context, b Beat) (Verdict, error)
	// Tell records an outcome. When it returns nil the outcome is durable.
	Tell(ctx context.Context, o Outcome) error
}

// An Order is an instruction to a worker as a whole.
type Order struct {
	Drain bool `json:"drain,omitempty"` // take nothing more; end when nothing runs
	Evict bool `json:"evict,omitempty"` // end running attempts too
	// Quarantine stops a worker whose measurements drifted from taking new runs until it gets another order. Why is the
	// reason, as text.
	Quarantine bool   `json:"aside,omitempty"`
	Why        string `json:"why,omitempty"`
	// By and At are who gave the order, and when: for people.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at,omitzero"`
}

// A Carrier brings tickets to workers. It may lose, repeat, delay and reorder them; it
// never decides. It is safe for concurrent use.
type Carrier interface {
	// Offer makes tickets available to the workers of their application. A ticket that is already there is not added.
	Offer(ctx context.Context, ts ...Ticket) error
	// Depth returns how many tickets of an application wait or are leased. It may be a
	// moment behind Offer and Done.
	Depth(ctx context.Context, app string) (int, error)
	// Take waits for a ticket of one of the applications and of the class or of no class.
	// The ticket is leased until Done, or until Renew was not called for the lease
	// time of the carrier: then another Take may get it.
	Take(ctx context.Context, apps []string, class string) (Delivery, error)
}

// A Delivery is a leased ticket.
type Delivery interface {
	Ticket() Ticket
	Renew(ctx context.Context) error
	Done(ctx context.Context) error
}

// A Record is where a Fleet writes the events of the runs of one study. Append is safe for concurrent use, and when it
// returns nil the events are durable. See study.Journal.
type Record interface {
	Append(ctx context.Context, events ...assay.Event) error
}
