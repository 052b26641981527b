package nimo

import (
	"math"
	"testing"

	"github.com/assay-run/assay/costmodel"
	"github.com/assay-run/assay/internal/bench"
)

// The simulated programs take about as long as those of Table 2: all assignments
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
		if want := hours[p.name]; math.Abs(total-want) > want/3 {
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

// The external test set is never run.
// Reference: section 4.1
func TestNimoTable2(t *testing.T) {
	es, err := experiment("table2")
	if err != nil {
		t.Fatal(err)
	}
	byMethod := map[string]Cell{}
	for _, e := range es {
		if e.program.name != "BLAST" {
			continue
		}
		c, err := e.Measure(t.Context(), Options{Seeds: 2, Seed: 1, Pool: bench.Pool{Workers: 2}})
		if err != nil {
			t.Fatal(err)
		}
		byMethod[e.Method] = c
	}
	auto, published, all := byMethod["auto"], byMethod["defaults"], byMethod["all at once"]
	if auto.Final > 12 || auto.FinalRuns > 15 || auto.To10 == nil {
		t.Errorf("auto ends with %.1f %% after %v runs", auto.Final, auto.FinalRuns)
	}
	if auto.FinalMinutes > published.FinalMinutes/2 {
		t.Errorf("auto takes %.0f min, the defaults of the paper %.0f", auto.FinalMinutes, published.FinalMinutes)
	}
	if all.FinalRuns != 120 {
		t.Errorf("all at once runs %v assignments, want the 120 outside of the test set", all.FinalRuns)
	}
}
