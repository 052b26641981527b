package run

import (
	"encoding/binary"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A starter starts programs from a tiny process, the launcher.
//
// When a process calls execve, the kernel counts the peak resident set of the memory it leaves behind to the new
// program (exec_mmap in fs/exec.c), and a program started from this process is never seen to use less memory than we
// do, tens of megabytes. The launcher is one page of code, see local_launch_amd64.s: it starts the program as its
// sibling, that is as a child of ours, reports its process id, and ends. It costs about 0.15 ms a start.
//
// If the machine has no launcher, or it cannot be executed, the program is started directly. Starts may be
// concurrent.
type starter struct {
	fd     int // of the launcher's executable, or -1
	failed atomic.Bool

	mu sync.Mutex
	// A pipe goes back to free after any start, so that its number is bounded by the starts at once.
	free [][2]int // pipes for the launcher's report that no start is using
}

// A report is the output of the launcher, in the order of the words. Each word has 64 bits, in the byte order of the
// machine.
const (
	reportSec = iota
	reportNsec
	reportErr // a negative errno if execve has failed, else positive
	reportPID
	reportWords
)

// newStarter returns a starter that falls back to direct starts if any step here fails: a
// sandbox may forbid memfd_create(2), or executing from such a file.
func newStarter() *starter {
	s := &starter{fd: -1}
	image := launcher()
	if image == nil {
		return s
	}
	fd, err := unix.MemfdCreate("assay-launch", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return s
	}
	defer unix.Close(fd)
	if n, err := unix.Write(fd, image); err != nil || n != len(image) {
		return s
	}
	// A file that is open for writing cannot be executed.
	if ro, err := unix.Open("/proc/self/fd/"+strconv.Itoa(fd), unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		s.fd = ro
	}
	return s
}

// small reports whether programs are started by the launcher.
func (s *starter) small() bool { return s.fd >= 0 && !s.failed.Load() }

// close must not be called while a start is under way. After it, starts are direct.
func (s *starter) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.free {
		syscall.Close(p[0])
		syscall.Close(p[1])
	}
	s.free = nil
	if s.fd < 0 {
		return nil
	}
	fd := s.fd
	s.fd = -1
	return unix.Close(fd)
}

// take returns an empty pipe for one report. The read end does not block: a launcher that died without a report must
// not keep the start waiting. The launcher was waited for before the pipe is read, so that a report is there whole if
// there is any.
func (s *starter) take() (p [2]int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		p, s.free = s.free[n-1], s.free[:n-1]
		return p, nil
	}
	err = unix.Pipe2(p[:], unix.O_CLOEXEC|unix.O_NONBLOCK)
	return p, err
}

// give takes a pipe back. A report is one read, so that the pipe is empty again.
func (s *starter) give(p [2]int) {
	s.mu.Lock()
	s.free = append(s.free, p)
	s.mu.Unlock()
}

// errLauncher reports that the launcher itself did not run.
var errLauncher = errors.New("the launcher does not run")

// start starts a command and returns its process and the time it began. The launcher is given up for good only if a
// direct start of the same command succeeds. If that fails too, the command is at fault and the launcher is kept.
func (s *starter) start(c command) (pid int, start time.Time, err error) {
	if !s.small() {
		return c.direct()
	}
	pid, start, err = s.launch(c)
	if err != errLauncher {
		return pid, start, err
	}
	pid, start, err = c.direct()
	if err == nil {
		s.failed.Store(true)
	}
	return pid, start, err
}

// The command's argv[0] becomes argv[1] of the launcher, whose argv[0] is the path to execute: the launcher passes
// its argv on without its first word. The error is errLauncher without a report of the launcher, else the errno of
// clone or execve. An error of the pipe is returned as it is. A child whose execve failed is waited for here, since
// no other code knows of it.
func (s *starter) launch(c command) (pid int, start time.Time, err error) {
	pipe, err := s.take()
	if err != nil {
		return 0, start, err
	}
	defer s.give(pipe)
	argv := append(make([]string, 0, 1+len(c.argv)), c.path)
	argv = append(argv, c.argv...)
	// A session of its own, so that no terminal interrupts it.
	launcher, err := syscall.ForkExec("/proc/self/fd/"+strconv.Itoa(s.fd), argv, &syscall.ProcAttr{
		Dir: c.dir, Env: c.env, Files: []uintptr{c.files[0], c.files[1], c.files[2], uintptr(pipe[1])},
		Sys: &syscall.SysProcAttr{Setsid: true, UseCgroupFD: c.inGroup, CgroupFD: c.group},
	})
	if err != nil {
		return 0, start, errLauncher // or the directory, or the cgroup: a direct start finds out
	}
	wait4(launcher, 0, nil)
	var words [reportWords]int64
	buf := unsafe.Slice((*byte)(unsafe.Pointer(&words)), unsafe.Sizeof(words))
	if n, err := unix.Read(pipe[0], buf); err != nil || n != len(buf) {
		return 0, start, errLauncher
	}
	pid = int(words[reportPID])
	if pid <= 0 {
		return 0, start, syscall.Errno(-words[reportPID])
	}
	if words[reportErr] < 0 {
		wait4(pid, 0, nil)
		return 0, start, syscall.Errno(-words[reportErr])
	}
	return pid, sinceBoot(words[reportSec], words[reportNsec]), nil
}

// sinceBoot converts a time of CLOCK_MONOTONIC. The result has a monotonic reading. Both clocks are read one after the
// other; the time between the two readings is the error.
func sinceBoot(sec, nsec int64) time.Time {
	var ts unix.Timespec
	now := time.Now()
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return now
	}
	return now.Add(-time.Duration(ts.Nano() - sec*1e9 - nsec))
}

// elf returns an executable of one page that consists of position-independent code which begins at its first byte
// (elf(5)). The file has three parts: the header of 64 bytes, one program header of 56 bytes, and the code. One segment
// maps all of it, readable and executable but not writable. The base is the usual one of executables that are not
// position-independent.
func elf(machine uint16, code []byte) []byte {
	const (
		base    = 0x400000
		headers = 64 + 56
	)
	le := binary.LittleEndian
	b := []byte{0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0} // 64 bits, little-endian
	b = le.AppendUint16(b, 2)                                            // ET_EXEC
	b = le.AppendUint16(b, machine)
	b = le.AppendUint32(b, 1)
	for _, x := range []uint64{base + headers, 64, 0} { // entry, program headers, no sections
		b = le.AppendUint64(b, x)
	}
	b = le.AppendUint32(b, 0)
	for _, x := range []uint16{64, 56, 1, 0, 0, 0} { // sizes and numbers of headers
		b = le.AppendUint16(b, x)
	}
	b = le.AppendUint32(b, 1) // PT_LOAD
	b = le.AppendUint32(b, 5) // readable, executable
	size := uint64(headers + len(code))
	for _, x := range []uint64{0, base, base, size, size, 4096} {
		b = le.AppendUint64(b, x)
	}
	return append(b, code...)
}
