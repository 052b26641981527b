package workbench

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-run/assay/internal/proc"
	"golang.org/x/sys/unix"
)

// dutyPeriod is the period of the duty cycle: long against the millisecond that
// it takes to stop and to continue a process.
const dutyPeriod = 100 * time.Millisecond

// A dutyCycle slows a program down without any rights: its processes run for a share of each period, and
// are stopped for the rest. I/O of the program continues while it is stopped, as on a slow processor.
//
// It reaches the processes of the program's session and those that they started since the last period. A
// program that handles SIGCONT, or that uses SIGSTOP itself, notices.
type dutyCycle struct {
	session int
	share   atomic.Uint64 // as the bits of a float64; may change
	quit    chan struct{}
	done    chan struct{}
	once    sync.Once
}

// startDuty slows down the session of a process to the share, in (0, 1].
func startDuty(pid int, share float64) *dutyCycle {
	d := &dutyCycle{session: pid, quit: make(chan struct{}), done: make(chan struct{})}
	if s, err := unix.Getsid(pid); err == nil {
		d.session = s
	}
	d.set(share)
	go d.loop()
	return d
}

// set changes the share, in (0, 1], from the next period on.
func (d *dutyCycle) set(share float64) { d.share.Store(math.Float64bits(share)) }

// stop ends the cycle and leaves all processes running.
func (d *dutyCycle) stop() {
	d.once.Do(func() { close(d.quit) })
	<-d.done
}

// loop keeps the shares over the whole run: a phase that was too long is made up for by the next.
func (d *dutyCycle) loop() {
	defer close(d.done)
	began := time.Now()
	var ran, due time.Duration
	for n := 1; ; n++ {
		on := time.Now()
		until := began.Add(time.Duration(n) * dutyPeriod)
		share := math.Float64frombits(d.share.Load())
		due += time.Duration(share * float64(dutyPeriod))
		owed := due - ran
		if d.pause(min(owed, time.Until(until))) {
			return
		}
		if share == 1 && !time.Now().Before(until) { // it runs on
			ran += time.Since(on)
			continue
		}
		if d.signal(unix.SIGSTOP) == 0 {
			return
		}
		ran += time.Since(on)
		over := d.pause(time.Until(until))
		d.signal(unix.SIGCONT)
		if over {
			return
		}
	}
}

// pause waits, and returns true if the cycle is to end.
func (d *dutyCycle) pause(t time.Duration) bool {
	if t <= 0 {
		select {
		case <-d.quit:
			return true
		default:
			return false
		}
	}
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-d.quit:
		return true
	case <-timer.C:
		return false
	}
}

// signal sends a signal to every process of the session, and returns how many
// there are.
func (d *dutyCycle) signal(sig unix.Signal) int {
	n := 0
	for _, p := range sessionOf(d.session) {
		if unix.Kill(p.PID, sig) == nil {
			n++
		}
	}
	return n
}

// sessionOf returns the live processes of a session.
func sessionOf(session int) []proc.Process {
	return slices.DeleteFunc(proc.All(), func(p proc.Process) bool { return p.Session != session || p.Dead() })
}
