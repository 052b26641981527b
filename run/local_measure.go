package run

import (
	"math"
	"syscall"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/proc"
	"golang.org/x/sys/unix"
)

// This file turns the kernel's accounting of processes into a measurement. Its sources are:
//
//   - wait4(2), of processes that were waited for;
//   - the cgroup's processor time, of all others;
//   - /proc, of processes that are alive.

// blockSize is the unit of ru_inblock and ru_oublock on Linux for any device (getrusage(2): they count 512-byte units
// since 2.6.22).
const blockSize = 512

// A usage is the result of wait4(2) for a process and the processes that it waited for.
type usage struct {
	user, system time.Duration
	maxRSS       float64 // bytes
	read, write  float64 // bytes
	// wanted is ru_nvcsw, voluntary switches; forced is ru_nivcsw, involuntary ones.
	wanted, forced float64 // context switches
}

// usageOf converts to base units. Linux counts ru_maxrss in KiB (getrusage(2)).
func usageOf(ru *syscall.Rusage) usage {
	return usage{
		user:   time.Duration(ru.Utime.Nano()),
		system: time.Duration(ru.Stime.Nano()),
		maxRSS: float64(ru.Maxrss) * 1024,
		read:   float64(ru.Inblock) * blockSize,
		write:  float64(ru.Oublock) * blockSize,
		wanted: float64(ru.Nvcsw),
		forced: float64(ru.Nivcsw),
	}
}

// add sums up usage. It takes the largest resident set: the sets of several processes share pages and are not of one
// moment.
func (u *usage) add(v usage) {
	u.user += v.user
	u.system += v.system
	u.maxRSS = max(u.maxRSS, v.maxRSS)
	u.read += v.read
	u.write += v.write
	u.wanted += v.wanted
	u.forced += v.forced
}

// ownPeak returns the peak resident set of this process in bytes.
// If it cannot be read, the peak is infinite: then no max_rss of a direct start is believed.
func ownPeak() float64 {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		return math.Inf(1)
	}
	return float64(ru.Maxrss) * 1024
}

// slack is how much more processor time a cgroup may have used than the processes that were waited for without
// something being missing: our own starter runs in the group too. The group's time is counted in another way than the
// time of processes, so that addMissing allows 2 % more.
const slack = 5 * time.Millisecond

// addMissing raises the processor times to the total of the run's cgroup, if processes without a wait have used a
// part of it. The cgroup reports how the total divides into user and system time for all processes together. The
// missing part gets at most as much user time as the cgroup has more; the rest is system time. The sum is then the
// cgroup's total.
func (p *process) addMissing(u *usage) {
	if p.slot.group == nil {
		return
	}
	c, err := p.slot.group.CPU()
	if err != nil {
		return
	}
	c = c.Sub(p.cpu0)
	missing := c.Total - u.user - u.system
	if missing < slack+c.Total/50 {
		return
	}
	user := min(max(0, c.User-u.user), missing)
	u.user += user
	u.system += missing - user
}

// measurement returns the measurement of a run that has ended. No process of the run is alive, and none is waited for
// any more. A run that was ended has its figures too; its elapsed time is the caller's argument. A signal n becomes
// exit code 128+n, as a shell has it.
func (p *process) measurement(elapsed time.Duration, ws syscall.WaitStatus, u usage, energy float64) assay.Measurement {
	p.mu.Lock()
	u.add(p.orphans)
	u.maxRSS = max(u.maxRSS, p.peak)
	p.mu.Unlock()
	if p.direct && u.maxRSS <= ownPeak() {
		u.maxRSS = 0 // it may be ours; see the package comment
	}
	p.addMissing(&u)
	m := p.metrics(elapsed, u.user, u.system, u.maxRSS, energy)
	m.Metrics["read_bytes"] = u.read
	m.Metrics["write_bytes"] = u.write
	m.Metrics["voluntary_switches"] = u.wanted
	m.Metrics["involuntary_switches"] = u.forced
	switch {
	case ws.Exited():
		m.ExitCode = ws.ExitStatus()
	case ws.Signaled():
		m.ExitCode = 128 + int(ws.Signal())
		m.Signal = unix.SignalName(ws.Signal())
		m.Metrics["signal"] = float64(ws.Signal())
	}
	m.Metrics["exit_code"] = float64(m.ExitCode)
	return m
}

// metrics returns the part of a measurement that is known at any time. The map is new, and belongs to the measurement.
// There is no max_rss if it is 0, which stands for unknown, and no power for a run without duration.
func (p *process) metrics(elapsed, user, system time.Duration, maxRSS, energy float64) assay.Measurement {
	m := assay.Measurement{Elapsed: elapsed, Metrics: make(map[string]float64, 16)}
	m.Metrics["elapsed"] = elapsed.Seconds()
	m.Metrics["user"] = user.Seconds()
	m.Metrics["system"] = system.Seconds()
	m.Metrics["cpu"] = (user + system).Seconds()
	if maxRSS > 0 {
		m.Metrics["max_rss"] = maxRSS
	}
	if p.meter != nil {
		m.Metrics["energy"] = energy
		if elapsed > 0 {
			m.Metrics["power"] = energy / elapsed.Seconds()
		}
	}
	return m
}

// soFar returns the measurement of a live run: processor time from the cgroup or from /proc, the peak resident set of
// the processes that are alive, and the earlier values. soFar is called on the observer's goroutine. A process that
// ends between two calls may be missing from the peak, so that p.peak keeps the largest one seen. Without a cgroup,
// the processor time of a process is in /proc until it has been waited for, and then in its parent's, or in orphans
// if we waited for it.
func (p *process) soFar() assay.Measurement {
	live := p.members()
	peak := 0.0
	for _, s := range live {
		peak = max(peak, proc.PeakRSS(s.PID))
	}
	p.mu.Lock()
	p.peak = max(p.peak, peak)
	peak = max(p.peak, p.orphans.maxRSS)
	user, system := p.orphans.user, p.orphans.system
	p.mu.Unlock()
	if g := p.slot.group; g != nil {
		if c, err := g.CPU(); err == nil {
			c = c.Sub(p.cpu0)
			user, system = c.User, c.System
		}
	} else {
		for _, s := range p.scanned() {
			user += s.User + s.WaitedUser
			system += s.System + s.WaitedSystem
		}
	}
	return p.metrics(time.Since(p.start), user, system, peak, p.meter.read())
}
