package workbench

// Loosen makes an attribute of the runs of a bench silently not be in force: the run is set up as
// if it had not been asked for, without a message.
func Loosen(b *Bench, attribute string) {
	b.tamper = func(s *stageSpec, e *enterSpec) {
		switch {
		case e != nil && attribute == CPU:
			e.Procs, e.CPUs = nil, 0
		case s == nil:
		case attribute == RTT:
			s.RTT = 0
		case attribute == Bandwidth:
			s.Bandwidth = 0
		case attribute == Disk:
			s.Rate, s.Join = 0, nil
		}
	}
}

// Deafen has a bench report the levels of traces as set, and leave them as they were.
func Deafen(b *Bench) { b.deaf = true }
