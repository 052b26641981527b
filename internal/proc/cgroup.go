package proc

// This file ends and meters whole process trees with cgroup v2.
//
// It needs no controller: a process that starts in a group cannot leave it by double fork or setsid,
// cgroup.kill ends all of them at once, cgroup.events reports when none is left, and cpu.stat is always
// there. A [Parent] is one directory below the group of this process, made by [New]; its [Group]s are
// the leaves that processes start in, kept and reused because making a group costs more than a short
// run.
//
// It does not limit resources and does not know cgroup v1.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// ErrNone reports that no cgroup v2 hierarchy is mounted.
var ErrNone = errors.New("no cgroup v2 hierarchy is mounted")

// Cgroup returns the v2 group of a process as /proc/PID/cgroup names it, also of a process that has ended
// and was not waited for. It returns "" if the process does not exist or no v2 hierarchy is mounted.
func Cgroup(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return ""
	}
	return v2Path(b)
}

// v2Path returns the path of the line "0::PATH".
func v2Path(b []byte) string {
	for line := range bytes.Lines(b) {
		if p, ok := bytes.CutPrefix(line, []byte("0::")); ok {
			return strings.TrimSuffix(strings.TrimSuffix(string(p), "\n"), " (deleted)")
		}
	}
	return ""
}

// Self returns the directory of this process's own group, and its path as /proc/PID/cgroup names it. It
// returns [ErrNone] if no v2 hierarchy is mounted.
func Self() (dir, path string, err error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", "", fmt.Errorf("%w", err)
	}
	defer f.Close()
	ms, err := Mounts(f)
	if err != nil {
		return "", "", fmt.Errorf("%w", err)
	}
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", "", fmt.Errorf("%w", err)
	}
	path = v2Path(b)
	if path == "" {
		return "", "", ErrNone
	}
	for _, m := range ms {
		if dir, ok := m.At(path); ok && m.Type == "cgroup2" {
			return dir, path, nil
		}
	}
	return "", "", ErrNone
}

// A Parent is a directory that holds groups. It is safe for concurrent use.
type Parent struct {
	dir  string
	path string
}

// New makes a directory of that name below the group of this process, and tries whether groups in it can
// be ended. It returns [ErrNone] or an error that names the missing ability; nothing is left behind
// then.
func New(name string) (*Parent, error) {
	dir, path, err := Self()
	if err != nil {
		return nil, err
	}
	p := &Parent{filepath.Join(dir, name), strings.TrimSuffix(path, "/") + "/" + name}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	g, err := p.Group("try")
	if err == nil {
		err = errors.Join(g.Kill(), g.Remove())
	}
	if err != nil {
		p.Remove()
		return nil, err
	}
	return p, nil
}

// Dir returns the directory.
func (p *Parent) Dir() string { return p.dir }

// Group makes a group of that name.
func (p *Parent) Group(name string) (*Group, error) {
	g := &Group{dir: filepath.Join(p.dir, name), path: p.path + "/" + name}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	var err error
	open := func(name string, flags int) *os.File {
		f, e := os.OpenFile(filepath.Join(g.dir, name), flags, 0)
		if e != nil && err == nil {
			err = fmt.Errorf("%w", e)
		}
		return f
	}
	g.self = open("", os.O_RDONLY|syscall.O_DIRECTORY)
	g.events = open("cgroup.events", os.O_RDONLY)
	g.kill = open("cgroup.kill", os.O_WRONLY)
	g.cpu = open("cpu.stat", os.O_RDONLY)
	if err != nil {
		g.Remove()
		return nil, err
	}
	return g, nil
}

// Remove removes the directory and the empty groups in it.
func (p *Parent) Remove() error { return RemoveTree(p.dir) }

// RemoveTree removes a directory of groups that hold no process. A missing directory is no error.
func RemoveTree(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			err = errors.Join(err, RemoveTree(filepath.Join(dir, e.Name())))
		}
	}
	// os.Remove would try unlink first; a group is always a directory.
	if e := syscall.Rmdir(dir); e != nil && e != syscall.ENOENT {
		err = errors.Join(err, &fs.PathError{Op: "rmdir", Path: dir, Err: e})
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%w", err)
}

// A Group is a leaf that processes start in. Its methods are safe for
// concurrent use, except Remove.
type Group struct {
	dir, path               string
	self, events, kill, cpu *os.File
	spent                   atomic.Bool
}

// Path returns the group as /proc/PID/cgroup names it.
func (g *Group) Path() string { return g.path }

// FD returns the descriptor of the group's directory for
// [syscall.SysProcAttr].CgroupFD. It is valid until Remove.
func (g *Group) FD() int { return int(g.self.Fd()) }

// Populated reports whether a live process is in the group or below. A process
// that has ended and was not waited for does not count.
func (g *Group) Populated() (bool, error) {
	var buf [128]byte
	n, err := pread(g.events, buf[:])
	if err != nil {
		return false, err
	}
	return bytes.Contains(buf[:n], []byte("populated 1")), nil
}

// Kill sends SIGKILL to every process in the group and below, also to those
// that are being forked meanwhile. It does not wait. The group is [Group.Spent]
// after it.
func (g *Group) Kill() error {
	g.spent.Store(true)
	if _, err := g.kill.WriteAt([]byte("1"), 0); err != nil {
		return fmt.Errorf("%w", err)
	}
	return nil
}

// Spent reports whether no more process should be started in the group. On some kernels (seen on 6.18) a
// process that is cloned into a group which was killed before is killed at once: fork compares the count
// of kills of the parent's group with the count of the child's group.
func (g *Group) Spent() bool { return g.spent.Load() }

// CPU is processor time used by a group since it was made.
type CPU struct{ Total, User, System time.Duration }

// Sub returns c - d.
func (c CPU) Sub(d CPU) CPU { return CPU{c.Total - d.Total, c.User - d.User, c.System - d.System} }

// CPU returns the processor time used so far by all processes that were ever in the group, waited for or
// not.
func (g *Group) CPU() (CPU, error) {
	var buf [512]byte
	n, err := pread(g.cpu, buf[:])
	if err != nil {
		return CPU{}, err
	}
	return parseCPU(buf[:n]), nil
}

// parseCPU reads the first lines of cpu.stat: usage_usec, user_usec, system_usec.
func parseCPU(b []byte) CPU {
	var c CPU
	for line := range bytes.Lines(b) {
		name, value, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		var dst *time.Duration
		switch string(name) {
		case "usage_usec":
			dst = &c.Total
		case "user_usec":
			dst = &c.User
		case "system_usec":
			dst = &c.System
		default:
			continue
		}
		if us, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			*dst = time.Duration(us) * time.Microsecond
		}
	}
	return c
}

// Procs returns the live processes of the group itself and of those below.
func (g *Group) Procs() ([]int, error) {
	var pids []int
	err := filepath.WalkDir(g.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return skipGone(err)
		}
		b, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		for line := range bytes.Lines(b) {
			if pid, err := strconv.Atoi(string(bytes.TrimSpace(line))); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
		return skipGone(err)
	})
	if err != nil {
		return pids, fmt.Errorf("%w", err)
	}
	return pids, nil
}

// skipGone forgives that a group below vanished while the tree was read.
func skipGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
		return nil
	}
	return err
}

// Remove closes the group and removes its directory and those below, which
// must hold no process. The group cannot be used any more.
func (g *Group) Remove() error {
	for _, f := range []*os.File{g.self, g.events, g.kill, g.cpu} {
		if f != nil {
			f.Close()
		}
	}
	return RemoveTree(g.dir)
}

// pread reads from the start of a file of the kernel, which is generated anew
// by each read at offset 0.
func pread(f *os.File, buf []byte) (int, error) {
	n, err := f.ReadAt(buf, 0)
	if err != nil && err != io.EOF {
		return n, fmt.Errorf("%w", err)
	}
	return n, nil
}
