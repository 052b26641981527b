package table

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

func grows(metric string) bool { return metric == "energy" }

var replaySpec = Spec{
	File: "r.csv", Parameters: []string{"a"}, OKColumn: "ok", OKEquals: "1",
	Metrics: map[string][]string{"elapsed": {"t1", "t2", "t3"}, "energy": {"e"}, "max_rss": {"m"}},
}

const replayText = `a,ok,t1,t2,t3,e,m
1,1,10,20,30,100,7
2,1,4,4,4,8,9
3,0,2.5,,,5,
4,0,,,,,
`

func TestReplayRun(t *testing.T) {
	r := NewReplay(readTable(t, replayText, replaySpec), nil, grows)
	clock := r.Clock()
	clock.Enter()
	defer clock.Leave()
	var seen []string
	m, err := r.Run(t.Context(), assay.Job{Config: assay.Config{0}, Interval: 4 * time.Second},
		func(m assay.Measurement) {
			seen = append(seen, fmt.Sprintf("%v e=%v t=%v at %v", m.Elapsed, m.Metrics["energy"], m.Metrics["elapsed"],
				since(clock)))
			if _, known := m.Metrics["max_rss"]; known {
				t.Error("max_rss is known during the run")
			}
		})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"4s e=40 t=4 at 4s", "8s e=80 t=8 at 8s"}; !slices.Equal(seen, want) {
		t.Errorf("observed %q, want %q", seen, want)
	}
	if m.Elapsed != 10*time.Second || m.Metrics["elapsed"] != 10 || m.Metrics["energy"] != 100 ||
		m.Metrics["max_rss"] != 7 || m.ExitCode != 0 {
		t.Errorf("got %+v", m)
	}
	if got := since(clock); got != 10*time.Second {
		t.Errorf("the clock is at %v", got)
	}
}

func TestReplayRepetitions(t *testing.T) {
	r := NewReplay(readTable(t, replayText, replaySpec), nil, grows)
	elapsed := func(k int) time.Duration {
		m, err := r.Run(t.Context(), assay.Job{ID: assay.RunID{Repeat: k}, Config: assay.Config{0}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m.Elapsed / time.Second
	}
	for _, tt := range []struct {
		repeat int
		want   time.Duration
	}{{0, 10}, {1, 20}, {2, 30}, {3, 10}, {7, 20}, {1, 20}} {
		if got := elapsed(tt.repeat); got != tt.want {
			t.Errorf("run %d: got %d s, want %d s", tt.repeat, got, tt.want)
		}
	}
	for _, job := range []assay.Job{{Config: assay.Config{9}}, {Config: assay.Config{0}, ID: assay.RunID{Repeat: -1}}} {
		if _, err := r.Run(t.Context(), job, nil); err == nil {
			t.Errorf("%+v: no error", job)
		}
	}
}

func TestReplayFailures(t *testing.T) {
	r := NewReplay(readTable(t, replayText, replaySpec), nil, grows)
	m, err := r.Run(t.Context(), assay.Job{Config: assay.Config{2}}, nil)
	if err != nil || m.ExitCode != 1 || m.Elapsed != 2500*time.Millisecond {
		t.Errorf("got %+v, %v", m, err)
	}
	m, err = r.Run(t.Context(), assay.Job{Config: assay.Config{3}, Interval: time.Second},
		func(assay.Measurement) { t.Error("observed") })
	if err != nil || m.ExitCode != 1 || m.Elapsed != 0 {
		t.Errorf("got %+v, %v", m, err)
	}
	if _, err = r.Run(t.Context(), assay.Job{Config: assay.Config{4}}, nil); err == nil ||
		!strings.Contains(err.Error(), "no recorded run") {
		t.Errorf("got %v", err)
	}
}

func TestReplayLimit(t *testing.T) {
	r := NewReplay(readTable(t, replayText, replaySpec), nil, grows)
	m, err := r.Run(t.Context(), assay.Job{
		Config: assay.Config{0}, Interval: 2 * time.Second,
		Limit: 3 * time.Second,
	}, func(assay.Measurement) {})
	if !errors.Is(err, assay.ErrLimit) || m.Elapsed != 3*time.Second || m.Metrics["energy"] != 30 ||
		since(r.Clock()) != 3*time.Second {
		t.Errorf("got %+v, %v at %v", m, err, since(r.Clock()))
	}
	m, err = r.Run(t.Context(), assay.Job{Config: assay.Config{1}, Limit: 4 * time.Second}, nil)
	if err != nil || m.Elapsed != 4*time.Second {
		t.Errorf("a run of exactly the limit: got %+v, %v", m, err)
	}
}

// A rule that stops the run inside observe ends it at that very moment.
func TestReplayStop(t *testing.T) {
	r := NewReplay(readTable(t, replayText, replaySpec), nil, grows)
	stop := errors.New("hopeless")
	ctx, cancel := context.WithCancelCause(t.Context())
	m, err := r.Run(ctx, assay.Job{Config: assay.Config{0}, Interval: time.Second}, func(m assay.Measurement) {
		if m.Elapsed == 6*time.Second {
			cancel(stop)
		}
	})
	if err != stop || m.Elapsed != 6*time.Second || m.Metrics["energy"] != 60 || since(r.Clock()) != 6*time.Second {
		t.Errorf("got %+v, %v at %v", m, err, since(r.Clock()))
	}
	if m, err := r.Run(ctx, assay.Job{Config: assay.Config{0}}, nil); err != stop || m.Elapsed != 0 {
		t.Errorf("with a context that is done: %+v, %v", m, err)
	}
}

// Parallel runs play the repetitions that their IDs name, and the whole simulation is the same every time.
func TestReplayParallel(t *testing.T) {
	table := readTable(t, replayText, replaySpec)
	simulate := func() string {
		r := NewReplay(table, new(SimClock), grows)
		clock := r.Clock()
		type outcome struct {
			n int
			m assay.Measurement
		}
		done := make(chan outcome)
		var log []string
		clock.Enter()
		started, running := 0, 0
		for len(log) < 20 {
			for running < 4 && started < 20 {
				n := started
				started++
				running++
				clock.Enter()
				go func() {
					id := assay.RunID{Trial: int64(n), Repeat: n/4*2 + n%2}
					job := assay.Job{ID: id, Config: assay.Config{float64(n % 4 / 2)}, Interval: 3 * time.Second}
					m, err := r.Run(t.Context(), job, func(assay.Measurement) {})
					if err != nil {
						t.Error(err)
					}
					done <- outcome{n, m}
				}()
			}
			clock.Leave()
			o := <-done
			running--
			log = append(log, fmt.Sprintf("%v: %d took %v", since(clock), o.n, o.m.Elapsed))
		}
		clock.Leave()
		return strings.Join(log, "\n")
	}
	want := simulate()
	if !strings.HasPrefix(want, "4s: 2 took 4s\n4s: 3 took 4s\n10s: 0 took 10s\n") {
		t.Errorf("got\n%s", want)
	}
	for range 50 {
		if got := simulate(); got != want {
			t.Fatalf("got\n%s\nbefore\n%s", got, want)
		}
	}
}

// The value so far is a lower bound that grows.
func TestReplayGrows(t *testing.T) {
	r := NewReplay(readTable(t, replayText, replaySpec), nil, grows)
	last := math.Inf(-1)
	m, err := r.Run(t.Context(), assay.Job{Config: assay.Config{0}, Interval: 7 * time.Millisecond},
		func(m assay.Measurement) {
			if e := m.Metrics["energy"]; e <= last || e >= 100 {
				t.Fatalf("%v after %v", e, last)
			} else {
				last = e
			}
		})
	if err != nil || m.Metrics["energy"] != 100 {
		t.Errorf("got %+v, %v", m, err)
	}
}

func BenchmarkReplay(b *testing.B) {
	table, err := Read(strings.NewReader(replayText), replaySpec)
	if err != nil {
		b.Fatal(err)
	}
	for name, interval := range map[string]time.Duration{"plain": 0, "observed": time.Second} {
		b.Run(name, func(b *testing.B) {
			r := NewReplay(table, nil, grows)
			job := assay.Job{Config: assay.Config{0}, Interval: interval}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Run(context.Background(), job, func(assay.Measurement) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
