package meterfs

import "time"

// smallTrip is the most data, in bytes, of a request and its reply whose time
// stands for the round trip alone.
const smallTrip = 1 << 10

// maxTrips is how many round trips are kept, the last ones.
const maxTrips = 512

// A Trip is a round trip that a small request took which was alone on its way, or a ping: from request to
// reply, less the service time. Start is when the request was sent, and End when the reply came, the service between
// them.
type Trip struct {
	Took  time.Duration `json:"took_ns"`
	Start time.Time     `json:"start"`
	End   time.Time     `json:"end"`
}

// trips are the last round trips.
type trips struct {
	ring []Trip
	next int // where the next one goes once the ring is full
}

func (t *trips) add(d Trip) {
	if len(t.ring) < maxTrips {
		t.ring = append(t.ring, d)
		return
	}
	t.ring[t.next] = d
	t.next = (t.next + 1) % maxTrips
}

func (t *trips) all() []Trip { return append([]Trip(nil), t.ring...) }

// Ping sends a small request that counts for nothing, waits for its reply, and returns false without
// one. Its round trip is among [Stats].Trips if nothing else was under way.
func (c *Client) Ping() bool {
	k := &call{op: opStat, ping: true, done: make(chan struct{})}
	_, errno := c.exchange(k, &request{op: opStat})
	return errno == 0
}

// Idle reports whether no request is under way.
func (c *Client) Idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending) == 0
}
