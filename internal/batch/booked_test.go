package batch_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/batch"
)

// Records keeps the events and the bookings of a Runner.
type records struct {
	mu     sync.Mutex
	events []assay.Event
	booked map[assay.RunID][]assay.AttemptEnd
}

func (l *records) options(o *batch.Options) {
	o.Record = func(_ context.Context, events ...assay.Event) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.events = append(l.events, events...)
		for _, e := range events {
			if b := e.Booked; b != nil {
				l.booked[b.RunID] = append(l.booked[b.RunID], *b)
			}
		}
		return nil
	}
	o.Booked = func(id assay.RunID) bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.booked[id]) > 0
	}
}

// The end of an attempt is on record once, with how long it waited, whether a session was there when it began and
// ended or not.
func TestBooked(t *testing.T) {
	const waits, lasts = 20 * time.Minute, 3 * time.Minute
	for _, c := range []struct {
		name string
		away time.Duration // when the session ends; 0 for never
	}{
		{"present", 0}, {"away since it waited", time.Minute}, {"away since it ran", waits + time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSleeper()
				k := newCluster(s)
				k.delay = waits
				l := &records{booked: map[assay.RunID][]assay.AttemptEnd{}}
				dir := t.TempDir()
				session := func(ctx context.Context) {
					r, err := open(k, dir, l.options)
					if err != nil {
						t.Fatal(err)
					}
					m, err := r.Run(ctx, work(1, lasts, 3), nil)
					if !errors.Is(err, assay.ErrDetached) && (err != nil || m.ExitCode != 3) {
						t.Errorf("code %d, %v", m.ExitCode, err)
					}
					r.Close()
				}
				if c.away > 0 {
					ctx, cancel := context.WithTimeoutCause(t.Context(), c.away, assay.ErrDetached)
					session(ctx)
					cancel()
					time.Sleep(time.Hour)
				}
				for range 2 { // the second one finds all on record
					session(t.Context())
				}
				k.wg.Wait()
				if len(l.booked) != 1 {
					t.Fatalf("%d attempts are on record", len(l.booked))
				}
				for id, all := range l.booked {
					if len(all) != 1 || all[0].Why != "" || all[0].Measurement.Elapsed != lasts {
						t.Fatalf("%v is on record as %+v", id, all)
					}
					if q := all[0].Queued; q < waits || q > waits+10*time.Second {
						t.Errorf("it waited %v, want %v", q, waits)
					}
				}
			})
		})
	}
}

// A run returns when its booking is on record: a budget counts its cost before the next job begins.
func TestBookedBeforeItReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCluster(newSleeper())
		l := &records{booked: map[assay.RunID][]assay.AttemptEnd{}}
		r, err := open(k, t.TempDir(), func(o *batch.Options) {
			l.options(o)
			record := o.Record
			o.Record = func(ctx context.Context, events ...assay.Event) error {
				time.Sleep(10 * time.Second)
				return record(ctx, events...)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Run(t.Context(), work(1, time.Minute, 0), nil); err != nil {
			t.Error(err)
		}
		l.mu.Lock()
		if len(l.booked) != 1 {
			t.Errorf("%d attempts are on record when the run returns, want 1", len(l.booked))
		}
		l.mu.Unlock()
		r.Close()
		k.wg.Wait()
	})
}

// A job that is cancelled while it waits has waited until then.
func TestBookedBeforeItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCluster(newSleeper())
		k.delay = time.Hour
		l := &records{booked: map[assay.RunID][]assay.AttemptEnd{}}
		r, err := open(k, t.TempDir(), l.options)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Minute, context.Canceled)
		defer cancel()
		_, _ = r.Run(ctx, work(1, time.Minute, 0), nil)
		r.Close()
		k.wg.Wait()
		for _, all := range l.booked {
			if q := all[0].Queued; len(all) != 1 || all[0].Counts() || q < 9*time.Minute || q > 11*time.Minute {
				t.Errorf("%+v", all)
			}
		}
		if len(l.booked) != 1 {
			t.Errorf("%d attempts are on record", len(l.booked))
		}
	})
}
