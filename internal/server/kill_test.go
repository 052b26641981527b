package server_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
)

// Four workers and a server, each a process, of which one, or server and worker, are killed again and
// again at any instant: no trial is missing or counts twice, every attempt that began is booked, and the
// cost of attempts that do not count is the sum of their bookings. ASSAY_KILLS is the number of kills.
func TestFleetKilled(t *testing.T) {
	testbed.Outside(t)
	kills := testbed.Times(4, 12)
	if os.Getenv("ASSAY_SOAK") != "" {
		kills = 500
	}
	if n, err := strconv.Atoi(os.Getenv("ASSAY_KILLS")); err == nil {
		kills = n
	}
	t.Setenv("ASSAY_TEST_LEASE", "2s")
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const studies, machines = 3, 4
	names := []string{"s0", "s1", "s2"}
	text := func(seed, trials int) string {
		return trivial("sh, -c, 'sleep 0.0$(($1 % 9))', sh, '{n}'", seed, trials, 2)
	}
	_, c, end := start(t, dir, 0)
	for i, name := range names {
		lab{c, dir}.submit(t, name, text(i, 1_000_000))
	}
	var killWorker [machines]func()
	birth := func(i int) {
		cmd := process(t, dir, fmt.Sprint("w", i))
		killWorker[i] = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	}
	for i := range killWorker {
		birth(i)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range kills {
		time.Sleep(time.Duration(rng.Int64N(int64(400 * time.Millisecond))))
		i, what := rng.IntN(machines), rng.IntN(3)
		if what != 0 {
			killWorker[i]()
		}
		if what != 1 {
			end()
			_, c, end = start(t, dir, studies)
		}
		if what != 0 {
			birth(i)
		}
	}
	for i, name := range names { // they end
		d, err := c.Study(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		lab{c, dir}.submit(t, name, text(i, int(d.Study.Done)+10))
	}
	lab{c, dir}.ended(t, names...)
	end()
	store, err := setup.OpenStore(t.Context(), filepath.Join(dir, "assay.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	trials, lost := 0, 0
	for _, name := range names {
		all, sum, l := audited(t, store, name)
		trials, lost = trials+len(l.told), lost+l.lost
		// The control: a record without one of its bookings, and one in which a trial ends twice, are seen.
		for i, e := range all {
			switch {
			case e.Booked != nil && e.Booked.Counts() && len(readLedger(append(all[:i:i], all[i+1:]...)).close(sum)) == 0:
				t.Fatalf("%s: nobody misses event %d", name, i+1)
			case e.Told != nil && len(readLedger(append(all[:i:i], append([]assay.Event{e}, all[i:]...)...)).wrong) == 0:
				t.Fatalf("%s: nobody sees event %d twice", name, i+1)
			}
			if i > 100 {
				break
			}
		}
	}
	t.Logf("%d kills, %d trials, %d attempts lost", kills, trials, lost)
}

// A ledger has the trials and attempts of a record.
type ledger struct {
	asked, told map[int64]bool
	began       map[assay.RunID]bool // and were not booked
	counts      map[assay.RunID]bool // by the run: the attempt is 0
	cost        time.Duration        // of attempts that do not count
	givenUp     map[int64]int        // trials that failed, by the attempts that they took
	lostOf      map[int64]int        // attempts of a trial that do not count
	lost        int
	wrong       []string
}

func readLedger(all []assay.Event) *ledger {
	l := &ledger{
		asked: map[int64]bool{}, told: map[int64]bool{}, began: map[assay.RunID]bool{}, counts: map[assay.RunID]bool{},
		givenUp: map[int64]int{}, lostOf: map[int64]int{},
	}
	no := func(format string, args ...any) { l.wrong = append(l.wrong, fmt.Sprintf(format, args...)) }
	for _, e := range all {
		switch {
		case e.Asked != nil:
			if l.asked[e.Asked.ID] {
				no("trial %d was asked twice", e.Asked.ID)
			}
			l.asked[e.Asked.ID] = true
		case e.Told != nil:
			if l.told[e.Told.ID] || !l.asked[e.Told.ID] {
				no("trial %d ended twice, or was not asked", e.Told.ID)
			}
			l.told[e.Told.ID] = true
			if e.Told.State == assay.Failed {
				l.givenUp[e.Told.ID] = e.Told.Attempts
			}
		case e.Started != nil:
			l.began[e.Started.RunID] = true
		case e.Booked != nil:
			id := e.Booked.RunID
			delete(l.began, id)
			l.cost += e.Booked.Lost() // negative for an attempt that counts and was taken for lost before
			if id.Attempt = 0; !e.Booked.Counts() {
				l.lost++
				l.lostOf[id.Trial]++
				continue
			}
			if l.counts[id] {
				no("run %+v counts twice", id)
			}
			l.counts[id] = true
		}
	}
	return l
}

// audited returns the record of a study that has ended, and its ledger, in which nothing may be wrong.
func audited(t *testing.T, store *setup.Store, name string) (all []assay.Event, sum assay.Summary, l *ledger) {
	t.Helper()
	for e, err := range store.Events(t.Context(), name, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	sum, err := store.Summary(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	l = readLedger(all)
	if l.wrong = append(l.wrong, l.close(sum)...); len(l.wrong) > 0 {
		t.Errorf("%s: %s", name, strings.Join(l.wrong, "; "))
	}
	return all, sum, l
}

// close returns the errors of the ledger at the end of a study.
func (l *ledger) close(sum assay.Summary) (wrong []string) {
	for id := range l.told {
		ran := false
		for run := range l.counts {
			ran = ran || run.Trial == id && run.Repeat == 0
		}
		// A trial is given up once all attempts that it may have were lost.
		if tries := l.givenUp[id]; !ran && (tries < 2 || l.lostOf[id] < tries) {
			wrong = append(wrong, fmt.Sprintf("trial %d ended without a run that counts", id))
		}
	}
	for id := range l.asked {
		if !l.told[id] {
			wrong = append(wrong, fmt.Sprintf("trial %d did not end", id))
		}
	}
	for id := range l.began {
		wrong = append(wrong, fmt.Sprintf("attempt %+v began and was not booked", id))
	}
	if sum.Lost != l.cost {
		wrong = append(wrong, fmt.Sprintf("%v were lost, and the bookings say %v", sum.Lost, l.cost))
	}
	return wrong
}
