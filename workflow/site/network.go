package workflow

import (
	"fmt"
	"math"
	"strings"
)

// A Place is one site of a [Utility]: what it can compute and what it can keep.
// ([Site] is the name for the delays of one.)
type Place struct {
	Name    string
	Slots   int     // tasks that run there at once; 0 means that none do: it only keeps data
	Speed   float64 // relative to the machine of the recorded run times; 0 counts as 1
	Memory  Bytes   // for each task; 0 means no limit
	Storage Bytes   // capacity of its storage; +Inf means no limit, 0 that it keeps nothing
	Disk    float64 // bytes per second between a task and local storage; 0 means that I/O takes no time of its own
	Delay   Seconds // from a task's turn to its start: queue and submission
}

// A Link connects two places, both ways, with one capacity for both.
type Link struct {
	A, B      int     // indices of places
	Bandwidth float64 // bytes per second
	Latency   Seconds // of a round trip
}

// A Utility is a networked utility (Shivam et al., VLDB 2006, §2.1): places,
// and the links between them. It is immutable and safe for concurrent use.
type Utility struct {
	places []Place
	links  []Link
	routes []Route // of each pair of places, from·len(places)+to
}

// A Route is the way that data take between two places. The zero value is the
// way from a place to itself.
type Route struct {
	Bandwidth float64 // bytes per second, of the narrowest link; +Inf within a place
	Latency   Seconds // of a round trip, all links together
	Links     []int32 // indices of links
}

// Transfer returns how long n bytes take over the route when nothing else is on
// it: latency + n/bandwidth; 0 for the zero value.
func (r *Route) Transfer(n Bytes) Seconds {
	if len(r.Links) == 0 {
		return 0
	}
	return r.Latency + n/r.Bandwidth
}

// A UtilityError says what is wrong with a utility, and where.
type UtilityError struct {
	Place, Link int // indices; -1 if it is not one of these
	Reason      string
}

func (e *UtilityError) Error() string { return "workflow: " + e.Reason }

// routeBytes is the transfer for which routes are the fastest: what is staged
// is large more often than it is small.
const routeBytes = 1e9

// NewUtility returns the utility of places and links. It retains both slices.
// It returns a [*UtilityError] if there is no place, a value is negative or not
// a number, a link has no bandwidth or a place that does not exist, or the
// links do not connect all places. It costs O(places³).
//
// Routes are those over which a gigabyte arrives first when the links are idle.
func NewUtility(places []Place, links []Link) (*Utility, error) {
	u := &Utility{places: places, links: links}
	if err := u.check(); err != nil {
		return nil, err
	}
	u.findRoutes()
	if err := u.connected(); err != nil {
		return nil, err
	}
	return u, nil
}

func (u *Utility) check() error {
	if len(u.places) == 0 {
		return &UtilityError{-1, -1, "a utility without sites"}
	}
	computes := false
	for i, p := range u.places {
		computes = computes || p.Slots > 0
		for _, v := range []struct {
			name string
			x    float64
		}{{"slots", float64(p.Slots)}, {"speed", p.Speed}, {"memory", p.Memory}, {"storage", p.Storage}, {"disk", p.Disk}, {"delay", p.Delay}} {
			if !(v.x >= 0) || v.name != "storage" && math.IsInf(v.x, 1) {
				return &UtilityError{i, -1, fmt.Sprintf("site %s: %s is %v", p.Name, v.name, v.x)}
			}
		}
	}
	if !computes {
		return &UtilityError{0, -1, "no site has a slot to run a task in"}
	}
	for i, l := range u.links {
		n := len(u.places)
		switch {
		case l.A < 0 || l.A >= n || l.B < 0 || l.B >= n:
			return &UtilityError{-1, i, "a link to a site that does not exist"}
		case l.A == l.B:
			return &UtilityError{-1, i, fmt.Sprintf("a link from site %s to itself", u.places[l.A].Name)}
		case !(l.Bandwidth > 0) || math.IsInf(l.Bandwidth, 1) || !(l.Latency >= 0) || math.IsInf(l.Latency, 1):
			return &UtilityError{-1, i, fmt.Sprintf("the link of %s and %s: bandwidth %v B/s, latency %v s", u.places[l.A].Name, u.places[l.B].Name, l.Bandwidth, l.Latency)}
		}
	}
	return nil
}

// findRoutes is Floyd's algorithm.
func (u *Utility) findRoutes() {
	n := len(u.places)
	dist := make([]float64, n*n)
	via := make([]int32, n*n) // first link of the route, -1 if there is none
	for i := range dist {
		dist[i], via[i] = math.Inf(1), -1
	}
	for i := range n {
		dist[i*n+i] = 0
	}
	for i, l := range u.links {
		d := l.Latency + routeBytes/l.Bandwidth
		for _, at := range []int{l.A*n + l.B, l.B*n + l.A} {
			if d < dist[at] {
				dist[at], via[at] = d, int32(i)
			}
		}
	}
	// Invariant: dist holds the shortest routes with inner places below k.
	for k := range n {
		for i := range n {
			for j := range n {
				if d := dist[i*n+k] + dist[k*n+j]; d < dist[i*n+j] {
					dist[i*n+j], via[i*n+j] = d, via[i*n+k]
				}
			}
		}
	}
	u.routes = make([]Route, n*n)
	for i := range n {
		for j := range n {
			r := &u.routes[i*n+j]
			r.Bandwidth = math.Inf(1)
			for at := i; at != j && via[at*n+j] >= 0; {
				k := via[at*n+j]
				l := u.links[k]
				r.Links = append(r.Links, k)
				r.Latency += l.Latency
				r.Bandwidth = min(r.Bandwidth, l.Bandwidth)
				at = l.A + l.B - at
			}
		}
	}
}

// connected returns an error that names the sites which the first one with a
// link, or the first of all, does not reach.
func (u *Utility) connected() error {
	from := 0
	if len(u.links) > 0 {
		from = u.links[0].A
	}
	var cut []string
	first := -1
	for to := range u.places {
		if to != from && len(u.Route(from, to).Links) == 0 {
			if first < 0 {
				first = to
			}
			cut = append(cut, u.places[to].Name)
		}
	}
	if cut == nil {
		return nil
	}
	verb := "has"
	if len(cut) > 1 {
		verb = "have"
	}
	return &UtilityError{first, -1, fmt.Sprintf("the utility is disconnected: %s %s no link to %s, directly or over others", strings.Join(cut, ", "), verb, u.places[from].Name)}
}

// Places returns the places. The slice must not be changed.
func (u *Utility) Places() []Place { return u.places }

// Route returns the route between two places, which the caller must not change.
func (u *Utility) Route(from, to int) *Route { return &u.routes[from*len(u.places)+to] }

// A Resource is what a task is assigned: R = <C, N, S> of the paper. It computes
// at one place and has its input and output data in the storage of one.
type Resource struct {
	Compute, Storage *Place
	Network          *Route // from Storage to Compute; nil if they are the same place
}

// A TaskTime is how long a task takes on a Resource that it shares with nothing.
type TaskTime struct {
	Compute Seconds // the processor works: o_a·D of the paper
	Stall   Seconds // it waits for data, of local storage or over the network: o_s·D
	// Error is the relative standard deviation of the sum; 0 means not known.
	Error float64
}

// A TaskModel is a cost model M(G, I, R) (§2.1). It is safe for concurrent use.
type TaskModel interface {
	// Time returns how long t takes on r, which it must not change. An error
	// means that the model cannot say; it ends the planning.
	Time(t *Task, r Resource) (TaskTime, error)
}

// ScaledModel is the [TaskModel] of a workflow whose run times were recorded: the
// run time divided by the place's Speed, plus the time for its input and output
// bytes over the place's own disk, or over the network with a round trip for
// each Block. A recorded run time holds what I/O the task did then, so that on
// its own machine Disk is best left 0.
type ScaledModel struct {
	Block Bytes // bytes moved per round trip of remote I/O; 0 means 1 MiB, the transfer size of NFS in Linux
}

var _ TaskModel = ScaledModel{}

// Time implements [TaskModel].
func (m ScaledModel) Time(t *Task, r Resource) (TaskTime, error) {
	block := m.Block
	if block == 0 {
		block = 1 << 20
	}
	speed := r.Compute.Speed
	if speed == 0 {
		speed = 1
	}
	n := t.flow()
	x := TaskTime{Compute: t.Run / speed}
	rate := math.Inf(1)
	if d := r.Storage.Disk; d > 0 {
		rate = d
	}
	if r.Network != nil {
		rate = min(rate, r.Network.Bandwidth)
		x.Stall = math.Ceil(n/block) * r.Network.Latency
	}
	x.Stall += n / rate
	return x, nil
}

// flow returns the data flow D of a task: its input and output bytes, or those
// it was seen to read and write if its files are not known.
func (t *Task) flow() Bytes {
	if n := t.In + t.Out; n > 0 {
		return n
	}
	return t.Read + t.Written
}
