package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/proc"
	"golang.org/x/sys/unix"
)

// This file starts the main process of a run: it checks the job, finds the program, makes the environment and the
// pipes, and finds the reason why a start failed. A start that fails leaves no process, no descriptor and no
// registration behind.

// LookPath returns the path of the program that a job with this Argv[0] and Dir runs: the name itself if it has a
// slash, relative to dir, else the first match in the PATH of this process. The error names the program and the
// reason why it cannot be run, and matches [fs.ErrNotExist] or [fs.ErrPermission].
func LookPath(argv0, dir string) (string, error) {
	if argv0 == "" {
		return "", fmt.Errorf("the name of the program is empty: %w", fs.ErrNotExist)
	}
	if strings.IndexByte(argv0, 0) >= 0 {
		return "", fmt.Errorf("program %q has a NUL byte in its name: %w", argv0, fs.ErrNotExist)
	}
	if !strings.Contains(argv0, "/") {
		path, err := exec.LookPath(argv0)
		switch {
		case errors.Is(err, exec.ErrDot):
			return "", fmt.Errorf("program %q is only in the current directory: write ./%s: %w", argv0, argv0,
				fs.ErrPermission)
		case errors.Is(err, fs.ErrPermission):
			return "", fmt.Errorf("program %q in PATH is not executable: %w", argv0, fs.ErrPermission)
		case err != nil:
			return "", fmt.Errorf("program %q is not in PATH%s: %w", argv0, asLine(argv0), fs.ErrNotExist)
		}
		return path, nil
	}
	path := argv0
	if !filepath.IsAbs(path) && dir != "" {
		if err := checkDir(dir); err != nil {
			return "", err
		}
		path = dir + "/" + argv0 // not cleaned: "x/.." is not "." if x is a link
	}
	return path, checkProgram(argv0, path)
}

// asLine returns a remedy if the name of a program is a whole line for a shell, else "".
func asLine(argv0 string) string {
	if !strings.ContainsAny(argv0, " \t") {
		return ""
	}
	return " (a command is a list of arguments: write it without quotes around it, or use --shell)"
}

// checkProgram returns the reason why a file cannot be run, or nil. The argument argv0 is the name that the user
// gave, for the text; path is the file. The check uses the effective ids, as execve does.
func checkProgram(argv0, path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("program %q does not exist: %w", argv0, fs.ErrNotExist)
	case err != nil:
		return fmt.Errorf("program %q: %w", argv0, err)
	case info.IsDir():
		return fmt.Errorf("program %q is a directory: %w", argv0, fs.ErrPermission)
	case unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) != nil:
		return fmt.Errorf("program %q is not executable (mode %v): %w", argv0, info.Mode().Perm(), fs.ErrPermission)
	}
	return nil
}

// checkDir returns the reason why a directory cannot be a working directory, or nil.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("directory %q does not exist: %w", dir, fs.ErrNotExist)
	case err != nil:
		return fmt.Errorf("directory %q: %w", dir, err)
	case !info.IsDir():
		return fmt.Errorf("directory %q is not a directory: %w", dir, syscall.ENOTDIR)
	case unix.Faccessat(unix.AT_FDCWD, dir, unix.X_OK, unix.AT_EACCESS) != nil:
		return fmt.Errorf("directory %q may not be entered: %w", dir, fs.ErrPermission)
	}
	return nil
}

// startError returns the reason why a program did not start. execve(2) has one errno for several causes: ENOENT
// stands for a missing directory, program or interpreter. Therefore the directory and the program are checked first,
// and the errno decides if both are right.
func startError(job assay.Job, path string, err error) error {
	name := job.Argv[0]
	if job.Dir != "" {
		if e := checkDir(job.Dir); e != nil {
			return e
		}
	}
	if e := checkProgram(name, path); e != nil {
		return e
	}
	switch err {
	case syscall.ENOENT:
		return fmt.Errorf("program %q: the interpreter that it names does not exist: %w", name, err)
	case syscall.ENOEXEC:
		return fmt.Errorf("program %q is neither a binary of this machine nor a script with a #! line: %w", name, err)
	case syscall.E2BIG:
		return fmt.Errorf("program %q: the arguments and the environment are too long: %w", name, err)
	}
	return fmt.Errorf("program %q does not start: %w", name, err)
}

// checkJob refuses arguments that no program can be given. A NUL byte ends a string of execve(2): the text after it
// would be lost silently.
func checkJob(job assay.Job) error {
	if len(job.Argv) == 0 {
		return errors.New("no command")
	}
	for i, a := range job.Argv {
		if strings.IndexByte(a, 0) >= 0 {
			return fmt.Errorf("argument %d has a NUL byte: %q", i, a)
		}
	}
	for _, v := range job.Env {
		if strings.IndexByte(v, 0) >= 0 {
			return fmt.Errorf("an environment variable has a NUL byte: %q", v)
		}
		if strings.IndexByte(v, '=') <= 0 {
			return fmt.Errorf("environment variable %q is not of the form NAME=value", v)
		}
	}
	if strings.IndexByte(job.Dir, 0) >= 0 {
		return fmt.Errorf("directory %q has a NUL byte", job.Dir)
	}
	return nil
}

// environment returns base with the variables of extra, the last of a name winning, and the marker. The result is a new
// slice. A marker in extra is dropped: a job cannot pass for another run.
func environment(base, extra []string, marker string) []string {
	env := make([]string, 0, len(base)+len(extra)+1)
	if len(extra) == 0 {
		return append(append(env, base...), markerName+"="+marker)
	}
	last := make(map[string]int, len(extra))
	for i, v := range extra {
		last[nameOf(v)] = i
	}
	for _, v := range base {
		if _, replaced := last[nameOf(v)]; !replaced {
			env = append(env, v)
		}
	}
	for i, v := range extra {
		if n := nameOf(v); last[n] == i && n != markerName {
			env = append(env, v)
		}
	}
	return append(env, markerName+"="+marker)
}

// nameOf returns the name of a variable of the form NAME=value.
func nameOf(v string) string {
	name, _, _ := strings.Cut(v, "=")
	return name
}

// begin starts the main process of the run. If begin returns an error, no process of the run is alive and its pipes are
// closed. The write ends of the pipes are closed here in any case: as long as this process has them, the streams never
// end. The energy meter starts before the program, so that the program's first work is in it.
func (p *process) begin(job assay.Job, cpus []int) error {
	if err := checkJob(job); err != nil {
		return err
	}
	secrets, err := resolve(job.Secrets)
	if err != nil {
		return err
	}
	found, err := LookPath(job.Argv[0], job.Dir)
	if err != nil {
		return err
	}
	path := found
	if strings.Contains(job.Argv[0], "/") {
		path = job.Argv[0] // the directory is changed before exec
	}
	l := p.local
	outW, err := p.out.open(l.opts.Head, l.opts.Tail)
	if err != nil {
		return err
	}
	defer syscall.Close(outW)
	errW, err := p.err.open(l.opts.Head, l.opts.Tail)
	if err != nil {
		p.out.close()
		return err
	}
	defer syscall.Close(errW)
	c := command{
		path: path, argv: job.Argv, dir: job.Dir,
		env:   environment(l.env, append(slices.Clip(job.Env), secrets...), p.marker),
		files: [3]uintptr{l.null.Fd(), uintptr(outW), uintptr(errW)},
	}
	p.meter = l.energy.start()
	undo := l.cpus.enter(cpus)
	err = p.launch(c)
	undo()
	if err != nil {
		p.meter.stop()
		p.out.close()
		p.err.close()
		return startError(job, found, err)
	}
	return nil
}

// launch starts the command in the slot's cgroup, or without one if the machine turns out to let us make groups but
// not start in them, and registers it. The lock family.starting is held from the fork until the child is registered.
// Otherwise a reaper could take the child for an orphan in between, and its exit status would be lost. The birth is
// read only without a cgroup: owner needs it there to identify orphans by their age.
func (p *process) launch(c command) error {
	family.starting.RLock()
	defer family.starting.RUnlock()
	if p.slot.group != nil {
		c.group = p.slot.group.FD()
		c.inGroup = true
		p.cpu0, _ = p.slot.group.CPU()
	}
	err := p.start1(c)
	if err != nil && c.inGroup && refused(err) {
		c.inGroup = false
		if e := p.start1(c); e == nil {
			p.local.dropCgroups(p.slot)
			err = nil
		}
	}
	if err != nil {
		return err
	}
	if p.slot.group == nil {
		s, _ := proc.Of(p.pid)
		p.birth = s.Start
	}
	family.add(p)
	return nil
}

// start1 tries once. The field direct is read after the start, because a launcher that fails gives way to a direct
// start for good.
func (p *process) start1(c command) (err error) {
	p.pid, p.start, err = p.local.starter.start(c)
	p.direct = !p.local.starter.small()
	return err
}

// refused reports whether a start may have failed because of the cgroup: no
// right to move there, a kernel before 5.7, or a group of another kind.
func refused(err error) bool {
	for _, e := range []syscall.Errno{
		syscall.EACCES, syscall.EPERM, syscall.ENOSYS, syscall.EINVAL, syscall.EBUSY,
		syscall.EOPNOTSUPP, syscall.ENODEV,
	} {
		if err == e {
			return true
		}
	}
	return false
}

// A command is the input of a starter. It belongs to the start that made it. Its slices are not changed, so that a
// second attempt can use it again.
type command struct {
	path string
	argv []string
	env  []string
	dir  string
	// files are the descriptors of standard input, output and error. They stay the caller's.
	files   [3]uintptr
	group   int // descriptor of a cgroup directory, if inGroup
	inGroup bool
}

// direct starts a command by fork and exec from this process. The time is taken before the fork, so that elapsed
// includes it. With the launcher the time is taken before clone.
func (c command) direct() (pid int, start time.Time, err error) {
	start = time.Now()
	pid, err = syscall.ForkExec(c.path, c.argv, &syscall.ProcAttr{
		Dir: c.dir, Env: c.env, Files: c.files[:],
		Sys: &syscall.SysProcAttr{Setsid: true, UseCgroupFD: c.inGroup, CgroupFD: c.group},
	})
	return pid, start, err
}
