package workbench

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/assay-run/assay/internal/link"
)

// Attributes of a resource assignment: the keys of [assay.Job].Resources that a
// Bench realises. One that is absent is not limited.
const (
	CPU       = "cpu"       // processors, or a part of one
	Memory    = "memory"    // bytes, page cache included
	RTT       = "rtt"       // seconds, added to the round-trip time to the storage
	Bandwidth = "bandwidth" // bit/s to and from the storage
	Disk      = "disk"      // bytes/s of the storage beyond its cache
)

// Bounds of the attributes; those of the network are of package link.
const (
	minCPU    = 0.01
	minMemory = 1 << 20
	minDisk   = 16 << 10
)

// An assignment is a resource assignment. 0 means no limit.
type assignment struct {
	cpu       float64
	memory    float64
	rtt       time.Duration
	bandwidth float64
	disk      float64
}

// has reports whether an attribute is limited.
func (a assignment) has(name string) bool {
	switch name {
	case CPU:
		return a.cpu > 0
	case Memory:
		return a.memory > 0
	case RTT:
		return a.rtt > 0
	case Bandwidth:
		return a.bandwidth > 0
	case Disk:
		return a.disk > 0
	}
	return false
}

// split takes what is ours out of the resources of a job. It returns an error
// that names an attribute that is out of range.
func split(resources map[string]float64) (a assignment, rest map[string]float64, err error) {
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		x := resources[name]
		switch name {
		case CPU:
			a.cpu, err = inRange(name, x, minCPU, float64(runtime.NumCPU()), "processors")
		case Memory:
			a.memory, err = inRange(name, x, minMemory, math.MaxInt64, "B")
		case RTT:
			var s float64
			s, err = inRange(name, x, 0, link.MaxRTT.Seconds(), "s")
			a.rtt = time.Duration(s * float64(time.Second))
		case Bandwidth:
			a.bandwidth, err = inRange(name, x, link.MinRate, link.MaxRate, "bit/s")
		case Disk:
			a.disk, err = inRange(name, x, minDisk, math.MaxInt64, "B/s")
		default:
			if rest == nil {
				rest = map[string]float64{}
			}
			rest[name] = x
		}
		if err != nil {
			return a, nil, err
		}
	}
	return a, rest, nil
}

// inRange returns x if it is in [lo, hi].
func inRange(name string, x, lo, hi float64, unit string) (float64, error) {
	if !(x >= lo && x <= hi) {
		return 0, fmt.Errorf("%s = %g %s is not between %g and %g", name, x, unit, lo, hi)
	}
	return x, nil
}
