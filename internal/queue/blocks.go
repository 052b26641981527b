package queue

import "slices"

// A ran maps the Key of each configuration of a study to the workers that have run it. Repeated runs go to different
// workers if possible, so that differences between workers show up as such and are not attributed to the configuration.
type ran map[string][]string

// by notes that a worker makes a run.
func (r ran) by(key, where string) {
	if !slices.Contains(r[key], where) {
		r[key] = append(r[key], where)
	}
}

// lookAhead is how many open attempts are searched for a configuration that is new to the worker.
const lookAhead = 64

// other returns the open attempt for a worker: the first or, if the worker has already run its configuration, the first
// of the same priority with a configuration that is new to the worker. It looks at a few attempts only, and no attempt
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
