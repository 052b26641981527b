package queue

import (
	"context"
	"crypto/sha256"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/assay-run/assay/store"
)

// course is the hash of the record of one simulation: every event, with its time.
func course(t *testing.T, seed uint64) (sum [sha256.Size]byte) {
	synctest.Test(t, func(*testing.T) {
		w := newWorld(seed)
		err := w.run()
		h := sha256.New()
		fmt.Fprintln(h, err)
		for _, s := range w.studies {
			for e := range w.store.Events(context.Background(), s.name, 0) {
				text, _ := store.EncodeEvent(e)
				fmt.Fprintln(h, s.name, e.At.Sub(w.began), string(text))
			}
		}
		h.Sum(sum[:0])
	})
	return sum
}

// A seed takes the same course each time, on one processor and on several: a failure can be repeated.
func TestSimulatorRepeats(t *testing.T) {
	seeds := min(simSeeds()/20, 1000)
	for seed := range seeds {
		first := course(t, seed)
		procs := runtime.GOMAXPROCS(1 + int(seed%2))
		again := course(t, seed)
		runtime.GOMAXPROCS(procs)
		if first != again {
			t.Errorf("seed %d has taken two courses", seed)
		}
	}
}
