package workbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/assay-run/assay/internal/proc"
	"golang.org/x/sys/unix"
)

// An enterSpec lists the namespaces, groups and limits that a process enters before it becomes the
// program. The descriptors are of the owner, and are found in /proc/<owner>/fd; without an owner they
// were inherited.
type enterSpec struct {
	Owner  int      `json:"owner"`
	Report int      `json:"report"`        // a pipe for entered
	Net    int      `json:"net,omitempty"` // namespaces
	Mnt    int      `json:"mnt,omitempty"`
	User   int      `json:"user,omitempty"`
	Drop   int      `json:"drop,omitempty"`  // is not for the program
	Procs  []string `json:"procs,omitempty"` // cgroup.procs
	CPUs   int      `json:"cpus,omitempty"`  // how many processors it may use
}

// An entered is the report of such a process right before it becomes the program,
// or that it cannot.
type entered struct {
	PID    int           `json:"pid"`
	Before time.Duration `json:"before"` // since this process was made
	User   time.Duration `json:"user"`   // processor time so far
	System time.Duration `json:"system"` //
	RSS    float64       `json:"rss"`    // peak resident set so far, bytes
	Error  string        `json:"error,omitempty"`
	// Missing and Denied classify the error.
	Missing bool `json:"missing,omitempty"`
	Denied  bool `json:"denied,omitempty"`
}

// enterMain enters the environment of the specification args[0] and becomes the program args[1:]. It
// returns only on failure.
func enterMain(args []string) int {
	made := processMade()
	runtime.LockOSThread() // the settings below belong to this thread, and so to the program
	var spec enterSpec
	if len(args) < 2 || json.Unmarshal([]byte(args[0]), &spec) != nil {
		fmt.Fprintln(os.Stderr, "workbench: not to be called by people")
		return 2
	}
	if spec.Drop != 0 {
		syscall.CloseOnExec(spec.Drop)
	}
	report, err := spec.open(spec.Report, os.O_WRONLY)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 127
	}
	enc := json.NewEncoder(report)
	var path string
	if spec.User != 0 {
		err = spec.throughNsenter(args[1:])
	} else if path, err = spec.enter(args[1]); err == nil {
		_ = enc.Encode(spent(made)) // a reader that is gone is no fault of the program
		err = &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, args[1:], os.Environ())}
	}
	_ = enc.Encode(entered{
		Error:   fmt.Sprintf("program %q: %v", args[1], err),
		Missing: errors.Is(err, os.ErrNotExist) || errors.Is(err, exec.ErrNotFound),
		Denied:  errors.Is(err, os.ErrPermission),
	})
	return 127
}

func (s enterSpec) String() string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // there is nothing in it that could not be written
	}
	return string(b)
}

func (s enterSpec) open(fd, flags int) (*os.File, error) {
	if s.Owner == 0 {
		syscall.CloseOnExec(fd)
		return os.NewFile(uintptr(fd), "inherited"), nil
	}
	return os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", s.Owner, fd), flags, 0)
}

// enter moves the calling thread to where the program runs, and returns the path
// of the program there.
func (s enterSpec) enter(program string) (string, error) {
	var procs []*os.File
	for _, name := range s.Procs { // before the mounts change
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return "", err
		}
		procs = append(procs, f)
	}
	if err := s.namespaces(); err != nil {
		return "", err
	}
	if err := limitProcessors(s.CPUs); err != nil {
		return "", err
	}
	path, err := lookProgram(program)
	if err != nil {
		return "", err
	}
	for _, f := range procs { // last, so that we are not slowed down ourselves
		if _, err := f.WriteString("0"); err != nil {
			return "", fmt.Errorf("entering %s: %w", f.Name(), err)
		}
	}
	return path, nil
}

func (s enterSpec) namespaces() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	join := func(fd, kind int) error {
		if fd == 0 {
			return nil
		}
		f, err := s.open(fd, os.O_RDONLY)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := unix.Setns(int(f.Fd()), kind); err != nil {
			return fmt.Errorf("entering a namespace: %w", err)
		}
		return nil
	}
	if err := join(s.Net, unix.CLONE_NEWNET); err != nil {
		return err
	}
	if s.Mnt == 0 {
		return nil
	}
	// A thread that shares its directory with others cannot change its mounts.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	if err := join(s.Mnt, unix.CLONE_NEWNS); err != nil {
		return err
	}
	// By name, so that it is found through the mount if it is below.
	return unix.Chdir(dir)
}

// limitProcessors limits the thread to the last n of its processors; 0 means all.
func limitProcessors(n int) error {
	if n == 0 {
		return nil
	}
	var all, some unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	for cpu := len(all)*64 - 1; cpu >= 0 && some.Count() < n; cpu-- {
		if all.IsSet(cpu) {
			some.Set(cpu)
		}
	}
	return unix.SchedSetaffinity(0, &some)
}

// lookProgram returns the path of a program as the shell finds it.
func lookProgram(name string) (string, error) {
	if !strings.Contains(name, "/") {
		return exec.LookPath(name)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return "", &os.PathError{Op: "exec", Path: name, Err: syscall.EISDIR}
	}
	return name, unix.Access(name, unix.X_OK)
}

// processMade returns when this process was made, on the clock that counts from boot. It is within a
// tick of the kernel's record, and as close as that allows to now less the time from start to this call.
func processMade() time.Duration {
	const toHere = 3 * time.Millisecond
	now := sinceBoot() - toHere
	self, ok := proc.Of(os.Getpid())
	if !ok {
		return now
	}
	from := time.Duration(self.Start) * proc.Tick
	return min(max(now, from), from+proc.Tick)
}

// spent returns the time and processor use so far of this process, which was made at that time.
func spent(made time.Duration) entered {
	var ru syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &ru)
	return entered{
		PID: os.Getpid(), Before: sinceBoot() - made,
		User: time.Duration(ru.Utime.Nano()), System: time.Duration(ru.Stime.Nano()), RSS: float64(ru.Maxrss) * 1024,
	}
}

// sinceBoot returns the time of the clock that processes are made by.
func sinceBoot() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
	return time.Duration(ts.Nano())
}
