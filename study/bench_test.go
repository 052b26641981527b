package study_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/store/sqlite"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/run"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// wide is a space that is never exhausted.
func wide(b *testing.B) *assay.Space {
	b.Helper()
	s, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Lo: 1, Hi: 1 << 40}})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// benchTrue runs /bin/true b.N times through the whole loop.
func benchTrue(b *testing.B, st assay.Store, parallel int, opts run.LocalOptions) {
	b.Helper()
	local, err := run.NewLocal(opts)
	if err != nil {
		b.Fatal(err)
	}
	defer local.Close()
	sp := wide(b)
	if err := st.Create(b.Context(), "s", nil); err != nil {
		b.Fatal(err)
	}
	s := &study.Study{
		Name: "s", Space: sp, Goal: elapsed, Store: st, Runner: local, Searcher: search.NewRandom(sp, 1),
		Budget: study.Budget{Trials: b.N}, Parallel: parallel,
		Command: func(c assay.Config) (assay.Job, error) {
			return assay.Job{Config: c, Argv: []string{"/bin/true"}}, nil
		},
	}
	b.ResetTimer()
	r, err := s.Run(b.Context())
	b.StopTimer()
	if err != nil || len(r.Trials) != b.N {
		b.Fatalf("%d trials of %d: %v", len(r.Trials), b.N, err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "trials/s")
}

func openSQLite(b *testing.B) assay.Store {
	b.Helper()
	st, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "bench.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { st.Close() })
	return st
}

// The goals: at most 1.3 times hyperfine -N /bin/true per run; with SQLite at
// most 2.5 ms more; at 2 in parallel at least 4 times the rate of GNU parallel
// -j2. scripts/bench.sh runs the peers and prints the ratios.
//
// Direct starts without the launcher that makes max_rss right (docs/adr/0003).
func BenchmarkTrue(b *testing.B) { benchTrue(b, store.NewMem(), 1, run.LocalOptions{}) }

func BenchmarkTrueDirect(b *testing.B) {
	benchTrue(b, store.NewMem(), 1, run.LocalOptions{Direct: true})
}
func BenchmarkTrueSQLite(b *testing.B)    { benchTrue(b, openSQLite(b), 1, run.LocalOptions{}) }
func BenchmarkTrueParallel2(b *testing.B) { benchTrue(b, store.NewMem(), 2, run.LocalOptions{}) }

// BenchmarkForkExec is the bare cost of a process in Go, beside BenchmarkTrue.
func BenchmarkForkExec(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// instant is a Runner whose runs take no time.
type instant struct{}

func (instant) Run(_ context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	return assay.Measurement{Elapsed: time.Duration(job.Config[0])}, nil
}

// benchOverhead runs trials that take no time on top of a record of before
// trials: the tool's own cost of one. It must be flat in before.
func benchOverhead(b *testing.B, st assay.Store, before int) {
	b.Helper()
	sp := wide(b)
	if err := st.Create(b.Context(), "s", nil); err != nil {
		b.Fatal(err)
	}
	trials := func(n int) {
		s := &study.Study{
			Name: "s", Space: sp, Goal: elapsed, Store: st, Runner: instant{},
			Searcher: search.Cache(search.NewRandom(sp, 1)),
			Budget:   study.Budget{Trials: n},
			Command:  func(c assay.Config) (assay.Job, error) { return assay.Job{Config: c}, nil },
		}
		if r, err := s.Run(b.Context()); err != nil || len(r.Trials) != n {
			b.Fatalf("%d trials of %d: %v", len(r.Trials), n, err)
		}
	}
	if before > 0 {
		trials(before)
	}
	b.ResetTimer()
	trials(before + b.N)
	b.StopTimer()
}

// The goal with SQLite is at most 3 ms a trial at 1,000 trials, and flat. The
// reading of the record is part of the time, spread over the b.N trials.
func BenchmarkOverhead(b *testing.B) {
	for _, before := range []int{0, 1000, 10000} {
		b.Run(fmt.Sprintf("mem/%d", before), func(b *testing.B) { benchOverhead(b, store.NewMem(), before) })
		b.Run(fmt.Sprintf("sqlite/%d", before), func(b *testing.B) { benchOverhead(b, openSQLite(b), before) })
	}
}

// BenchmarkReplayed is a recorded table tuned by random search with the store.
// The goal is at least 200 trials per second and core.
func BenchmarkReplayed(b *testing.B) {
	params := []assay.Param{{Name: "x", Kind: assay.Integer, Lo: 1, Hi: 1 << 40}}
	sp, err := assay.NewSpace(params)
	if err != nil {
		b.Fatal(err)
	}
	st := openSQLite(b)
	if err := st.Create(b.Context(), "s", nil); err != nil {
		b.Fatal(err)
	}
	clock := &table.SimClock{}
	s := &study.Study{
		Name: "s", Space: sp, Goal: elapsed, Store: st, Searcher: search.NewRandom(sp, 1), Clock: clock,
		Runner: simulated{clock}, Budget: study.Budget{Trials: b.N}, Parallel: 2,
		Command: func(c assay.Config) (assay.Job, error) { return assay.Job{Config: c}, nil },
	}
	b.ResetTimer()
	if _, err := s.Run(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "trials/s")
}

// simulated runs every configuration for a second of simulated time.
type simulated struct{ clock *table.SimClock }

func (r simulated) Run(ctx context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	err := r.clock.Sleep(ctx, job.ID.Trial, time.Second)
	return assay.Measurement{Elapsed: time.Second}, err
}

// TestMemoryOfALongStudy holds the tool's memory during a study of 10,000 trials
// below 150 MiB, outputs of 64 KiB a run included.
func TestMemoryOfALongStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	sp, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Lo: 1, Hi: 1 << 40}})
	if err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	st := store.NewMem()
	if err := st.Create(t.Context(), "s", nil); err != nil {
		t.Fatal(err)
	}
	s := &study.Study{
		Name: "s", Space: sp, Goal: elapsed, Store: st, Runner: talkative{},
		Searcher: search.Cache(search.NewRandom(sp, 1)),
		Budget:   study.Budget{Trials: 10000},
		Command:  func(c assay.Config) (assay.Job, error) { return assay.Job{Config: c}, nil },
	}
	var most uint64
	s.Notify = func(p study.Progress) {
		if len(p.Trials)%1000 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
		}
	}
	if _, err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if most > 150<<20 {
		t.Errorf("%d MiB", most>>20)
	}
	t.Logf("at most %d MiB", most>>20)
}

// talkative is a Runner whose runs print 64 KiB.
type talkative struct{}

func (talkative) Run(_ context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	return assay.Measurement{Elapsed: time.Duration(job.Config[0]), Stdout: make([]byte, 64<<10)}, nil
}
