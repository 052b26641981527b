package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/proc"
	"golang.org/x/sys/unix"
)

// This file holds the Local and the life of one run. The parts of a run are in files of their own:
//
//   - local_start.go finds and starts the program;
//   - local_launch.go keeps the tool's memory out of max_rss;
//   - local_watch.go has the goroutines beside a run;
//   - local_measure.go makes the figures;
//   - output.go reads the streams;
//   - tree.go and reap.go end the processes and wait for them.

// DefaultOutput is the default size of the beginning, and of the end, of an output stream that is kept.
const DefaultOutput = 1 << 20

// LocalOptions configure a [Local]. The zero value is usable.
type LocalOptions struct {
	// Owner names the purpose of the runs of jobs without a study, so that [Sweep] can find the remains of a killed
	// tool. "" is an owner like any other. A job with an ID is owned by its study.
	Owner string
	// Head and Tail are how many bytes of the beginning and of the end of each
	// output stream are kept; 0 means DefaultOutput, less than 0 none.
	Head, Tail int
	// Pin keeps the threads of the tool on one processor and the runs on the
	// others, until Close. It has no effect if we may use fewer than 4.
	Pin bool
	// Powercap is the directory of the energy counters; "" means /sys/class/powercap.
	Powercap string
	// Direct starts programs from this process instead of from a launcher: a run costs about 0.15 ms less, but max_rss is
	// not measured unless it is above the peak resident set of this process.
	Direct bool
	// Waiting is called with a text about a run without a limit that takes much longer than the runs before it, from a
	// minute on; nil drops it. It must be safe for concurrent use.
	Waiting func(text string)
	// NoCgroup ends and meters runs without cgroups even where there are some.
	NoCgroup bool
}

// A Local runs commands on this machine. See the package comment for its measurements, and [assay.Runner] for its
// contract.
//
// It makes the whole process a subreaper (prctl(2)). Among a job's resources it knows "cpus", a whole number of
// processors that the run has for itself as far as there are enough; any other is an error, so that a wrapper that
// realises a resource takes it out of the job.
//
// When a run is ended, every process of it gets SIGTERM, and SIGKILL after the grace; so do the processes that a
// program leaves behind when it ends by itself. The elapsed time of an ended run stops at the moment of the end,
// before the grace.
//
// It is safe for concurrent use.
type Local struct {
	opts LocalOptions
	// id names this Local in markers and in names of cgroups. A run of a study uses a copy with the owner of that study.
	id runnerID
	// env is read by all runs at once, and is never written after NewLocal.
	env []string // of this process, without the marker
	// null is the standard input of every run.
	null    *os.File
	energy  *rapl // nil if there are no counters
	cpus    *cpuSet
	starter *starter
	// runs is the number of the last run. It makes the markers of one Local differ.
	runs   atomic.Int64
	upkeep time.Duration // between two looks after a run
	waits  waits

	// mu guards the fields below it.
	mu     sync.Mutex
	parent *proc.Parent // nil if there are no cgroups
	// A slot is either in free or belongs to exactly one run.
	free []*slot
	// slots only grows, so that no name of a group is used twice.
	slots int // made so far
}

var _ assay.Runner = (*Local)(nil)

// A slot is the state that is kept from one run to the next, because making and removing a group costs system calls
// that a short run would notice.
type slot struct {
	group *proc.Group // nil if there are no cgroups
	owner string      // of the group, hashed: it is in its name
}

// NewLocal returns a Local, which must be closed. It returns an error only if the null device or the facts of this
// process cannot be read. On an error nothing is left open. The cgroups are optional: if the parent group cannot be
// made, runs are ended by process id without an error. Local.Cgroup reports which.
func NewLocal(opts LocalOptions) (*Local, error) {
	opts.Head, opts.Tail = keep(opts.Head), keep(opts.Tail)
	id, err := newRunnerID(opts.Owner)
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	cpus, err := newCPUSet(opts.Pin)
	if err != nil {
		null.Close()
		return nil, err
	}
	l := &Local{opts: opts, id: id, null: null, cpus: cpus, upkeep: upkeepEvery}
	l.env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, markerName+"=") })
	l.energy = openRAPL(cmp.Or(opts.Powercap, powercapDir))
	l.starter = newStarter()
	l.starter.failed.Store(opts.Direct)
	// Without it (Linux before 3.4) orphans go to init; cgroups find them yet.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	if !opts.NoCgroup {
		l.parent, _ = proc.New(id.group())
	}
	return l, nil
}

// keep returns how many bytes an option of LocalOptions stands for.
func keep(n int) int {
	if n == 0 {
		return DefaultOutput
	}
	return max(n, 0)
}

// Cgroup returns the directory of the groups that runs are ended by, or "" if there are none.
func (l *Local) Cgroup() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.parent == nil {
		return ""
	}
	return l.parent.Dir()
}

// ExactRSS reports whether max_rss is measured also below the peak resident set of this process.
func (l *Local) ExactRSS() bool { return l.starter.small() }

// Pinned returns the processors of the runs if LocalOptions.Pin took effect, else nil.
func (l *Local) Pinned() []int { return l.cpus.pinned() }

// Close removes the cgroups and undoes the pinning. No run may be under way. All steps of Close are taken, after a
// failure too. The error joins all failures.
func (l *Local) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, s := range l.free {
		if s.group != nil {
			errs = append(errs, s.group.Remove())
		}
	}
	l.free = nil
	if l.parent != nil {
		errs = append(errs, l.parent.Remove())
		l.parent = nil
	}
	l.energy.close()
	errs = append(errs, l.cpus.restore(), l.starter.close(), l.null.Close())
	return errors.Join(errs...)
}

// acquire returns a slot of that owner that no run is using. Free groups of another owner give way to a new one, so
// that there are never more groups than there were runs at once. The search goes from the back, so that the slot which
// was used last is used next. If the group cannot be made, the error leaves no slot behind; only its number is used up.
func (l *Local) acquire(owner string) (*slot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, s := range slices.Backward(l.free) {
		if s.group == nil || s.owner == owner {
			l.free = slices.Delete(l.free, i, i+1)
			return s, nil
		}
	}
	if n := len(l.free); n > 0 {
		l.free[n-1].group.Remove() // on an error Close removes the rest
		l.free = l.free[:n-1]
	}
	l.slots++
	s := &slot{owner: owner}
	if l.parent != nil {
		g, err := l.parent.Group(groupOf(owner, l.slots))
		if err != nil {
			return nil, fmt.Errorf("%w", err)
		}
		s.group = g
	}
	return s, nil
}

// release takes a slot back from a run without a live process. A group that was killed is removed instead: the next
// process in it might be killed at once (see proc.Group.Spent).
func (l *Local) release(s *slot) {
	if s.group != nil && s.group.Spent() {
		s.group.Remove() // on an error Close removes the rest
		return
	}
	l.mu.Lock()
	l.free = append(l.free, s)
	l.mu.Unlock()
}

// dropCgroups gives up cgroups: they can be made, but nothing starts in them. The slot s belongs to the run that
// found this out. Slots of other live runs keep their groups.
func (l *Local) dropCgroups(s *slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.group != nil {
		s.group.Remove()
		s.group = nil
	}
	for _, f := range l.free {
		if f.group != nil {
			f.group.Remove()
			f.group = nil
		}
	}
	if l.parent != nil {
		l.parent.Remove()
		l.parent = nil
	}
}

// A process is one run while it goes on. A process is made by Run and shared with these goroutines. One that comes
// after the end of the run finds exited set and does nothing:
//
//   - the one that ends the run, on a limit, on the context or after the main process;
//   - the upkeep;
//   - the observer.
//
// The fields above mu are set before those goroutines start, and are not written by them. The
// captures are read by the goroutine of Run alone.
type process struct {
	local  *Local
	slot   *slot
	marker string
	// pid is the main process. It is also the number of its session and of its process group,
	// because it starts with setsid(2).
	pid int
	// start has a monotonic reading, so that a step of the wall clock does not change elapsed.
	start time.Time
	birth uint64 // when the main process started (proc.Process.Start), if there is no cgroup
	// cpu0 is the processor time of the group before this run: a group serves many runs.
	cpu0   proc.CPU
	direct bool // not started by the launcher
	meter  *energyMeter
	out    capture
	err    capture

	// mu guards the fields below it, except ended.
	mu     sync.Mutex
	exited bool          // the main process has ended
	endAt  time.Duration // when it was seen to have ended, since start
	// cause is set at most once, and never after exited.
	cause  error         // why the run was ended, or nil
	stopAt time.Duration // when it was, since start
	ended  chan struct{} // closed when the goroutine that ends its processes is done
	// orphans is the usage of the adopted processes that were waited for so far.
	orphans usage
	peak    float64 // largest resident set seen while running, bytes
	// seen maps the pid of each process of the run that was seen alive to its start time. Both
	// are needed: the kernel uses a pid again.
	seen map[int]uint64
	// sess holds the sessions of those processes.
	sess map[int]bool
}

// Run implements [assay.Runner]. The order at the end of a run matters:
//
//   - exited is set first, so that from then on no interrupt begins: either the interrupt or
//     Run ends the remaining processes, never both. If the output goes elsewhere too, a
//     goroutine of its own waits for the end, since that may take long;
//   - the streams are read while processes are being ended, since one that writes into a full
//     pipe would not end within the grace;
//   - the main process is waited for when the others have been ended. Until then its pid,
//     which is the number of its group, cannot be used again, so that no signal meets a
//     stranger.
//
// The error is the cause of a run that was ended: the cause of the context, or assay.ErrLimit. The measurement is
// valid with it, and empty if the context was done before the start. Any other error means that nothing was started,
// and the measurement is empty.
func (l *Local) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	return l.run(ctx, job, observe, nil)
}

// run is Run if kept is nil, else Keep.
func (l *Local) run(ctx context.Context, job assay.Job, observe func(assay.Measurement), kept *Kept) (
	assay.Measurement, error,
) {
	if ctx.Err() != nil {
		return assay.Measurement{}, context.Cause(ctx)
	}
	cpus, err := l.reserve(job)
	if err != nil {
		return assay.Measurement{}, err
	}
	defer l.cpus.give(cpus)
	id := l.id
	if job.ID.Study != "" {
		id.owner = hashOwner(job.ID.Study)
	}
	s, err := l.acquire(id.owner)
	if err != nil {
		return assay.Measurement{}, err
	}
	defer l.release(s)
	p := &process{local: l, slot: s, marker: id.marker(l.runs.Add(1)), ended: make(chan struct{})}
	p.tap(ctx, job, kept)
	if err := p.begin(job, cpus); err != nil {
		return assay.Measurement{}, err
	}
	defer family.remove(p)
	unwatch := p.watch(ctx, job, observe)
	arrived := p.wait(ctx, job)
	noticed := p.notice()
	if kept != nil && kept.Started != nil {
		kept.Started(p.pid, p.soFar)
	}

	buf := chunks.Get().(*[64 << 10]byte)
	defer chunks.Put(buf)
	if fd, err := exitFD(p.pid); err == nil {
		p.follow(fd, buf[:])
		unix.Close(fd)
	} else { // no descriptor is left
		_ = waitExit(p.pid)
	}
	elapsed, cause := p.over()
	noticed()
	arrived(elapsed)
	if kept != nil && cause == nil {
		p.linger(ctx, kept, elapsed, buf[:])
	}
	unwatch()
	energy := p.meter.stop()
	switch {
	case cause != nil:
		p.followUntil(p.ended, buf[:])
		elapsed = p.stopAt
	case !p.empty():
		go func() { defer close(p.ended); p.end(job.Grace) }()
		p.followUntil(p.ended, buf[:])
	}
	var ru syscall.Rusage
	_, ws := wait4(p.pid, 0, &ru)
	if zombies() {
		family.reap(p)
	}
	m := p.measurement(elapsed, ws, usageOf(&ru), energy)
	m.Stdout, m.Stderr = p.out.finish(buf[:]), p.err.finish(buf[:])
	return m, cause
}

// tap copies the outputs to where the caller, or the study, looks at them.
func (p *process) tap(ctx context.Context, job assay.Job, kept *Kept) {
	if kept != nil {
		p.out.tap, p.err.tap = kept.Output, kept.Output
	} else if t, ok := ctx.Value(teeKey{}).(tee); ok && job.ID.Attempt > 0 {
		p.out.tap, p.err.tap = t.stdout, t.stderr
	}
}

// notice has the end of the main process noted as soon as it comes, although the goroutine of Run may be passing on
// output. The function that it returns waits for the goroutine: the process must not be waited for before that. Without
// a tap nothing delays that goroutine, and none is started.
func (p *process) notice() (noticed func()) {
	if p.out.tap == nil && p.err.tap == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if waitExit(p.pid) == nil {
			_, _ = p.over()
		}
	}()
	return func() { <-done }
}

// over notes that the main process has ended. It returns when that was noted first, since the start, and why the run
// had been ended by then, nil if it was not.
func (p *process) over() (elapsed time.Duration, cause error) {
	at := time.Since(p.start)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.exited {
		p.exited, p.endAt = true, at
	}
	return p.endAt, p.cause
}

// reserve checks the resources of a job and takes its processors. On an error no processor is taken. The names are
// checked in their order, so that a job with two unknown resources always has the same error.
func (l *Local) reserve(job assay.Job) ([]int, error) {
	for _, name := range slices.Sorted(maps.Keys(job.Resources)) {
		if name != "cpus" {
			return nil, fmt.Errorf("no resource %q on this runner", name)
		}
	}
	return l.cpus.take(job.Resources["cpus"])
}

// interrupt ends the run for the given reason, unless it has ended already. It returns when no process is left.
// interrupt is called on goroutines of timers and of the context, at most once each. Only the first call that finds the
// main process alive takes effect; it alone closes ended.
func (p *process) interrupt(cause error, grace time.Duration) {
	p.mu.Lock()
	if p.exited || p.cause != nil {
		p.mu.Unlock()
		return
	}
	p.cause, p.stopAt = cause, time.Since(p.start)
	p.mu.Unlock()
	defer close(p.ended)
	p.end(grace)
}

// knows reports whether a dead orphan is known to be of this run from the time when it, or a process of its session,
// was alive. A dead process has neither environment nor open files, so that its marker and its output can no longer be
// looked at.
func (p *process) knows(s proc.Process) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[s.PID] == s.Start || p.sess[s.Session]
}

// learn remembers a live process of this run.
func (p *process) learn(s proc.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil {
		p.seen, p.sess = map[int]uint64{}, map[int]bool{}
	}
	p.seen[s.PID], p.sess[s.Session] = s.Start, true
}

// addOrphan adds the usage of an adopted process of the run. Any run's goroutine may call it, because one reaps for
// all.
func (p *process) addOrphan(u usage) {
	p.mu.Lock()
	p.orphans.add(u)
	p.mu.Unlock()
}
