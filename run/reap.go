package run

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"syscall"

	"github.com/assay-run/assay/internal/proc"
	"golang.org/x/sys/unix"
)

// This file waits for processes. A process that has ended stays a zombie until its parent waits for it, and only
// wait4(2) returns its usage. Orphans of runs become our children, so that we must wait for them. No code here waits
// for "any child": that would steal the exit status of children that other code of the process waits for.

// family knows the main processes that this package has started. It is a variable of the package because children
// belong to the whole process with all its runners: each must know the others'.
var family = registry{mains: map[int]*process{}}

// A registry distinguishes our own children, which their starters wait for, from orphans: descendants of a run that
// lost their parent, and that the kernel gave to us because we are a subreaper (prctl(2), PR_SET_CHILD_SUBREAPER).
// Only orphans are waited for here, each by its own pid, so that no other code's child is stolen: a child is an
// orphan of a run if it is in the run's cgroup; or, without cgroups, if it is not in our session, and has the run's
// marker, session or output, or if it was born while no other run went on.
type registry struct {
	// starting is read-locked from the fork to the registration of a child, and locked while the children are listed: none
	// is on the list that is ours and not registered.
	starting sync.RWMutex
	// mu guards mains. If both locks are held, starting is taken first.
	mu sync.Mutex
	// mains maps the pid of the main process of each run that goes on to that run.
	mains map[int]*process
}

// add registers a main process. The caller holds starting for reading, since the fork.
func (r *registry) add(p *process) {
	r.mu.Lock()
	r.mains[p.pid] = p
	r.mu.Unlock()
}

// remove forgets a main process after it has been waited for.
func (r *registry) remove(p *process) {
	r.mu.Lock()
	delete(r.mains, p.pid)
	r.mu.Unlock()
}

// strangers returns our children that this package has not started, and a copy of the main processes. Both results are
// snapshots: a stranger may be gone, and a main process over, when the caller looks at it. Without strangers the copy
// is not made.
func (r *registry) strangers() (pids []int, mains []*process) {
	r.starting.Lock()
	defer r.starting.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, pid := range childrenOfSelf() {
		if r.mains[pid] == nil {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		return nil, nil
	}
	for _, p := range r.mains {
		mains = append(mains, p)
	}
	return pids, mains
}

// childrenOfSelf lists the children of the first thread, which the kernel gives all orphans to (find_alive_thread in
// kernel/exit.c takes the first that lives, and Go never ends the first). Without CONFIG_PROC_CHILDREN it looks at all
// processes.
func childrenOfSelf() []int {
	self := os.Getpid()
	b, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(self) + "/children")
	var pids []int
	if err != nil {
		for _, s := range proc.All() {
			if s.PPID == self {
				pids = append(pids, s.PID)
			}
		}
		return pids
	}
	for f := range bytes.FieldsSeq(b) {
		if pid, err := strconv.Atoi(string(f)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// owner returns the run that an adopted child belongs to. orphan is false if it may be a child that another part of
// the program has started; p is nil if it is an orphan of a run that has ended, or whose run is unknown. It looks at
// cheap signs first: while a tree that forks fast is being ended, time counts. The signs are taken in the order of
// their cost and of their certainty:
//
//   - the session, the process group and earlier observations of it: no system call;
//   - the cgroup: one file;
//   - the only run that goes on, if it had begun when s was born;
//   - the marker and the output: further files, which a dead process no longer has;
//   - the only run without a cgroup that had begun when s was born.
//
// The argument session is the session of this process.
func owner(s proc.Process, mains []*process, session int) (p *process, orphan bool) {
	if s.Session == session {
		return nil, false // all processes of a run are in other sessions
	}
	var scanned, born []*process // without a cgroup; of these, had begun when s was born
	for _, p := range mains {
		if p.slot.group != nil {
			continue
		}
		scanned = append(scanned, p)
		if s.Session == p.pid || s.Group == p.pid || p.knows(s) {
			return p, true
		}
		if p.birth <= s.Start {
			born = append(born, p)
		}
	}
	if len(scanned) < len(mains) || len(born) == 0 {
		group := proc.Cgroup(s.PID)
		for _, p := range mains {
			if p.slot.group != nil && inGroup(group, p.slot.group.Path()) {
				return p, true
			}
		}
		if ownGroup(group) {
			return nil, true // of a run of ours that has ended
		}
	}
	if len(born) == 1 && len(mains) == 1 {
		return born[0], true
	}
	mark, marked := proc.Environ(s.PID, markerName)
	for _, p := range scanned {
		if marked && mark == p.marker || !marked && p.feeds(s.PID) {
			return p, true
		}
	}
	if marked && ownMarker(mark) {
		return nil, true // of a run of ours that has ended
	}
	if len(born) == 1 {
		return born[0], true
	}
	return nil, len(born) > 0
}

// feeds reports whether a process writes its output, or its errors, to the run. A pipe is known by its inode, which
// /proc shows as "pipe:[INODE]" (proc(5)). An inode of 0 means that it could not be read: it matches nothing.
func (p *process) feeds(pid int) bool {
	for _, fd := range []string{"1", "2"} {
		link, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + fd)
		if err != nil {
			continue
		}
		for _, c := range []*capture{&p.out, &p.err} {
			if c.inode != 0 && link == "pipe:["+strconv.FormatUint(c.inode, 10)+"]" {
				return true
			}
		}
	}
	return false
}

// inGroup reports whether path is group or below it. A whole part of the path must match: /a/bc is not below /a/b.
func inGroup(path, group string) bool {
	return len(path) >= len(group) && path[:len(group)] == group && (len(path) == len(group) || path[len(group)] == '/')
}

// adopted returns the live orphans that belong to p. It remembers them, so that a process is still known when it is
// dead.
func (r *registry) adopted(p *process) []int {
	pids, mains := r.strangers()
	var mine []int
	for _, pid := range pids {
		s, ok := proc.Of(pid)
		if !ok || s.Dead() {
			continue
		}
		if o, orphan := owner(s, mains, ownSession()); orphan && o == p {
			p.learn(s)
			mine = append(mine, pid)
		}
	}
	return mine
}

// reap waits for every orphan that has ended, adds its usage to its run, and returns how many processes of p are not
// gone yet or were waited for now. A call works for all runs: zombies of another run are waited for too, and their
// usage goes to that run. Several goroutines may call it at once. wait4 then succeeds for one of them only, so that
// nothing is counted twice. The usage of an orphan whose run has ended is dropped.
func (r *registry) reap(p *process) (n int) {
	pids, mains := r.strangers()
	for _, pid := range pids {
		s, ok := proc.Of(pid)
		if !ok {
			continue
		}
		o, orphan := owner(s, mains, ownSession())
		if !orphan {
			continue
		}
		if o == p && p != nil {
			n++
		}
		if !s.Dead() {
			continue
		}
		var ru syscall.Rusage
		if got, _ := wait4(pid, syscall.WNOHANG, &ru); got == pid && o != nil {
			o.addOrphan(usageOf(&ru))
		}
	}
	return n
}

// ownSession returns the session of this process. It is -1 if it cannot be read, which is the session of no process.
func ownSession() int {
	sid, err := unix.Getsid(0)
	if err != nil {
		return -1
	}
	return sid
}

// zombies reports whether any child of ours has ended and was not waited for. It costs one system call. It leaves the
// child to be waited for (WNOWAIT). It is true also for a main process, or for a child of other code.
func zombies() bool {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		return err == nil && info.Signo != 0
	}
}

// exitFD returns a descriptor that becomes readable when the process, a child of ours, has ended: a handle of it or,
// before Linux 5.3, a pipe. The caller closes the descriptor. The process must not have been waited for: until then the
// pid is its own.
func exitFD(pid int) (fd int, err error) {
	if fd, err = unix.PidfdOpen(pid, 0); err == nil {
		return fd, nil
	}
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return -1, err
	}
	go func() {
		_ = waitExit(pid)
		unix.Close(fds[1])
	}()
	return fds[0], nil
}

// waitExit returns when the process has ended, and leaves it to be waited for.
// WNOWAIT leaves the zombie, so that its pid is not used again before wait4.
func waitExit(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err
		}
	}
}

// wait4 waits for one process and returns its wait status. It returns -1 if there is no such child, and 0 with WNOHANG
// if it has not ended. A nil ru is not filled in.
func wait4(pid, options int, ru *syscall.Rusage) (int, syscall.WaitStatus) {
	var ws syscall.WaitStatus
	for {
		got, err := syscall.Wait4(pid, &ws, options, ru)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return -1, ws
		}
		return got, ws
	}
}
