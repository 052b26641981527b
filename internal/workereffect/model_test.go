package workereffect_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/workereffect"
)

// A lab makes runs of a program whose time depends on two numbers, in no linear way.
type lab struct {
	rng    *rand.Rand
	space  *assay.Space
	effect map[string]float64 // logarithm, by worker
	class  map[string]string
	noise  float64
	last   int64
}

func newLab(t *testing.T, seed uint64, noise float64, effect map[string]float64) *lab {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{
		{Name: "a", Kind: assay.Integer, Hi: 63}, {Name: "b", Kind: assay.Integer, Hi: 63},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &lab{rand.New(rand.NewPCG(seed, 1)), space, effect, map[string]string{}, noise, 0}
}

func (l *lab) truth(c assay.Config) float64 {
	return 2 + c[0]/64 - 0.5*c[1]/64 + 0.1*math.Sin(c[0]/7)*math.Cos(c[1]/5)
}

func (l *lab) config() assay.Config {
	return assay.Config{float64(l.rng.IntN(64)), float64(l.rng.IntN(64))}
}

func (l *lab) run(c assay.Config, where string) assay.Trial {
	l.last++
	y := l.truth(c) + l.effect[where] + l.noise*l.rng.NormFloat64()
	return assay.Trial{
		Proposal: assay.Proposal{ID: l.last, Config: c}, State: assay.Done, Value: math.Exp(y),
		Measurement: assay.Measurement{Worker: where, MachineClass: l.class[where]},
		Started:     time.Unix(60*l.last, 0).UTC(),
	}
}

func (l *lab) model() *workereffect.Model { return workereffect.New(l.space, "") }

func TestOneWorkerChangesNothing(t *testing.T) {
	l := newLab(t, 1, 0.02, nil)
	m := l.model()
	for range 30 {
		r := l.run(l.config(), "one")
		if m.Add(r); m.Correct(r) != r.Value || m.Version() != 0 {
			t.Fatalf("trial %d of the only worker is corrected from %v to %v", r.ID, r.Value, m.Correct(r))
		}
	}
	local := l.run(l.config(), "")
	m.Add(local)
	if m.Correct(local) != local.Value {
		t.Error("a run without a worker is corrected")
	}
}

// contrast returns the logarithm of the ratio of two workers, by the model.
func contrast(m *workereffect.Model, a, b, class string) float64 {
	return math.Log(m.Factor(a, class) / m.Factor(b, class))
}

func TestEffectsAreFound(t *testing.T) {
	for seed := range uint64(5) {
		l := newLab(t, seed, 0.01, map[string]float64{"a": 0.05, "b": -0.03, "c": 0})
		m := l.model()
		raw := [3]float64{}
		for i := range 120 {
			r := l.run(l.config(), string("abc"[i%3]))
			raw[i%3] += math.Log(r.Value) / 40
			m.Add(r)
		}
		if got := contrast(m, "a", "b", ""); !(math.Abs(got-0.08) <= 0.03) {
			t.Errorf("seed %d: a against b %.3f, 0.08 is true; the means differ by %.3f", seed, got, raw[0]-raw[1])
		}
		for _, e := range m.Effects() {
			if d := math.Abs(math.Log(e.Ratio) - l.effect[e.Where] + 0.02/3); e.Runs != 40 || d > 4*e.Error+0.01 {
				t.Errorf("seed %d: %+v, %.3f off", seed, e, d)
			}
		}
	}
}

// Repeated runs by several workers show the effects without any function of the features.
func TestRepeatsSayMore(t *testing.T) {
	var with, without float64
	for seed := range uint64(10) {
		for _, repeats := range []bool{false, true} {
			l := newLab(t, seed, 0.003, map[string]float64{"a": 0.04, "b": -0.04})
			m := l.model()
			var c assay.Config
			for i := range 30 {
				if !repeats || i%2 == 0 {
					c = l.config()
				}
				m.Add(l.run(c, string("ab"[i%2])))
			}
			if off := math.Abs(contrast(m, "a", "b", "") - 0.08); repeats {
				with += off / 10
			} else {
				without += off / 10
			}
		}
	}
	if with > without/2 {
		t.Errorf("the effects are off by %.4f with repeats on both workers, %.4f without", with, without)
	}
}

// A worker with one bad run is near its class.
func TestFewRunsAreShrunk(t *testing.T) {
	l := newLab(t, 3, 0.01, nil)
	m := l.model()
	for i := range 60 {
		m.Add(l.run(l.config(), fmt.Sprintf("w%d", i%4)))
	}
	slow := l.run(l.config(), "new")
	slow.Value *= 1.3
	m.Add(slow)
	for range 3 { // it is estimated again
		m.Add(l.run(l.config(), "w0"))
	}
	if f := math.Log(m.Factor("new", "")); f > 0.13 || f < 0 {
		t.Errorf("one run that took 30 %% more moves a worker by %.3f", f)
	}
}

// One wild run changes nothing for a worker with many runs.
func TestHeavyTail(t *testing.T) {
	l := newLab(t, 4, 0.01, nil)
	m := l.model()
	for i := range 80 {
		r := l.run(l.config(), string("ab"[i%2]))
		if i%20 == 0 {
			r.Value *= 20
		}
		m.Add(r)
	}
	if d := contrast(m, "a", "b", ""); !(math.Abs(d) <= 0.03) {
		t.Errorf("four wild runs of forty move a worker by %.3f", d)
	}
}

func TestClasses(t *testing.T) {
	l := newLab(t, 5, 0.01, map[string]float64{"a": 0.02, "b": -0.02, "c": math.Log(3)})
	l.class = map[string]string{"a": "big", "b": "big", "c": "small"}
	m := l.model()
	var last assay.Trial
	for i := range 90 {
		last = l.run(l.config(), string("abc"[i%3]))
		m.Add(last)
	}
	if m.Target() != "big" {
		t.Errorf("values are of %q, and the first run was of big", m.Target())
	}
	if r := m.Class("small"); !(math.Abs(math.Log(r/3)) <= 0.05) {
		t.Errorf("the small machines take %.2f times as long, 3 is true", r)
	}
	if r := m.Class("big"); !(math.Abs(r-1) <= 0.001) {
		t.Errorf("the target is %v times itself", r)
	}
	want := math.Exp(l.truth(last.Config))
	if got := m.Correct(last); !(math.Abs(math.Log(got/want)) <= 0.08) {
		t.Errorf("a run of %.3f is worth %.3f, %.3f is true", last.Value, got, want)
	}
	other := workereffect.New(l.space, "small")
	other.Add(last)
	if other.Target() != "small" {
		t.Error("the target is not what was asked for")
	}
}

// A maximized metric has negative values, and the same factor. Values of both signs have none.
func TestSigns(t *testing.T) {
	l := newLab(t, 6, 0.01, map[string]float64{"a": 0.05, "b": -0.05})
	m := l.model()
	var r assay.Trial
	for i := range 60 {
		r = l.run(l.config(), string("ab"[i%2]))
		r.Value = -r.Value
		m.Add(r)
	}
	if d := contrast(m, "a", "b", ""); !(math.Abs(d-0.1) <= 0.03) {
		t.Errorf("a against b is %.3f, 0.1 is true", d)
	}
	if c := m.Correct(r); c >= 0 {
		t.Errorf("%v is corrected to %v", r.Value, c)
	}
	r.Value = 0
	m.Add(r)
	for range 3 {
		m.Add(l.run(l.config(), "a"))
	}
	if m.Factor("a", "") != 1 {
		t.Error("values of both signs are corrected")
	}
}

// A run without an exact value changes nothing, and a bound stays a bound.
func TestStates(t *testing.T) {
	l := newLab(t, 7, 0.01, map[string]float64{"a": 0.1, "b": -0.1})
	m := l.model()
	for i := range 40 {
		m.Add(l.run(l.config(), string("ab"[i%2])))
	}
	before := m.Version()
	bound := l.run(l.config(), "a")
	bound.State = assay.Censored
	failed := l.run(l.config(), "b")
	failed.State, failed.Value = assay.Failed, math.Inf(1)
	for range 20 {
		m.Add(bound)
		m.Add(failed)
	}
	if m.Version() != before {
		t.Error("runs without an exact value change the effects")
	}
	if c := m.Correct(bound); c >= bound.Value {
		t.Errorf("a bound of the slower worker goes from %v to %v", bound.Value, c)
	}
	if c := m.Correct(failed); !math.IsInf(c, 1) {
		t.Errorf("a failed run has the value %v", c)
	}
}

// The same runs in the same order give the same corrections, whatever was asked between them.
func TestDependsOnTheRunsAlone(t *testing.T) {
	l := newLab(t, 8, 0.02, map[string]float64{"a": 0.1})
	a, b := l.model(), l.model()
	for i := range 200 {
		r := l.run(l.config(), string("abc"[i%3]))
		a.Add(r)
		a.Correct(r)
		a.Effects()
		b.Add(r)
		if x, y := a.Correct(r), b.Correct(r); x != y {
			t.Fatalf("run %d is corrected to %v and %v", i, x, y)
		}
	}
	if v := a.Version(); v > 120 {
		t.Errorf("the effects of 200 runs were estimated %d times", v)
	}
}
