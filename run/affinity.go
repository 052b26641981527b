package run

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// This file keeps runs apart on the processors: sched_setaffinity(2) works per thread, and a child inherits the mask of
// the thread that forks it. No cgroup controller is needed, and a run that sets its own mask escapes.

// pinFrom is how many processors there must be to give the tool its own: one of
// fewer than four is too much to take away from the runs.
const pinFrom = 4

// A cpuSet hands out the processors of the machine to runs.
type cpuSet struct {
	// all, runs and tool are not changed after newCPUs. They may share an array.
	all  []int // that this process may use, ascending
	runs []int // those for runs
	tool []int // those for the threads of the tool; nil if they are not pinned

	mu   sync.Mutex
	used map[int]int // by processor: runs that have it
}

// newCPUSet returns the processors of this process. If pin, the last of them becomes the tool's, if there are enough.
// An error while threads are moved may leave some of them moved.
func newCPUSet(pin bool) (*cpuSet, error) {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		return nil, fmt.Errorf("processors: %w", err)
	}
	c := newCPUs(cpusOf(&mask), pin)
	if c.tool != nil {
		if err := setThreads(c.tool); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// newCPUs divides the given processors. The slices of the result share the array of all.
func newCPUs(all []int, pin bool) *cpuSet {
	c := &cpuSet{all: all, runs: all, used: map[int]int{}}
	if n := len(all); pin && n >= pinFrom {
		c.runs, c.tool = all[:n-1], all[n-1:]
	}
	return c
}

// cpusOf returns the processors of a mask, ascending.
func cpusOf(mask *unix.CPUSet) []int {
	var cpus []int
	for i := range len(mask) * strconv.IntSize {
		if mask.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// maskOf is the inverse of cpusOf.
func maskOf(cpus []int) *unix.CPUSet {
	var mask unix.CPUSet
	for _, c := range cpus {
		mask.Set(c)
	}
	return &mask
}

// setThreads moves every thread of this process. Threads that are made later inherit from the one that makes them, so
// it looks again until it finds none. A thread that ended meanwhile (ESRCH) is no error.
func setThreads(cpus []int) error {
	mask, done := maskOf(cpus), map[string]bool{}
	for found := true; found; {
		found = false
		entries, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("threads: %w", err)
		}
		for _, e := range entries {
			if done[e.Name()] {
				continue
			}
			found, done[e.Name()] = true, true
			tid, _ := strconv.Atoi(e.Name())
			if err := unix.SchedSetaffinity(tid, mask); err != nil && err != unix.ESRCH {
				return fmt.Errorf("affinity of thread %d: %w", tid, err)
			}
		}
	}
	return nil
}

// pinned returns the processors of the runs if the tool has its own.
func (c *cpuSet) pinned() []int {
	if c.tool == nil {
		return nil
	}
	return slices.Clone(c.runs)
}

// restore gives all processors back to the threads of this process. The mask becomes that which this process had when
// the set was made. Close calls it, when no run is under way.
func (c *cpuSet) restore() error {
	if c.tool == nil {
		return nil
	}
	return setThreads(c.all)
}

// take reserves for one run the n processors with the fewest runs, so that parallel runs share none while there are
// enough. For n = 0 it returns nil: the run may use all. It is an error if n is not a whole number, or exceeds the
// number of processors. Sharing is no error: with more runs than processors, several share one. The caller owns the
// slice and returns it with give.
func (c *cpuSet) take(n float64) ([]int, error) {
	if n == 0 {
		return nil, nil
	}
	if n < 0 || n != math.Trunc(n) || math.IsNaN(n) {
		return nil, fmt.Errorf("%v is not a number of processors", n)
	}
	if n > float64(len(c.runs)) {
		return nil, fmt.Errorf("%v processors are requested, there are %d", n, len(c.runs))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	least := slices.Clone(c.runs)
	slices.SortStableFunc(least, func(a, b int) int { return cmp.Compare(c.used[a], c.used[b]) })
	least = slices.Sorted(slices.Values(least[:int(n)]))
	for _, cpu := range least {
		c.used[cpu]++
	}
	return least, nil
}

// give ends the reservation of take. It takes nil, which take returns for a run without a reservation.
func (c *cpuSet) give(cpus []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cpu := range cpus {
		c.used[cpu]--
	}
}

// enter moves the calling thread, and with it the process that it forks, to the processors of a run. Call undo on the
// same goroutine. If the mask cannot be set, the run starts on the processors of this thread: affinity makes figures
// steadier, and is no condition of a run. Between enter and undo the goroutine is locked to its thread, so that the
// fork happens on the thread that was moved.
func (c *cpuSet) enter(cpus []int) (undo func()) {
	if cpus == nil {
		if c.tool == nil {
			return func() {}
		}
		cpus = c.runs
	}
	runtime.LockOSThread()
	var before unix.CPUSet
	err := unix.SchedGetaffinity(0, &before)
	if err == nil {
		err = unix.SchedSetaffinity(0, maskOf(cpus))
	}
	return func() {
		if err == nil {
			_ = unix.SchedSetaffinity(0, &before)
		}
		runtime.UnlockOSThread()
	}
}
