package queue

import (
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay/stats"
)

// mostPaced is how many of the latest runs of a study machines are compared by, and leastPaced how
// many runs of a machine say something.
const (
	mostPaced  = 256
	leastPaced = 5
)

// A paced is how long a run took that came to its end by itself, and where.
type paced struct {
	worker, class string
	log           float64 // of seconds
}

// pace notes how long a run took. The lock is held.
func (m *member) pace(w *worker, d time.Duration) {
	if w == nil || d <= 0 {
		return
	}
	if len(m.paces) == mostPaced {
		m.paces = slices.Delete(m.paces, 0, 1)
	}
	m.paces = append(m.paces, paced{w.ID, w.Class, math.Log(d.Seconds())})
}

// ratios returns, by worker, the median of the times of its runs divided by the median of those of all
// machines of its class in the same study. A worker with few runs, or alone of its class, has none.
// What differs between configurations is in it, and evens out over many. The lock is held.
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
