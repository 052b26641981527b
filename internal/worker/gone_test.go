package worker_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
)

// A worker whose directory is removed ends with an error within a minute: while it is idle, and after the run that was
// under way. The server has the measurement all the same, once.
func TestDirectoryRemoved(t *testing.T) {
	for name, c := range map[string]struct {
		tasks int
		away  bool
	}{"idle": {}, "idle and the server away": {away: true}, "running": {tasks: 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := newServer(), &program{takes: 50 * time.Second}
				if c.tasks > 0 {
					s = newServer(task(1))
				}
				o := options(t, s, p, &output{})
				ended := start(t.Context(), o)
				time.Sleep(time.Second)
				s.set(func() { s.away = c.away })
				if err := os.RemoveAll(o.Dir); err != nil {
					t.Fatal(err)
				}
				removed := time.Now()
				err := ended()
				if took := time.Since(removed); took > time.Minute || err == nil || assay.ClassOf(err) != assay.ClassIO ||
					!strings.Contains(err.Error(), "was removed") {
					t.Errorf("it ends after %v with %v", took, err)
				}
				if told := s.outcomes(); len(told) != c.tasks ||
					c.tasks > 0 && (told[0].Why != "" || told[0].Measurement.Elapsed == 0) {
					t.Errorf("the server has %+v", told)
				}
			})
		})
	}
}

// A worker whose directory was removed obeys the first request to end, also with an outcome that it cannot keep.
func TestDirectoryRemovedAndDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(task(1))
		s.away = false
		o := options(t, s, &program{takes: 2 * time.Second}, &output{})
		drain := make(chan struct{})
		o.Drain = drain
		ended := start(t.Context(), o)
		time.Sleep(time.Second)
		s.set(func() { s.away = true })
		if err := os.RemoveAll(o.Dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second) // it tries to keep the outcome
		close(drain)
		asked := time.Now()
		_ = ended()
		if took := time.Since(asked); took > 15*time.Second {
			t.Errorf("it ends after %v", took)
		}
	})
}

// A worker waits for a disk that fails, however long it takes, and does not take it for a directory that was removed.
func TestDiskIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(task(1))
		o := options(t, s, &program{takes: 2 * time.Second}, &output{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := start(ctx, o)
		time.Sleep(time.Second)
		spool := filepath.Join(o.Dir, "spool")
		if err := os.Rename(spool, spool+".away"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(spool, nil, 0o600); err != nil { // every write fails, and the directory is there
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		if told := s.outcomes(); len(told) != 0 {
			t.Fatalf("the server has %+v, which is nowhere on disk", told)
		}
		if err := os.Remove(spool); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(spool+".away", spool); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if told := s.outcomes(); len(told) != 1 {
			t.Errorf("the server has %+v", told)
		}
		cancel()
		_ = ended()
	})
}
