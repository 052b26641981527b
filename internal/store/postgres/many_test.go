package postgres

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// Many clients at once, some of which write to the same studies, in more stores than the server lets connect at a time:
// each waits for its turn, no call fails but for one who was slower, and no study has a gap or anything twice.
func TestManyClients(t *testing.T) {
	const studies = 40
	clients, appends := testbed.Times(60, 200), int64(10)
	if soak() {
		appends = 50
	}
	address := freshAddress(t)
	stores := make([]*Store, clients/10) // each is a process of ten clients
	for i := range stores {
		stores[i] = openTest(t, address)
	}
	for i := range studies {
		if err := stores[0].Create(t.Context(), fmt.Sprint("s", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	var slower atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	for c := range clients {
		wg.Go(func() {
			s, study := stores[c%len(stores)], fmt.Sprint("s", c%studies)
			for range appends {
				began := time.Now()
				for {
					sum, err := s.Summary(t.Context(), study)
					if err != nil {
						t.Error(err)
						return
					}
					e := pair(sum.Events + 1)[0]
					e.Asked.Config[0] = float64(100 + c) // whose it is: the same event again is no error
					_, err = s.Append(t.Context(), study, assay.Position(sum.Events), e)
					if err == nil {
						break
					}
					if !errors.Is(err, assay.ErrConflict) {
						t.Error(err)
						return
					}
					slower.Add(1)
				}
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	total := int64(0)
	for i := range studies {
		n := int64(0)
		for e, err := range stores[0].Events(t.Context(), fmt.Sprint("s", i), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; e.Asked == nil || e.Asked.ID != n {
				t.Fatalf("event %d of s%d is %+v", n, i, e)
			}
		}
		total += n
	}
	if want := int64(clients) * appends; total != want {
		t.Errorf("%d events are on record, want %d", total, want)
	}
	slices.Sort(took)
	t.Logf("%d clients in %d stores: %d appends, %d were slower than another and came again; half within %v, all within "+
		"%v",
		clients, len(stores), total, slower.Load(), took[len(took)/2], took[len(took)-1])
	checkFsck(t, stores[0])
}
