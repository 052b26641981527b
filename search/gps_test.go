package search

import (
	"math"
	"testing"

	"github.com/assay-run/assay"
)

// One by one: every point of a poll is one step of the mesh from the centre in
// one parameter; the mesh is doubled after a success, and halved only when the
// poll of all directions had none.
// Reference: Torczon 1997, §2 (Algorithms 1 and 2) with θ = 1/2 and λ = 2
func TestGPSPolls(t *testing.T) {
	space := intSpace(t, 2, 64)
	f := bowl(45, 13)
	s := NewGPS(space, GPSOptions{Seed: 3})
	for range s.opts.Initial {
		p := mustAsk(t, s, 1)[0]
		mustTell(t, s, doneTrial(p, f(p.Config)))
	}
	halved, doubled := 0, 0
	mesh := s.opts.Mesh
	for range 60 {
		before := s.center.at
		p := mustAsk(t, s, 1)[0]
		if !s.polled[p.ID] || p.Config.Equal(s.center.at) {
			break // a restart
		}
		c := s.center.at
		if before != nil && before.Equal(c) && s.mesh < mesh {
			halved++
			for _, y := range pollOf(space, c, mesh) {
				if v, ok := s.value[y.Key()]; !ok || v < s.center.value {
					t.Fatalf("the mesh %v around %v was halved, and %v is %v (known: %v)", mesh, c, y, v, ok)
				}
			}
		}
		step := math.Max(1, math.Round(64*s.mesh))
		dx, dy := math.Abs(p.Config[0]-c[0]), math.Abs(p.Config[1]-c[1])
		if dx*dy != 0 || dx+dy > step || dx+dy < step && p.Config[0] != 0 && p.Config[0] != 64 &&
			p.Config[1] != 0 && p.Config[1] != 64 {
			t.Fatalf("mesh %v around %v: polls %v", s.mesh, c, p.Config)
		}
		mesh = s.mesh
		v := f(p.Config)
		success := v < s.center.value
		mustTell(t, s, doneTrial(p, v))
		if want := min(2*mesh, 0.5); success && s.mesh != want {
			t.Errorf("the mesh is %v after a success at %v, want %v", s.mesh, mesh, want)
		}
		if success {
			doubled++
			mesh = s.mesh
		}
	}
	if best := s.best(); !best.at.Equal(assay.Config{45, 13}) || halved < 2 || doubled < 1 {
		t.Errorf("the best is %v after %d halvings and %d doublings, want (45, 13) after some", best, halved, doubled)
	}
}

// pollOf returns the points of a poll of two integers 0..64 that are not the centre.
func pollOf(space *assay.Space, c assay.Config, mesh float64) (points []assay.Config) {
	for i := range c {
		for _, sign := range []float64{1, -1} {
			y := c.Clone()
			y[i] = min(max(c[i]+sign*math.Round(64*mesh), 0), 64)
			if !y.Equal(c) && space.Contains(y) {
				points = append(points, y)
			}
		}
	}
	return points
}

// All levels of a category are polled at every mesh.
// Reference: Audet and Dennis 2001, §2.1 (the user's set of neighbours)
func TestGPSPollsCategories(t *testing.T) {
	params := append(cube(1).Params, assay.Param{Name: "k", Kind: assay.Categorical, Levels: []string{"x", "y", "z", "w"}})
	space, err := assay.NewSpace(params)
	if err != nil {
		t.Fatal(err)
	}
	s := NewGPS(space, GPSOptions{})
	s.center, s.mesh = vertex{assay.Config{0.5, 2}, 1}, 0.25
	got := map[float64]int{}
	for _, p := range s.points() {
		got[p[1]]++
		if p[1] != 2 && p[0] != 0.5 {
			t.Errorf("polls %v, which differs in two parameters", p)
		}
	}
	if got[0] != 1 || got[1] != 1 || got[3] != 1 || got[2] != 2 {
		t.Errorf("points by level %v, want one of each other and two of its own", got)
	}
}

// The direction of the latest success is polled first.
func TestGPSLeads(t *testing.T) {
	s := NewGPS(intSpace(t, 4, 100), GPSOptions{Seed: 1})
	s.center, s.mesh = vertex{assay.Config{50, 50, 50, 50}, 10}, 0.25
	s.succeed(vertex{assay.Config{50, 50, 25, 50}, 5})
	for range 20 {
		if p := s.points()[0]; p[2] >= 25 || p[0] != 50 || p[1] != 50 || p[3] != 50 {
			t.Errorf("the first point of the poll is %v, want further down in the third parameter", p)
		}
	}
}

// A batch that is larger than the poll is filled with points of the search step,
// and the best of these is the next centre.
func TestGPSBatches(t *testing.T) {
	s := NewGPS(intSpace(t, 2, 50), GPSOptions{Seed: 5})
	tell := func(ps []assay.Proposal, f func(assay.Config) float64) {
		for _, p := range ps {
			mustTell(t, s, doneTrial(p, f(p.Config)))
		}
	}
	tell(mustAsk(t, s, 6), separableInts)
	ps := mustAsk(t, s, 20)
	if len(ps) != 20 {
		t.Fatalf("%d proposals, want 20", len(ps))
	}
	last := ps[19]
	if s.polled[last.ID] {
		t.Fatal("20 points of a poll of four")
	}
	tell(ps, func(c assay.Config) float64 {
		if c.Equal(last.Config) {
			return -1
		}
		return separableInts(c)
	})
	if !s.center.at.Equal(last.Config) {
		t.Errorf("the centre is %v, want %v", s.center.at, last.Config)
	}
}

// A point of the search step is the next centre only if it is better than the centre and all else that is known. One
// that is as good as the centre is no success, neither of the search step nor of the poll.
func TestGPSStays(t *testing.T) {
	start := func() *GPS {
		s := NewGPS(intSpace(t, 2, 50), GPSOptions{Seed: 5})
		for i, p := range mustAsk(t, s, 6) { // the first is the best, with 10
			mustTell(t, s, doneTrial(p, float64(10+i)))
		}
		return s
	}
	s := start()
	batch := mustAsk(t, s, 20)
	centre, mesh := s.center.at, s.mesh
	for i, p := range batch {
		mustTell(t, s, doneTrial(p, 10))
		if !s.center.at.Equal(centre) || s.mesh != mesh {
			t.Fatalf("point %d of 20 that are as good as the centre %v: the centre is %v, the mesh %v",
				i, centre, s.center.at, s.mesh)
		}
	}
	// After a restart the centre may be worse than the best: a point that only beats the centre does not take its place.
	s = start()
	last := mustAsk(t, s, 20)[19]
	s.center = vertex{assay.Config{25, 25}, 100}
	mustTell(t, s, doneTrial(last, 50))
	if !s.center.at.Equal(assay.Config{25, 25}) {
		t.Errorf("the centre of 100 gives way to %v of 50, and 10 is known", s.center)
	}
	// As long as the value of the new centre is not known nothing is better than it.
	s = start()
	last = mustAsk(t, s, 20)[19]
	s.center = vertex{assay.Config{25, 25}, math.NaN()}
	mustTell(t, s, doneTrial(last, 5))
	if !s.center.at.Equal(assay.Config{25, 25}) {
		t.Errorf("a centre that has not been told yet gives way to %v", s.center)
	}
}
