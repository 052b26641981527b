package testbed

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// supervised is set in the environment of a test process that has a supervisor: the path of its TMPDIR.
const supervised = "ASSAY_TEST_SUPERVISED"

// inMemory is set there too: the path of a directory in memory that the supervisor removes, if the machine has one.
const inMemory = "ASSAY_TEST_MEMORY"

// memory is the value of inMemory.
var memory string

// Memory returns a directory for files that are to be in memory: it is on a file system without a disk if the machine
// has one, else it is TMPDIR. The supervisor looks after it as after TMPDIR.
func Memory() string {
	if memory != "" {
		return memory
	}
	return os.TempDir()
}

// lingerEnv is the time that a process may take to end after the tests have ended, and the most that [ended] waits for
// it: 20 s if it is not set. A busy machine needs seconds to end a few processes.
const lingerEnv = "ASSAY_TEST_LINGER"

// linger returns the value of [lingerEnv].
func linger() time.Duration {
	if d, err := time.ParseDuration(os.Getenv(lingerEnv)); err == nil {
		return d
	}
	return 20 * time.Second
}

// Main runs the tests of a package under a supervisor: func TestMain(m *testing.M) { testbed.Main(m) }. The package
// fails if a process that it started is alive 20 s after its last test, or if it left a file in TMPDIR. The supervisor
// ends these processes and removes these files, also after an interrupt, a panic or a timeout.
//
// Each of after runs when the tests have ended, before the check. In go test -short, a test that started a process
// fails the package; see [Outside]. Main does not return.
func Main(m *testing.M, after ...func()) {
	Supervise()
	os.Exit(Run(m, after...))
}

// Supervise is the first half of [Main], for a TestMain that has more to do. It returns in the process that runs the
// tests: a second process of the same binary, with a TMPDIR of its own. The first process is the supervisor. It adopts
// orphans, so that it finds a daemon as well as a child. Signals that the caller ignores have their default action in
// the tests and in the programs that they start.
func Supervise() {
	if os.Getenv(supervised) == "" && !fuzzing() {
		os.Exit(supervise(os.Args))
	}
	memory = os.Getenv(inMemory)
	_ = os.Unsetenv(supervised) // a test may run its own binary again
	_ = os.Unsetenv(inMemory)
	notIgnored()
}

// Run is the second half of [Main]. It returns the exit code. The tests collect garbage less often than a program does,
// unless GOGC is set: searches run up to a third faster.
func Run(m *testing.M, after ...func()) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	code := m.Run()
	for _, f := range after {
		f()
	}
	removeTemplate()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &used); testing.Short() && err == nil && used.Maxrss > 0 && code == 0 {
		fmt.Fprintln(os.Stderr, "testbed: a test started a process in -short: mark it with testbed.Outside")
		return 1
	}
	return code
}

// NoGoroutines is an argument of [Main]: the process fails if a goroutine of a test is still running.
func NoGoroutines() {
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "testbed:", err)
		os.Exit(1)
	}
}

// fuzzing reports whether go test -fuzz runs this process: its workers need the pipes that it inherits.
func fuzzing() bool {
	return slices.ContainsFunc(os.Args[1:], func(arg string) bool {
		name := strings.TrimLeft(arg, "-")
		return strings.HasPrefix(name, "test.fuzz=") || strings.HasPrefix(name, "test.fuzzworker") || name == "test.fuzz"
	})
}

// notIgnored gives the signals that a caller may ignore (nohup, a shell's &) their default action in every process
// that this one starts. Ending this process is its supervisor's task.
func notIgnored() {
	c := make(chan os.Signal, 1)
	for _, s := range []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM} {
		if signal.Ignored(s) {
			signal.Notify(c, s) // a signal that is caught is reset in children
		}
	}
}

// supervise runs the test binary with a TMPDIR of its own and returns its exit code, or 1 if it left something.
func supervise(args []string) int {
	runtime.LockOSThread() // Pdeathsig is bound to the thread
	ignored := signal.Ignored(unix.SIGHUP)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGHUP, unix.SIGINT, unix.SIGTERM, unix.SIGQUIT)
	parent := os.Getppid()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "testbed:", err)
		return 1
	}
	tmp, err := scratch("")
	if err != nil {
		fmt.Fprintln(os.Stderr, "testbed:", err)
		return 1
	}
	defer remove(tmp)
	shm, err := scratch("/dev/shm")
	if err == nil {
		defer remove(shm)
	}
	// Another user may run the binary by this name only.
	cmd := exec.Command("/proc/self/exe", args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, supervised+"="+tmp, inMemory+"="+shm)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "testbed:", err)
		return 1
	}
	over := make(chan int, 1)
	go func() { over <- reap(cmd.Process.Pid) }()
	orphaned := time.NewTicker(time.Second) // go test was killed
	defer orphaned.Stop()
	for {
		select {
		case code := <-over:
			return max(code, check(code, tmp, shm))
		case s := <-signals:
			if s == unix.SIGHUP && ignored {
				continue
			}
			if s == unix.SIGQUIT { // of go test, for a dump of the goroutines after a timeout
				_ = cmd.Process.Signal(s)
				continue
			}
			endAll()
			return 128 + int(s.(syscall.Signal)) //nolint:forcetypeassert // it is one on Unix
		case <-orphaned.C:
			if os.Getppid() != parent {
				endAll()
				return 1
			}
		}
	}
}

// scratch makes a directory for all users, as the system's TMPDIR is; "" is TMPDIR. Tests write paths into lines of
// shells and of other programs, most of which split them at a space: if TMPDIR has one, the directory is in /tmp. Paths
// with spaces have tests of their own.
func scratch(parent string) (string, error) {
	if parent == "" && strings.ContainsFunc(os.TempDir(), unicode.IsSpace) {
		if dir, err := scratch("/tmp"); err == nil {
			return dir, nil
		}
	}
	dir, err := os.MkdirTemp(parent, "at")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o777|os.ModeSticky) //nolint:gosec // for all users
}

// reap waits for every child and every orphan until main has ended, and returns the exit code of main.
func reap(main int) int {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 1
		case pid == main && status.Exited():
			return status.ExitStatus()
		case pid == main && status.Signaled():
			return 128 + int(status.Signal())
		}
	}
}

// check ends the remains of the tests, and returns 1 if it found any. After a failure only the processes
// are ended, because a test that is cut short cannot clean up.
func check(code int, dirs ...string) int {
	if code != 0 {
		endAll()
		return code
	}
	left := ended(linger())
	endAll()
	for _, p := range left {
		fmt.Fprintln(os.Stderr, "testbed: a process is left behind:", p)
		code = 1
	}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, "testbed:", err)
			code = 1
		}
		for _, e := range entries {
			fmt.Fprintln(os.Stderr, "testbed: a file is left behind in TMPDIR:", e.Name())
			code = 1
		}
	}
	return code
}

// ended waits until this process has no descendant, or until the time is over, and returns the remaining
// ones as PID COMMAND.
func ended(within time.Duration) []string {
	for end := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		if childless() {
			return nil
		}
		if left := Descendants(os.Getpid()); time.Now().After(end) {
			lines := make([]string, len(left))
			for i, pid := range left {
				text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
				lines[i] = fmt.Sprint(pid, " ", strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " ")))
			}
			return lines
		}
	}
}

// endAll kills every descendant of this process. An orphan becomes a child of this process, so that a few rounds
// reach those that were started meanwhile.
func endAll() {
	for range 100 {
		if childless() {
			return
		}
		for _, pid := range Descendants(os.Getpid()) {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// childless reaps the children that have ended and reports whether there are no others. Orphans below this process
// become its children, so it has no descendants then. A look at /proc could miss a process whose parent just ended.
func childless() bool {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err == nil && pid == 0 || errors.Is(err, unix.ECHILD) {
			return err != nil
		}
	}
}

// remove removes a folder, also if folders below it are not writable.
func remove(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // of the tests, and removed next
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

// Descendants returns the processes below pid that are not zombies, in no order. It is empty where there is no /proc.
func Descendants(pid int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	zombie := map[int]bool{}
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		// PID (COMMAND) STATE PPID ...; the command may have any character.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], id)
		zombie[id] = fields[0] == "Z" || fields[0] == "X"
	}
	var below []int
	for next := []int{pid}; len(next) > 0; {
		id := next[0]
		next = append(next[1:], children[id]...)
		if id != pid && !zombie[id] {
			below = append(below, id)
		}
	}
	return below
}
