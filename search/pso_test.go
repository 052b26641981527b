package search

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// χ = 2/|2 - φ - √(φ² - 4φ)| with φ = 4.1 is the inertia, and χ·φ/2 the pull.
// Reference: Clerc and Kennedy 2002, eq. 4
func TestPSOConstriction(t *testing.T) {
	phi := 4.1
	chi := 2 / math.Abs(2-phi-math.Sqrt(phi*phi-4*phi))
	s := NewPSO(cube(1), PSOOptions{})
	if !(math.Abs(s.opts.Inertia-chi) <= 5e-5) || !(math.Abs(s.opts.Pull-chi*phi/2) <= 5e-5) {
		t.Errorf("got %v and %v, want %v and %v", s.opts.Inertia, s.opts.Pull, chi, chi*phi/2)
	}
}

// A particle that is at its own best, which is the best of all, moves by its inertia alone; after
// that the pull is between nothing and twice the weight.
// Reference: Kennedy and Eberhart 1995, §4, with the inertia of Clerc and Kennedy
func TestPSOMoves(t *testing.T) {
	for seed := range uint64(20) {
		s := NewPSO(cube(3), PSOOptions{Particles: 1, Seed: seed})
		p := mustAsk(t, s, 1)[0]
		x0 := append([]float64(nil), s.swarm[0].x...)
		v0 := append([]float64(nil), s.swarm[0].v...)
		mustTell(t, s, doneTrial(p, 1))
		p = mustAsk(t, s, 1)[0]
		x1, v1 := append([]float64(nil), s.swarm[0].x...), append([]float64(nil), s.swarm[0].v...)
		for i := range x0 {
			if want := x0[i] + 0.7298*v0[i]; !(math.Abs(x1[i]-want) <= 1e-6) && want > 0 && want < 1 {
				t.Errorf("seed %d, axis %d: at %v, want %v", seed, i, x1[i], want)
			}
		}
		mustTell(t, s, doneTrial(p, 2)) // worse: both bests are at x0
		mustAsk(t, s, 1)
		for i := range x0 {
			pull, gap := s.swarm[0].v[i]-0.7298*v1[i], x0[i]-x1[i]
			if x := s.swarm[0].x[i]; x > 0 && x < 1 && (pull*gap < -1e-5 || !(math.Abs(pull) <= 2*1.4962*math.Abs(gap)+1e-5)) {
				t.Errorf("seed %d, axis %d: a pull of %v over a distance of %v", seed, i, pull, gap)
			}
		}
	}
}

// Ask gives as many proposals as there are particles that are not out.
func TestPSOBatches(t *testing.T) {
	s := NewPSO(cube(2), PSOOptions{Particles: 5})
	ps := mustAsk(t, s, 100)
	if len(ps) != 5 {
		t.Fatalf("%d proposals, want 5", len(ps))
	}
	if more, err := s.Ask(1); len(more) != 0 || err != nil {
		t.Fatalf("%v and %v with all particles out, want nothing", more, err)
	}
	mustTell(t, s, doneTrial(ps[3], 1), doneTrial(ps[1], 2))
	if more := mustAsk(t, s, 100); len(more) != 2 {
		t.Errorf("%d proposals after 2 trials, want 2", len(more))
	}
}

// The swarm contracts on the least value of a smooth function of five reals.
func TestPSOConverges(t *testing.T) {
	for seed := range uint64(10) {
		s := NewPSO(cube(5), PSOOptions{Seed: seed, Particles: 10})
		best := math.Inf(1)
		for range 100 {
			for _, p := range mustAsk(t, s, 10) {
				v := 0.0
				for i, x := range p.Config {
					v += (x - 0.1*float64(i+2)) * (x - 0.1*float64(i+2))
				}
				best = min(best, v)
				mustTell(t, s, doneTrial(p, v))
			}
		}
		if best > 1e-4 {
			t.Errorf("seed %d: %v after 1,000 trials, want at most 1e-4", seed, best)
		}
	}
}

// A swarm that sits on visited points goes on around them: in a space of 100 it
// ends after 100 trials, with the neighbours of the best first.
func TestPSOOnVisitedPoints(t *testing.T) {
	s := NewPSO(intSpace(t, 2, 9), PSOOptions{Particles: 3, Seed: 2})
	n, near := 0, 0
	for {
		ps, err := s.Ask(1)
		if errors.Is(err, assay.ErrDone) {
			break
		}
		c := ps[0].Config
		d := math.Abs(c[0]-7) + math.Abs(c[1]-2)
		if n++; n <= 50 && d <= 3 {
			near++
		}
		mustTell(t, s, doneTrial(ps[0], d))
	}
	// 21 of the 100 are that near, so that random search has 10.
	if n != 100 || near < 18 {
		t.Errorf("%d trials, %d of the first 50 near the best; want 100 and at least 18 of the 21", n, near)
	}
}

// A parameter without a scale is drawn to a particle's own best and to the best of all by the strength of the
// pulls beside 1, and stays otherwise; now and then it takes any other level.
func TestPSOChooses(t *testing.T) {
	const dims, rounds = 10, 3000
	var ps []assay.Param
	for i := range dims {
		ps = append(ps, assay.Param{
			Name: string(rune('a' + i)), Kind: assay.Categorical,
			Levels: []string{"p", "q", "r", "s"},
		})
	}
	space, err := assay.NewSpace(ps)
	if err != nil {
		t.Fatal(err)
	}
	s := NewPSO(space, PSOOptions{Seed: 3})
	at := func(x float64) vertex { return vertex{slices.Repeat(assay.Config{x}, dims), 1} }
	var count [4]float64
	for range rounds {
		p := &particle{x: make([]float64, dims), v: make([]float64, dims)}
		s.move(p, at(1), at(2))
		for _, x := range p.x {
			count[int(x)] += 1.0 / dims / rounds
		}
	}
	var pull float64 // the chance of one of two pulls, each uniform from 0 to the strongest
	const parts = 400
	for i := range parts {
		for k := range parts {
			a, b := s.opts.Pull*(float64(i)+0.5)/parts, s.opts.Pull*(float64(k)+0.5)/parts
			pull += a / (1 + a + b) / (parts * parts)
		}
	}
	const anyLevel = 1.0 / (2 * dims)
	for x, want := range [4]float64{
		(1 - anyLevel) * (1 - 2*pull), (1-anyLevel)*pull + anyLevel/3, (1-anyLevel)*pull + anyLevel/3, anyLevel / 3,
	} {
		if !(math.Abs(count[x]-want) <= 0.015) { // five standard deviations
			t.Errorf("level %d is taken in %.3f of the moves, want %.3f", x, count[x], want)
		}
	}
}

// Rounding to a value does not move a particle: steps that are too small to show add up.
func TestPSORounding(t *testing.T) {
	s := NewPSO(intSpace(t, 1, 10), PSOOptions{})
	p := &particle{x: []float64{0.512}, v: []float64{0}}
	if c := s.advance(p); p.x[0] != 0.512 || c[0] != 5 {
		t.Errorf("the particle is at %v and proposes %v, want 0.512 and 5", p.x[0], c)
	}
	// 5 is taken, and a move by more than rounding takes the particle along.
	s.visited.add(assay.Config{5})
	if c := s.advance(p); c[0] == 5 || p.x[0] != s.position(c)[0] {
		t.Errorf("the particle is at %v and proposes %v", p.x[0], c)
	}
}
