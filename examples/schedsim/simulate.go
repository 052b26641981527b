package main

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"
)

// A Policy selects the waiting job that starts next.
type Policy string

// The policies. With FCFS, jobs start in the order of their submission: none overtakes another. With
// EASY (Lifka 1995), the first waiting job has a reservation, the earliest time at which there are
// enough processors if all running jobs take the time they asked for, and any other job may start that
// does not delay it. With Fair, the waiting jobs are ordered by the past usage of their queues, least
// first, and within a queue by submission, and start by the rule of EASY; every queue has an equal
// share.
const (
	FCFS Policy = "fcfs"
	EASY Policy = "easy"
	Fair Policy = "fair"
)

// Options configure a simulation.
type Options struct {
	Policy Policy
	Procs  int // processors of the machine, all alike
	// Limits are the greatest requested times of the queues but the last, in
	// seconds, increasing. Only Fair looks at queues.
	Limits []int64
	// HalfLife is how long it takes, in seconds, until half of a queue's usage is
	// forgotten. 0 means that nothing is.
	HalfLife float64
}

// A simulator is the state of a machine at one time.
//
// The state changes only when a job is submitted or ends. At such a time all
// that happens at it is taken in first, then the policy starts jobs.
type simulator struct {
	Options
	jobs []Job
	// queue and start are of each job; start is -1 while it waits.
	queue []uint8
	start []int64

	now  int64
	free int
	// waiting are the waiting jobs of each queue by submission; with FCFS and
	// EASY there is one queue.
	waiting  [][]waiter
	running  endings // by the time at which they end
	expected []release
	usage    usage
}

// A waiter holds the fields that the scan for jobs to start reads, close together in memory.
type waiter struct {
	request    int64
	procs, job int32
}

// A release is the time at which processors are expected to be free again.
type release struct {
	at    int64
	procs int
}

// Simulate runs jobs, which are ordered by Submit, and returns when each starts.
// A job that is wider than the machine is an error. An event costs the number of
// jobs that wait and run at its time.
func Simulate(jobs []Job, opts Options) ([]int64, error) {
	s := &simulator{Options: opts, jobs: jobs, free: opts.Procs}
	s.queue, s.start = make([]uint8, len(jobs)), make([]int64, len(jobs))
	queues := 1
	switch opts.Policy {
	case FCFS, EASY:
	case Fair:
		queues = len(opts.Limits) + 1
	default:
		return nil, fmt.Errorf("no policy %q (there are fcfs, easy, fair)", opts.Policy)
	}
	for i, j := range jobs {
		if j.Procs > opts.Procs {
			return nil, fmt.Errorf("job %d needs %d processors of %d", j.ID, j.Procs, opts.Procs)
		}
		s.start[i] = -1
		if queues > 1 {
			s.queue[i] = uint8(queueOf(opts.Limits, j.Request))
		}
	}
	s.waiting = make([][]waiter, queues)
	s.usage = newUsage(queues, opts.HalfLife)
	// Invariant: jobs[:next] have been submitted by now, and everything at a
	// time before now has happened.
	for next := 0; next < len(jobs) || len(s.running) > 0; {
		s.now = math.MaxInt64
		if next < len(jobs) {
			s.now = jobs[next].Submit
		}
		if len(s.running) > 0 {
			s.now = min(s.now, s.running[0].at)
		}
		s.usage.advance(s.now)
		for len(s.running) > 0 && s.running[0].at == s.now {
			s.end(heap.Pop(&s.running).(ending).job)
		}
		for ; next < len(jobs) && jobs[next].Submit == s.now; next++ {
			q := s.queue[next]
			j := jobs[next]
			s.waiting[q] = append(s.waiting[q], waiter{j.Request, int32(j.Procs), int32(next)})
		}
		s.schedule()
	}
	return s.start, nil
}

// schedule starts jobs in the order of the policy: as many as there is room for
// up to the first that does not fit, the head, and of the others those that do
// not delay it.
func (s *simulator) schedule() {
	head := false
	var slack int64 // until the head starts at the latest
	var spare int   // free processors then beside the head's
	for _, q := range s.usage.order() {
		w := s.waiting[q]
		// Invariant: of w[:i], no job can start now.
		for i := 0; i < len(w) && s.free > 0; {
			procs := int(w[i].procs)
			if procs > s.free || head && w[i].request > slack && procs > spare {
				if !head && s.Policy == FCFS {
					break
				}
				if !head {
					head = true
					slack, spare = s.reserve(procs)
				}
				i++
				continue
			}
			if head && w[i].request > slack {
				spare -= procs
			}
			s.begin(int(w[i].job))
			if i == 0 {
				w = w[1:]
			} else {
				w = slices.Delete(w, i, i+1)
			}
		}
		s.waiting[q] = w
	}
}

// reserve returns how long it is until procs processors are free if every running job takes the time it
// asked for, and how many more are free then. procs is more than are free now, and not more than the
// machine has.
func (s *simulator) reserve(procs int) (slack int64, spare int) {
	free := s.free
	for i, r := range s.expected {
		free += r.procs
		if free >= procs && (i+1 == len(s.expected) || s.expected[i+1].at > r.at) {
			return r.at - s.now, free - procs
		}
	}
	panic("schedsim: more processors in use than there are")
}

func (s *simulator) begin(i int) {
	j := s.jobs[i]
	s.start[i] = s.now
	s.free -= j.Procs
	s.usage.busy[s.queue[i]] += j.Procs
	heap.Push(&s.running, ending{s.now + j.Run, i})
	r := release{s.now + j.Request, j.Procs}
	at, _ := slices.BinarySearchFunc(s.expected, r, compareRelease)
	s.expected = slices.Insert(s.expected, at, r)
}

func (s *simulator) end(i int) {
	j := s.jobs[i]
	s.free += j.Procs
	s.usage.busy[s.queue[i]] -= j.Procs
	// Jobs of one release time and width are alike: any of them will do.
	at, _ := slices.BinarySearchFunc(s.expected, release{s.start[i] + j.Request, j.Procs}, compareRelease)
	s.expected = slices.Delete(s.expected, at, at+1)
}

func compareRelease(a, b release) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.procs, b.procs))
}

// endings is a heap of the running jobs by the time at which they end.
type endings []ending

type ending struct {
	at  int64
	job int
}

func (e endings) Len() int           { return len(e) }
func (e endings) Less(i, k int) bool { return e[i].at < e[k].at }
func (e endings) Swap(i, k int)      { e[i], e[k] = e[k], e[i] }
func (e *endings) Push(x any)        { *e = append(*e, x.(ending)) }
func (e *endings) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}
