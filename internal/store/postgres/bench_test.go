package postgres

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/store/sqlite"
)

// BenchmarkStudies has 32 studies append at once, and one alone: "gain" is how many times as many
// appends they make in the same time, since the server puts commits together. A file that is
// written by one process does the same in the same run; "of-file" and "one-of-file" are the
// database's appends as parts of its. Rounds of all alternate. ASSAY_PG_DIR chooses the disk of
// the server: in memory a commit costs nothing.
func BenchmarkStudies(b *testing.B) {
	file, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "a.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	db := openTest(b, freshAddress(b))
	var names []string
	for i := range 33 {
		names = append(names, fmt.Sprint("s", i))
		for _, s := range []assay.Store{file, db} {
			if err := s.Create(b.Context(), names[i], nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	// each appends n trials to every study and returns how long that took.
	each := func(s assay.Store, names []string, from, n int64) time.Duration {
		began := time.Now()
		done := make(chan error)
		for _, name := range names {
			go func() {
				var err error
				for id := from; id < from+n && err == nil; id++ {
					err = put(context.Background(), s, name, id)
				}
				done <- err
			}()
		}
		for range names {
			if err := <-done; err != nil {
				b.Error(err)
			}
		}
		return time.Since(began)
	}
	var took [4]time.Duration
	n := int64(0)
	for b.Loop() {
		for i, s := range []assay.Store{db, file} {
			took[i] += each(s, names[1:], n+1, 10)
			took[i+2] += each(s, names[:1], n+1, 10)
		}
		n += 10
	}
	rate := func(i, studies int) float64 { return float64(n) * float64(studies) / took[i].Seconds() }
	b.ReportMetric(rate(0, 32), "many/s")
	b.ReportMetric(rate(2, 1), "one/s")
	b.ReportMetric(rate(0, 32)/rate(2, 1), "gain")
	b.ReportMetric(rate(0, 32)/rate(1, 32), "of-file")
	b.ReportMetric(rate(2, 1)/rate(3, 1), "one-of-file")
}
