package run

import (
	"context"
	"slices"
	"time"
	"unsafe"

	"github.com/assay-run/assay"
	"golang.org/x/sys/unix"
)

// A Kept has the callbacks for a program that [Local.Keep] runs. Each function may be nil.
type Kept struct {
	// Output is given the program's output as it is printed, by one goroutine at a time. It must not keep the slice.
	Output func(p []byte)
	// Started is called once the program runs, with its process and a function that measures it so far, including the
	// processes that it left running. That function may be called until Keep returns.
	Started func(pid int, soFar func() assay.Measurement)
	// Left is called when the program has ended by itself and has left a process running, with its exit code and its
	// output until then.
	Left func(m assay.Measurement)
}

// Keep is Run for a program that is to go on beside others, such as a server: processes that it leaves running when
// it ends by itself live on. Keep returns when none of them is left, or when ctx is done and it has ended all of
// them. The error is the cause of ctx also then; it is nil if the processes ended by themselves.
//
// The job's limit applies to the program itself, not to the processes that it leaves.
func (l *Local) Keep(ctx context.Context, job assay.Job, k Kept) (assay.Measurement, error) {
	return l.run(ctx, job, nil, &k)
}

// lingerEvery is the interval at which a run looks for live processes that it left running.
const lingerEvery = 50 * time.Millisecond

// linger waits, after the main process has ended, until no process of the run is left or ctx is done, and reads its
// output meanwhile. The caller must end the remaining processes.
func (p *process) linger(ctx context.Context, kept *Kept, elapsed time.Duration, buf []byte) {
	if p.empty() {
		return
	}
	if kept.Left != nil {
		for _, c := range []*capture{&p.out, &p.err} {
			for c.fd >= 0 && c.read(buf) > 0 {
			}
		}
		m := p.soFar()
		m.Elapsed = elapsed
		m.ExitCode, m.Signal = exitStatus(p.pid)
		m.Stdout, m.Stderr = slices.Clone(p.out.keeper.bytes()), slices.Clone(p.err.keeper.bytes())
		kept.Left(m)
	}
	for fds := p.polled(); ctx.Err() == nil && !p.empty(); {
		if fds[0].Fd < 0 && fds[1].Fd < 0 { // nothing would wake it: it would not sleep either
			select {
			case <-ctx.Done():
			case <-time.After(lingerEvery):
			}
			continue
		}
		p.readOnce(fds, lingerEvery, buf)
	}
}

// exitStatus returns how a process has ended that was not waited for, and leaves it so. Its status is in the siginfo at
// the same place for all children: after the process id and the user id (waitid(2)), which begin where a pointer may.
func exitStatus(pid int) (code int, signal string) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || info.Signo == 0 {
			return -1, ""
		}
		break
	}
	const exited = 1 // CLD_EXITED
	at := 12 + (unsafe.Sizeof(uintptr(0))-4)%8 + 8
	status := int(*(*int32)(unsafe.Add(unsafe.Pointer(&info), at)))
	if info.Code == exited {
		return status, ""
	}
	return 128 + status, unix.SignalName(unix.Signal(status))
}
