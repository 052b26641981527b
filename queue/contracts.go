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

// A Task is what a worker is asked to do.
type Task struct {
	ID  assay.RunID `json:"id"`
	App string      `json:"app"`
	// Job is the run. Its Argv is empty unless App is [Commands]: what an application
	// runs is written on the worker.
	Job assay.Job `json:"job"`
	// Values are the texts of the parameters, by name: what the command of an application
	// may use.
	Values map[string]string `json:"values,omitempty"`
	// Expected is how long the run is expected to take; 0 if nobody knows.
	Expected time.Duration `json:"expected_ns,omitempty"`
}

// A Worker is what a worker says of itself.
type Worker struct {
	ID      string            `json:"id"`   // made at its first start, kept in its directory
	Name    string            `json:"name"` // for people
	Boot    string            `json:"boot"` // another one after each start of the machine
	Version string            `json:"version"`
	Slots   int               `json:"slots"`
	Apps    []string          `json:"apps"`
	Labels  map[string]string `json:"labels,omitempty"`
	Class   string            `json:"class"`              // hash of what makes machines alike
	Machine string            `json:"machine"`            // the class in words
	Until   time.Duration     `json:"until_ns,omitempty"` // how much longer it lives; 0 for no limit
}

// A Ticket is what the queue carries: room for one run of an application. It holds no
// command, no value and no secret.
type Ticket struct {
	ID    string `json:"id"`
	App   string `json:"app"`
	Class string `json:"class,omitempty"` // of machines; "" is any
}

// A Claim is the answer to a worker that was delivered a ticket.
type Claim struct {
	Verdict Verdict       `json:"verdict"` // Go or Drop
	Task    Task          `json:"task"`    // meaningful if Go
	Lease   time.Duration `json:"lease_ns"`
	Beat    time.Duration `json:"beat_ns"` // how often the worker must be heard of
}

// A Verdict is what the server says of an attempt. Only the server decides.
type Verdict string

const (
	Go        Verdict = ledger.Go        // run it, or go on
	Drop      Verdict = "drop"           // there is nothing to run for this ticket
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
	// [assay.Booking].
	Why    string `json:"why,omitempty"`
	Reason string `json:"reason,omitempty"`
	Stdout []byte `json:"stdout,omitempty"`
	Stderr []byte `json:"stderr,omitempty"`
	// Staged and Files are those of [assay.Booking]. What Files names comes after the outcome.
	Staged time.Duration `json:"staged_ns,omitempty"`
	Files  string        `json:"files,omitempty"`
}

// A Control is the server's side of a fleet, as workers see it. Each call can be made
// again: the answer is the same, and it counts once. An error of the class unavailable
// means that the call should be made again later; the worker goes on meanwhile. After
// any other error of Claim it leaves the ticket, says Hello and does as it is ordered;
// after any other error of Tell the outcome will never be taken.
type Control interface {
	// Hello makes a worker known, or what it says of itself. It is the worker's first
	// call, and is made again every [HelloEvery].
	Hello(ctx context.Context, w Worker) (Order, error)
	// Claim turns a delivered ticket into the open run that comes first, and records it.
	Claim(ctx context.Context, t Ticket, worker string) (Claim, error)
	// Beat reports progress and returns whether to go on.
	Beat(ctx context.Context, b Beat) (Verdict, error)
	// Tell records an outcome. When it returns nil the outcome is durable.
	Tell(ctx context.Context, o Outcome) error
}

// An Order is what the server wants of a worker as a whole.
type Order struct {
	Drain bool `json:"drain,omitempty"` // take nothing more; end when nothing runs
	Evict bool `json:"evict,omitempty"` // end what runs too
	// Quarantine stops a worker whose measurements drifted from taking new runs until it gets another order. Why is the
	// reason, for people.
	Quarantine bool   `json:"aside,omitempty"`
	Why        string `json:"why,omitempty"`
}

// A Carrier brings tickets to workers. It may lose, repeat, delay and reorder them; it
// never decides. It is safe for concurrent use.
type Carrier interface {
	// Offer makes tickets available to the workers of their application. One that is
	// already there is not added.
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

// A Record is where a Fleet writes what becomes of the runs of one study. Append is safe
// for concurrent use, and when it returns nil the events are durable. See study.Journal.
type Record interface {
	Append(ctx context.Context, events ...assay.Event) error
}
