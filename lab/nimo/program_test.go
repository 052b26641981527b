package nimo

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-run/assay/internal/costmodel"
)

// The simulated programs take about as long as the ones of Table 2: all assignments
// of each in the hours of the paper, within a third.
// Reference: Shivam, Babu and Chase 2006, Table 2
func TestNimoProgramsAreOfPublishedSize(t *testing.T) {
	hours := map[string]float64{"BLAST": 130, "fMRI": 112, "NAMD": 16, "CardioWave": 16}
	for _, p := range programs() {
		space := p.space()
		if want := map[int]int64{3: 150, 2: 30}[p.attributes]; space.Size().N != want {
			t.Errorf("%s has %v assignments, want %d", p.name, space.Size(), want)
		}
		var total float64
		for c := range space.All() {
			m := p.run(space, c, nil)
			total += m.Elapsed.Hours()
			r, err := costmodel.Profile(c, m, 0)
			if err != nil || r.Split != costmodel.SplitFull {
				t.Fatalf("%s: %+v, %v", p.name, r, err)
			}
		}
		if want := hours[p.name]; !(math.Abs(total-want) <= want/3) {
			t.Errorf("%s takes %.0f h, want about %.0f", p.name, total, want)
		}
	}
}

// A slow processor hides latency: on it, latency costs less.
// Reference: section 3.4
func TestNimoProgramsPrefetch(t *testing.T) {
	p := programs()[0]
	space := p.space()
	cost := func(speed float64) float64 {
		near := p.run(space, []float64{speed, 0, 4}, nil)
		far := p.run(space, []float64{speed, 2, 4}, nil)
		return (far.Elapsed - near.Elapsed).Seconds()
	}
	if slow, fast := cost(0), cost(4); slow > 0.8*fast {
		t.Errorf("7 ms cost %v s with the slow processor and %v s with the fast one", slow, fast)
	}
}

// Without noise the parts of the time add up; with it, computing and stalling vary by
// so much, and the same source of randomness gives the same runs.
func TestProgramRuns(t *testing.T) {
	for _, p := range programs() {
		space := p.space()
		var logs []float64
		rng, same := rand.New(rand.NewPCG(1, 0)), rand.New(rand.NewPCG(1, 0))
		for c := range space.All() {
			m := p.run(space, c, nil)
			sum := m.Metrics["cpu"] + m.Metrics["network_time"] + m.Metrics["disk_time"]
			if total := m.Elapsed.Seconds(); !(math.Abs(sum-total) <= 1e-6*total) {
				t.Fatalf("%s at %s takes %v s, its parts %v", p.name, space.Text(c), total, sum)
			}
			noisy := p.run(space, c, rng)
			if again := p.run(space, c, same); again.Elapsed != noisy.Elapsed {
				t.Fatalf("%s at %s takes %v, and %v by the same seed", p.name, space.Text(c), noisy.Elapsed,
					again.Elapsed)
			}
			logs = append(logs, math.Log(noisy.Metrics["cpu"]/m.Metrics["cpu"]))
		}
		var square float64
		for _, x := range logs {
			square += x * x / float64(len(logs))
		}
		if got := math.Sqrt(square); got < 0.6*noise || got > 1.4*noise {
			t.Errorf("%s: computing varies by %v, want about %v", p.name, got, noise)
		}
	}
}

// A program with less memory, a slower processor or a longer way takes longer.
func TestProgramsAreMonotone(t *testing.T) {
	for _, p := range programs() {
		space := p.space()
		for c := range space.All() {
			for i, better := range []float64{1, -1, 1}[:p.attributes] {
				d := c.Clone()
				d[i] += better
				if !space.Contains(d) {
					continue
				}
				if a, b := p.run(space, c, nil).Elapsed, p.run(space, d, nil).Elapsed; b > a {
					t.Fatalf("%s takes %v at %s and %v at %s", p.name, a, space.Text(c), b, space.Text(d))
				}
			}
		}
	}
}
