package queue

// Hold keeps open runs of the study from starting while on is true. Runs at workers continue.
func (r *Runner) Hold(on bool) {
	f, m := r.f, r.m
	f.mu.Lock()
	defer f.unlock()
	if m.held == on {
		return
	}
	m.held = on
	if on || m.left {
		return
	}
	// The tickets of waiting runs were dropped meanwhile.
	for range m.open {
		f.pending = append(f.pending, f.newTicket(m))
	}
}

// wanted returns how many attempts at an application are open and may begin. The lock is held.
func (p *app) wanted() (n int) {
	for _, m := range p.studies {
		if !m.held {
			n += len(m.open)
		}
	}
	return n
}
