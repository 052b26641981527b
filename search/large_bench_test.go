package search

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// listedSpace is of n listed configurations of 10 parameters, a tenth of their grid.
func listedSpace(n int) *assay.Space {
	var ps []assay.Param
	for i := range 10 {
		p := assay.Param{Name: fmt.Sprintf("p%d", i), Kind: assay.Integer, Lo: 0, Hi: 7}
		if i%3 == 1 {
			p = assay.Param{Name: p.Name, Kind: assay.Categorical, Levels: []string{"a", "b", "c", "d"}}
		}
		ps = append(ps, p)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	seen := map[[10]float64]bool{}
	list := make([]assay.Config, 0, n)
	for len(list) < n {
		var c [10]float64
		for i, p := range ps {
			c[i] = float64(rng.IntN(int(p.Count())))
		}
		if !seen[c] {
			seen[c] = true
			list = append(list, append(assay.Config{}, c[:]...))
		}
	}
	return must(assay.NewList(ps, list))
}

// relatedSpace is of 25 parameters in chains of relations, some 10^20 configurations.
func relatedSpace() *assay.Space {
	var ps []assay.Param
	for i := range 25 {
		ps = append(ps, assay.Param{Name: fmt.Sprintf("p%d", i), Kind: assay.Integer, Lo: 1, Hi: 8})
	}
	var rels []assay.Relation
	for i := 0; i+1 < 25; i++ {
		if i%5 == 4 {
			continue
		}
		rels = append(rels, assay.Relation{
			Text: fmt.Sprintf("p%d + p%d <= 11", i, i+1), Params: []int{i, i + 1},
			Holds: func(c assay.Config) bool { return c[i]+c[i+1] <= 11 },
		})
	}
	return must(assay.NewSpace(ps, rels...))
}

// keptSpace is of relations that keep some 10^6 configurations of 9 parameters.
func keptSpace() *assay.Space {
	var ps []assay.Param
	var rels []assay.Relation
	for i := range 9 {
		ps = append(ps, assay.Param{Name: fmt.Sprintf("p%d", i), Kind: assay.Integer, Lo: 0, Hi: 7})
		if i > 0 {
			rels = append(rels, assay.Relation{
				Text: fmt.Sprintf("p%d + p%d <= 7", i-1, i), Params: []int{i - 1, i},
				Holds: func(c assay.Config) bool { return c[i-1]+c[i] <= 7 },
			})
		}
	}
	return must(assay.NewSpace(ps, rels...))
}

// BenchmarkAutoLarge measures one ask and tell at 100 trials where there are too many configurations to score each of
// them: listed, related, and more than can be listed. Goal: 30 ms. The memory is the amount that the space and the
// search hold.
func BenchmarkAutoLarge(b *testing.B) {
	for _, large := range []struct {
		name string
		of   func() *assay.Space
	}{
		{"listed", func() *assay.Space { return listedSpace(1_000_000) }},
		{"related", keptSpace},
		{"1e20", relatedSpace},
	} {
		b.Run(large.name, func(b *testing.B) {
			before := held()
			s := large.of()
			a := NewAuto(s, AutoOptions{Seed: 1})
			value := func(c assay.Config) float64 { return mixedValue(s, c) }
			r := NewRandom(s, 1)
			for range 100 {
				c, _ := r.draw()
				if err := a.Observe(doneTrial(assay.Proposal{Config: c}, value(c))); err != nil {
					b.Fatal(err)
				}
			}
			driveAuto(b, a, 3, value)
			memory := held() - before
			var spent time.Duration
			for b.Loop() {
				before := cpuTime()
				driveAuto(b, a, 1, value)
				spent += cpuTime() - before
			}
			b.ReportMetric(spent.Seconds()*1e3/float64(b.N), "cpu-ms/op")
			b.ReportMetric(memory/1e6, "MB")
			b.Logf("%v configurations", s.Size())
			runtime.KeepAlive(a)
		})
	}
}

// held returns the bytes of the heap that are in use.
func held() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
