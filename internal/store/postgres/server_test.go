package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/store"
)

// soak reports whether there is time for the long form of a test.
func soak() bool { return os.Getenv("ASSAY_SOAK") == "1" }

// shared is the server of the tests that do it no harm.
var shared = sync.OnceValues(testbed.MakePostgres)

func TestMain(m *testing.M) {
	testbed.Wide(4)
	testbed.MainOutside(m, func() {
		if used.Load() {
			if s, err := shared(); err == nil {
				s.Remove()
			}
		}
	})
}

var used atomic.Bool

// freshAddress returns the address of an empty store on the shared server.
func freshAddress(t testing.TB) string {
	t.Helper()
	used.Store(true)
	s, err := shared()
	if errors.Is(err, testbed.ErrNoPostgres) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fresh(s)
}

var schemas struct {
	sync.Mutex
	n int
}

// fresh returns the address of an empty store on a server.
func fresh(s *testbed.Postgres) string {
	schemas.Lock()
	defer schemas.Unlock()
	schemas.n++
	return s.Address(fmt.Sprintf("&search_path=t%d", schemas.n))
}

// openTest opens a store until the end of the test.
func openTest(t testing.TB, address string) *Store {
	t.Helper()
	// A busy machine may stand still for a minute.
	s, err := Open(context.WithoutCancel(t.Context()), address, Options{Wait: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// pair returns the events that a study appends for one trial, of an ordinary size.
func pair(id int64) []assay.Event {
	at := time.Unix(1_770_000_000+id, 123456789).UTC()
	p := assay.Proposal{ID: id, Config: assay.Config{float64(id % 9), 0.25, 1024, 3}}
	return []assay.Event{
		{At: at, Spent: time.Duration(id) * time.Second, Asked: &p},
		{At: at.Add(time.Second), Spent: time.Duration(id+1) * time.Second, Told: &assay.Trial{
			Proposal: p, State: assay.Done, Value: 1 + 1/float64(id+1), Attempts: 1, Started: at, Ended: at.Add(time.Second),
			Measurement: assay.Measurement{Elapsed: 987654321, Metrics: map[string]float64{
				"cpu_s": 0.9, "rss_B": 12345678, "read_B": 4096, "write_B": 8192, "user_s": 0.7, "sys_s": 0.2,
			}},
		}},
	}
}

// put appends the trial of that ID to a study that has those before it.
func put(ctx context.Context, s assay.Store, study string, id int64) error {
	_, err := s.Append(ctx, study, assay.Position(2*(id-1)), pair(id)...)
	return err
}

// checkPairs fails unless the study is trials 1 to n as pair makes them, each once and in order.
// It returns n.
func checkPairs(t testing.TB, s assay.Store, study string) int64 {
	t.Helper()
	n := int64(0)
	for e, err := range s.Events(t.Context(), study, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if want := pair(n/2 + 1)[n%2]; !assaytest.SameEvent(e, want) {
			t.Fatalf("study %q: event %d: got %+v, want %+v", study, n+1, e, want)
		}
		n++
	}
	if n%2 != 0 {
		t.Errorf("study %q: half of an Append is there: %d events", study, n)
	}
	return n / 2
}

// checkFsck fails unless the store is as it was written.
func checkFsck(t testing.TB, s *Store) {
	t.Helper()
	r, err := s.Fsck(context.WithoutCancel(t.Context()), store.FsckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		t.Errorf("fsck: %v", p)
	}
}
