package workbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/meterfs"
)

func traceOf(every time.Duration, points ...float64) assay.Trace {
	t := assay.Trace{Every: every}
	for i := 0; i < len(points); i += 2 {
		t.Points = append(t.Points, assay.TracePoint{At: seconds(points[i]), Level: points[i+1]})
	}
	return t
}

// Each level is set at its time, with the others that vary. The levels in force are known afterwards, with
// the time that setting took.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		traces := map[string]assay.Trace{
			Bandwidth: traceOf(10*time.Second, 0, 100, 4, 20),
			RTT:       traceOf(0, 0, 0.001, 4, 0.010, 6, 0.002),
		}
		var f *follower
		f = newFollower(traces, func(levels map[string]float64, changed []string) error {
			calls = append(calls, fmt.Sprintf("%v %v %g %g", time.Since(f.began), changed, levels[Bandwidth], levels[RTT]))
			time.Sleep(100 * time.Millisecond)
			return nil
		})
		time.Sleep(3 * time.Second) // entering the assignment is no part of the run
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(13*time.Second, cancel)
		f.follow(ctx)
		want := []string{
			"4s [bandwidth rtt] 20 0.01", "6s [rtt] 20 0.002", "10s [bandwidth] 100 0.002",
		}
		if !slices.Equal(calls, want) {
			t.Errorf("set %q\nwant %q", calls, want)
		}
		courses, err := f.been()
		if err != nil {
			t.Fatal(err)
		}
		at := func(s float64) time.Time { return f.began.Add(seconds(s)) }
		if c := courses[Bandwidth].within(at(3.9), at(4.05)); c.least() != 20 || c.greatest() != 100 {
			t.Errorf("while it was set anew it was from %g to %g", c.least(), c.greatest())
		}
		if c := courses[Bandwidth].within(at(5), at(9)); c.least() != 20 || c.greatest() != 20 {
			t.Errorf("after that from %g to %g", c.least(), c.greatest())
		}
		want13 := (4*100 + 0.1*60 + 5.9*20 + 0.1*60 + 2.9*100) / 13
		if got := f.means(13 * time.Second)[Bandwidth]; !(math.Abs(got-want13) <= 1e-9) {
			t.Errorf("mean %g, want %g", got, want13)
		}
		// 3 s before the start, 4.1 s after it, and 2.9 s in the end at 100; the rest at 20. While it is set anew the
		// higher one counts.
		if got, want := courses[Bandwidth].most(12), 10.1*100+1.9*20.; !(math.Abs(got-want) <= 1e-9) {
			t.Errorf("at most %g in 12 s, want %g", got, want)
		}
	})
}

// A level that cannot be set ends the following, and is reported.
func TestFollowFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFollower(map[string]assay.Trace{CPU: traceOf(0, 0, 1, 2, 0.5, 4, 1)},
			func(map[string]float64, []string) error { return errors.New("no such group") })
		f.follow(t.Context())
		if _, err := f.been(); err == nil || !strings.Contains(err.Error(), "after 2s, [cpu]: no such group") {
			t.Errorf("%v", err)
		}
	})
}

func TestCheckTrace(t *testing.T) {
	for _, c := range []struct {
		attribute string
		trace     assay.Trace
		point     int
		want      string
	}{
		{CPU, traceOf(0, 0, 0.5, 3, 0.25), 0, ""},
		{RTT, traceOf(0, 0, 0), 0, ""},
		{Memory, traceOf(0, 0, 1e9), -1, "memory does not vary"},
		{Bandwidth, traceOf(0, 0, 1e8, 5, 10), 1, "bandwidth = 10 bit/s is not between"},
		{CPU, traceOf(0, 0, 1e6), 0, "cpu = 1e+06 processors"},
		{Disk, traceOf(0, 1, 1e6), 0, "second 1, not at second 0"},
	} {
		point, err := CheckTrace(c.attribute, c.trace)
		if (err == nil) != (c.want == "") || err != nil && (point != c.point || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %d, %v", c.attribute, point, err)
		}
	}
}

// The observations of a run are compared with the levels that were in force at their time.
func TestVerifyTraces(t *testing.T) {
	began := time.Unix(1000, 0)
	at := func(s float64) time.Time { return began.Add(seconds(s)) }
	courseOf := func(first, then float64) course { // from 5 s on
		return course{
			{began, at(5), first, first},
			{at(5), at(5.01), min(first, then), max(first, then)},
			{at(5.01), at(10), then, then},
		}
	}
	asked := assignment{cpu: 0.8, rtt: 2 * time.Millisecond, bandwidth: 20e6, disk: 4e6}
	trips := func(s *seen, before, after float64) {
		s.trips = nil
		for i := range 10 {
			took := before
			if i >= 5 {
				took = after
			}
			end := at(0.5 + float64(i))
			s.trips = append(s.trips, meterfs.Trip{Took: seconds(took / 1000), Start: end.Add(-seconds(took / 1000)), End: end})
		}
	}
	good := func() seen {
		s := seen{
			courses: map[string]course{
				CPU: courseOf(0.8, 0.2), RTT: courseOf(0.002, 0.020), Bandwidth: courseOf(20e6, 4e6), Disk: courseOf(4e6, 1e6),
			},
			began: began, start: began, now: at(10), wall: 10, elapsed: 10,
			cpu: 4.9, left: 15, read: 12e6, written: 1e6, busy: 8, device: 23e6,
		}
		trips(&s, 2.1, 20.2)
		return s
	}
	for name, c := range map[string]struct {
		change        func(s *seen)
		broken, worse string
	}{
		"in force":                         {change: func(*seen) {}},
		"the share did not fall":           {change: func(s *seen) { s.cpu = 7.9 }, broken: CPU},
		"the processor was lacking":        {change: func(s *seen) { s.cpu, s.left = 3, 3.5 }, worse: CPU},
		"the round trip did not grow":      {change: func(s *seen) { trips(s, 2.1, 2.1) }, broken: RTT},
		"the round trip was long too soon": {change: func(s *seen) { trips(s, 20.2, 20.2) }},
		// Half of the trip was before the change, and then the service took 0.2 s.
		"a long service over the change": {change: func(s *seen) {
			s.trips = append(s.trips, meterfs.Trip{Took: seconds(0.011), Start: at(4.99), End: at(5.2)})
		}},
		"a short trip after it": {change: func(s *seen) {
			s.trips = append(s.trips, meterfs.Trip{Took: seconds(0.011), Start: at(5.1), End: at(5.3)})
		}, broken: RTT},
		"it was late all the time":     {change: func(s *seen) { trips(s, 9, 30) }, worse: RTT},
		"the rate did not fall":        {change: func(s *seen) { s.read, s.device = 19e6, 19e6 }, broken: Bandwidth},
		"busy while the rate was high": {change: func(s *seen) { s.read, s.busy = 11e6, 4.8 }},
		"the disk did not fall":        {change: func(s *seen) { s.device = 38e6 }, broken: Disk},
		"not counted, and did not fall": {change: func(s *seen) {
			s.device, s.read, s.written, s.busy = math.NaN(), 13e6, 17e6, 10
		}, broken: Disk},
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
