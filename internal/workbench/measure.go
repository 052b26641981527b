package workbench

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/meterfs"
)

// correct subtracts the time and use before the program from a measurement. It returns false if the
// program has not started.
func (r *benchRun) correct(m *assay.Measurement) bool {
	r.mu.Lock()
	e := r.entered
	r.mu.Unlock()
	if e.PID == 0 {
		return false
	}
	m.Elapsed = max(1, m.Elapsed-e.Before)
	if m.Metrics == nil {
		m.Metrics = map[string]float64{}
	}
	for name, before := range map[string]time.Duration{"user": e.User, "system": e.System, "cpu": e.User + e.System} {
		if x, ok := m.Metrics[name]; ok {
			m.Metrics[name] = max(0, x-before.Seconds())
		}
	}
	// The kernel counts the memory before exec towards the program.
	if x, ok := m.Metrics["max_rss"]; ok && x <= e.RSS {
		delete(m.Metrics, "max_rss")
		missing(m, "max_rss", fmt.Sprintf("at most %.0f B, the use of the program's start", e.RSS))
	}
	return true
}

func setElapsed(m *assay.Measurement) {
	if _, ok := m.Metrics["elapsed"]; ok {
		m.Metrics["elapsed"] = m.Elapsed.Seconds()
	}
}

func missing(m *assay.Measurement, name, why string) {
	if m.Missing == nil {
		m.Missing = map[string]string{}
	}
	m.Missing[name] = why
}

// addStats adds the traffic so far to a measurement of a run that goes on.
func (r *benchRun) addStats(m *assay.Measurement) {
	if r.stage == nil {
		return
	}
	if s, err := r.stage.ask(stageAsk{Do: askStats}, stageTime); err == nil {
		setStats(m, s)
	}
}

func setStats(m *assay.Measurement, s meterfs.Stats) {
	m.Metrics["data_flow"] = float64(s.ReadBytes + s.WriteBytes)
	m.Metrics["read_bytes"] = float64(s.ReadBytes)
	m.Metrics["write_bytes"] = float64(s.WriteBytes)
	m.Metrics["requests"] = float64(s.Requests)
	m.Metrics["network_time"] = s.Network.Seconds()
	m.Metrics["disk_time"] = s.Service.Seconds()
	m.Metrics["stall_time"] = s.Busy.Seconds()
}

// finish completes the measurement at the end of the run, and returns an error if the run was not on the
// assignment that was asked.
func (r *benchRun) finish(m *assay.Measurement, ended bool) error {
	warn := r.bench.opts.Warn
	had := r.observed(*m)
	if r.stage != nil {
		if ended {
			r.stage.abort() // data that was not written yet is lost
		}
		s, err := r.stage.ask(stageAsk{Do: askStop}, stageLongTime)
		if err != nil {
			return err
		}
		setStats(m, s)
		had.trips = s.Trips
		had.busy = s.Busy.Seconds()
		had.read, had.written = float64(s.ReadBytes), float64(s.WriteBytes)
		if s.Full > 0 {
			warn(fmt.Sprintf("the storage is full: %d requests of the program failed", s.Full))
		}
	}
	if r.want.memory > 0 {
		n := r.program.oomKills()
		m.Metrics["oom_kills"] = float64(n)
		if n > 0 && !ended {
			outOfMemory(m, n, r.want.memory)
		}
	}
	if (r.quota || r.duty > 0) && !ended && m.Elapsed < 10*Period {
		warn(fmt.Sprintf("a run of %v is too short for a processor share, which is kept over periods of %v",
			m.Elapsed.Round(time.Millisecond), Period))
	}
	return r.verify(m, had, ended)
}

// observed returns the observed resources of a run, except for those on the way to its data.
func (r *benchRun) observed(m assay.Measurement) seen {
	s := seen{
		elapsed: m.Elapsed.Seconds(), wall: time.Since(r.began).Seconds(), soft: r.duty > 0,
		cpu: math.NaN(), left: math.NaN(), device: math.NaN(),
	}
	if cpu, ok := m.Metrics["cpu"]; ok {
		s.cpu = cpu
		others := max(0, r.entry.until(machineUse())-cpu)
		s.left = float64(runtime.NumCPU())*s.elapsed - others
	}
	r.mu.Lock()
	s.wrong = r.outside
	r.mu.Unlock()
	if r.follower != nil {
		var err error
		if s.courses, err = r.follower.been(); err != nil && s.wrong == "" {
			s.wrong = "a level of a trace could not be set " + err.Error()
		}
		s.began, s.start, s.now = r.began, r.follower.began, time.Now()
	}
	for _, g := range []*groups{r.program, r.storage} {
		if g != nil && s.wrong == "" {
			s.wrong = g.changed()
		}
	}
	if r.storage != nil {
		s.device = r.storage.carried()
		if s.wrong == "" && !r.storage.holds(r.stage.cmd.Process.Pid) {
			s.wrong = "the storage is not in the cgroup that limits the disk"
		}
	}
	return s
}

// verify adds the observed levels to the measurement, and returns an error if one was not in force. A
// run that was cut short is not judged: it is no measurement of its assignment.
func (r *benchRun) verify(m *assay.Measurement, had seen, ended bool) error {
	for name, x := range map[string]float64{
		CPU: had.processors(), RTT: had.rtt(), Bandwidth: had.bandwidth(), Disk: had.disk(),
	} {
		if r.asks(name) && !math.IsNaN(x) {
			m.Metrics[name+seenSuffix] = x
		}
	}
	if r.follower != nil {
		for name, x := range r.follower.means(m.Elapsed) {
			if math.IsNaN(x) {
				continue
			}
			m.Metrics[name+meanSuffix] = x
			if all := r.traces[name].Mean(); !ended && math.Abs(x-all) > farMean*all {
				r.bench.opts.Warn(fmt.Sprintf("the mean level of %s in a run, %s%s, is not the mean of its whole trace, by which "+
					"the run is learned: the run is shorter or longer than the trace (set its period by every)",
					name, name, meanSuffix))
			}
		}
	}
	if ended {
		return nil
	}
	broken, worse := r.want.verify(had)
	m.Metrics[LevelsOff] = float64(len(worse))
	for _, o := range worse {
		r.bench.opts.Warn(fmt.Sprintf("%s was not as asked in a run, at least: see %s%s of the trials, and %s",
			o.attribute, o.attribute, seenSuffix, LevelsOff))
	}
	if len(broken) == 0 {
		r.bench.broken.Store(0)
		return nil
	}
	var texts []string
	for _, o := range broken {
		texts = append(texts, o.text)
	}
	err := fmt.Errorf("%w: %s", ErrLevels, strings.Join(texts, "; "))
	if r.bench.broken.Add(1) >= mostBroken {
		err = fmt.Errorf("%w, in %d runs in succession: %w", err, mostBroken, assay.ErrSetup)
	}
	return err
}

// Names of the metrics of the levels that were seen.
const (
	// LevelsOff is how many levels were not as they were asked.
	LevelsOff = "levels_off"

	seenSuffix = "_seen" // after the name of an attribute
	meanSuffix = "_mean" // likewise, of one that followed a trace
)

// farMean is the relative difference between the mean level of a run and the mean of its trace that is
// reported.
const farMean = 0.1

// mostBroken is how many runs in succession may have a level that was not in force.
const mostBroken = 3

// outOfMemory marks a run whose processes were killed for lack of memory as failed, even if its main
// process succeeded.
func outOfMemory(m *assay.Measurement, n int, limit float64) {
	if m.ExitCode == 0 {
		m.ExitCode = 137 // as if the main process had been ended by SIGKILL
	}
	m.Metrics["exit_code"] = float64(m.ExitCode)
	m.Signal = fmt.Sprintf("SIGKILL, out of memory (%d processes, limit %.0f B)", n, limit)
}
