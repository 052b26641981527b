package nimo

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/assay-run/assay"
)

// A program is a simulated program on a simulated workbench, with the shape of one of the four of
// Shivam, Babu and Chase 2006, §4.1. It reads and writes units of data over a network; while it computes
// on one unit, the next ones of a sequential part are fetched, so that a stall is the part of the
// latency that is not hidden: an interaction of processor speed and latency. Little memory makes it read
// data again, fetch less of it ahead, and compute longer.
type program struct {
	name       string
	attributes int     // 3: speed, memory and latency; 2: without memory
	units      float64 // data flow with plenty of memory
	work       float64 // MHz·s of computing per unit
	trips      float64 // round trips per unit
	ahead      float64 // share of the computing per unit that hides latency
	random     float64 // share of units that are not fetched ahead
	disk       float64 // s per unit
	working    float64 // MB of memory that are enough
	missed     float64 // share of fetching ahead that fails with no memory
	again      float64 // share of data that are read again with no memory
	slower     float64 // longer computing with no memory
}

// programs are sized after Table 2: all 150 assignments of BLAST take 130 h in the paper, the
// assignments of fMRI 112 h, and the 30 of NAMD and CardioWave 16 h each.
func programs() []program {
	return []program{
		{
			name: "BLAST", attributes: 3, units: 1e5, work: 8.1, trips: 2, ahead: 0.6, random: 0.4, disk: 0.002,
			working: 2048, missed: 0.1, again: 0.1, slower: 0.15,
		},
		{
			name: "fMRI", attributes: 3, units: 1.5e5, work: 2, trips: 1.2, ahead: 1, random: 0.5, disk: 0.005,
			working: 1500, missed: 0.1, again: 0.2, slower: 0.05,
		},
		{
			name: "NAMD", attributes: 2, units: 2e4, work: 70, trips: 2, ahead: 0.2, random: 0.2, disk: 0.002,
			working: 64,
		},
		{
			name: "CardioWave", attributes: 2, units: 4e4, work: 30, trips: 2, ahead: 0.3, random: 0.4, disk: 0.003,
			working: 64,
		},
	}
}

// space returns the assignments of §4.1: 5 speeds, 5 memory sizes, 6 latencies.
func (p program) space() *assay.Space {
	latencies := []string{"0", "0.0036", "0.0072", "0.0108", "0.0144", "0.018"}
	params := []assay.Param{
		{Name: "cpu", Kind: assay.Ordinal, Levels: []string{"451", "797", "930", "996", "1396"}, Unit: "MHz"},
		{Name: "rtt", Kind: assay.Ordinal, Levels: latencies, Unit: "s"},
		{Name: "memory", Kind: assay.Ordinal, Levels: []string{"64M", "256M", "512M", "1024M", "2048M"}, Unit: "B"},
	}
	s, err := assay.NewSpace(params[:p.attributes])
	if err != nil {
		panic(err) // the levels are those above
	}
	return s
}

// noise is the standard deviation of the logarithm of computing and of
// stalling from run to run.
const noise = 0.02

// run simulates a run of an assignment of the space, or of a part of it; without noise
// if rng is nil. The metrics are those that costmodel.Profile splits the time by.
func (p program) run(space *assay.Space, c assay.Config, rng *rand.Rand) assay.Measurement {
	value := func(i int) float64 { x, _ := assay.Number(space.Params[i].Levels[int(c[i])]); return x }
	speed, rtt, short := value(0), value(1), 0.0
	if p.attributes == 3 {
		memory := value(2) / (1 << 20)
		short = max(0, 1-memory/p.working)
	}
	vary := func() float64 {
		if rng == nil {
			return 1
		}
		return math.Exp(noise * rng.NormFloat64())
	}
	units := p.units * (1 + p.again*short)
	compute := p.work / speed * (1 + p.slower*short)
	random := p.random + (1-p.random)*p.missed*short
	network := random*p.trips*rtt + (1-random)*max(0, p.trips*rtt-p.ahead*compute)
	// Requests take the latency whether the program waits for them or not.
	compute *= vary()
	v := vary()
	network, disk := network*v, p.disk*v
	total := units * (compute + network + disk)
	return assay.Measurement{
		Elapsed: time.Duration(total * 1e9),
		Metrics: map[string]float64{
			"cpu": units * compute, "data_flow": units,
			"network_time": units * network, "disk_time": units * disk,
		},
	}
}
