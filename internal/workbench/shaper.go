package workbench

// A shaper computes when packets leave one direction of a link. Times are in nanoseconds of any clock
// that does not go back.
type shaper struct {
	rate  float64 // bit/s, or 0
	delay int64   // ns
	queue float64 // bytes

	// free is when the last packet that was taken has left the link, before
	// the delay.
	free float64
}

// take returns when a packet of n bytes that comes at now arrives at the other
// end, or false if it is lost because more than the queue is waiting:
//
//	free = max(free, now) + 8n/rate,  due = free + delay
//
// Packets arrive in the order in which they came.
func (s *shaper) take(now int64, n int) (due int64, ok bool) {
	if s.rate == 0 {
		s.free = max(s.free, float64(now))
		return int64(s.free) + s.delay, true
	}
	free := max(s.free, float64(now))
	if waiting := (free - float64(now)) * s.rate / 8e9; waiting > s.queue {
		return 0, false
	}
	s.free = free + float64(n)*8e9/s.rate
	return int64(s.free) + s.delay, true
}

// change sets another rate and delay from now on, and recomputes when packets in line arrive. Packets
// that have left the link by now stay as they are. The others go on at the new rate and have the new
// delay; for the first of them, this holds for the part that has not been sent yet. The packets are in
// order, and so are they afterwards.
func (s *shaper) change(now int64, rate float64, delay int64, line []packet) {
	at := float64(now)
	free, last := at, int64(0)
	for i := range line {
		k := &line[i]
		if k.leave > at { // so there was a rate
			left := min(float64(len(k.data)), (k.leave-at)*s.rate/8e9)
			k.leave = at
			if rate > 0 {
				free += left * 8e9 / rate
				k.leave = free
			}
			k.due = int64(k.leave) + delay
		}
		k.due = max(k.due, last) // a shorter delay overtakes no packet
		last = k.due
	}
	s.free, s.rate, s.delay = free, rate, delay
}
