package abtest

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Runs of several configurations by two workers of one class and one of another: their medians are the
// machines', and the deviation is of each machine's own runs.
func TestGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	machines := []struct {
		Maker
		slower, noise float64
	}{{Maker{"rack1", "a"}, 1, 0.01}, {Maker{"rack2", "a"}, 1.2, 0.05}, {Maker{"old", "b"}, 2, 0.02}}
	var samples []NoiseSample
	for c := range 40 {
		s := NoiseSample{Config: "n"}
		for range 6 {
			for _, m := range machines {
				s.Values = append(s.Values, float64(1+c)*m.slower*(1+m.noise*rng.NormFloat64()))
				s.Makers = append(s.Makers, m.Maker)
			}
		}
		s.Values, s.Makers = append(s.Values, float64(1+c)), append(s.Makers, Maker{}) // of an unknown maker
		samples = append(samples, s)
	}
	samples = append(samples, NoiseSample{Config: "once", Values: []float64{1}, Makers: []Maker{{"rack9", "a"}}})
	n, err := NoiseOf(samples, "s", usual)
	if err != nil {
		t.Fatal(err)
	}
	if len(n.Workers) != 3 || len(n.Classes) != 2 || n.Workers[0].Worker != "rack1" || n.Workers[2].MachineClass != "b" {
		t.Fatalf("%+v\n%+v", n.Workers, n.Classes)
	}
	for i, m := range machines {
		g := n.Workers[i]
		// The median of a configuration is near the median of rack2, or a little below it.
		if ratio := g.Median / n.Workers[0].Median; !(math.Abs(ratio-m.slower) <= 0.03*m.slower) || g.Runs != 240 ||
			g.Configs != 40 {
			t.Errorf("%+v, want %v times the first", g, m.slower)
		}
		if want := m.noise * g.Median; g.CV == nil || !(math.Abs(*g.CV-want) <= 0.15*want) {
			t.Errorf("%s: a deviation of %v, want %v", g.Worker, *g.CV, want)
		}
	}
	// The deviation of a class is between machines too: half of 20 % of the median, about.
	if a := n.Classes[0]; a.Runs != 480 || a.CV == nil || *a.CV < 0.07 || *a.CV > 0.13 {
		t.Errorf("%+v, deviation %v", a, *a.CV)
	}
	var b strings.Builder
	if err := n.Write(&b, 0.05); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"by worker, as parts", "rack2", "240", "by class, as parts", "480"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	// Runs of unknown makers are in no group.
	n, err = NoiseOf([]NoiseSample{{Config: "a", Values: []float64{1, 2, 3}}}, "s", usual)
	if err != nil || n.Workers != nil || n.Classes != nil {
		t.Errorf("%+v, %v", n, err)
	}
	// One run of each of two workers shows how they compare, and nothing of their noise.
	n, err = NoiseOf([]NoiseSample{{
		Config: "a", Values: []float64{1, 2, 2},
		Makers: []Maker{{"w", "c"}, {"v", "c"}, {"v", "c"}},
	}}, "s", usual)
	if err != nil || len(n.Workers) != 2 || n.Workers[0].CV == nil || *n.Workers[0].CV != 0 || n.Workers[1].CV != nil {
		t.Errorf("%+v, %v", n.Workers, err)
	}
}
