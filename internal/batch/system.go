package batch

import (
	"context"
	"time"

	"github.com/assay-run/assay"
)

// A System is a batch system. It may fail, and its reports may be wrong: see the package comment for how a [Runner]
// treats them. It is safe for concurrent use.
//
// Each method is a few commands of the system at most, and returns within about a minute.
type System interface {
	// Submit has the system start a script, once. Its error matches [ErrRefused] if the system will never take
	// such a job, [ErrFull] if it does not take more now; with both nothing was submitted. After any other
	// error it is not known whether the job was submitted.
	Submit(ctx context.Context, r Request) (id string, err error)
	// Poll returns the jobs of this user whose names begin with [Prefix], in one query. Jobs that have ended may
	// be among them. An answer that cannot be read is an error, not an empty one.
	Poll(ctx context.Context) ([]Job, error)
	// Find returns the accounting's records of the jobs of some names, ended jobs included; nothing without accounting.
	Find(ctx context.Context, names ...string) ([]Job, error)
	// Cancel ends jobs. It is no error if one is not there.
	Cancel(ctx context.Context, jobs ...Job) error
	// Lower reduces the longest time of jobs that wait to the same time, and returns of how many: the first n, if one
	// command does not take all. The others are for another call.
	Lower(ctx context.Context, to time.Duration, jobs ...Job) (n int, err error)
}

// Prefix is the prefix of the name of each job.
const Prefix = "assay-"

// A Request is a job for a batch system.
type Request struct {
	Name   string // names the job for ever; of letters, digits and hyphens
	Script string // the path of a script for sh
	Output string // the path of a file for the output of the script
	Dir    string // where the script is started

	// The user sets the following fields; zero leaves them to the system.
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

	// Varies means that a field of this depends on the configuration: another configuration may be accepted if this one is
	// refused.
	Varies bool
}

// A Job is a job as reported by a batch system.
type Job struct {
	ID, Name string
	State    State
	Said     string // the state, in the words of the system
	Reason   string // why it waits, or ended; for people
}

// A State is the state of a job in a batch system.
type State uint8

// States of a [Job].
const (
	Unsure  State = iota // anything that is not known: one waits
	Waiting              // it has not begun
	Going                // it runs, or ends
	Over                 // it has ended, with any result
)

// Errors of [System.Submit].
var (
	ErrRefused = assay.Errorf(assay.ClassUsage, "the batch system refuses the job")
	ErrFull    = assay.Errorf(assay.ClassUnavailable, "the batch system takes no more jobs now")
)

// Overhead is the most time that a job takes in addition to its run: to begin, and to write the result.
const Overhead = spare + 20*time.Second

// Minutes rounds a time up to whole minutes, the unit of batch systems.
func Minutes(d time.Duration) time.Duration {
	return (d + time.Minute - 1) / time.Minute * time.Minute
}
