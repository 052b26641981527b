package rest_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/online"
	"github.com/assay-run/assay/internal/rest"
	"github.com/assay-run/assay/internal/store/sqlite"
	"github.com/assay-run/assay/search"
)

// openRecorded serves a session that is recorded in SQLite.
func openRecorded(b *testing.B, searcher func(*assay.Space) assay.Searcher) (address string) {
	b.Helper()
	st, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "s.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { st.Close() })
	_, address = serve(b, st, func(o *online.Options) {
		o.Searcher = func(int) (assay.Searcher, error) { return searcher(o.Space), nil }
	})
	return address
}

func pro(s *assay.Space) assay.Searcher {
	return search.NewPRO(s, search.SimplexOptions{})
}

func random(s *assay.Space) assay.Searcher { return search.NewRandom(s, 1) }

// BenchmarkRoundTrips measures fetch+report pairs over the Unix socket, with the
// events in SQLite. Goal: 12,000/s of one client, 30,000/s of eight on two
// cores, the clients included.
func BenchmarkRoundTrips(b *testing.B) {
	for _, c := range []struct {
		name     string
		searcher func(*assay.Space) assay.Searcher
		clients  int
	}{{"pro/1", pro, 1}, {"pro/8", pro, 8}, {"random/1", random, 1}, {"random/8", random, 8}} {
		b.Run(c.name, func(b *testing.B) {
			address := openRecorded(b, c.searcher)
			clients := make([]*rest.Client, c.clients)
			for r := range clients {
				clients[r] = rest.Open(rest.ClientOptions{Address: address, Rank: r, Log: io.Discard})
				clients[r].Fetch()
				defer clients[r].Close()
			}
			cpu := cpuTime(b)
			b.ResetTimer()
			var wg sync.WaitGroup
			for _, cl := range clients {
				wg.Go(func() {
					for range b.N / c.clients {
						v := cl.Fetch()
						x, y := v.Float("x")-5, v.Float("y")-2
						_ = cl.ReportSeconds(1 + x*x + y*y)
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
			b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/float64(b.N), "cpu-µs/pair")
		})
	}
}

// cpuTime returns the processor time of this process, clients and server: other load
// on the machine cannot distort it much.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkBare is the yardstick of BenchmarkRoundTrips: two requests of
// net/http to a handler that does nothing, by our own client's connection.
func BenchmarkBare(b *testing.B) {
	path := filepath.Join(socketDir(b), "s")
	l, err := rest.ListenUnix(path)
	if err != nil {
		b.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Length", "3")
		_, _ = io.WriteString(w, "{}\n")
	})}
	defer srv.Close()
	go srv.Serve(l)
	c, err := net.Dial("unix", path)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	request := []byte("POST /v1/online/fetch HTTP/1.1\r\nHost: assay\r\nContent-Length: 2\r\n\r\n{}")
	answer := make([]byte, 4096)
	cpu := cpuTime(b)
	for b.Loop() {
		for range 2 {
			_, _ = c.Write(request)
			if n, err := c.Read(answer); err != nil || n == 0 {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/float64(b.N), "cpu-µs/pair")
}

// BenchmarkFetchLatency measures the time of a fetch with 64 ranks that iterate
// for a millisecond each. Goal: the 99th percentile below 2 ms.
func BenchmarkFetchLatency(b *testing.B) {
	const ranks = 64
	address := openRecorded(b, pro)
	var mu sync.Mutex
	var all []time.Duration
	b.ResetTimer()
	var wg sync.WaitGroup
	for r := range ranks {
		wg.Go(func() {
			c := rest.Open(rest.ClientOptions{Address: address, Rank: r, Log: io.Discard})
			defer c.Close()
			c.Fetch()
			var own []time.Duration
			for range max(1, b.N/ranks) {
				t0 := time.Now()
				c.Fetch()
				own = append(own, time.Since(t0))
				time.Sleep(10 * time.Millisecond) // the iteration
				_ = c.ReportSeconds(0.01)
			}
			mu.Lock()
			all = append(all, own...)
			mu.Unlock()
		})
	}
	wg.Wait()
	b.StopTimer()
	slices.Sort(all)
	for _, q := range []float64{0.5, 0.99} {
		b.ReportMetric(float64(all[int(q*float64(len(all)-1))].Nanoseconds())/1e6, fmt.Sprintf("p%g-ms", 100*q))
	}
}
