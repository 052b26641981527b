package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/batch"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/store"
)

// enough is the cause of a run that is stopped: its measurement is kept.
type enough struct{}

func (enough) Error() string { return "enough" }
func (enough) Stops() bool   { return true }

// drowsy begins a run a moment late, so that a shim does not look at it just when it has something new.
type drowsy struct{ assay.Runner }

func (d drowsy) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	time.Sleep(time.Millisecond)
	return d.Runner.Run(ctx, job, observe)
}

// A Runner writes the same as before: events, outcomes, and the files of the spool.
func TestGolden(t *testing.T) {
	var b strings.Builder
	synctest.Test(t, func(t *testing.T) { golden(t, &b) })
	testbed.Current(t, "testdata/golden.txt", b.String(), "go test ./internal/batch -run TestGolden")
}

// golden makes runs of all kinds of ends, one after the other, in two sessions, and writes their course.
func golden(t *testing.T, b *strings.Builder) {
	began := time.Now()
	c := newCluster(drowsy{newSleeper()})
	c.delay = 1300 * time.Millisecond // nothing of a job is at the same moment as a look of the Runner
	faults := map[int]fault{
		2: {kill: 42 * time.Second}, 5: {never: true}, 6: {term: 32 * time.Second}, 8: {err: batch.ErrRefused, lost: true},
	}
	c.onSubmit = func(n int) fault { return faults[n] }
	dir := t.TempDir()
	var mu sync.Mutex
	booked := map[assay.RunID]bool{}
	// By trial, and events by attempt: events of two attempts, and the return of a run and its event, may be at the same
	// moment in any order.
	var recorded [10][4]strings.Builder
	var outcomes [10]strings.Builder
	at := func() time.Duration { return time.Since(began) }
	options := func(o *batch.Options) {
		o.Record = func(_ context.Context, events ...assay.Event) error {
			mu.Lock()
			defer mu.Unlock()
			for _, e := range events {
				text, err := store.EncodeEvent(e)
				if err != nil {
					return err
				}
				var id assay.RunID
				if e.Booked != nil {
					id = e.Booked.RunID
					booked[id] = true
				} else {
					id = e.Started.RunID
				}
				fmt.Fprintf(&recorded[id.Trial][id.Attempt], "%v event %s\n", at(), text)
			}
			return nil
		}
		o.Booked = func(id assay.RunID) bool {
			mu.Lock()
			defer mu.Unlock()
			return booked[id]
		}
	}
	for session := range 2 {
		r, err := open(c, dir, options)
		if err != nil {
			t.Fatal(err)
		}
		run := func(trial int64, attempts int, after time.Duration, cause error, change func(*assay.Job)) {
			for attempt := range attempts {
				ctx, cancel := context.WithCancelCause(t.Context())
				if cause != nil {
					time.AfterFunc(after, func() { cancel(cause) })
				}
				j := work(trial, 122*time.Second, int(trial))
				j.ID.Attempt = attempt + 1
				if change != nil {
					change(&j)
				}
				m, err := r.Run(ctx, j, func(assay.Measurement) {})
				cancel(nil)
				text, _ := json.Marshal(m)
				mu.Lock()
				fmt.Fprintf(&outcomes[trial], "%v session %d, trial %d, attempt %d: %s, %v\n", at(), session, trial, attempt+1,
					text, err)
				mu.Unlock()
				if err == nil || !errors.Is(err, assay.ErrLost) {
					return
				}
			}
		}
		run(1, 1, 0, nil, nil)
		run(2, 3, 0, nil, nil)
		run(3, 1, 62*time.Second, enough{}, nil)
		run(4, 1, 62*time.Second, context.Canceled, nil) // it waits
		run(5, 3, 0, nil, nil)                           // somebody ends it
		run(6, 2, 0, nil, nil)                           // it is refused
		run(7, 1, 62*time.Second, context.Canceled, nil)
		run(8, 1, 0, nil, func(j *assay.Job) { j.Limit = 62 * time.Second })
		run(9, 1, 62*time.Second, assay.ErrDetached, nil)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
	}
	c.wg.Wait()
	for trial := range recorded {
		for attempt := range recorded[trial] {
			b.WriteString(recorded[trial][attempt].String())
		}
		b.WriteString(outcomes[trial].String())
	}
	spool := filepath.Join(dir, "spool")
	id, err := os.ReadFile(filepath.Join(spool, "id"))
	if err != nil {
		t.Fatal(err)
	}
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(spool, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(b, "%s: %s\n", strings.TrimPrefix(path, spool), strings.TrimSpace(string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(
		strings.TrimSpace(string(id)), "ID", spool, "SPOOL", cwd, "CWD", fmt.Sprintf(`"pid":%d`, os.Getpid()), `"pid":0`,
	).Replace(b.String())
	b.Reset()
	b.WriteString(text)
}
