package workbench

import "time"

// Verification of a run whose levels varied: each observation is compared with the level in force at its
// time, and if that time is unknown, with the most that could have been in force.

// settling is how long a limit of the kernel may take to keep to a level that was set anew: the quota of the
// processor hands out whole periods, the disk has slices of 0.1 s.
const settling = 100 * time.Millisecond

// changes returns the sum of how much the levels were changed.
func (c course) changes() (sum float64) {
	for _, s := range c {
		sum += s.hi - s.lo
	}
	return sum
}

// processorsAsked returns the processor share that was asked, the mean of a course, and how many seconds of a
// processor more its changes may have let pass.
func (s seen) processorsAsked(fixed float64) (asked, slack float64) {
	c := s.courses[CPU]
	if c == nil {
		return fixed, 0
	}
	end := s.start.Add(seconds(s.elapsed))
	c = c.within(s.start, end)
	return c.mean(), c.changes() * settling.Seconds()
}

// rateAsked returns the rate that was asked of an attribute over a number of seconds; for a course, the
// most that it could be.
func (s seen) rateAsked(attribute string, fixed, seconds float64) float64 {
	c := s.courses[attribute]
	switch {
	case c == nil:
		return fixed
	case !(seconds > 0):
		return c.greatest()
	}
	return (c.within(s.began, s.now).most(seconds) + c.changes()*settling.Seconds()) / seconds
}

// window is how long before the request, and after the reply, a level may have been in force for a round
// trip: a packet that has left the link has its old delay.
const window = 20 * time.Millisecond

// verifyTrips compares each round trip with the round-trip time and the bandwidth that were in force at that time.
func (a assignment) verifyTrips(s seen, broken, worse func(off)) {
	at := func(attribute string, fixed float64, from, to time.Time) (lo, hi float64) {
		c := s.courses[attribute]
		if c == nil {
			return fixed, fixed
		}
		c = c.within(from, to)
		return c.least(), c.greatest()
	}
	late := 0
	for _, trip := range s.trips {
		took := trip.Took
		from, to := trip.Start.Add(-window), trip.End.Add(window)
		least, most := at(RTT, a.rtt.Seconds(), from, to)
		if took.Seconds() < underRTT*least {
			broken(off{RTT, "rtt: " + rounded(least).String() + " asked, a round trip was " + took.String()})
			return
		}
		if slowest, _ := at(Bandwidth, a.bandwidth, from, to); slowest > 0 {
			most += pingBits / slowest
		}
		if took.Seconds() > overRTT*most+lateTrip.Seconds() {
			late++
		}
	}
	if 2*late > len(s.trips) {
		worse(off{RTT, "rtt: most round trips were longer than asked at their time"})
	}
}
