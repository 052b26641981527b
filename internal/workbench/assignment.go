package workbench

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/assay-run/assay"
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

// Bounds of the attributes. Package link has the bounds of the network.
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

// split separates the attributes of this package from the resources of a job. It returns an error that
// names an attribute that is out of range.
func split(resources map[string]float64) (a assignment, rest map[string]float64, err error) {
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		x := resources[name]
		if !a.set(name, x) {
			if rest == nil {
				rest = map[string]float64{}
			}
			rest[name] = x
			continue
		}
		lo, hi, unit := bounds(name)
		if _, err := inRange(name, x, lo, hi, unit); err != nil {
			return a, nil, err
		}
	}
	return a, rest, nil
}

// set sets an attribute. It returns false if the attribute does not belong to this package.
func (a *assignment) set(name string, x float64) bool {
	switch name {
	case CPU:
		a.cpu = x
	case Memory:
		a.memory = x
	case RTT:
		a.rtt = seconds(x)
	case Bandwidth:
		a.bandwidth = x
	case Disk:
		a.disk = x
	default:
		return false
	}
	return true
}

// seconds returns x s.
func seconds(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }

// following returns the assignment at the beginning of traces. It returns an error if one of them cannot be
// followed.
func (a assignment) following(traces map[string]assay.Trace) (assignment, error) {
	for _, name := range slices.Sorted(maps.Keys(traces)) {
		t := traces[name]
		if _, err := CheckTrace(name, t); err != nil {
			return a, fmt.Errorf("the trace of %s: %w", name, err)
		}
		a.set(name, t.Points[0].Level)
	}
	return a, nil
}

// inRange returns x if it is in [lo, hi].
func inRange(name string, x, lo, hi float64, unit string) (float64, error) {
	if !(x >= lo && x <= hi) {
		return 0, fmt.Errorf("%s = %g %s is not between %g and %g", name, x, unit, lo, hi)
	}
	return x, nil
}
