package workbench

import (
	"fmt"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/rfs"
)

// correct takes what happened before the program out of a measurement. It returns
// false if it has not started.
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
		missing(m, "max_rss", fmt.Sprintf("at most %.0f B, which is what the start of the program has used", e.RSS))
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

// addStats adds what has passed so far to a measurement of a run that goes on.
func (r *benchRun) addStats(m *assay.Measurement) {
	if r.stage == nil {
		return
	}
	if s, err := r.stage.ask(askStats, stageTime); err == nil {
		setStats(m, s)
	}
}

func setStats(m *assay.Measurement, s rfs.Stats) {
	m.Metrics["data_flow"] = float64(s.ReadBytes + s.WriteBytes)
	m.Metrics["read_bytes"] = float64(s.ReadBytes)
	m.Metrics["write_bytes"] = float64(s.WriteBytes)
	m.Metrics["requests"] = float64(s.Requests)
	m.Metrics["network_time"] = s.Network.Seconds()
	m.Metrics["disk_time"] = s.Service.Seconds()
	m.Metrics["stall_time"] = s.Busy.Seconds()
}

// finish adds to the measurement what is known at the end.
func (r *benchRun) finish(m *assay.Measurement, ended bool) error {
	warn := r.bench.opts.Warn
	if r.stage != nil {
		if ended {
			r.stage.abort() // and what was not written yet is lost
		}
		s, err := r.stage.ask(askStop, stageLongTime)
		if err != nil {
			return err
		}
		setStats(m, s)
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
	return nil
}

// outOfMemory makes a run whose processes were ended for lack of memory a failed
// one, whatever its main process made of it.
func outOfMemory(m *assay.Measurement, n int, limit float64) {
	if m.ExitCode == 0 {
		m.ExitCode = 137 // as if the main process had been ended by SIGKILL
	}
	m.Metrics["exit_code"] = float64(m.ExitCode)
	m.Signal = fmt.Sprintf("SIGKILL, out of memory (%d processes, limit %.0f B)", n, limit)
}
