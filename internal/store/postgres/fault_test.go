package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/store"
)

// Two stores race for every position of one study: each position is won once, and the record
// has no gap. Both hold nothing but the positions.
func TestRace(t *testing.T) {
	appends := int64(2000)
	if testing.Short() {
		appends = 300
	}
	if soak() {
		appends = 10_000
	}
	address := freshAddress(t)
	stores := []*Store{openTest(t, address), openTest(t, address)}
	if err := stores[0].Create(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	var won, refused [2]atomic.Int64
	var wg sync.WaitGroup
	for w, s := range stores {
		wg.Go(func() {
			for at := int64(0); at < appends; {
				e := pair(at + 1)[0]
				e.Asked.Config[0] = float64(100 + w) // whose it is
				end, err := s.Append(t.Context(), "a", assay.Position(at), e)
				switch {
				case err == nil:
					won[w].Add(1)
					at = int64(end)
				case errors.Is(err, assay.ErrConflict):
					refused[w].Add(1)
					sum, err := s.Summary(t.Context(), "a")
					if err != nil {
						t.Error(err)
						return
					}
					at = max(at+1, sum.Events)
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	by := [2]int64{}
	n := int64(0)
	for e, err := range stores[0].Events(t.Context(), "a", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; e.Asked == nil || e.Asked.ID != n {
			t.Fatalf("event %d is %+v", n, e)
		}
		by[int(e.Asked.Config[0])-100]++
	}
	if n < appends || by[0] != won[0].Load() || by[1] != won[1].Load() {
		t.Errorf("%d events, %v by writer; they were told of %d and %d", n, by, won[0].Load(), won[1].Load())
	}
	if won[0].Load() == 0 || won[1].Load() == 0 || refused[0].Load()+refused[1].Load() == 0 {
		t.Errorf("there was no race: won %d and %d", won[0].Load(), won[1].Load())
	}
	t.Logf("%d events, won %v, refused %d and %d", n, by, refused[0].Load(), refused[1].Load())
	checkFsck(t, stores[0])
}

// kill -9 of the postmaster while studies are written: the calls go on by themselves when the
// server is back, and nothing that was acknowledged is lost or there twice.
func TestPostmasterKilled(t *testing.T) {
	kills := 4
	if testing.Short() {
		kills = 2
	}
	if soak() {
		kills = 50
	}
	killPostmaster(t, testbed.NewPostgres(t), kills, put)
}

// A putter adds the trial of that ID.
type putter func(ctx context.Context, s assay.Store, study string, id int64) error

// A call that is made once, and a server that acknowledges an event before it has written it, are seen.
func TestPostmasterKilledControl(t *testing.T) {
	server := testbed.NewPostgres(t)
	for what, put := range map[string]putter{
		"a call that is not made again": func(ctx context.Context, s assay.Store, study string, id int64) error {
			return putOnce(ctx, s, study, id, assay.Position(2*(id-1)))
		},
		"commits that do not wait for the disk": func(ctx context.Context, s assay.Store, study string, id int64) error {
			if _, err := s.(*Store).db.ExecContext(ctx, "SET synchronous_commit = off"); err != nil && !away(classify(err)) {
				return err
			}
			return put(ctx, s, study, id)
		},
	} {
		testbed.Fails(t, what, func(t testing.TB) { killPostmaster(t, server, 2, put) })
	}
}

// putOnce adds a trial at a position, and does not try it again.
func putOnce(ctx context.Context, s assay.Store, study string, id int64, at assay.Position) error {
	events := pair(id)
	payloads, err := store.EncodeEvents(events)
	if err != nil {
		return err
	}
	return s.(*Store).append(ctx, study, at, events, payloads)
}

// killPostmaster kills a server while put adds trials to four studies. It ends with the first error.
func killPostmaster(t testing.TB, server *testbed.Postgres, kills int, put putter) {
	t.Helper()
	address := fresh(server)
	s := openTest(t, address)
	const studies = 4
	var acked [studies]atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range studies {
		study := fmt.Sprint("s", i)
		if err := s.Create(ctx, study, nil); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for id := int64(1); ; id++ {
				err := put(ctx, s, study, id)
				if ctx.Err() != nil || t.Failed() {
					return
				}
				if err != nil {
					t.Errorf("study %s: trial %d: %v", study, id, err)
					return
				}
				acked[i].Store(id)
			}
		})
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range kills {
		before := acked[0].Load()
		for end := time.Now().Add(2 * time.Minute); acked[0].Load() < before+3 && !t.Failed() && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
		server.Kill()
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
	}
	before := acked[0].Load()
	for end := time.Now().Add(2 * time.Minute); acked[0].Load() < before+3 && !t.Failed() && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	wg.Wait()
	total := int64(0)
	for i := range studies {
		n := checkPairs(t, s, fmt.Sprint("s", i))
		if n < acked[i].Load() || n > acked[i].Load()+1 {
			t.Errorf("study %d: got %d trials, %d were acknowledged", i, n, acked[i].Load())
		}
		total += n
	}
	if acked[0].Load() <= before {
		t.Error("nothing was written after the last kill")
	}
	if !t.Failed() {
		t.Logf("%d kills, %d trials, none lost or doubled", kills, total)
	}
	checkFsck(t, s)
}

// A proxy forwards connections to a socket, and cuts one when so many bytes have gone one way.
type proxy struct {
	l      net.Listener
	target string
	// left is how many bytes the server may still send before the cut, sent how many the client
	// may; negative for no cut.
	left, sent atomic.Int64
	cuts       atomic.Int64
}

func newProxy(t testing.TB, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{l: l, target: target}
	p.left.Store(-1)
	p.sent.Store(-1)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		defer server.Close()
		defer client.Close()
		p.forward(server, client, &p.sent)
	}()
	p.forward(client, server, &p.left)
}

// forward copies byte by byte, since the cut may be anywhere, until left has run out.
func (p *proxy) forward(to io.Writer, from io.Reader, left *atomic.Int64) {
	b := make([]byte, 1)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if left.Load() >= 0 && left.Add(int64(-n)) < 0 {
			left.Store(-1) // the next connection lives
			p.cuts.Add(1)
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// A connection is cut between send and reply, at every byte of the reply: the caller does not know
// if the Append was done, and yet it is there once.
func TestCutReply(t *testing.T) {
	cutReply(t, testbed.NewPostgres(t), int64(testbed.Times(5, 1)), put)
}

// A caller that adds events again wherever the record ends now may have them twice.
func TestCutReplyControl(t *testing.T) {
	testbed.Fails(t, "an unknown outcome that is taken for none", func(t testing.TB) {
		freshAddress(t) // brings the server up, or skips
		server, err := shared()
		if err != nil {
			t.Fatal(err)
		}
		cutReply(t, server, 15, func(ctx context.Context, s assay.Store, study string, id int64) (err error) {
			for range 3 {
				var sum assay.Summary
				if sum, err = s.(*Store).Summary(ctx, study); err != nil {
					return err
				}
				if err = putOnce(ctx, s, study, id, assay.Position(sum.Events)); err == nil {
					return nil
				}
			}
			return err
		})
	})
}

// cutReply cuts connections behind every step-th byte while put adds trials.
func cutReply(t testing.TB, server *testbed.Postgres, step int64, put putter) {
	t.Helper()
	p := newProxy(t, filepath.Join(server.Dir(), ".s.PGSQL.5432"))
	schema := fresh(server)
	schema = schema[strings.Index(schema, "search_path"):]
	s := openTest(t, "postgres://postgres@"+p.l.Addr().String()+"/postgres?sslmode=disable&"+schema)
	if err := s.Create(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	id := int64(1)
	for ; id <= 3; id++ { // the statement is prepared
		if err := put(t.Context(), s, "a", id); err != nil {
			t.Fatal(err)
		}
	}
	cuts, at := 0, int64(0)
	for ; at < 1000; at += step {
		before := p.cuts.Load()
		p.left.Store(at)
		if err := put(t.Context(), s, "a", id); err != nil {
			t.Fatalf("cut behind byte %d of the reply: %v", at, err)
		}
		id++
		if p.cuts.Load() == before { // the whole reply came through
			break
		}
		cuts++
	}
	p.left.Store(-1)
	// And on the way to the server, which then has a part of the statement.
	for at := int64(0); at < 1600; at += 97 * step {
		p.sent.Store(at)
		if err := put(t.Context(), s, "a", id); err != nil {
			t.Fatalf("cut behind byte %d of the statement: %v", at, err)
		}
		id++
		p.sent.Store(-1)
	}
	if n := checkPairs(t, s, "a"); n != id-1 {
		t.Errorf("got %d trials, want %d", n, id-1)
	}
	if cuts < 10 {
		t.Errorf("only %d cuts", cuts)
	}
	t.Logf("%d cuts, up to byte %d of the reply; %d trials, each there once", cuts, at, id-1)
	p.left.Store(-1)
	checkFsck(t, s)
}

// The same for a new study, a lease and its end, whose statements the connection knows already, so
// that a cut is one behind the work: a study or lease that was made before a cut is ours.
func TestCutOthers(t *testing.T) {
	server := testbed.NewPostgres(t)
	p := newProxy(t, filepath.Join(server.Dir(), ".s.PGSQL.5432"))
	schema := fresh(server)
	schema = schema[strings.Index(schema, "search_path"):]
	s := openTest(t, "postgres://postgres@"+p.l.Addr().String()+"/postgres?sslmode=disable&"+schema)
	ctx := t.Context()
	// steps does all there is with a study, with a cut behind so many bytes in step cut.
	steps := func(name string, cut int, at int64) {
		var l assay.Lease
		for i, step := range []func() error{
			func() error { return s.Create(ctx, name, nil) },
			func() (err error) { l, err = s.Lease(ctx, name, "we", time.Minute); return err },
			func() error { return l.Renew(ctx) },
			func() error { return l.Release() },
			func() error { return s.Remove(ctx, name) },
		} {
			if i == cut {
				p.left.Store(at)
			}
			if err := step(); err != nil {
				t.Fatalf("step %d, cut behind byte %d of the replies in step %d: %v", i, at, cut, err)
			}
			p.left.Store(-1)
		}
	}
	stride := int64(testbed.Times(27, 9))
	steps("warm", -1, 0)
	for cut := range 5 {
		for at := int64(0); at < 120; at += stride {
			steps("warm", -1, 0) // a cut has ended the connection that knew the statements
			steps(fmt.Sprint("s", cut, "-", at), cut, at)
		}
	}
	if n := p.cuts.Load(); n < 10 {
		t.Errorf("only %d cuts", n)
	}
	checkFsck(t, s)
}

// A server that is away for good is reported in time, with the class of the error.
func TestAway(t *testing.T) {
	server := testbed.NewPostgres(t)
	s := openTest(t, fresh(server))
	if err := s.Create(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	wait := s.opts.Wait
	s.opts.Wait = 300 * time.Millisecond
	server.Kill()
	for what, err := range map[string]error{
		"Append": put(t.Context(), s, "a", 1),
		"Spec":   func() error { _, err := s.Spec(t.Context(), "a"); return err }(),
		"Lock":   func() error { _, err := s.Lock(t.Context(), "a"); return err }(),
	} {
		if !errors.Is(err, ErrUnavailable) || assay.ClassOf(err) != assay.ClassUnavailable {
			t.Errorf("%s: got %v, want ErrUnavailable", what, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := put(ctx, s, "a", 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
	s.opts.Wait = wait
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if err := put(t.Context(), s, "a", 1); err != nil {
		t.Error(err)
	}
}
