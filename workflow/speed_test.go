package workflow

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// layered returns a workflow of n tasks in levels of the given width, each
// task waiting for two of the level before.
func layered(t testing.TB, n, width int) *Workflow {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	b := Builder{Name: "layered"}
	for i := range n {
		if _, err := b.Task(Task{ID: fmt.Sprintf("t%07d", i), Kind: "k", Run: 1 + 10*rng.Float64(), Machine: -1},
			Pos{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := width; i < n; i++ {
		base := (i/width - 1) * width
		for range 2 {
			b.from = append(b.from, int32(base+rng.IntN(width)))
			b.to = append(b.to, int32(i))
		}
	}
	w, err := b.Build(FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

const million = 1_000_000

// BenchmarkLevels16 counts levels both ways and estimates 16 numbers of slots for
// 10^6 tasks; the goal is 250 ms.
func BenchmarkLevels16(b *testing.B) {
	w := layered(b, million, 1000)
	for b.Loop() {
		for _, l := range []Leveler{TopDown{}, BottomUp{}} {
			m, err := NewLevelModel(w, l, Overhead{Level: PaperDelay})
			if err != nil {
				b.Fatal(err)
			}
			for i := range 16 {
				if _, err := m.Makespan(1 << i); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

// BenchmarkSimulate64 simulates 10^6 tasks on 64 slots; the goal is 300 ms.
func BenchmarkSimulate64(b *testing.B) {
	w := layered(b, million, 1000)
	for b.Loop() {
		if _, err := Simulate(w, 64, SimOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSimulateSite64 is the same with delays and shared storage.
func BenchmarkSimulateSite64(b *testing.B) {
	w := layered(b, million, 1000)
	for i := range w.Tasks {
		w.Tasks[i].In = 1e6
	}
	for b.Loop() {
		if _, err := Simulate(w, 64, SimOptions{Overhead: Overhead{Level: 1, Dispatch: 0.01, Byte: 1e-9}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSlack64 is for 10^5 tasks.
func BenchmarkSlack64(b *testing.B) {
	w := layered(b, million/10, 1000)
	run := w.Runs()
	for b.Loop() {
		Slack{}.Level(w.Graph, run, 64)
	}
}
