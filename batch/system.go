package batch

import (
	"context"
	"time"

	"github.com/assay-run/assay"
)

// A System is a batch system. It may fail, and what it says may be wrong: see the package comment for what a
// [Runner] makes of it. It is safe for concurrent use.
//
// Each method is a few commands of the system at most, and comes back within a minute or so.
type System interface {
	// Submit has the system start a script, once. Its error matches [ErrRefused] if the system will never take
	// such a job, [ErrFull] if it does not take more now; with both nothing was submitted. After any other
	// error it is not known whether the job was submitted.
	Submit(ctx context.Context, r Request) (id string, err error)
	// Poll returns the jobs of this user whose names begin with [Prefix], in one query. Jobs that have ended may
	// be among them. An answer that cannot be read is an error, not an empty one.
	Poll(ctx context.Context) ([]Job, error)
	// Find returns what the accounting of the system knows of the jobs of some names, also of those that have ended;
	// nothing if there is no accounting.
	Find(ctx context.Context, names ...string) ([]Job, error)
	// Cancel ends jobs. It is no error if one is not there.
	Cancel(ctx context.Context, jobs ...Job) error
	// Lower reduces the longest time of jobs that wait to the same time, and returns of how many: the first n, if one
	// command does not take all. The others are for another call.
	Lower(ctx context.Context, to time.Duration, jobs ...Job) (n int, err error)
}

// Prefix is what the name of each job begins with.
const Prefix = "assay-"

// A Request is a job for a batch system.
type Request struct {
	Name   string // names the job for ever; of letters, digits and hyphens
	Script string // the path of a script for sh
	Output string // the path of a file for what the script prints
	Dir    string // where the script is started

	// What follows is for the user to say; zero leaves it to the system.
	Walltime  time.Duration // the longest time, in whole minutes
	Partition string        // a queue, class or pool of machines
	Account   string        // who pays
	Nodes     int
	CPUs      int
	MemoryB   float64 // bytes
	GPUs      int
	Extra     []string // further arguments of the command that submits
	// Setup are lines of shell before the program is started, such as "module load x264". They are the user's,
	// and part of the script already.
	Setup []string

	// Varies says that something of this depends on the configuration: another may be taken where this one
	// is refused.
	Varies bool
}

// A Job is what a batch system says of a job.
type Job struct {
	ID, Name string
	State    State
	Said     string // the state, as the system says it
	Reason   string // why it waits, or ended; for people
}

// A State is what a batch system may say of a job.
type State uint8

// States of a [Job].
const (
	Unsure  State = iota // anything that is not known: one waits
	Waiting              // it has not begun
	Going                // it runs, or ends
	Over                 // it has ended, whatever it came to
)

// Errors of [System.Submit].
var (
	ErrRefused = assay.Errorf(assay.ClassUsage, "the batch system refuses the job")
	ErrFull    = assay.Errorf(assay.ClassUnavailable, "the batch system takes no more jobs now")
)

// Overhead is what a job takes beside its run, at most: to begin, and to write what the run came to.
const Overhead = spare + 20*time.Second

// Minutes rounds a time up to whole minutes, which is what batch systems count in.
func Minutes(d time.Duration) time.Duration {
	return (d + time.Minute - 1) / time.Minute * time.Minute
}
