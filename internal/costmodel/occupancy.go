package costmodel

import (
	"fmt"
	"math"

	"github.com/assay-run/assay"
)

// A Part is the quantity that one predictor function predicts: a part of the time of a run per unit of data flow, the
// data flow, or the whole time.
type Part uint8

const (
	Compute  Part = iota // o_a: computing, s per unit of data flow
	Network              // o_n: stalled on the network, s per unit
	Disk                 // o_d: stalled on storage, s per unit
	Stall                // o_s: all time not computing, if not split, s per unit
	Whole                // o_a + o_s if they are not separated, s per unit
	DataFlow             // D: units of data read and written
	Time                 // T: s
	Other                // neither the processor nor I/O: one thread of many cores, a busy machine, a sleep; s per unit
)

// The names are part of the format of a saved model.
var partNames = [...]string{"compute", "network", "disk", "stall", "whole", "data_flow", "time", "other"}

// String returns "compute", "network", "disk", "stall", "whole", "data_flow", "time"
// or "other".
func (p Part) String() string {
	if int(p) < len(partNames) {
		return partNames[p]
	}
	return fmt.Sprintf("Part(%d)", uint8(p))
}

// ParsePart is the inverse of [Part.String].
func ParsePart(name string) (Part, error) {
	for i, n := range partNames {
		if n == name {
			return Part(i), nil
		}
	}
	return 0, fmt.Errorf("no part %q", name)
}

// A Split is the level of detail into which the time of a run could be separated.
type Split uint8

const (
	SplitNone  Split = iota // the total only
	SplitStall              // compute and stall
	SplitFull               // compute, network and disk, and other where a run has it
)

var splitParts = [...][]Part{{Whole}, {Compute, Stall}, {Compute, Network, Disk}}

// Parts returns the occupancies that add up to the total, with [Other] where a run has it.
func (s Split) Parts() []Part { return splitParts[s] }

// A Run is the measurement of one finished run (Algorithm 3).
type Run struct {
	Config  assay.Config // the assignment
	Seconds float64      // T, > 0
	// DataFlow is D, > 0. A program that does no I/O, or whose I/O was not
	// measured, has one unit of data flow: the run itself.
	DataFlow float64
	// NoIO reports a measured data flow of 0, for which DataFlow is 1.
	NoIO  bool
	Split Split // the separated parts
	// Compute, Network and Disk are o_a, o_n and o_d. With SplitStall, Disk is
	// all of o_s; with SplitNone, Compute is o_a + o_s.
	Compute, Network, Disk float64
	// Other is the time that neither the processor nor the requests for data account for, with SplitFull: s per unit.
	Other float64
}

// Of returns a part of the run. For parts that the run does not separate, it returns their sum.
func (r Run) Of(p Part) float64 {
	switch p {
	case Compute:
		return r.Compute
	case Network:
		return r.Network
	case Disk:
		return r.Disk
	case Stall:
		return r.Network + r.Disk + r.Other
	case Other:
		return r.Other
	case Whole:
		return r.Compute + r.Network + r.Disk + r.Other
	case DataFlow:
		return r.DataFlow
	}
	return r.Seconds
}

// Profile derives data flow and occupancies from the measurement (Shivam, Babu and Chase 2006, Algorithm 3, solved):
//
//	o_a = U·T/D,  o_n + o_d + o_w = (1-U)·T/D,
//
// T = m.Elapsed, U = "cpu"/(T·cores), and D = "data_flow". "user" + "system" replace a missing "cpu". So T = D·(o_a +
// o_n + o_d + o_w), which is Eq. 1 with o_w = 0.
//
// The paper assumes a program of one thread alone on a processor: the time without computing is stalls on I/O. Other
// programs do not satisfy this. So o_n + o_d are the time during which requests were under way, "stall_time" or else
// "network_time" + "disk_time", if it is less than the time without computing; their ratio is "network_time" to
// "disk_time". The rest is o_w, [Run.Other].
//
// cores is the number of the program's cores, or its share of a core; 0 means the metric "cores", or 1. U above 1, from
// rounding or from more cores, is 1. Without data flow D is 1. Without CPU time there is no split; without times of I/O
// requests, all time without computing is a stall that is not split.
//
// It returns an error if T is not positive, if a metric is negative or not finite, or if T/D is not finite.
//
// Stalls are a residual: all time that the processor did not work. A program with fewer busy threads than cores, or one
// that waits for a busy machine, shows stalls that are neither network nor disk.
func Profile(c assay.Config, m assay.Measurement, cores float64) (Run, error) {
	t := m.Elapsed.Seconds()
	if t <= 0 {
		return Run{}, fmt.Errorf("a run of %v s", t)
	}
	for _, name := range [...]string{
		"cpu", "user", "system", "data_flow", "network_time", "disk_time", "stall_time", "cores",
	} {
		if x, ok := m.Metrics[name]; ok && (!(x >= 0) || math.IsInf(x, 1)) {
			return Run{}, fmt.Errorf("metric %q is %v", name, x)
		}
	}
	r := Run{Config: c, Seconds: t, DataFlow: 1}
	if d, measured := m.Metrics["data_flow"]; d > 0 {
		if r.DataFlow = d; math.IsInf(t/d, 1) {
			return Run{}, fmt.Errorf("a data flow of %v in %v s: the occupancy is undefined", d, t)
		}
	} else {
		r.NoIO = measured
	}
	cpu, ok := processorTime(m)
	if !ok {
		r.Compute = t / r.DataFlow
		return r, nil
	}
	if cores <= 0 {
		if cores = m.Metrics["cores"]; cores <= 0 {
			cores = 1
		}
	}
	// Utilization U, the first line of Algorithm 3.
	u := min(cpu/(t*cores), 1)
	r.Compute = u * t / r.DataFlow
	r.wait(m, (1-u)*t)
	return r, nil
}

// processorTime returns the processor time of all cores, in seconds, if it was measured.
func processorTime(m assay.Measurement) (float64, bool) {
	if cpu, ok := m.Metrics["cpu"]; ok {
		return cpu, true
	}
	user, okU := m.Metrics["user"]
	system, okS := m.Metrics["system"]
	return user + system, okU || okS
}

// wait shares out the seconds that the program did not compute.
//
// It sets Split, Network, Disk and Other. DataFlow is set before. Compute is not touched.
func (r *Run) wait(m assay.Measurement, seconds float64) {
	network, okN := m.Metrics["network_time"]
	disk, okD := m.Metrics["disk_time"]
	if !okN || !okD {
		r.Split, r.Disk = SplitStall, seconds/r.DataFlow
		return
	}
	r.Split = SplitFull
	requests := network + disk
	if under, ok := m.Metrics["stall_time"]; ok {
		requests = min(requests, under)
	}
	io := min(requests, seconds)
	if io > 0 {
		r.Network = io * (network / (network + disk)) / r.DataFlow
		r.Disk = io/r.DataFlow - r.Network
	}
	r.Other = (seconds - io) / r.DataFlow
}
