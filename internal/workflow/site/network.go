package site

import (
	"fmt"
	"math"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// A Site is one site of a [Network]: its processors and its storage.
type Site struct {
	Name    string         // unique in the network
	Slots   int            // tasks that run there at once; 0 means that none do: it only keeps data
	Speed   float64        // relative to the machine of the recorded run times; 0 counts as 1
	Cores   float64        // that a task has, or its share of one, for models that ask; 0 counts as 1
	Memory  workflow.Bytes // for each task; 0 means no limit
	Storage workflow.Bytes // capacity of its storage; +Inf means no limit, 0 that it keeps nothing
	// Disk is bytes per second between a task and local storage; 0 means that I/O takes no time of its own.
	Disk  float64
	Delay workflow.Seconds // from a task's turn to its start: queue and submission
}

// A Link connects two sites, both ways, with one capacity for both.
type Link struct {
	A, B      int              // indices of sites
	Bandwidth float64          // bytes per second
	Latency   workflow.Seconds // of a round trip
}

// A Network is a networked utility (Shivam et al., VLDB 2006, §2.1): sites,
// and the links between them. It is immutable and safe for concurrent use.
type Network struct {
	sites  []Site  // by number
	links  []Link  // by number
	routes []Route // of each pair of sites, from·len(sites)+to
}

// A Route is the way that data take between two sites. The zero value is the way from a site to itself.
type Route struct {
	Bandwidth float64          // bytes per second, of the narrowest link; +Inf within a site
	Latency   workflow.Seconds // of a round trip, all links together
	Links     []int32          // indices of links
}

// Transfer returns how long n bytes take over the route when nothing else is on
// it: latency + n/bandwidth; 0 for the zero value.
func (r *Route) Transfer(n workflow.Bytes) workflow.Seconds {
	if len(r.Links) == 0 {
		return 0
	}
	return r.Latency + n/r.Bandwidth
}

// A NetworkError describes an error in a network, and its place.
type NetworkError struct {
	Site, Link int    // indices; -1 if it is not one of these
	Reason     string // without the place
}

// Error returns the reason, which names the site or link.
func (e *NetworkError) Error() string { return e.Reason }

// routeBytes is the size of the transfer for which routes are the fastest. A route depends on it: a
// small transfer wants the least latency, a large one the most bandwidth. Staged data are large more
// often than small.
const routeBytes = 1e9

// NewNetwork returns the network of sites and links. It retains both slices. It returns a [*NetworkError] if there is
// no site, a value is negative or not a number, a link has no bandwidth or a site that does not exist, or the links do
// not connect all sites. It costs O(sites³).
//
// Routes are those over which a gigabyte arrives first when the links are idle.
func NewNetwork(sites []Site, links []Link) (*Network, error) {
	net := &Network{sites: sites, links: links}
	if err := net.check(); err != nil {
		return nil, err
	}
	net.findRoutes()
	if err := net.connected(); err != nil {
		return nil, err
	}
	return net, nil
}

// check returns the first flaw of the sites and links by themselves, in their order. Storage alone may
// be infinite.
func (net *Network) check() error {
	if len(net.sites) == 0 {
		return &NetworkError{-1, -1, "a utility without sites"}
	}
	computes := false
	for i, p := range net.sites {
		computes = computes || p.Slots > 0
		for _, v := range []struct {
			name string
			x    float64
		}{
			{"slots", float64(p.Slots)},
			{"speed", p.Speed},
			{"cores", p.Cores},
			{"memory", p.Memory},
			{"storage", p.Storage},
			{"disk", p.Disk},
			{"delay", p.Delay},
		} {
			if !(v.x >= 0) || v.name != "storage" && math.IsInf(v.x, 1) {
				return &NetworkError{i, -1, fmt.Sprintf("site %s: %s is %v", p.Name, v.name, v.x)}
			}
		}
	}
	if !computes {
		return &NetworkError{0, -1, "no site has a slot to run a task in"}
	}
	for i, l := range net.links {
		if err := net.checkLink(i, l); err != nil {
			return err
		}
	}
	return nil
}

// checkLink checks link i.
func (net *Network) checkLink(i int, l Link) error {
	n := len(net.sites)
	switch {
	case l.A < 0 || l.A >= n || l.B < 0 || l.B >= n:
		return &NetworkError{-1, i, "a link to a site that does not exist"}
	case l.A == l.B:
		return &NetworkError{-1, i, fmt.Sprintf("a link from site %s to itself", net.sites[l.A].Name)}
	case !(l.Bandwidth > 0) || math.IsInf(l.Bandwidth, 1) || !(l.Latency >= 0) || math.IsInf(l.Latency, 1):
		return &NetworkError{-1, i, fmt.Sprintf("the link of %s and %s: bandwidth %v B/s, latency %v s",
			net.sites[l.A].Name, net.sites[l.B].Name, l.Bandwidth, l.Latency)}
	}
	return nil
}

// findRoutes is Floyd's algorithm.
//
// The length of a link is the time that it takes for routeBytes. The fastest of parallel links counts;
// of equal routes the first found. Then each route is walked along via: its bandwidth is the bandwidth
// of the narrowest link, its latency the sum.
//
// It is called before connected, which uses the routes to check that all sites are reached. A pair of
// sites without a route keeps no links and an infinite bandwidth.
func (net *Network) findRoutes() {
	n := len(net.sites)
	dist := make([]float64, n*n)
	via := make([]int32, n*n) // first link of the route, -1 without a route
	for i := range dist {
		dist[i], via[i] = math.Inf(1), -1
	}
	for i := range n {
		dist[i*n+i] = 0
	}
	for i, l := range net.links {
		d := l.Latency + routeBytes/l.Bandwidth
		for _, at := range []int{l.A*n + l.B, l.B*n + l.A} {
			if d < dist[at] {
				dist[at], via[at] = d, int32(i)
			}
		}
	}
	// Invariant: dist holds the shortest routes with inner sites below k.
	for k := range n {
		for i := range n {
			for j := range n {
				if d := dist[i*n+k] + dist[k*n+j]; d < dist[i*n+j] {
					dist[i*n+j], via[i*n+j] = d, via[i*n+k]
				}
			}
		}
	}
	net.routes = make([]Route, n*n)
	for i := range n {
		for j := range n {
			r := &net.routes[i*n+j]
			r.Bandwidth = math.Inf(1)
			for at := i; at != j && via[at*n+j] >= 0; {
				k := via[at*n+j]
				l := net.links[k]
				r.Links = append(r.Links, k)
				r.Latency += l.Latency
				r.Bandwidth = min(r.Bandwidth, l.Bandwidth)
				at = l.A + l.B - at
			}
		}
	}
}

// connected returns an error that names the sites which the first one with a link, or the first of all, does not reach.
func (net *Network) connected() error {
	from := 0
	if len(net.links) > 0 {
		from = net.links[0].A
	}
	var cut []string
	first := -1
	for to := range net.sites {
		if to != from && len(net.Route(from, to).Links) == 0 {
			if first < 0 {
				first = to
			}
			cut = append(cut, net.sites[to].Name)
		}
	}
	if cut == nil {
		return nil
	}
	verb := "has"
	if len(cut) > 1 {
		verb = "have"
	}
	return &NetworkError{
		first, -1,
		fmt.Sprintf("the utility is disconnected: %s %s no link to %s, directly or over others",
			strings.Join(cut, ", "), verb, net.sites[from].Name),
	}
}

// Sites returns the sites. The slice must not be changed.
func (net *Network) Sites() []Site { return net.sites }

// Route returns the route between two sites, which the caller must not change.
func (net *Network) Route(from, to int) *Route { return &net.routes[from*len(net.sites)+to] }
