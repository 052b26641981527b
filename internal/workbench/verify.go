package workbench

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay/internal/meterfs"
	"github.com/assay-run/assay/internal/proc"
)

// Every run is verified: were the levels that were asked in force? Two things can go wrong.
//
//   - A level was not in force: the program had more than it was to have. Then the emulation
//     has failed, and the run belongs to another assignment. It has no measurement.
//   - A level was off: the program had less than it was to have, since the machine had other
//     things to do, or more for a reason beyond our control. Then the run counts, with a warning.
//
// The values compared are measured, not only read back from where the level was set; values that can be
// read back are compared too.

// ErrLevels reports that a level of an assignment was not in force during a run.
var ErrLevels = errors.New("the levels asked were not in force")

// Tolerances within which a level counts as in force.
const (
	overCPU  = 1.15                   // times the processor share that was asked
	overRate = 1.15                   // times the rate that was asked
	underRTT = 0.9                    // times the round trip that was asked
	enough   = 1 << 20                // bytes from which a rate is judged
	lateTrip = 2 * time.Millisecond   // how much longer a round trip may be, and
	overRTT  = 1.25                   // times the one asked, before it is off
	lacking  = 0.9                    // times the processor share that was asked, below which it may be off
	pingBits = 8 * 2 * 120            // of a ping and its reply, headers included, in both directions
	warmUp   = 100 * time.Millisecond // of processor time that do not count
	burst    = 300 * time.Millisecond // of a device's rate that its kernel may let pass at once: 0.27 s were seen
)

// A seen holds the resources that a run had. NaN stands for a value that was not measured.
type seen struct {
	elapsed float64           // s
	cpu     float64           // s of processors that the program had
	left    float64           // s of processors that others have left
	trips   []meterfs.Trip    // round trips to the storage
	read    float64           // bytes
	written float64           // bytes
	busy    float64           // s during which a request was under way
	device  float64           // bytes that the storage's device has carried for us
	wall    float64           // s during which it could
	soft    bool              // the processor share is kept by stopping the program in turn
	courses map[string]course // of the attributes that followed a trace
	began   time.Time         // of the run
	start   time.Time         // of the program
	now     time.Time
	wrong   string // a setting that was read back and differs, or ""
}

// processors returns how many processors the program had on the average.
func (s seen) processors() float64 { return s.cpu / s.elapsed }

// rtt returns the median round trip in seconds, NaN if none was seen.
func (s seen) rtt() float64 { return s.trip(0.5) }

// trip returns a quantile of the round trips in seconds, NaN without any.
func (s seen) trip(q float64) float64 {
	if len(s.trips) == 0 {
		return math.NaN()
	}
	sorted := slices.SortedFunc(slices.Values(s.trips), func(a, b meterfs.Trip) int { return cmp.Compare(a.Took, b.Took) })
	return sorted[int(q*float64(len(sorted)-1)+0.5)].Took.Seconds()
}

// bandwidth returns the bit/s of the busier direction while requests were under way, NaN of little data.
func (s seen) bandwidth() float64 {
	return 8 * s.rate(max(s.read, s.written))
}

// rate returns n bytes over the time of requests, NaN if n is too small to be significant.
func (s seen) rate(n float64) float64 {
	if n < enough || s.busy <= 0 {
		return math.NaN()
	}
	return n / s.busy
}

// disk returns the bytes/s of the storage: the rate of its device over the run if the kernel counts it,
// else the rate of all requests.
func (s seen) disk() float64 {
	if !math.IsNaN(s.device) {
		if s.device < enough || s.wall <= 0 {
			return math.NaN()
		}
		return s.device / s.wall
	}
	return s.rate(s.read + s.written)
}

// An off is a level that differs from the level asked.
type off struct {
	attribute string
	text      string
}

// verify compares the levels asked with the levels seen. broken are levels that were not in force, worse
// are levels that were off.
//
// A comparison with NaN is false: a value that was not measured is not judged.
func (a assignment) verify(s seen) (broken, worse []off) {
	breaks, worsens := reporter(&broken), reporter(&worse)
	if s.wrong != "" {
		breaks("", "%s", s.wrong)
	}
	a.verifyProcessors(s, breaks, worsens)
	if s.courses[RTT] != nil || s.courses[Bandwidth] != nil {
		a.verifyTrips(s, func(o off) { broken = append(broken, o) }, func(o off) { worse = append(worse, o) })
	} else if trip := s.rtt(); a.rtt > 0 || a.bandwidth > 0 {
		asked := a.rtt.Seconds()
		if a.bandwidth > 0 {
			asked += pingBits / a.bandwidth
		}
		switch {
		case s.trip(0) < underRTT*a.rtt.Seconds():
			breaks(RTT, "rtt: %v asked, the quickest round trip was %v", a.rtt, rounded(s.trip(0)))
		case trip > overRTT*asked+lateTrip.Seconds():
			worsens(RTT, "rtt: %v asked, the median round trip was %v", a.rtt, rounded(trip))
		}
	}
	if asked, had := s.rateAsked(Bandwidth, a.bandwidth, s.busy), s.bandwidth(); asked > 0 && had > overRate*asked {
		breaks(Bandwidth, "bandwidth: %.3g bit/s asked, %.3g were carried", asked, had)
	}
	a.verifyDisk(s, breaks, worsens)
	return broken, worse
}

// A report adds an attribute that is off.
type report func(attribute, format string, args ...any)

func reporter(to *[]off) report {
	return func(attribute, format string, args ...any) {
		*to = append(*to, off{attribute, fmt.Sprintf(format, args...)})
	}
}

func (a assignment) verifyProcessors(s seen, broken, worse report) {
	if asked, slack := s.processorsAsked(a.cpu); asked > 0 {
		allowed := asked*s.elapsed*overCPU + warmUp.Seconds() + slack
		switch {
		case s.cpu > allowed && s.soft:
			worse(CPU, "cpu: %.3g asked, the program had %.3g", asked, s.processors())
		case s.cpu > allowed:
			broken(CPU, "cpu: %.3g asked, the program had %.3g", asked, s.processors())
		case s.processors() < lacking*asked && s.left < lacking*asked*s.elapsed:
			worse(CPU, "cpu: %.3g asked, the program had %.3g and other programs left %.3g",
				asked, s.processors(), s.left/s.elapsed)
		}
	}
}

func (a assignment) verifyDisk(s seen, broken, worse report) {
	during, first := s.busy, 0.0
	if !math.IsNaN(s.device) {
		during, first = s.wall, burst.Seconds()
	}
	if asked := s.rateAsked(Disk, a.disk, during); asked > 0 {
		switch had := s.disk(); {
		case had > overRate*asked+asked*first/during:
			broken(Disk, "disk: %.3g B/s asked, the storage had %.3g", asked, had)
		case s.device < s.read/2 && s.rate(s.read) > overRate*s.rateAsked(Disk, a.disk, s.busy):
			worse(Disk, "disk: %.3g B/s asked; of %.3g B that were read, the device gave %.3g and its cache the rest",
				asked, s.read, s.device)
		}
	}
}

// rounded writes seconds as a duration.
func rounded(s float64) time.Duration {
	return seconds(s).Round(10 * time.Microsecond)
}

// whereabouts describes how a process is not where the program should be, or returns "".
func (r *benchRun) whereabouts(pid int) string {
	if r.program != nil && !r.program.holds(pid) {
		return "the program is not in the cgroup that limits it"
	}
	var may unix.CPUSet
	// The thread that becomes the program may not be the first of its process, whose processors are shown
	// until it has. If it shows too many, look again for a while.
	for range 20 {
		if r.cpus == 0 || unix.SchedGetaffinity(pid, &may) != nil || may.Count() <= r.cpus {
			return ""
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Sprintf("the program may use %d processors, not %d", may.Count(), r.cpus)
}

// A machineTime is the total work of the processors of the machine, in s; NaN if it is not known.
type machineTime float64

// until returns the work between two times, in s.
func (m machineTime) until(later machineTime) float64 { return float64(later - m) }

// machineUse reads the work of the processors so far, time that a hypervisor took included.
func machineUse() machineTime {
	text, err := machine{}.read("/proc/stat")
	if err != nil {
		return machineTime(math.NaN())
	}
	return parseUse(text)
}

// parseUse reads a file in the format of /proc/stat (proc(5)).
func parseUse(text string) machineTime {
	f := strings.Fields(text)
	if len(f) < 9 || f[0] != "cpu" {
		return machineTime(math.NaN())
	}
	// user, nice, system, idle, iowait, irq, softirq, steal
	var ticks float64
	for _, k := range []int{1, 2, 3, 6, 7, 8} {
		ticks += number(f[k])
	}
	return machineTime(ticks * proc.Tick.Seconds())
}
