package workbench

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMeasureProfile(t *testing.T) {
	dir := t.TempDir()
	var noted []string
	p, err := MeasureProfile(t.Context(), ProfileOptions{
		Dir: dir, Time: time.Second, File: 4 << 20, Set: 16 << 20, Note: func(what string) { noted = append(noted, what) },
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range p.Readings {
		names = append(names, r.Name)
		v := r.Value
		if !(v.Value > 0) || !v.Contains(v.Value) {
			t.Errorf("%s: %g [%g, %g]", r.Name, v.Value, v.Low, v.High)
		}
		if v.N != 1 && (v.N < fewestRuns || v.Level < 0.95) {
			t.Errorf("%s: %d runs, level %g", r.Name, v.N, v.Level)
		}
		said := slices.ContainsFunc(p.Warnings, func(w string) bool {
			return strings.HasPrefix(w, "the time was too short") && strings.Contains(w, r.Name)
		})
		if few := v.N != 1 && v.N < leastRuns; few && !said || !few && (math.IsInf(v.High, 0) || !(v.Low > 0)) {
			t.Errorf("%s: %g [%g, %g] of %d runs; said: %v", r.Name, v.Value, v.Low, v.High, v.N, p.Warnings)
		}
		if r.Method == "" || !slices.Contains([]string{"compute", "memory", "network", "storage"}, r.Resource) {
			t.Errorf("%s: resource %q, method %q", r.Name, r.Resource, r.Method)
		}
	}
	want := []string{
		"cpus", "integer_speed", "float_speed", "float_speed_all",
		"memory_size", "latency_16K", "latency_256K", "latency_4M", "memory_latency", "memory_read", "memory_copy",
		"rtt", "bandwidth", "bandwidth_back", "disk_write", "disk", "disk_read_latency", "disk_write_latency",
	}
	if !slices.Equal(names, want) {
		t.Errorf("attributes %v, want %v", names, want)
	}
	if a := p.Attributes(); len(a) != len(want) || a["rtt"] != p.Readings[11].Value.Value {
		t.Errorf("attributes %v", a)
	}
	if len(noted) != len(want)-2 || p.Took <= 0 {
		t.Errorf("noted %v, took %v", noted, p.Took)
	}
	without, err := MeasureProfile(t.Context(), ProfileOptions{Time: time.Millisecond, Set: 1 << 20})
	if err != nil || len(without.Readings) != len(want)-4 {
		t.Errorf("without storage: %d readings, %v", len(without.Readings), err)
	}
}

func TestMeasureProfileRefusesFirst(t *testing.T) {
	measured := func(what string) { t.Errorf("%s is measured", what) }
	for _, c := range []struct {
		name string
		o    ProfileOptions
		want string
	}{
		{"directory", ProfileOptions{Dir: "/no/such/directory"}, "cannot measure storage in /no/such/directory"},
		{"host", ProfileOptions{Host: "127.0.0.1:1"}, "cannot reach 127.0.0.1:1"},
		{"set", ProfileOptions{Set: 3 << 20}, "not a power of two"},
	} {
		c.o.Note = measured
		if _, err := MeasureProfile(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
}

func TestMeasureProfileEndsWithContext(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := MeasureProfile(ctx, ProfileOptions{Time: time.Hour, Set: 1 << 20, Note: func(string) { cancel(cause) }})
	if !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
}

// A fakeClock is a machine on which an observation takes the time each.
type fakeClock struct{ at time.Time }

func (c *fakeClock) now() time.Time { return c.at }

func (c *fakeClock) takes(d time.Duration) func() (float64, error) {
	return func() (float64, error) { c.at = c.at.Add(d); return d.Seconds(), nil }
}

// meterOf returns a meter of that many attributes of equal shares.
func meterOf(t *testing.T, c *fakeClock, limit time.Duration, attributes int) *meter {
	o := ProfileOptions{Time: limit, now: c.now}.resolve()
	return &meter{ctx: t.Context(), opts: o, end: c.at.Add(limit), weights: float64(attributes)}
}

// The time is kept, however busy the machine is: a slow attribute is observed less often, and is named.
func TestProfileKeepsItsTime(t *testing.T) {
	const attributes, limit = 16, 3 * time.Second
	for _, tt := range []struct {
		name string
		each time.Duration
		runs int // at least, of each
		most time.Duration
	}{
		{"quiet", time.Millisecond, leastRuns, limit},
		{"slow", 20 * time.Millisecond, fewestRuns, limit},
		{"busy", 40 * time.Millisecond, fewestRuns, limit},
		{"far too busy", 200 * time.Millisecond, fewestRuns, attributes * (1 + fewestRuns) * 200 * time.Millisecond},
	} {
		c := &fakeClock{}
		m := meterOf(t, c, limit, attributes)
		few := 0
		for range attributes {
			if err := m.read(Reading{Name: "x"}, 1, c.takes(tt.each)); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range m.profile.Readings {
			if r.Value.N < tt.runs {
				t.Errorf("%s: %d observations", tt.name, r.Value.N)
			}
			if r.Value.N < leastRuns {
				few++
			}
		}
		if took := c.at.Sub(time.Time{}); took > tt.most+2*tt.each || tt.name == "quiet" && took < limit*9/10 {
			t.Errorf("%s: %v of %v", tt.name, took, limit)
		}
		if few != len(m.short) {
			t.Errorf("%s: %d have too few, %d are named", tt.name, few, len(m.short))
		}
	}
}

// The excess time of one attribute comes from the attributes after it: those before it have had their part.
func TestProfilePartsAreOfWhatIsLeft(t *testing.T) {
	c := &fakeClock{}
	m := meterOf(t, c, 10*time.Second, 4)
	if got := m.part(1); got != 2500*time.Millisecond {
		t.Errorf("the first part is %v", got)
	}
	if err := m.read(Reading{}, 1, c.takes(time.Second)); err != nil { // 1 + 3 observations
		t.Fatal(err)
	}
	if got := m.part(1); got != 2*time.Second {
		t.Errorf("the second part is %v", got)
	}
	c.at = c.at.Add(time.Hour)
	if got := m.part(1); got != 0 {
		t.Errorf("a part of no time is %v", got)
	}
}

// The same on this machine, whose clock is made to run 30 times as fast: there are fewer observations
// of everything, and a warning names them.
func TestProfileOfABusyMachine(t *testing.T) {
	began := time.Now()
	fast := func() time.Time { return began.Add(30 * time.Since(began)) }
	o := ProfileOptions{Dir: t.TempDir(), Time: time.Second, Set: 16 << 20, File: 16 << 20, now: fast}
	p, err := MeasureProfile(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Warnings) == 0 || !strings.Contains(p.Warnings[len(p.Warnings)-1], "9 observations of ") {
		t.Errorf("warnings %q", p.Warnings)
	}
	few := 0
	for _, r := range p.Readings {
		if r.Value.N > 1 && r.Value.N < leastRuns {
			few++
		}
	}
	if few < 5 {
		t.Errorf("%d attributes have been observed less", few)
	}
}

// The working set is smaller if making it would take too much of the time, and a warning reports that.
func TestLargestSetFitsItsTime(t *testing.T) {
	for _, tt := range []struct {
		perByte float64
		want    int64
	}{{1e-9, 128 << 20}, {1e-8, 64 << 20}, {1, leastSet}} {
		c := &fakeClock{}
		m := meterOf(t, c, 2*time.Second, 1)
		m.weights = 4 * shareMemory // a part is half a second
		if got := m.largestSet(tt.perByte); got != tt.want || (got < 128<<20) != (len(m.profile.Warnings) == 1) {
			t.Errorf("%g s a byte: %d, %q", tt.perByte, got, m.profile.Warnings)
		}
	}
}

// An observation of latency is shorter where there is little time for it.
func TestChaseFitsItsTime(t *testing.T) {
	for _, tt := range []struct {
		within time.Duration
		want   int
	}{{time.Hour, mostSteps}, {2 * time.Millisecond, 2 * leastSteps}, {0, leastSteps}} {
		at := &fakeClock{}
		tick := func() time.Time { at.at = at.at.Add(time.Millisecond); return at.at }
		c := newChase(1<<20, 1)
		if c.fit(tt.within, tick); c.steps != tt.want {
			t.Errorf("within %v: %d steps, want %d", tt.within, c.steps, tt.want)
		}
		if x, err := c.latency(); err != nil || !(x > 0) {
			t.Errorf("within %v: %g, %v", tt.within, x, err)
		}
	}
}

// A disk is written in a file that its part of the time is enough for.
func TestDiskFileFitsItsTime(t *testing.T) {
	for _, tt := range []struct {
		within time.Duration
		want   int64
	}{{time.Hour, 16 << 20}, {0, 4 << 20}} {
		d, err := newDiskFile(t.TempDir(), 16<<20)
		if err != nil {
			t.Fatal(err)
		}
		c := &fakeClock{}
		tick := func() time.Time { c.at = c.at.Add(time.Millisecond); return c.at }
		if err := d.fit(tt.within, tick); err != nil || d.size != tt.want {
			t.Errorf("within %v: %d bytes, %v", tt.within, d.size, err)
		}
		d.close()
	}
}

func TestMeterNeedsEnoughRuns(t *testing.T) {
	c := &fakeClock{}
	m := meterOf(t, c, 10*time.Second, 1)
	calls := 0
	err := m.read(Reading{Name: "calls"}, 1, func() (float64, error) {
		calls++
		c.at = c.at.Add(time.Second)
		return float64(calls), nil
	})
	if v := m.profile.Readings[0].Value; err != nil || v.N != leastRuns || calls != leastRuns+1 ||
		v.Value != 6 || v.Low != 3 || v.High != 9 {
		t.Errorf("%+v after %d calls, %v", m.profile.Readings, calls, err)
	}
	if err := m.read(Reading{}, 0, func() (float64, error) { return 0, errWrongResult }); err != errWrongResult {
		t.Errorf("got %v", err)
	}
	if len(m.profile.Readings) != 1 {
		t.Error("a failed reading is kept")
	}
}

func TestOwnShare(t *testing.T) {
	busy, err := ownShare(func() error { _, err := whetstoneSpeed(1); return err })
	if err != nil || busy <= 0 || busy > 1 {
		t.Errorf("busy: %g, %v", busy, err)
	}
	idle, err := ownShare(func() error { time.Sleep(50 * time.Millisecond); return nil })
	if err != nil || idle > 0.5 {
		t.Errorf("idle: %g, %v", idle, err)
	}
}

// Every attribute is in the page that describes it.
func TestFormatPageNamesAttributes(t *testing.T) {
	page, err := os.ReadFile("../../docs/format/profile.md")
	if err != nil {
		t.Fatal(err)
	}
	opts := ProfileOptions{Dir: t.TempDir(), Time: time.Millisecond, Set: 1 << 20, File: 1 << 20}
	p, err := MeasureProfile(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Readings {
		if !strings.Contains(string(page), "`"+r.Name+"`") {
			t.Errorf("docs/format/profile.md does not name %s", r.Name)
		}
	}
}
