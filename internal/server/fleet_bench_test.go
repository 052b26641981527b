package server_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/testbed"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue/jetstream"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/server"
	"github.com/assay-run/assay/internal/worker"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
)

// A lab is a server in this process, with its client and workers.
type lab struct {
	*api.Client
	dir string
}

// open starts a server with a store until the end of the test.
func open(b *testing.B, at string) lab {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "d")
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- server.Run(ctx, server.Options{Dir: dir, Store: at, Version: "v0.0.0"}, func(server.Ready) { close(ready) })
	}()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		b.Fatal(err)
	}
	c, err := api.Open("unix:"+filepath.Join(dir, api.SocketName), "")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	return lab{c, dir}
}

// empty is a Runner of runs that take no time.
type empty struct{}

// made counts its runs.
var made atomic.Int64

func (empty) Run(_ context.Context, j assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	made.Add(1)
	return assay.Measurement{Elapsed: time.Microsecond, Metrics: map[string]float64{"elapsed": 1e-6}}, nil
}

// workers has n workers of one slot make empty runs for the server of a directory until the end of the
// test. Their spools are in memory where that can be had: they are on machines of their own.
func workers(b *testing.B, dir string, n int) {
	b.Helper()
	spools, err := os.MkdirTemp(testbed.Memory(), "bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(spools) })
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	b.Cleanup(func() { cancel(); wg.Wait() })
	for i := range n {
		id := fmt.Sprint("w-", i)
		bus, err := jetstream.Dial(ctx, jetstream.Options{
			URL: "unix:" + filepath.Join(dir, server.FleetSocket), Worker: id, Class: worker.ThisMachine().Class(),
		})
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer bus.Close()
			_ = worker.Run(ctx, worker.Options{ // it is cancelled in the end
				Control: bus.Control(), Carrier: bus.Carrier(), Runner: empty{}, Accept: true, ID: id, Name: id,
				Dir: filepath.Join(spools, id), Version: "v0.0.0",
			})
		})
	}
}

// process starts a worker in a process, with one slot, until the end of the test.
func process(b testing.TB, dir, name string) *exec.Cmd {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ASSAY_TEST_WORKER="+dir, "ASSAY_TEST_NAME="+name)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Signal(unix.SIGTERM); _ = cmd.Wait() })
	return cmd
}

// await waits until a server has so many workers.
func (l lab) await(b *testing.B, n int) {
	b.Helper()
	for {
		all, err := l.Workers(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if len(all) >= n {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// submit has a server run a study.
func (l lab) submit(b testing.TB, name, text string) {
	b.Helper()
	def, _, err := spec.Parse("", []byte(text), nil)
	if err != nil {
		b.Fatal(err)
	}
	in, err := api.Submitted(def, name)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := l.Submit(b.Context(), in); err != nil {
		b.Fatal(err)
	}
}

// ended waits until studies have ended, and returns when the last of their trials did.
func (l lab) ended(b testing.TB, names ...string) (last time.Time) {
	b.Helper()
	for _, name := range names {
		for {
			d, err := l.Study(b.Context(), name)
			if err != nil {
				b.Fatal(err)
			}
			if d.Study.State == "ended" {
				if d.Study.Last.After(last) {
					last = d.Study.Last
				}
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return last
}

// trivial is a study of a program, of so many trials at so many at once.
func trivial(command string, seed, trials, parallel int) string {
	return fmt.Sprintf("command: [%s]\nparameters: {n: 1..1000000}\nsearch: {name: random, seed: %d}\n"+
		"budget: {trials: %d}\nparallel: %d\nprior: {use: none}\n", command, seed, trials, parallel)
}

// cpu returns the processor time of this process.
func cpu() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTrials is empty trials through server, store, queue and 64 workers, of 16 studies, until all have
// ended: a study of 200 trials makes 50 further runs in the end, one at a time, which runs/s has too. All is in
// this process: cpu_ms is the cost of a trial to server and workers together, but for PostgreSQL itself. of-goal is
// trials/s as a part of the goal, 300 on SQLite and 500 on PostgreSQL.
func BenchmarkTrials(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { benchmarkTrials(b, "", 300) })
	b.Run("postgres", func(b *testing.B) {
		at := os.Getenv("ASSAY_POSTGRES")
		if at == "" {
			b.Skip("SKIPPED: ASSAY_POSTGRES is not the address of an empty database (scripts/with-postgres.sh)")
		}
		benchmarkTrials(b, at, 500)
	})
}

func benchmarkTrials(b *testing.B, at string, goal float64) {
	const studies = 16
	l := open(b, at)
	workers(b, l.dir, 64)
	l.await(b, 64)
	each := max(b.N/studies, 1)
	var names []string
	used, before := cpu(), made.Load()
	b.ResetTimer()
	began := time.Now()
	for i := range studies {
		name := fmt.Sprint("s", i, "-", b.N, "-", began.UnixNano())
		names = append(names, name)
		l.submit(b, name, trivial("'true', '{n}'", i, each, 4))
	}
	took := l.ended(b, names...).Sub(began)
	b.StopTimer()
	rate := float64(studies*each) / took.Seconds()
	b.ReportMetric(rate, "trials/s")
	b.ReportMetric(rate/goal, "of-goal")
	b.ReportMetric(float64(made.Load()-before)/took.Seconds(), "runs/s")
	b.ReportMetric(float64((cpu()-used).Microseconds())/1000/float64(studies*each), "cpu_ms")
}

// BenchmarkOneWorker compares 100 runs of a program that does nothing by a server and one worker of this
// machine, each a process, with 100 runs of a loop in one process, on the same kind of store. Rounds of
// both alternate, and the least of each counts.
func BenchmarkOneWorker(b *testing.B) {
	const runs = 100
	l := open(b, "")
	process(b, l.dir, "one")
	l.await(b, 1)
	fleet, local := time.Duration(1<<62), time.Duration(1<<62)
	round := 0
	for b.Loop() {
		round++
		name := fmt.Sprint("s", round)
		began := time.Now()
		text := trivial("'true', '{n}'", round, runs, 1) + "check: none\n" // no further runs in the end
		l.submit(b, name, text)
		fleet = min(fleet, l.ended(b, name).Sub(began))
		def, _, err := spec.Parse("", []byte(text), nil)
		if err != nil {
			b.Fatal(err)
		}
		s, err := setup.Open(b.Context(), def, filepath.Join(b.TempDir(), "a.db"), name, setup.Options{})
		if err != nil {
			b.Fatal(err)
		}
		began = time.Now()
		if _, err := s.Run(b.Context()); err != nil {
			b.Fatal(err)
		}
		local = min(local, time.Since(began))
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(fleet.Seconds()*1000/runs, "fleet_ms")
	b.ReportMetric(local.Seconds()*1000/runs, "local_ms")
	b.ReportMetric(float64(fleet)/float64(local), "ratio")
}

// BenchmarkTwoWorkers is 40 runs of a second on one worker and on two, each a process with one slot.
func BenchmarkTwoWorkers(b *testing.B) {
	var took [2]time.Duration
	for b.Loop() {
		for i := range took {
			func() {
				l := open(b, "")
				for n := range i + 1 {
					process(b, l.dir, fmt.Sprint("w", n))
				}
				l.await(b, i+1)
				began := time.Now()
				l.submit(b, "naps", trivial("sh, -c, sleep 1, sh, '{n}'", 1, 40, i+1))
				for { // the best and the first are run again after that
					d, err := l.Study(b.Context(), "naps")
					if err != nil {
						b.Fatal(err)
					}
					if d.Study.Done == 40 {
						break
					}
					time.Sleep(20 * time.Millisecond)
				}
				took[i] += time.Since(began)
			}()
		}
	}
	b.ReportMetric(took[0].Seconds()/float64(b.N), "one_s")
	b.ReportMetric(took[1].Seconds()/float64(b.N), "two_s")
	b.ReportMetric(float64(took[1])/float64(took[0]), "ratio")
}

// BenchmarkMemory is the memory of a server with 100 active studies of 1,000 trials each, and 64
// workers. of-goal is the most of it as a multiple of 150 MB.
func BenchmarkMemory(b *testing.B) {
	const studies, trials = 100, 1000
	dir := b.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	s, err := setup.OpenStore(b.Context(), filepath.Join(dir, "assay.db"))
	if err != nil {
		b.Fatal(err)
	}
	for i := range studies {
		if err := past(b.Context(), s, fmt.Sprint("s", i), i, trials); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for b.Loop() {
		held, last := 0.0, 0.0
		pid, c, kill := start(b, dir, studies)
		workers(b, dir, 64)
		for began := time.Now(); time.Since(began) < 20*time.Second; { // they run, and more trials come
			last = resident(b, pid)
			held = max(held, last)
			time.Sleep(100 * time.Millisecond)
		}
		all, err := c.Studies(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		more := int64(0)
		for _, st := range all {
			more += st.Trials - trials
		}
		kill()
		b.ReportMetric(held, "MB-most")
		b.ReportMetric(held/150, "of-goal")
		b.ReportMetric(last, "MB-last")
		b.ReportMetric(float64(more), "more-trials")
	}
}

// past makes a study of a server that has had so many trials, and goes on.
func past(ctx context.Context, to *setup.Store, name string, seed, trials int) error {
	def, _, err := spec.Parse("", []byte(trivial("'true', '{n}'", seed, 1_000_000, 4)), nil)
	if err != nil {
		return err
	}
	p, err := setup.New(def, setup.Options{Runner: empty{}})
	if err != nil {
		return err
	}
	m := store.NewMem()
	s, err := p.Study(ctx, setup.InMemory(m), name)
	if err != nil {
		return err
	}
	s.Budget.Trials = trials
	if _, err := s.Run(ctx); err != nil {
		return err
	}
	stored, err := m.Spec(ctx, name)
	if err != nil {
		return err
	}
	if err := to.Create(ctx, name, stored); err != nil {
		return err
	}
	var all []assay.Event
	for e, err := range m.Events(ctx, name, 0) {
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	all = append(all, assay.Event{Steered: &assay.StudyCommand{Do: "run"}, At: time.Now()})
	_, err = to.Append(ctx, name, 0, all...)
	return err
}

// resident returns the memory of a process in MB.
func resident(b *testing.B, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip(err)
	}
	for line := range bytes.Lines(text) {
		if f := strings.Fields(string(line)); f[0] == "VmRSS:" {
			kB, _ := strconv.ParseFloat(f[1], 64)
			return kB * 1024 / 1e6
		}
	}
	b.Skip("no VmRSS")
	return 0
}
