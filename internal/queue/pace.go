package queue

import (
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay/internal/stats"
)

// mostPaced is the number of latest runs of a study by which machines are compared. leastPaced is the number of runs
// that a machine needs for a comparison.
const (
	mostPaced  = 256
	leastPaced = 5
)

// A paced is the duration and place of a run that was not stopped.
type paced struct {
	worker, class string
	log           float64 // of seconds
}

// pace records the duration of a run. The lock is held.
func (m *member) pace(w *worker, d time.Duration) {
	if w == nil || d <= 0 {
		return
	}
	if len(m.paces) == mostPaced {
		m.paces = slices.Delete(m.paces, 0, 1)
	}
	m.paces = append(m.paces, paced{w.ID, w.MachineClass, math.Log(d.Seconds())})
}

// ratios returns, by worker, the median of the times of its runs divided by the median over all machines of its class
// in the same study. A worker with few runs, or alone of its class, has no ratio. Differences between configurations
// are included, and average out over many runs. The lock is held.
func ratios(studies map[string]*member) map[string]float64 {
	type group struct {
		study, class string
	}
	of := map[group][]paced{}
	for name, m := range studies {
		for _, p := range m.paces {
			g := group{name, p.class}
			of[g] = append(of[g], p)
		}
	}
	off := map[string][]float64{}
	for _, all := range of {
		var logs []float64
		for _, p := range all {
			logs = append(logs, p.log)
		}
		if !slices.ContainsFunc(all, func(p paced) bool { return p.worker != all[0].worker }) {
			continue
		}
		mid := stats.Median(logs)
		for _, p := range all {
			off[p.worker] = append(off[p.worker], p.log-mid)
		}
	}
	out := map[string]float64{}
	for worker, list := range off {
		if len(list) >= leastPaced {
			out[worker] = math.Exp(stats.Median(list))
		}
	}
	return out
}
