package run

import (
	"slices"
	"syscall"
	"time"

	"github.com/assay-run/assay/internal/proc"
	"golang.org/x/sys/unix"
)

// This file finds the processes of a run and ends them. With a cgroup the kernel knows the members. Without one they
// are found in /proc, which is not read at one moment: a process may be made or lose its parent while it is read. Each
// loop here therefore looks again until a look finds nothing new.

// descendants returns the processes of all that are among the roots, in the session or group of one of them, or that
// descend from such a process. It changes the array of all, which the caller gives up. A round is repeated as long as
// it finds a member, because a child may stand before its parent in /proc. Roots that are no processes do no harm.
func descendants(all []proc.Process, roots []int) []proc.Process {
	in := make(map[int]bool, len(roots))
	for _, r := range roots {
		in[r] = true
	}
	heads := len(roots) > 0
	var members []proc.Process
	// Invariant: every process of members is in the tree, and in holds their pids.
	for grown := heads; grown; {
		grown = false
		all = slices.DeleteFunc(all, func(s proc.Process) bool {
			if !in[s.PID] && !in[s.PPID] && !slices.Contains(roots, s.Session) && !slices.Contains(roots, s.Group) {
				return false
			}
			in[s.PID] = true
			members = append(members, s)
			grown = true
			return true
		})
	}
	return members
}

// signalProcess sends a signal to exactly the process s: it takes a handle of the pid, and then makes sure that the pid
// still means s. Errors are not returned: a process that is gone needs no signal, and the caller looks whether any is
// left. Before Linux 5.3 there is no handle, and a pid that is used again between the look and the signal would be hit.
func signalProcess(s proc.Process, sig syscall.Signal) {
	fd, err := unix.PidfdOpen(s.PID, 0)
	if err != nil {
		if err == unix.ENOSYS { // Linux before 5.3
			if now, ok := proc.Of(s.PID); ok && now.Start == s.Start {
				syscall.Kill(s.PID, sig)
			}
		}
		return
	}
	defer unix.Close(fd)
	if now, ok := proc.Of(s.PID); ok && now.Start == s.Start {
		// If s ended after the handle was taken, this is ESRCH, even if the pid was reused.
		unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}

// members returns the live processes of the run. A process of it is a descendant of the main one, or of one that lost
// its parent and was adopted by us. The result is a snapshot; processes may have ended since, or have been made.
// Without a cgroup each one is learned for the time after its death.
func (p *process) members() []proc.Process {
	var live []proc.Process
	if p.slot.group != nil {
		pids, _ := p.slot.group.Procs()
		for _, pid := range pids {
			if s, ok := proc.Of(pid); ok && !s.Dead() {
				live = append(live, s)
			}
		}
		return live
	}
	for _, s := range p.scanned() {
		if !s.Dead() {
			p.learn(s)
			live = append(live, s)
		}
	}
	return live
}

// scanned returns the processes of the run that /proc shows, also those that have ended and were not waited for. The
// main process is always a root, since its pid is its own until Run waits for it.
func (p *process) scanned() []proc.Process {
	// The adopted ones come first: a process that loses its parent after that had a live parent when it was looked at,
	// so that the caller looks again.
	return descendants(proc.All(), append(family.adopted(p), p.pid))
}

// empty reports whether no process of the run is alive. With a cgroup an error counts as not empty: it is safer to go
// on killing than to leave a process alive. Without one it is enough to look at the main process and at the adopted
// ones: every other process of the run has a living parent in the run, or is adopted.
func (p *process) empty() bool {
	if p.slot.group != nil {
		full, err := p.slot.group.Populated()
		return err == nil && !full
	}
	if len(family.adopted(p)) > 0 {
		return false
	}
	s, ok := proc.Of(p.pid)
	return !ok || s.Dead()
}

// The waits between two looks at a tree that is ending. The last one bounds how late an end is noticed.
const (
	firstWait = 100 * time.Microsecond
	lastWait  = 10 * time.Millisecond
)

// backoff sleeps for *d and doubles it up to lastWait.
func backoff(d *time.Duration) {
	time.Sleep(*d)
	*d = min(2**d, lastWait)
}

// end ends every process of the run, the main one included, and returns when none is alive: SIGTERM to each, then
// SIGKILL to the rest after the grace. The main process must not have been waited for. end is called once per run, on
// a goroutine of its own or of a timer, while Run goes on reading the output. A grace of 0 means SIGKILL at once.
func (p *process) end(grace time.Duration) {
	if grace > 0 {
		deadline := time.Now().Add(grace)
		p.terminate()
		for wait := firstWait; !p.empty() && time.Now().Before(deadline); {
			backoff(&wait)
		}
	}
	p.kill()
}

// terminate sends SIGTERM to the process group of the main process, and to each further process. SIGCONT follows so
// that a stopped one gets it. Processes in the group of the main process get it from the group alone: some programs
// take a second one for an order to end at once.
func (p *process) terminate() {
	others := slices.DeleteFunc(p.members(), func(s proc.Process) bool { return s.Group == p.pid })
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGCONT} {
		syscall.Kill(-p.pid, sig)
		for _, s := range others {
			signalProcess(s, sig)
		}
	}
}

// kill ends every process of the run with SIGKILL, and returns when none is alive and all adopted ones are waited
// for. A process that the kernel cannot end (in uninterruptible sleep) keeps it waiting. It looks at least twice, and
// the last look found nothing of this run.
func (p *process) kill() {
	if p.slot.group != nil {
		p.killGroup()
	} else {
		p.killScan()
	}
	// A dying process can leave its group a moment before it is a zombie.
	for clean, wait := 0, firstWait; clean < 2; clean++ {
		if family.reap(p) > 0 {
			clean = 0
		}
		backoff(&wait)
	}
}

// killGroup returns when the cgroup holds no live process. An error of Kill is not looked at,
// because empty decides, and the next round tries again.
func (p *process) killGroup() {
	wait := firstWait
	for i := 0; !p.empty(); i++ {
		if i%16 == 0 { // again, should an inner group have been moved meanwhile
			p.slot.group.Kill()
		}
		backoff(&wait)
	}
}

// killScan is for machines without cgroup.kill. It stops every process first, until a look at /proc shows no new one,
// so that none can fork while the others are being killed. A tree that forks faster than one thread reads /proc keeps
// it busy until the machine refuses to fork.
func (p *process) killScan() {
	// A pid alone may mean another process by the next look.
	type name struct {
		pid   int
		start uint64
	}
	stopped := map[name]bool{}
	for wait := firstWait; ; {
		live := p.members()
		if len(live) == 0 {
			if p.empty() {
				return
			}
			continue
		}
		fresh := slices.DeleteFunc(slices.Clone(live),
			func(s proc.Process) bool { return stopped[name{s.PID, s.Start}] })
		for _, s := range fresh {
			stopped[name{s.PID, s.Start}] = true
		}
		if len(fresh) > 0 {
			signalGroups(fresh, syscall.SIGSTOP)
			family.reap(p)
			continue
		}
		signalGroups(live, syscall.SIGKILL)
		family.reap(p)
		backoff(&wait)
	}
}

// signalGroups sends a signal to processes of one run and to all of the process groups they are in. A group never has
// processes of two sessions in it, and a session none that does not descend from its first, so they are of the run too.
// The group is read again right before the signal, since a process may have changed it.
func signalGroups(members []proc.Process, sig syscall.Signal) {
	done := map[int]bool{}
	for _, s := range members {
		if now, ok := proc.Of(s.PID); ok && now.Start == s.Start && !done[now.Group] {
			done[now.Group] = true
			syscall.Kill(-now.Group, sig)
		}
	}
}
