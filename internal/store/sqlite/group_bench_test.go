package sqlite

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// BenchmarkStudies has 32 studies append at once, one trial after the other: with the writes
// that wait in one transaction, and as the control each in its own. Rounds of both alternate
// in one run; "gain" is how many times as many appends there are in the same time.
func BenchmarkStudies(b *testing.B) {
	const studies = 32
	open := func(most int) *Store {
		s, err := Open(b.Context(), filepath.Join(b.TempDir(), "a.db"), Options{groupMost: most})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Close() })
		for i := range studies {
			if err := s.Create(b.Context(), fmt.Sprint(i), nil); err != nil {
				b.Fatal(err)
			}
		}
		return s
	}
	// each appends n trials to every study and returns how long that took.
	each := func(s *Store, from, n int64) time.Duration {
		var wg sync.WaitGroup
		began := time.Now()
		for i := range studies {
			wg.Go(func() {
				for id := from; id < from+n; id++ {
					if err := put(b.Context(), s, fmt.Sprint(i), id); err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
		return time.Since(began)
	}
	grouped, single := open(groupMost), open(1)
	var together, apart time.Duration
	n := int64(0)
	for b.Loop() {
		together += each(grouped, n+1, 10)
		apart += each(single, n+1, 10)
		n += 10
	}
	b.ReportMetric(float64(n*studies)/together.Seconds(), "grouped/s")
	b.ReportMetric(float64(n*studies)/apart.Seconds(), "single/s")
	b.ReportMetric(float64(apart)/float64(together), "gain")
}
