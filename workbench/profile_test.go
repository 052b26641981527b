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
		if !(v.Value > 0) || math.IsInf(v.High, 0) || !(v.Low > 0) || !v.Contains(v.Value) {
			t.Errorf("%s: %g [%g, %g]", r.Name, v.Value, v.Low, v.High)
		}
		if v.N != 1 && (v.N < leastRuns || v.Level < 0.95) {
			t.Errorf("%s: %d runs, level %g", r.Name, v.N, v.Level)
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

func TestMeterNeedsEnoughRuns(t *testing.T) {
	m := &meter{ctx: t.Context(), opts: ProfileOptions{}.resolve()}
	calls := 0
	err := m.read(Reading{Name: "calls"}, 0, func() (float64, error) { calls++; return float64(calls), nil })
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

// Every attribute is in the page that says what it is.
func TestFormatPageNamesAttributes(t *testing.T) {
	page, err := os.ReadFile("../docs/format/profile.md")
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
