package workbench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay/internal/stats"
)

// A Reading is one attribute of a resource as it was measured: the median of
// several observations and its interval.
type Reading struct {
	Name     string         // of the attribute: "float_speed", "rtt", ...
	Resource string         // "compute", "memory", "network" or "storage"
	Unit     string         // a base unit, or a rate of one
	Method   string         // how it was measured, in a few words
	Value    stats.Estimate // see [stats.MedianInterval]
}

// A Profile is the resource profile ρ of an assignment of resources (Shivam et al. 2006, §2.3): the
// abilities of its processor, memory, network and storage, as seen by a program that runs in our place.
type Profile struct {
	Readings []Reading
	Warnings []string // reasons to doubt the readings, for people
	Took     time.Duration
}

// Attributes returns the values by name, for a cost model.
func (p Profile) Attributes() map[string]float64 {
	m := make(map[string]float64, len(p.Readings))
	for _, r := range p.Readings {
		m[r.Name] = r.Value.Value
	}
	return m
}

// ProfileOptions select the measurements. The zero value measures all but storage in 15 seconds. If that
// is too short, because the machine is busy, each attribute has fewer observations, and a warning; at
// least three are made for any Time.
type ProfileOptions struct {
	Dir  string                 // where storage is measured, in a file that is gone afterwards; "" means not at all
	Host string                 // address of a [NetResponder]; "" means one of our own on the loopback interface
	Time time.Duration          // how long it takes, if the machine is not far too busy; 0 means 15 s
	File int64                  // size of the file in Dir in bytes; 0 means 64 MiB
	Set  int64                  // largest working set of memory in bytes, a power of two; 0 means 128 MiB
	Seed uint64                 // of the random orders
	Note func(attribute string) // is called before each is measured; may be nil

	now func() time.Time // the clock that Time is of; nil means the machine's
}

func (o ProfileOptions) resolve() ProfileOptions {
	if o.Time == 0 {
		o.Time = 15 * time.Second
	}
	if o.File == 0 {
		o.File = 64 << 20
	}
	if o.Set == 0 {
		o.Set = 128 << 20
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.now == nil {
		o.now = time.Now
	}
	return o
}

// leastRuns is the fewest observations of an attribute: an interval of the median at 0.95 needs 6, and
// with 9 the interval does not span the least to the greatest. If the time is too short for leastRuns,
// fewestRuns are made, whose median a single disturbed observation does not spoil.
const (
	leastRuns  = 9
	fewestRuns = 3
)

// MeasureProfile measures the resources of this machine, and the network between it and o.Host. Nothing
// else should run meanwhile. Bad options, such as a directory that cannot be written or a host that does
// not answer, are refused before anything is measured. It returns ctx's error soon after ctx is done.
func MeasureProfile(ctx context.Context, o ProfileOptions) (Profile, error) {
	o = o.resolve()
	if o.Set < 1<<20 || o.Set&(o.Set-1) != 0 {
		return Profile{}, fmt.Errorf("a working set of %d bytes is not a power of two from 1 MiB", o.Set)
	}
	began := o.now()
	m := &meter{ctx: ctx, opts: o, end: began.Add(o.Time), weights: 3*shareCompute + 6*shareMemory + 3*shareNetwork}
	if o.Dir != "" {
		m.weights += 4 * shareStorage
	}
	var disk *diskFile
	if o.Dir != "" {
		var err error
		if disk, err = newDiskFile(o.Dir, o.File); err != nil {
			return Profile{}, err
		}
		defer disk.close()
	}
	peer, err := dialProfile(ctx, o.Host)
	if err != nil {
		return Profile{}, err
	}
	defer peer.close()
	parts := []func() error{m.compute, m.memory, func() error { return m.network(peer) }}
	if disk != nil {
		parts = append(parts, func() error { return m.storage(disk) })
	}
	for _, part := range parts {
		if err := part(); err != nil {
			return Profile{}, err
		}
	}
	m.profile.Took = o.now().Sub(began)
	if n := len(m.short); n > 0 {
		m.warn("the time was too short for %d observations of %s: there are %d or more, and less is known of their "+
			"median; a longer --time has more", leastRuns, strings.Join(m.short, ", "), m.least)
	}
	return m.profile, nil
}

// A meter collects readings.
type meter struct {
	ctx     context.Context
	opts    ProfileOptions
	profile Profile
	end     time.Time // when all is to have been measured
	weights float64   // the sum of the shares of the attributes that remain
	short   []string  // attributes with fewer than leastRuns observations
	least   int       // the least number of observations of one of them
}

// shares are the parts of the time that the attributes get.
const (
	shareCompute = 0.07  // of three
	shareMemory  = 0.06  // of six
	shareNetwork = 0.07  // of three
	shareStorage = 0.055 // of four, which take longer where the disk is slow
)

// part returns the time of an attribute with a share of the remaining time. Time that earlier attributes
// overran or left over is spread over all that follow.
func (m *meter) part(share float64) time.Duration {
	left := m.end.Sub(m.opts.now())
	return max(0, time.Duration(share/max(share, m.weights)*float64(left)))
}

// read takes observations for a share of the time and adds the reading: leastRuns at least, or fewer if
// they take too long. observe returns one value; the first is dropped, since it includes one-time costs.
func (m *meter) read(r Reading, share float64, observe func() (float64, error)) error {
	m.opts.Note(r.Name)
	began, part := m.opts.now(), m.part(share)
	m.weights -= share
	if _, err := observe(); err != nil {
		return err
	}
	const most = 20_000        // observations of a round trip
	small := m.opts.Time / 100 // is not worth saving, also where nothing is left
	var xs []float64
	for len(xs) < most {
		spent := m.opts.now().Sub(began)
		if spent >= part && (len(xs) >= leastRuns || spent >= small && len(xs) >= fewestRuns) {
			break
		}
		if m.ctx.Err() != nil {
			return context.Cause(m.ctx)
		}
		x, err := observe()
		if err != nil {
			return err
		}
		xs = append(xs, x)
	}
	if n := len(xs); n < leastRuns {
		if len(m.short) == 0 || n < m.least {
			m.least = n
		}
		m.short = append(m.short, r.Name)
	}
	r.Value = stats.MedianInterval(xs, 0)
	m.profile.Readings = append(m.profile.Readings, r)
	return nil
}

// add adds a reading that is known exactly.
func (m *meter) add(r Reading, value float64) {
	r.Value = stats.Estimate{Value: value, Low: value, High: value, Level: 1, N: 1}
	m.profile.Readings = append(m.profile.Readings, r)
}

func (m *meter) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(m.profile.Warnings, text) {
		m.profile.Warnings = append(m.profile.Warnings, text)
	}
}

// errWrongResult is returned by a kernel with a wrong result: its time means nothing then, and the
// machine is not to be trusted.
var errWrongResult = errors.New("a kernel computed a wrong result on this machine")

// onCPU is how much processor time the calling thread has used, to the
// nanosecond: its usage is counted in ticks on some kernels.
func onCPU() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// ownShare runs f on one thread and returns the part of the time that the
// thread had a processor.
func ownShare(f func() error) (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began, used := time.Now(), onCPU()
	err := f()
	wall := time.Since(began)
	if wall <= 0 {
		return 1, err
	}
	return min(1, float64(onCPU()-used)/float64(wall)), err
}
