package workbench

import (
	"math"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/meterfs"
)

// The observations of a run are compared with its request: more than asked is not in force, less is
// off, and a missing measurement is neither.
func TestVerify(t *testing.T) {
	asked := assignment{cpu: 0.5, rtt: 10 * time.Millisecond, bandwidth: 20e6, disk: 2e6}
	ms := func(x ...float64) (trips []meterfs.Trip) {
		for _, v := range x {
			trips = append(trips, meterfs.Trip{Took: time.Duration(v * 1e6)})
		}
		return trips
	}
	good := func() seen {
		return seen{
			elapsed: 10, cpu: 4.9, left: 15, trips: ms(10.2, 10.4, 11), read: 16e6, written: 1e6, busy: 8,
			device: 16e6, wall: 10.5,
		}
	}
	for name, c := range map[string]struct {
		change        func(s *seen)
		broken, worse string
	}{
		"in force":                      {change: func(*seen) {}},
		"more processor time":           {change: func(s *seen) { s.cpu = 9 }, broken: CPU},
		"the same by stopping in turn":  {change: func(s *seen) { s.cpu, s.soft = 9, true }, worse: CPU},
		"idle by itself":                {change: func(s *seen) { s.cpu = 1 }},
		"kept from computing":           {change: func(s *seen) { s.cpu, s.left = 1, 2 }, worse: CPU},
		"no link":                       {change: func(s *seen) { s.trips = ms(0.2, 0.3, 0.3) }, broken: RTT},
		"one round trip that cannot be": {change: func(s *seen) { s.trips = ms(5, 10, 10) }, broken: RTT},
		"a late link":                   {change: func(s *seen) { s.trips = ms(11, 16, 25) }, worse: RTT},
		"one late round trip":           {change: func(s *seen) { s.trips = ms(10, 10, 250) }},
		"no limit of the link":          {change: func(s *seen) { s.busy = 1 }, broken: Bandwidth},
		"little data": {change: func(s *seen) {
			s.read, s.written, s.device, s.busy = 1e5, 0, 1e5, 1e-3
		}},
		"no limit of the disk": {change: func(s *seen) { s.device = 60e6 }, broken: Disk},
		"a first burst of the device": {change: func(s *seen) {
			s.device, s.wall, s.read, s.written, s.busy = 3.1e6, 1.3, 3.1e6, 0, 1.3
		}},
		"more than a burst": {change: func(s *seen) {
			s.device, s.wall, s.read, s.written, s.busy = 3.1e6, 1, 3.1e6, 0, 1.3
		}, broken: Disk},
		"the storage's own limit has no burst": {change: func(s *seen) {
			s.device, s.busy, s.read, s.written = math.NaN(), 1, 1.25e6, 1.25e6
		}, broken: Disk},
		"not counted, and no limit": {change: func(s *seen) {
			s.device, s.busy, s.read, s.written = math.NaN(), 2, 4.9e6, 4.9e6
		}, broken: Disk},
		"what is cached": {change: func(s *seen) { s.device = 0; s.busy = 4; s.read = 7e6 }},
		"what is cached, faster than the disk": {
			change: func(s *seen) { s.device = 0; s.busy = 3; s.read = 7e6 },
			worse:  Disk,
		},
		"nothing measured": {change: func(s *seen) {
			*s = seen{elapsed: 10, wall: 10, cpu: math.NaN(), left: math.NaN(), device: math.NaN()}
		}},
		"set anew by somebody": {change: func(s *seen) { s.wrong = "cpu.max is max" }, broken: "?"},
	} {
		s := good()
		c.change(&s)
		broken, worse := asked.verify(s)
		if got := attributesOf(broken); got != c.broken {
			t.Errorf("%s: not in force %q, want %q: %v", name, got, c.broken, broken)
		}
		if got := attributesOf(worse); got != c.worse {
			t.Errorf("%s: off %q, want %q: %v", name, got, c.worse, worse)
		}
	}
}

func attributesOf(offs []off) (names string) {
	for _, o := range offs {
		if o.attribute == "" {
			names += "?"
		}
		names += o.attribute
	}
	return names
}

// A setting is compared with the value that the kernel shows, which rounds memory to pages and adds words.
func TestAgrees(t *testing.T) {
	for _, c := range []struct {
		written, shows string
		want           bool
	}{
		{"25000", "25000\n", true},
		{"25000", "-1\n", false},
		{"25000 50000", "25000 50000\n", true},
		{"25000 50000", "max 50000\n", false},
		{"100000000", "99999744\n", true},
		{"100000000", "9223372036854771712\n", false},
		{"8:0 4000000", "8:0 4000000\n", true},
		{"8:0 4000000", "", false},
		{"8:0 rbps=4000000 wbps=4000000", "8:0 rbps=4000000 wbps=4000000 riops=max wiops=max\n", true},
		{"8:0 rbps=4000000 wbps=4000000", "8:0 rbps=max wbps=4000000 riops=max wiops=max\n", false},
	} {
		if got := agrees(c.written, c.shows); got != c.want {
			t.Errorf("%q and %q: %v", c.written, c.shows, got)
		}
	}
}

// Idle time and time of guests, which is counted as time of users, are no use.
func TestMachineUse(t *testing.T) {
	got := parseUse("cpu  100 20 3 1000 50 6 7 8 99 99\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
	if want := machineTime(1.44); !(math.Abs(float64(got-want)) <= 1e-9) {
		t.Errorf("%g s, want %g", got, want)
	}
	for _, text := range []string{"", "cpu 1 2", "intr 1 2 3 4 5 6 7 8 9"} {
		if got := parseUse(text); !math.IsNaN(float64(got)) {
			t.Errorf("%q: %g", text, got)
		}
	}
}
