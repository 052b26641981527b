package worker

import (
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/spec"
)

// A server may shorten the limits of the worker's own file, and never lengthens them.
func TestAllowedIsBounded(t *testing.T) {
	apps, err := spec.ParseApps("apps.yaml",
		[]byte("bounded: {command: [\"true\"], timeout: 10s}\nfree: {command: [\"true\"]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{Options: Options{Apps: apps}}
	for _, tt := range []struct {
		app        string
		limit      time.Duration
		warmup     int
		wantLimit  time.Duration
		wantWarmup int
	}{
		{"bounded", time.Hour, 3, 10 * time.Second, 3},
		{"bounded", 0, 100, 10 * time.Second, 100},
		{"bounded", 5 * time.Second, 101, 5 * time.Second, 100},
		{"free", time.Hour, 1 << 40, time.Hour, 100},
		{"free", 0, 0, 0, 0},
	} {
		j, err := w.allowed(queue.Task{App: tt.app, Job: assay.Job{Limit: tt.limit, Warmup: tt.warmup}})
		if err != nil {
			t.Fatal(err)
		}
		if j.Limit != tt.wantLimit || j.Warmup != tt.wantWarmup {
			t.Errorf("%s, asked for a limit of %v and %d warm-up runs: got %v and %d, want %v and %d",
				tt.app, tt.limit, tt.warmup, j.Limit, j.Warmup, tt.wantLimit, tt.wantWarmup)
		}
	}
}
