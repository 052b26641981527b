package run

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A procStat is what /proc/PID/stat says of a process (proc(5)).
type procStat struct {
	pid, ppid, pgrp, session int
	state                    byte   // 'R', 'S', 'T', 'Z', ...
	start                    uint64 // clock ticks after boot; with pid it names a process for ever
	ticks                    [4]int64
}

// The fields of ticks: own and waited-for user and system time.
const (
	ownUser = iota
	ownSystem
	waitedUser
	waitedSystem
)

// dead reports whether the process has ended, waited for or not.
func (s procStat) dead() bool { return s.state == 'Z' || s.state == 'X' }

// userHZ is the unit of clock ticks in /proc, a constant of Linux's interface.
const userHZ = 100

// readStat returns the state of a process; ok is false if there is none.
func readStat(pid int) (s procStat, ok bool) {
	var buf [1024]byte
	n := readProc(pid, "stat", buf[:])
	return parseStat(buf[:n])
}

// readProc reads the start of /proc/PID/name into buf and returns how much.
func readProc(pid int, name string, buf []byte) int {
	fd, err := syscall.Open("/proc/"+strconv.Itoa(pid)+"/"+name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer syscall.Close(fd)
	n := 0
	for n < len(buf) {
		k, err := syscall.Read(fd, buf[n:])
		if err == syscall.EINTR {
			continue
		}
		if k <= 0 {
			break
		}
		n += k
	}
	return n
}

// parseStat parses "PID (COMM) STATE PPID PGRP SESSION ...". COMM may hold
// anything, parentheses and newlines too, so the last ')' ends it.
func parseStat(b []byte) (s procStat, ok bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return s, false
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(b[:open])))
	if err != nil {
		return s, false
	}
	f := bytes.Fields(b[end+1:]) // f[0] is field 3 of proc(5)
	if len(f) < 20 || len(f[0]) != 1 {
		return s, false
	}
	s.pid, s.state = pid, f[0][0]
	for i, dst := range []*int{&s.ppid, &s.pgrp, &s.session} {
		if *dst, err = strconv.Atoi(string(f[1+i])); err != nil {
			return s, false
		}
	}
	for i := range s.ticks {
		if s.ticks[i], err = strconv.ParseInt(string(f[11+i]), 10, 64); err != nil {
			return s, false
		}
	}
	s.start, err = strconv.ParseUint(string(f[19]), 10, 64)
	return s, err == nil
}

// scan returns every process that /proc shows.
func scan() []procStat {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	all := make([]procStat, 0, len(names))
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		if s, ok := readStat(pid); ok {
			all = append(all, s)
		}
	}
	return all
}

// descendants returns the processes of all that are among the roots, in the
// session or group of one of them, or that descend from such a process.
func descendants(all []procStat, roots []int) []procStat {
	in := make(map[int]bool, len(roots))
	for _, r := range roots {
		in[r] = true
	}
	heads := len(roots) > 0
	var members []procStat
	// Invariant: every process of members is in the tree, and in holds their pids.
	for grown := heads; grown; {
		grown = false
		all = slices.DeleteFunc(all, func(s procStat) bool {
			if !in[s.pid] && !in[s.ppid] && !slices.Contains(roots, s.session) && !slices.Contains(roots, s.pgrp) {
				return false
			}
			in[s.pid] = true
			members = append(members, s)
			grown = true
			return true
		})
	}
	return members
}

// signalProcess sends a signal to exactly the process s: it takes a handle of
// the pid, and then makes sure that the pid still means s.
func signalProcess(s procStat, sig syscall.Signal) {
	fd, err := unix.PidfdOpen(s.pid, 0)
	if err != nil {
		if err == unix.ENOSYS { // Linux before 5.3
			if now, ok := readStat(s.pid); ok && now.start == s.start {
				syscall.Kill(s.pid, sig)
			}
		}
		return
	}
	defer unix.Close(fd)
	if now, ok := readStat(s.pid); ok && now.start == s.start {
		// If s ended after the handle was taken, this is ESRCH, whatever the
		// pid means by now.
		unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}

// members returns the live processes of the run. A process of it is a
// descendant of the main one, or of one that lost its parent and was adopted
// by us.
func (p *process) members() []procStat {
	var live []procStat
	if p.slot.group != nil {
		pids, _ := p.slot.group.Procs()
		for _, pid := range pids {
			if s, ok := readStat(pid); ok && !s.dead() {
				live = append(live, s)
			}
		}
		return live
	}
	for _, s := range p.scanned() {
		if !s.dead() {
			p.learn(s)
			live = append(live, s)
		}
	}
	return live
}

// scanned returns the processes of the run that /proc shows, also those that
// have ended and were not waited for.
func (p *process) scanned() []procStat {
	// The adopted first: whoever loses its parent after that had a live parent
	// when it was looked at, so that the caller looks again.
	return descendants(scan(), append(family.adopted(p), p.pid))
}

// empty reports whether no process of the run is alive.
func (p *process) empty() bool {
	if p.slot.group != nil {
		full, err := p.slot.group.Populated()
		return err == nil && !full
	}
	if len(family.adopted(p)) > 0 {
		return false
	}
	s, ok := readStat(p.pid)
	return !ok || s.dead()
}

// The waits between two looks at a tree that is ending.
const (
	firstWait = 100 * time.Microsecond
	lastWait  = 10 * time.Millisecond
)

// backoff sleeps for *d and doubles it up to lastWait.
func backoff(d *time.Duration) {
	time.Sleep(*d)
	*d = min(2**d, lastWait)
}

// end ends every process of the run, the main one included, and returns when
// none is alive: SIGTERM to each, then SIGKILL to what is left after the grace.
// The main process must not have been waited for.
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

// terminate sends SIGTERM to the process group of the main process, and to
// each further process. SIGCONT follows so that a stopped one gets it.
func (p *process) terminate() {
	others := slices.DeleteFunc(p.members(), func(s procStat) bool { return s.pgrp == p.pid })
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGCONT} {
		syscall.Kill(-p.pid, sig)
		for _, s := range others {
			signalProcess(s, sig)
		}
	}
}

// kill ends every process of the run with SIGKILL, and returns when none is
// alive and those that we had adopted are waited for. A process that the kernel
// cannot end (in uninterruptible sleep) keeps it waiting.
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

func (p *process) killGroup() {
	wait := firstWait
	for i := 0; !p.empty(); i++ {
		if i%16 == 0 { // again, should an inner group have been moved meanwhile
			p.slot.group.Kill()
		}
		backoff(&wait)
	}
}

// killScan is for machines without cgroup.kill. It stops every process first,
// until a look at /proc shows no new one, so that none can fork while the
// others are being killed. A tree that forks faster than one thread reads /proc
// keeps it busy until the machine refuses to fork.
func (p *process) killScan() {
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
		fresh := slices.DeleteFunc(slices.Clone(live), func(s procStat) bool { return stopped[name{s.pid, s.start}] })
		for _, s := range fresh {
			stopped[name{s.pid, s.start}] = true
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

// signalGroups sends a signal to processes of one run and to all of the process
// groups they are in. A group never has processes of two sessions in it, and a
// session none that does not descend from its first, so they are of the run too.
func signalGroups(members []procStat, sig syscall.Signal) {
	done := map[int]bool{}
	for _, s := range members {
		if now, ok := readStat(s.pid); ok && now.start == s.start && !done[now.pgrp] {
			done[now.pgrp] = true
			syscall.Kill(-now.pgrp, sig)
		}
	}
}

// peakRSS returns the peak resident set of a live process in bytes, or 0.
func peakRSS(pid int) float64 {
	var buf [4096]byte
	n := readProc(pid, "status", buf[:])
	_, after, ok := bytes.Cut(buf[:n], []byte("\nVmHWM:"))
	if !ok {
		return 0
	}
	f := bytes.Fields(after[:min(len(after), 64)])
	if len(f) == 0 {
		return 0
	}
	kb, err := strconv.ParseFloat(string(f[0]), 64)
	if err != nil {
		return 0
	}
	return kb * 1024
}

// environ returns the value of a variable in the initial environment of a
// process. ok is false if it is not set, or if the process has ended or is not
// ours to look at.
func environ(pid int, name string) (value string, ok bool) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return "", false
	}
	for v := range bytes.SplitSeq(b, []byte{0}) {
		if rest, found := bytes.CutPrefix(v, []byte(name+"=")); found {
			return string(rest), true
		}
	}
	return "", false
}
