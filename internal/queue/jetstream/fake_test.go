package jetstream_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/queue/jetstream"
	"github.com/assay-run/assay/internal/testbed"
)

func TestMain(m *testing.M) { testbed.Wide(12); testbed.MainOutside(m, testbed.NoGoroutines) }

// warnings collects warnings.
type warnings struct {
	mu   sync.Mutex
	said []string
}

func (w *warnings) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
}

// serve starts a server in a directory of the test.
func serve(t testing.TB, o jetstream.ServerOptions) *jetstream.Server {
	t.Helper()
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "queue")
	}
	s, err := jetstream.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// dial connects to a server in this process.
func dial(t testing.TB, s *jetstream.Server) *jetstream.Bus {
	t.Helper()
	b, err := s.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// connect connects elsewhere.
func connect(t testing.TB, o jetstream.Options) *jetstream.Bus {
	t.Helper()
	b, err := jetstream.Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// answer has a control answer.
func answer(t testing.TB, b *jetstream.Bus, c queue.Control, may func(worker, app string) bool) {
	t.Helper()
	stop, err := b.Answer(c, may)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
}

// A fleet is a Control that keeps the messages that it got.
type fleet struct {
	mu      sync.Mutex
	err     error // of every call
	order   queue.Order
	verdict queue.Verdict
	task    queue.Task
	workers []queue.Worker
	tickets []queue.Ticket
	beats   []queue.Beat
	told    []queue.Outcome
}

func (f *fleet) do(g func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		g()
	}
	return f.err
}

func (f *fleet) Hello(_ context.Context, w queue.Worker) (o queue.Order, err error) {
	err = f.do(func() { f.workers = append(f.workers, w); o = f.order })
	return o, err
}

func (f *fleet) Claim(_ context.Context, t queue.Ticket, _ string) (c queue.Claim, err error) {
	err = f.do(func() {
		f.tickets = append(f.tickets, t)
		c = queue.Claim{Verdict: queue.Go, Task: f.task, Lease: 30 * time.Second, Beat: 10 * time.Second}
	})
	return c, err
}

func (f *fleet) Beat(_ context.Context, b queue.Beat) (v queue.Verdict, err error) {
	err = f.do(func() { f.beats = append(f.beats, b); v = f.verdict })
	return v, err
}

func (f *fleet) Tell(_ context.Context, o queue.Outcome) error {
	return f.do(func() { f.told = append(f.told, o) })
}

func tickets(app, class string, n int) (ts []queue.Ticket) {
	for i := range n {
		ts = append(ts, queue.Ticket{ID: fmt.Sprintf("%s-%s-%d", app, class, i), App: app, MachineClass: class})
	}
	return ts
}

// take takes a ticket within a time, nil if there is none.
func take(t testing.TB, c queue.Carrier, within time.Duration, class string, apps ...string) queue.Delivery {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	d, err := c.Take(ctx, apps, class)
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	return d
}

func runID(n int) assay.RunID { return assay.RunID{Study: "s", Trial: int64(n), Attempt: 1} }
