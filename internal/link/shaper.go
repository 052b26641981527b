package link

// A shaper says when packets leave one direction of a link. Times are in
// nanoseconds of any clock that does not go back.
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
		return now + s.delay, true
	}
	free := max(s.free, float64(now))
	if waiting := (free - float64(now)) * s.rate / 8e9; waiting > s.queue {
		return 0, false
	}
	s.free = free + float64(n)*8e9/s.rate
	return int64(s.free) + s.delay, true
}
