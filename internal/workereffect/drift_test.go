package workereffect_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/workereffect"
)

// played returns the drifts that a model finds in a lab in which a worker changes.
func played(l *lab, workers, runs, at int, by float64) (found []workereffect.Drift, when []int) {
	m := l.model()
	slower := fmt.Sprintf("w%d", workers-1)
	for i := range runs {
		if i == at {
			l.effect[slower] += by
		}
		m.Add(l.run(l.config(), fmt.Sprintf("w%d", l.rng.IntN(workers))))
		if d, ok := m.Drift(); ok {
			found, when = append(found, d), append(when, i)
			m.SetAside(d.Worker, d.MachineClass, d.Since)
		}
	}
	return found, when
}

// A worker that becomes slower is found soon, and named, with when that was and by how much.
func TestDriftIsFound(t *testing.T) {
	for _, workers := range []int{2, 3, 6} {
		right, wrong := 0, 0
		var late, since, ratio float64
		const seeds = 12
		for seed := range uint64(seeds) {
			l := newLab(t, seed, 0.01, map[string]float64{"w0": 0.02})
			at := 20 * workers
			found, when := played(l, workers, at+16*workers, at, math.Log(1.2))
			for i, d := range found {
				if d.Worker != fmt.Sprintf("w%d", workers-1) || when[i] < at {
					wrong++
					continue
				}
				right++
				late += float64(when[i]-at) / float64(workers) / seeds
				since += math.Abs(d.Since.Sub(time.Unix(60*int64(at), 0)).Minutes()) / float64(workers) / seeds
				ratio += d.Ratio / seeds
				break
			}
		}
		t.Logf("%d workers: %d of %d found, %d wrong, after %.1f runs of each, onset off by %.1f, ratio %.3f", workers, right,
			seeds, wrong, late, since, ratio)
		least := seeds - 1
		if workers == 2 { // one worker is little to compare with
			least = seeds / 2
		}
		if right < least || wrong > 1 || late > 14 || since > 4 || !(math.Abs(ratio-1.2*float64(right)/seeds) <= 0.06) {
			t.Errorf("%d workers: %d of %d found, %d wrong, %.1f late, onset off by %.1f, ratio %.3f", workers, right, seeds,
				wrong, late, since, ratio)
		}
	}
}

// Workers that differ and stay as they are do not drift, nor do those with a heavy tail.
func TestNoDriftWhereNoneIs(t *testing.T) {
	false_, all := 0, 0
	for seed := range uint64(10) {
		for _, heavy := range []bool{false, true} {
			l := newLab(t, seed, 0.02, map[string]float64{"w0": 0.08, "w1": -0.05})
			m := l.model()
			for i := range 200 {
				r := l.run(l.config(), fmt.Sprintf("w%d", l.rng.IntN(4)))
				if heavy && i%9 == 0 {
					r.Value *= 1 + l.rng.ExpFloat64()
				}
				m.Add(r)
				if d, ok := m.Drift(); ok {
					t.Logf("seed %d, heavy %v: run %d: %+v", seed, heavy, i, d)
					false_++
					m.SetAside(d.Worker, d.MachineClass, d.Since)
				}
			}
			all++
		}
	}
	if false_ > all/5 {
		t.Errorf("%d drifts in %d studies of 200 runs in which nothing changes", false_, all)
	}
}

// The runs of a worker while it had drifted do not count, and its later runs count as another worker's.
func TestSetAside(t *testing.T) {
	l := newLab(t, 2, 0.005, nil)
	m := l.model()
	for i := range 40 {
		m.Add(l.run(l.config(), string("ab"[i%2])))
	}
	l.effect = map[string]float64{"b": math.Log(1.5)}
	from := l.last + 1
	for i := range 24 {
		m.Add(l.run(l.config(), string("ab"[i%2])))
	}
	if f := m.Factor("b", ""); f < 1.05 {
		t.Fatalf("a slower worker has a factor of %.3f", f)
	}
	before := m.Version()
	m.SetAside("b", "", time.Unix(60*from, 0))
	if m.Version() == before {
		t.Error("nothing changes when a worker is set aside")
	}
	if f := m.Factor("b", ""); !(math.Abs(f-1) <= 0.01) {
		t.Errorf("what it will run has a factor of %.3f", f)
	}
	old := assay.Trial{
		State: assay.Done, Value: 1, Measurement: assay.Measurement{Worker: "b"}, Started: time.Unix(60, 0),
	}
	if v := m.Correct(old); !(math.Abs(v-1) <= 0.02) {
		t.Errorf("what it ran before is corrected from 1 to %.3f", v)
	}
	for i := range 24 {
		m.Add(l.run(l.config(), string("ab"[i%2])))
	}
	if f := m.Factor("b", ""); f < 1.3 {
		t.Errorf("it goes on 1.5 times slower, and has a factor of %.3f", f)
	}
	if n := len(m.Effects()); n != 3 {
		t.Errorf("%d workers, want a, b before and b since", n)
	}
}
