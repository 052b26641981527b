package jetstream_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/queue/jetstream"
)

// Calls come through the socket as they were made, and so do their answers.
func TestCalls(t *testing.T) {
	s := serve(t, jetstream.ServerOptions{})
	f := &fleet{verdict: queue.Stop, order: queue.Order{Drain: true}}
	f.task = queue.Task{
		ID: runID(7), App: "x264", Job: assay.Job{ID: runID(7), Argv: []string{"a\xff", "{b}"}, Limit: time.Minute},
		Values: map[string]string{"n": "4"}, Expected: time.Second,
	}
	server := dial(t, s)
	answer(t, server, f, nil)
	sock := filepath.Join(t.TempDir(), "fleet.sock")
	if err := s.ServeUnix(sock); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(sock); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	b := connect(t, jetstream.Options{URL: "unix:" + sock, Worker: "w-1", Class: "9f3a"})
	c := b.Control()
	w := queue.Worker{ID: "w-1", Name: "rack2", Slots: 2, Apps: []string{"x264"}, MachineClass: "9f3a", Until: time.Hour}
	if o, err := c.Hello(t.Context(), w); err != nil || !o.Drain {
		t.Fatal(o, err)
	}
	if err := server.Carrier().Offer(t.Context(), tickets("x264", "9f3a", 1)...); err != nil {
		t.Fatal(err)
	}
	d := take(t, b.Carrier(), soon, "9f3a", "x264")
	if d == nil {
		t.Fatal("no ticket came through the socket")
	}
	claim, err := c.Claim(t.Context(), d.Ticket(), "w-1")
	if err != nil || claim.Verdict != queue.Go || !cmp.Equal(claim.Task, f.task) {
		t.Errorf("%v\n%s", err, cmp.Diff(claim.Task, f.task))
	}
	beat := queue.Beat{
		ID: runID(7), Worker: "w-1", So: assay.Measurement{Elapsed: time.Second}, Gap: 3,
		Tail: []byte("\xff"),
	}
	if v, err := c.Beat(t.Context(), beat); err != nil || v != queue.Stop {
		t.Error(v, err)
	}
	o := queue.Outcome{
		ID: runID(7), Worker: "w-1", Measurement: assay.Measurement{Elapsed: 2, Metrics: map[string]float64{"x": 1}},
		Why: "stop", Stdout: []byte("out"), Stderr: []byte("err"),
	}
	if err := c.Tell(t.Context(), o); err != nil {
		t.Error(err)
	}
	if err := d.Done(t.Context()); err != nil {
		t.Error(err)
	}
	if !cmp.Equal(f.workers, []queue.Worker{w}) || !cmp.Equal(f.beats, []queue.Beat{beat}) || !cmp.Equal(f.told,
		[]queue.Outcome{o}) ||
		!cmp.Equal(f.tickets, []queue.Ticket{d.Ticket()}) {
		t.Errorf("heard %+v %+v %+v %+v", f.workers, f.tickets, f.beats, f.told)
	}
}

// An error keeps its class and its hint; it is unavailable if no server answers.
func TestErrorClasses(t *testing.T) {
	s := serve(t, jetstream.ServerOptions{})
	f := &fleet{}
	sock := filepath.Join(t.TempDir(), "s")
	if err := s.ServeUnix(sock); err != nil {
		t.Fatal(err)
	}
	b := connect(t, jetstream.Options{URL: "unix:" + sock, Worker: "w"})
	o := queue.Outcome{ID: runID(1), Worker: "w"}
	if err := b.Control().Tell(t.Context(), o); assay.ClassOf(err) != assay.ClassUnavailable {
		t.Errorf("nobody answers: %v", err)
	}
	stop, err := dial(t, s).Answer(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for c := assay.ClassUnknown; c <= assay.ClassLost; c++ {
		f.err = assay.WithHint(assay.Errorf(c, "it is %v", c), "do this")
		err := b.Control().Tell(t.Context(), o)
		if assay.ClassOf(err) != c || err.Error() != "it is "+c.String() || assay.HintOf(err) != "do this" {
			t.Errorf("%v came as %v: %v (%s)", c, assay.ClassOf(err), err, assay.HintOf(err))
		}
	}
	f.err = nil
	// A worker speaks as itself.
	other := queue.Outcome{ID: runID(1), Worker: "v"}
	if err := b.Control().Tell(t.Context(), other); assay.ClassOf(err) != assay.ClassUsage || len(f.told) > 0 {
		t.Errorf("told as another: %v", err)
	}
	stop()
	if err := b.Control().Tell(t.Context(), o); assay.ClassOf(err) != assay.ClassUnavailable {
		t.Errorf("nobody answers any more: %v", err)
	}
	s.Close()
	for range 100 {
		if err = b.Control().Tell(t.Context(), o); err != nil {
			break
		}
	}
	if assay.ClassOf(err) != assay.ClassUnavailable {
		t.Errorf("the server is gone: %v", err)
	}
	if _, err := jetstream.Dial(t.Context(),
		jetstream.Options{URL: "unix:" + sock}); assay.ClassOf(err) != assay.ClassUnavailable ||
		!strings.Contains(err.Error(), sock) {
		t.Errorf("dial where nobody is: %v", err)
	}
}

// An outcome of any size is a message of at most 64 KiB: its outputs are cut, and the rest stays.
func TestLargeOutcome(t *testing.T) {
	s := serve(t, jetstream.ServerOptions{})
	f := &fleet{}
	answer(t, dial(t, s), f, nil)
	sock := filepath.Join(t.TempDir(), "s")
	if err := s.ServeUnix(sock); err != nil {
		t.Fatal(err)
	}
	c := connect(t, jetstream.Options{URL: "unix:" + sock, Worker: "w"}).Control()
	big := bytes.Repeat([]byte("\x00line\n"), 1<<20/6)
	big = append(append([]byte("first"), big...), "last"...)
	for i, o := range []queue.Outcome{
		{Stdout: big, Stderr: big},
		{Stdout: []byte("small"), Stderr: big},
		{Stdout: big, Stderr: []byte("small")},
		{Stdout: big, Measurement: assay.Measurement{Failure: &assay.Failure{
			Reason: strings.Repeat("é", 60000),
			Output: []string{strings.Repeat("x", 1<<19)},
		}}},
	} {
		o.ID, o.Worker = runID(i), "w"
		if err := c.Tell(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		got := f.told[i]
		check := func(what string, sent, got []byte) {
			switch {
			case len(sent) < 100 && !bytes.Equal(sent, got):
				t.Errorf("%d: %s: %q", i, what, got)
			case len(sent) >= 100 && (len(got) < 10<<10 || len(got) > 46<<10 || !bytes.HasPrefix(got, []byte("first")) ||
				!bytes.HasSuffix(got, []byte("last")) || !bytes.Contains(got, []byte("bytes are left out"))):
				t.Errorf("%d: %s: %d bytes of %d", i, what, len(got), len(sent))
			}
		}
		check("stdout", o.Stdout, got.Stdout)
		check("stderr", o.Stderr, got.Stderr)
		if got.ID != o.ID || (got.Measurement.Failure != nil) != (o.Measurement.Failure != nil) {
			t.Errorf("%d: %+v", i, got)
		}
	}
}

// Two servers do not share a socket; one that a killed server left is replaced.
func TestSocketTaken(t *testing.T) {
	s := serve(t, jetstream.ServerOptions{})
	sock := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(sock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.ServeUnix(sock); err != nil {
		t.Fatal(err)
	}
	if err := serve(t, jetstream.ServerOptions{}).ServeUnix(sock); assay.ClassOf(err) != assay.ClassLocked {
		t.Errorf("taken: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(sock); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}
