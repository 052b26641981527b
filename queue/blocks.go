package queue

import "slices"

// A ran is which workers have made a run of each configuration of a study, by the Key of the
// configuration. Repeated runs go to different workers where that is possible: what they differ by is then
// known of the workers, and not taken for the configuration.
type ran map[string][]string

// by notes that a worker makes a run.
func (r ran) by(key, where string) {
	if !slices.Contains(r[key], where) {
		r[key] = append(r[key], where)
	}
}

// lookAhead is how many open attempts are looked at for one that repeats nothing.
const lookAhead = 64

// other returns the open attempt that a worker gets: the first, or, if the worker has run its configuration
// before, the first of the same priority whose configuration it has not. It looks at a few only, and nobody
// waits for another worker. The lock is held.
func (m *member) other(w *worker) *attempt {
	first := m.open[0]
	if !m.repeats(first, w) {
		return first
	}
	best := first
	for _, a := range m.open[:min(len(m.open), lookAhead)] {
		if a.priority == first.priority && !m.repeats(a, w) && (best == first || a.before(best) < 0) {
			best = a
		}
	}
	return best
}

// repeats reports whether a worker has run the configuration of an attempt before.
func (m *member) repeats(a *attempt, w *worker) bool {
	return len(m.ran) > 0 && slices.Contains(m.ran[a.run.job.Config.Key()], w.Label())
}
