// Package proc reads Linux's data about the processes that this one sees, and about the mounts that they
// see: the files in /proc/PID (proc(5)).
package proc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// A Process holds the fields of /proc/PID/stat.
type Process struct {
	PID, PPID, Group, Session int
	State                     byte   // 'R', 'S', 'T', 'Z', ...
	Start                     uint64 // when it was made, in Ticks after boot; with PID it names a process for ever

	// Processor time of its own, and of the children that it has waited for.
	User, System, WaitedUser, WaitedSystem time.Duration
}

// Dead reports whether the process has ended, waited for or not.
func (p Process) Dead() bool { return p.State == 'Z' || p.State == 'X' }

// Tick is the unit of times in /proc, a constant of Linux's interface.
const Tick = time.Second / 100

// Of returns a process; ok is false if no process has that number.
func Of(pid int) (p Process, ok bool) {
	var buf [1024]byte
	return Parse(buf[:read(pid, "stat", buf[:])])
}

// Alive reports whether the process of that number that was made then, in Ticks after
// boot, is there and has not ended.
func Alive(pid int, start uint64) bool {
	p, ok := Of(pid)
	return ok && p.Start == start && !p.Dead()
}

func path(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// read reads the start of a file of a process into buf and returns how much. It does
// without os.File, as whole trees of processes are looked at several times a second.
func read(pid int, name string, buf []byte) int {
	fd, err := syscall.Open(path(pid, name), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
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

// Parse parses "PID (COMM) STATE PPID PGRP SESSION ...", a file of that format. COMM
// may hold anything, parentheses and newlines too, so the last ')' ends it.
func Parse(b []byte) (p Process, ok bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return p, false
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(b[:open])))
	if err != nil {
		return p, false
	}
	f := bytes.Fields(b[end+1:]) // f[0] is field 3 of proc_pid_stat(5)
	if len(f) < 20 || len(f[0]) != 1 {
		return p, false
	}
	p.PID, p.State = pid, f[0][0]
	for i, to := range []*int{&p.PPID, &p.Group, &p.Session} {
		if *to, err = strconv.Atoi(string(f[1+i])); err != nil {
			return p, false
		}
	}
	for i, to := range []*time.Duration{&p.User, &p.System, &p.WaitedUser, &p.WaitedSystem} {
		n, err := strconv.ParseInt(string(f[11+i]), 10, 64)
		if err != nil {
			return p, false
		}
		*to = time.Duration(n) * Tick
	}
	p.Start, err = strconv.ParseUint(string(f[19]), 10, 64)
	return p, err == nil
}

// All returns every process that /proc shows.
func All() []Process {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	all := make([]Process, 0, len(names))
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		if p, ok := Of(pid); ok {
			all = append(all, p)
		}
	}
	return all
}

// PeakRSS returns the peak resident set of a live process in bytes, or 0.
func PeakRSS(pid int) float64 {
	var buf [4096]byte
	n := read(pid, "status", buf[:])
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

// Environ returns the value of a variable in the initial environment of a
// process. ok is false if it is not set, or if the process has ended or is not
// ours to look at.
func Environ(pid int, name string) (value string, ok bool) {
	b, err := os.ReadFile(path(pid, "environ"))
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

// Namespace returns the number of our PID namespace, in which process numbers are valid; 0 if it cannot
// be read.
func Namespace() uint64 {
	var st syscall.Stat_t
	if err := syscall.Stat("/proc/self/ns/pid", &st); err != nil {
		return 0
	}
	return st.Ino
}
