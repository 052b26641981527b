package server_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/server"
	"github.com/assay-run/assay/internal/service"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// TestMain is a server, or a worker, if the environment asks for one.
func TestMain(m *testing.M) {
	if dir := os.Getenv("ASSAY_TEST_WORKER"); dir != "" {
		name := os.Getenv("ASSAY_TEST_NAME")
		ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
		defer stop()
		slots, err := strconv.Atoi(os.Getenv("ASSAY_TEST_SLOTS"))
		if err != nil {
			slots = 1
		}
		at := cmp.Or(os.Getenv("ASSAY_TEST_AT"), "unix:"+filepath.Join(dir, api.SocketName))
		_ = server.Work(ctx, server.Worker{ // it is ended by the signal
			Server: at, TokenFile: os.Getenv("ASSAY_TEST_TOKEN"), Dir: filepath.Join(dir, name), Name: name, Slots: slots,
			Accept: true, Version: "v0.0.0", Out: io.Discard,
		})
		return
	}
	if dir := os.Getenv("ASSAY_TEST_SERVER"); dir != "" {
		lease, _ := time.ParseDuration(os.Getenv("ASSAY_TEST_LEASE")) // 0 is the default
		o := server.Options{
			Dir: dir, Store: os.Getenv("ASSAY_TEST_STORE"), Version: "v0.0.0", Lease: lease,
			Listen: strings.Fields(os.Getenv("ASSAY_TEST_LISTEN")),
		}
		ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
		defer stop()
		err := server.Run(ctx, o, func(r server.Ready) { _ = json.NewEncoder(os.Stdout).Encode(r) })
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testbed.Wide(8)
	testbed.Main(m)
}

// found is a study of the default search, with parameters of each kind.
const found = `command: [prog, '{x}', '{y}', '{n}', '{mode}']
parameters: {x: 0.0..1.0, y: "0.001..10:log", n: 1..64, mode: [a, b, c]}
search: {seed: %d}
budget: {trials: 100000}
parallel: 4
prior: {use: none}
check: none
`

// fill makes a store with studies of so many trials each, made by a server with one worker, which
// go on.
func fill(tb testing.TB, path string, studies, trials int) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	store, err := setup.OpenStore(ctx, path)
	if err != nil {
		tb.Fatal(err)
	}
	defer store.Close()
	carrier := queue.NewMemory(time.Minute)
	f := queue.New(carrier, queue.Options{})
	go func() { _ = f.Serve(ctx) }()
	h, err := service.Open(ctx, service.Options{Store: store, Fleet: f})
	if err != nil {
		tb.Fatal(err)
	}
	if err := work(ctx, f, carrier); err != nil {
		tb.Fatal(err)
	}
	for i := range studies {
		def, _, err := spec.Parse("", fmt.Appendf(nil, found, i+1), nil)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := h.Submit(ctx, def, fmt.Sprint("s", i), "test"); err != nil {
			tb.Fatal(err)
		}
	}
	for i := range studies {
		for name := fmt.Sprint("s", i); ; time.Sleep(20 * time.Millisecond) {
			sum, err := store.Summary(ctx, name)
			if err != nil {
				tb.Fatal(err)
			}
			if sum.Trials() >= int64(trials) {
				break
			}
		}
	}
	for {
		err := h.Close()
		if err == nil {
			return
		}
		if assay.ClassOf(err) != assay.ClassUnavailable { // a search that computes is waited for
			tb.Fatal(err)
		}
	}
}

// work is a worker of a fleet in this process, whose runs take no time.
func work(ctx context.Context, f *queue.Fleet, carrier queue.Carrier) error {
	w := queue.Worker{ID: "w", Name: "w", Slots: 8, Apps: []string{queue.Commands}, MachineClass: "c"}
	if _, err := f.Hello(ctx, w); err != nil {
		return err
	}
	for range w.Slots {
		go func() {
			for {
				d, err := carrier.Take(ctx, w.Apps, w.MachineClass)
				if err != nil {
					return
				}
				if c, err := f.Claim(ctx, d.Ticket(), w.ID); err == nil && c.Verdict == queue.Go {
					_ = f.Tell(ctx, queue.Outcome{ID: c.Task.ID, Worker: w.ID, Measurement: measured(c.Task.Job.Config)})
				}
				_ = d.Done(ctx)
			}
		}()
	}
	return nil
}

// measured is the measurement of a configuration.
func measured(c assay.Config) assay.Measurement {
	s := 10 + 5*c[0] + math.Abs(math.Log(c[1])) + 0.1*math.Abs(c[2]-20) + c[3]
	return assay.Measurement{
		Elapsed: time.Duration(s * float64(time.Second)), Metrics: map[string]float64{"elapsed": s},
	}
}

// A restart is how long a server took.
type restart struct {
	answers time.Duration // until it was ready
	resumed time.Duration // until each study had its running trials open again
}

// start starts a server in a process, and returns when it answers.
func start(tb testing.TB, dir string, studies int) (pid int, c *api.Client, kill func()) {
	tb.Helper()
	m := &member{dir: dir}
	m.up(tb)
	if m.ready.Studies != studies {
		tb.Fatalf("%+v", m.ready)
	}
	return m.cmd.Process.Pid, m.client, m.kill
}

// begin starts a server in a process, and kills it once all studies have been resumed.
func begin(tb testing.TB, dir string, studies int) (r restart) {
	tb.Helper()
	began := time.Now()
	_, c, kill := start(tb, dir, studies)
	defer kill()
	r.answers = time.Since(began)
	for {
		all, err := c.Queue(tb.Context(), "", 10*studies)
		if err != nil {
			tb.Fatal(err)
		}
		open := map[string]bool{}
		for _, e := range all.Entries {
			open[e.Study] = true
		}
		if len(open) == studies {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	r.resumed = time.Since(began)
	return r
}

// A server that was killed answers, and has brought all of its studies to where they were, in a
// fraction of the time that their searches took: their computations are on record.
func TestReady(t *testing.T) {
	testbed.System(t)
	trials := 60
	if os.Getenv("ASSAY_SOAK") != "" {
		trials = 1000
	}
	mustBeReady(t, trials, 3, nil)
}

// The searches are made again without their memos in the record, which takes its time.
func TestReadyControl(t *testing.T) {
	testbed.System(t)
	testbed.Fails(t, "a record without memos", func(t testing.TB) { mustBeReady(t, 60, 0, forget) })
}

func mustBeReady(t testing.TB, trials, servers int, change func(testing.TB, string)) {
	t.Helper()
	took, all := ready(t, trials, servers, change)
	best := slices.MinFunc(all, func(a, b restart) int { return cmp.Compare(a.resumed, b.resumed) })
	t.Logf("%d trials made in %v; killed, then %+v", readyStudies*trials, took, all)
	if best.resumed > took/6 {
		t.Errorf("resumed after %v, and all that was resumed was made in %v", best.resumed, took)
	}
}

// forget takes the memos of searches out of a store.
func forget(tb testing.TB, path string) {
	tb.Helper()
	was := path + ".was"
	if err := os.Rename(path, was); err != nil {
		tb.Fatal(err)
	}
	from, err := setup.OpenStore(tb.Context(), was)
	if err != nil {
		tb.Fatal(err)
	}
	defer from.Close()
	to, err := setup.OpenStore(tb.Context(), path)
	if err != nil {
		tb.Fatal(err)
	}
	defer to.Close()
	for i := range readyStudies {
		name := fmt.Sprint("s", i)
		stored, err := from.Spec(tb.Context(), name)
		if err != nil {
			tb.Fatal(err)
		}
		if err := to.Create(tb.Context(), name, stored); err != nil {
			tb.Fatal(err)
		}
		var all []assay.Event
		for e, err := range from.Events(tb.Context(), name, 0) {
			if err != nil {
				tb.Fatal(err)
			}
			e.Memo = nil
			all = append(all, e)
		}
		if _, err := to.Append(tb.Context(), name, 0, all...); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkReady is 10 studies of 1,000 trials each. The goal is at most 5 s.
func BenchmarkReady(b *testing.B) {
	_, all := ready(b, 1000, b.N, nil)
	for _, r := range all {
		b.ReportMetric(r.answers.Seconds(), "s-answers")
		b.ReportMetric(r.resumed.Seconds(), "s-resumed")
	}
}

const readyStudies = 10

// ready fills a store, which took that long, and has servers resume its studies, each of which
// is killed. The first finds no server that was killed, and counts only if no other is wanted. change, if set,
// changes the store before.
func ready(tb testing.TB, trials, servers int, change func(testing.TB, string)) (took time.Duration, all []restart) {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	t0 := time.Now()
	fill(tb, filepath.Join(dir, "assay.db"), readyStudies, trials)
	took = time.Since(t0)
	if change != nil {
		change(tb, filepath.Join(dir, "assay.db"))
	}
	for n := range 1 + servers {
		if r := begin(tb, dir, readyStudies); n > 0 || servers == 0 {
			all = append(all, r)
		}
	}
	return took, all
}
