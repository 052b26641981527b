package workflow

import (
	"fmt"
	"math"
)

// This file has the simulation's interface and its fast form for equal slots; simulate_delays.go
// has the general one. Neither has random numbers or goroutines.

// A Policy selects the next of the tasks that could start.
type Policy uint8

const (
	// FirstReady starts tasks in the order in which they became ready, roughly like DAGMan, Make and
	// Snakemake.
	FirstReady Policy = iota
	// LongestPath starts the task with the longest chain of tasks behind it
	// (critical-path scheduling; HEFT's rank).
	LongestPath
)

// SimOptions are the conditions of a simulated execution.
type SimOptions struct {
	// Overhead's Start, Task, Scale, Share and SlotCap have the meaning that they have in a LevelModel.
	// Level is how long a task waits after its predecessors have ended (a level's delay on every path),
	// Dispatch how long the submit host takes to start one task, one after the other, and 1/Byte the
	// bandwidth of the storage, which transfers share equally.
	Overhead Overhead
	Policy   Policy // which ready task starts first
	// Machines, if not nil, replaces the slots: a task needs a machine with
	// its cores and memory free.
	Machines []MachineGroup
}

// A MachineGroup is a number of equal machines.
type MachineGroup struct {
	Name    string  `json:"name,omitempty"`
	Count   int     `json:"count"`
	Cores   float64 `json:"cores"`
	Memory  Bytes   `json:"memory_B,omitempty"` // 0 means no limit
	Speed   float64 `json:"speed,omitempty"`    // run times are divided by it; 0 counts as 1
	StartUp Seconds `json:"start_s,omitempty"`  // from the workflow's start until it takes tasks
}

// A Schedule is one simulated execution. Times are since the workflow's start.
type Schedule struct {
	Makespan Seconds   // the end of the last task
	Start    []Seconds // when each task was put in its slot
	End      []Seconds // when each task left its slot
	Slot     []int32   // slot, or machine if machines were given
	Slots    int       // how many there were
}

// Simulate runs w on a number of slots >= 1 with a list scheduler: whenever a
// slot is free and a task is ready, it is started. The makespan exceeds an
// optimal one by less than a factor of two on equal slots (Graham 1966).
// Equal inputs give equal schedules. It costs O((tasks + edges) log slots), and
// a factor log tasks more with delays, machines or LongestPath.
//
// It returns an [*InfeasibleError] if a task fits no machine.
func Simulate(w *Workflow, slots int, opt SimOptions) (*Schedule, error) {
	if slots < 1 && opt.Machines == nil {
		return nil, fmt.Errorf("%d slots", slots)
	}
	s := opt.Overhead
	// Without delays between tasks, machines or priorities a simpler event loop will
	// do.
	if opt.Machines == nil && opt.Policy == FirstReady && s.Level == 0 && s.Dispatch == 0 && s.Byte == 0 {
		return simulateSlots(w, s.Slots(slots), s)
	}
	if err := w.Check(); err != nil {
		return nil, err
	}
	sim, err := newSimulation(w, slots, opt)
	if err != nil {
		return nil, err
	}
	return sim.run(), nil
}

// running is a task in a slot. Ends are compared first, then tasks, so that the
// order of events does not depend on how the heap is laid out.
type running struct {
	end  Seconds // when it leaves the slot
	task int32   // its index
	slot int32   // or machine
}

// before is the order of the heap: by end, then by task. It is total, so that equal inputs
// give equal schedules.
func (a running) before(b running) bool {
	return a.end < b.end || a.end == b.end && a.task < b.task
}

// simulateSlots is Simulate on equal slots without delays between tasks. Each task is pushed
// and popped once: O((tasks + edges) log slots).
func simulateSlots(w *Workflow, slots int, overhead Overhead) (*Schedule, error) {
	g := w.Graph
	n := g.Len()
	slots = min(slots, n)
	sched := newSchedule(n, slots)
	// End holds the time a task takes until it is started: tasks are large,
	// and reading them in order once is faster than in the schedule's order.
	scale, ok := overhead.scale(), true
	for t := range w.Tasks {
		r := w.Tasks[t].Run
		ok = ok && r >= 0
		sched.End[t] = scale*r + overhead.Task
	}
	// Check names the task: a run time that is negative or no number is not >= 0.
	if !ok {
		return nil, w.Check()
	}
	wait := make([]int32, n)
	ready := make([]int32, 0, n)
	start := g.preds.start
	for t := range n {
		if wait[t] = start[t+1] - start[t]; wait[t] == 0 {
			ready = append(ready, int32(t))
		}
	}
	free := make([]int32, slots) // a stack, lowest slot on top
	for i := range free {
		free[i] = int32(slots - 1 - i)
	}
	heap := make([]running, 0, slots)
	now, head := overhead.Start, 0
	// Invariant: ready[:head] have been started; heap holds those that have
	// not ended, and slots-len(heap) slots are free.
	for {
		for head < len(ready) && len(free) > 0 {
			t := ready[head]
			head++
			slot := free[len(free)-1]
			free = free[:len(free)-1]
			end := now + sched.End[t]
			sched.Start[t], sched.End[t], sched.Slot[t] = now, end, slot
			heap = pushRunning(heap, running{end, t, slot})
		}
		if len(heap) == 0 {
			sched.Makespan = now
			return sched, nil
		}
		now = heap[0].end
		for len(heap) > 0 && heap[0].end == now { // all that ends now, before anything starts
			first := heap[0]
			heap = popRunning(heap)
			free = append(free, first.slot)
			for _, s := range g.succs.item[g.succs.start[first.task]:g.succs.start[first.task+1]] {
				if wait[s]--; wait[s] == 0 {
					ready = append(ready, s)
				}
			}
		}
	}
}

// newSchedule returns a schedule of n tasks of which nothing is known yet.
//
// The caller fills every entry, since a simulation ends only when each task has run.
func newSchedule(n, slots int) *Schedule {
	return &Schedule{Start: make([]Seconds, n), End: make([]Seconds, n), Slot: make([]int32, n), Slots: slots}
}

// pushRunning and popRunning keep h a binary heap with the first event on top.
func pushRunning(h []running, x running) []running {
	h = append(h, x)
	i := len(h) - 1
	// Invariant: h is a heap but for x, which belongs at i or above.
	for i > 0 {
		p := (i - 1) / 2
		if !x.before(h[p]) {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = x
	return h
}

// popRunning takes the first event off h, which must not be empty.
func popRunning(h []running) []running {
	n := len(h) - 1
	x := h[n]
	h = h[:n]
	if n == 0 {
		return h
	}
	i := 0
	// Invariant: h is a heap but for the hole at i, where x may go.
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && h[c+1].before(h[c]) {
			c++
		}
		if !h[c].before(x) {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = x
	return h
}

// Efficiency returns the share of the slots' time that is spent on work:
// work / (slots·makespan).
//
// The least positive number keeps a makespan of 0 from dividing by 0.
func Efficiency(work Seconds, slots int, makespan Seconds) float64 {
	return work / (float64(slots) * math.Max(makespan, math.SmallestNonzeroFloat64))
}
