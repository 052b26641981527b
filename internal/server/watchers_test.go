package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// highWater returns how much memory a process has at the most, in MiB.
func highWater(tb testing.TB, pid int) float64 {
	tb.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		tb.Fatal(err)
	}
	return kib / 1024
}

// A crowd is many who look at one study of a server over its socket.
type crowd struct {
	path  string
	after int64 // the number of the event before the first that each is sent
	last  atomic.Int64
	seen  atomic.Int64 // how many have seen the event of the number last
	lost  atomic.Int64 // events that did not come in order
	mu    sync.Mutex
	conns []net.Conn
}

// dial opens a connection.
func (c *crowd) dial(tb testing.TB) net.Conn {
	tb.Helper()
	for try := 0; ; try++ {
		conn, err := net.Dial("unix", c.path)
		if err == nil {
			c.mu.Lock()
			c.conns = append(c.conns, conn)
			c.mu.Unlock()
			return conn
		}
		if try == 1000 {
			tb.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond) // the server has others to accept
	}
}

func (c *crowd) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
}

// watch follows a study, and reports when it is answered.
func (c *crowd) watch(tb testing.TB, answered *sync.WaitGroup) {
	conn := c.dial(tb)
	fmt.Fprintf(conn, "GET /api/v1/studies/watched/events?after=%d HTTP/1.1\r\nHost: assay\r\n\r\n", c.after)
	go func() {
		in := bufio.NewReaderSize(conn, 512)
		want, said := c.after, sync.OnceFunc(answered.Done)
		for {
			line, err := in.ReadSlice('\n')
			if err == bufio.ErrBufferFull {
				continue
			}
			if err != nil {
				said()
				return
			}
			text := string(line)
			if strings.HasPrefix(text, "HTTP/1.1 200") {
				said()
			}
			if id, ok := strings.CutPrefix(text, "id: "); ok {
				n, _ := strconv.ParseInt(strings.TrimSpace(id), 10, 64)
				if want++; n != want {
					c.lost.Add(1)
				}
				if n == c.last.Load() {
					c.seen.Add(1)
				}
			}
		}
	}()
}

// watched has many look at a study of a server in a process of its own, as many more open a connection and send half of
// a request, and the study go on. It returns how much memory the server had, and how long an event took to the last of
// them.
func watched(tb testing.TB, watchers, idle int) (before, after float64, took []time.Duration) {
	tb.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		tb.Fatal(err)
	}
	if need := uint64(watchers + idle + 200); limit.Max < need {
		tb.Skipf("SKIPPED, NOT TESTED: a process may have %d open files, and this takes %d (ulimit -n)", limit.Max, need)
	}
	dir := tb.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	db := filepath.Join(dir, "assay.db")
	store, err := setup.OpenStore(tb.Context(), db)
	if err != nil {
		tb.Fatal(err)
	}
	defer store.Close()
	def, _, err := spec.Parse("", fmt.Appendf(nil, found, 1), nil)
	if err != nil {
		tb.Fatal(err)
	}
	stored, err := json.Marshal(def)
	if err != nil {
		tb.Fatal(err)
	}
	if err := store.Create(tb.Context(), "watched", stored); err != nil {
		tb.Fatal(err)
	}
	at := assay.Position(0)
	grow := func() {
		p := assay.Proposal{ID: int64(at) + 1, Config: assay.Config{0.5, 1, float64(1 + at%64), 0}}
		at, err = store.Append(tb.Context(), "watched", at, assay.Event{At: time.Now(), Asked: &p})
		if err != nil {
			tb.Fatal(err)
		}
	}
	grow()
	pid, c, kill := start(tb, dir, 0)
	defer kill()
	if _, err := c.Study(tb.Context(), "watched"); err != nil {
		tb.Fatal(err)
	}
	before = highWater(tb, pid)
	all := &crowd{path: filepath.Join(dir, api.SocketName), after: int64(at)}
	defer all.leave()
	for range idle {
		if _, err := io.WriteString(all.dial(tb), "GET /api/v1/studies HTTP/1.1\r\nHo"); err != nil {
			tb.Fatal(err)
		}
	}
	var answered sync.WaitGroup
	for range watchers {
		answered.Add(1)
		all.watch(tb, &answered)
	}
	answered.Wait()
	for range 5 {
		all.seen.Store(0)
		all.last.Store(int64(at) + 1)
		began := time.Now()
		grow()
		ctx, cancel := context.WithTimeout(tb.Context(), 2*time.Minute)
		for all.seen.Load() < int64(watchers) && ctx.Err() == nil {
			time.Sleep(2 * time.Millisecond)
		}
		cancel()
		if n := all.seen.Load(); n < int64(watchers) {
			tb.Fatalf("%d of %d have seen event %d", n, watchers, at)
		}
		took = append(took, time.Since(began))
	}
	if n := all.lost.Load(); n > 0 {
		tb.Errorf("%d events did not come in order", n)
	}
	// Another client is answered all the same.
	if _, err := c.Studies(tb.Context()); err != nil {
		tb.Error(err)
	}
	slices.Sort(took)
	return before, highWater(tb, pid), took
}

// Many who look at one study cost little, each sees every event in order, and half a request of as many others
// keeps no client waiting. With ASSAY_SOAK there are 10,000, and 9,500 others within 20,000 open files.
func TestWatchers(t *testing.T) {
	testbed.Outside(t)
	watchers, idle := 400, 400
	if os.Getenv("ASSAY_SOAK") != "" {
		watchers, idle = 10_000, 9_500
	}
	before, after, took := watched(t, watchers, idle)
	t.Logf("counted: %d watchers and %d half requests: %.0f MiB before, %.0f MiB after; an event was with all after %v",
		watchers, idle, before, after, took)
	if after > 400 {
		t.Errorf("the server has %.0f MiB, want at most 400", after)
	}
	if watchers > 1000 {
		return // the cost of each is checked for few; of all together above
	}
	if each := (after - before) * 1024 / float64(watchers); each > 300 {
		t.Errorf("%.0f KiB for each of them", each)
	}
}

// BenchmarkWatchers is 10,000 watchers of one study, and 9,500 who have sent half a request, within 20,000 open
// files. The goal is at most 400 MiB, and an event with all of them within a second.
func BenchmarkWatchers(b *testing.B) {
	for range b.N {
		before, after, took := watched(b, 10_000, 9_500)
		b.ReportMetric(before, "MiB-before")
		b.ReportMetric(after, "MiB-after")
		b.ReportMetric(took[len(took)/2].Seconds(), "s-event-median")
		b.ReportMetric(took[len(took)-1].Seconds(), "s-event-longest")
	}
}
