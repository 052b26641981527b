package api

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A client that comes back with the number of the last event misses none and sees none twice,
// wherever it broke off: behind the ring, in it, at its end.
func TestEventsResume(t *testing.T) {
	r := newRig(t)
	c := r.client(t, "viewer")
	sum, err := r.store.Summary(t.Context(), "tuned")
	if err != nil {
		t.Fatal(err)
	}
	n := sum.Events
	for after := int64(0); after <= n; after++ {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		want := after
		if after == n {
			r.asked(t, 100) // there is always one to come
		}
		for e, err := range (&eventStream{client: c, study: "tuned", after: after}).follow(ctx, nil) {
			if err != nil {
				t.Fatal(err)
			}
			if want++; e.Seq != want {
				t.Fatalf("after %d came %d, want %d", after, e.Seq, want)
			}
			if want >= n && want > after {
				break
			}
		}
		if want <= after && after < n {
			t.Errorf("after %d came nothing", after)
		}
		cancel()
	}
}

// Many follow one study: each sees every event once, in order, with streams that are cut
// again and again, and their cost does not grow with the events.
func TestEventsFollowers(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Stream = 50 * time.Millisecond })
	const more, followers = 300, 20
	sum, err := r.store.Summary(t.Context(), "tuned")
	if err != nil {
		t.Fatal(err)
	}
	last := sum.Events + more
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for range followers {
		wg.Go(func() {
			want := int64(0)
			for e, err := range (&eventStream{client: r.client(t, "viewer"), study: "tuned"}).follow(ctx, nil) {
				if err != nil {
					t.Error(err)
					return
				}
				if want++; e.Seq != want {
					t.Errorf("event %d came, want %d", e.Seq, want)
					return
				}
				if e.Seq == last {
					return
				}
			}
			t.Errorf("the events ended at %d of %d", want, last)
		})
	}
	for i := range int64(more) {
		r.asked(t, 200+i)
	}
	wg.Wait()
	// A study has no hub once its followers have gone.
	for range 200 {
		r.hubs.mu.Lock()
		open := len(r.hubs.open)
		r.hubs.mu.Unlock()
		if open == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d studies are still followed", len(r.hubs.open))
}

// A follower that is farther behind than the ring reads the store.
func TestEventsBehindTheRing(t *testing.T) {
	r := newRig(t)
	h, leave, err := r.hubs.join(followed{study: "tuned"}, 0, eventNote)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	for i := range int64(2*ringSize + 10) {
		r.asked(t, 200+i)
	}
	sum, err := r.store.Summary(t.Context(), "tuned")
	if err != nil {
		t.Fatal(err)
	}
	for {
		notes, gap, moved, err := h.behind(sum.Events - 1)
		if len(notes) == 1 && !gap && err == nil {
			break
		}
		<-moved
	}
	h.mu.Lock()
	held := len(h.ring)
	h.mu.Unlock()
	if _, gap, _, _ := h.behind(3); !gap || held > 2*ringSize {
		t.Errorf("the ring holds %d events, a gap is seen: %v", held, gap)
	}
	want := int64(3)
	for e, err := range (&eventStream{client: r.client(t, "viewer"), study: "tuned", after: 3}).follow(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if want++; e.Seq != want {
			t.Fatalf("event %d came, want %d", e.Seq, want)
		}
		if want == sum.Events {
			break
		}
	}
}

// A revoked token gets no more events, and a server that ends keeps no stream.
func TestEventsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("a token is looked at every 5 s")
	}
	r := newRig(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.at.URL+prefix+"/studies/tuned/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer secret-viewer")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, ":") {
		t.Fatalf("%q %v", line, err)
	}
	if err := r.keys.Revoke(t.Context(), "viewer", "root"); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = lines.ReadString('\n')
	}
	if t.Context().Err() != nil {
		t.Error("the stream of a revoked token went on")
	}
	c := r.client(t, "admin")
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer close(done)
		for range (&eventStream{client: c, study: "tuned"}).follow(ctx, func(err error) {
			if err != nil {
				cancel()
			}
		}) {
		}
	}()
	time.Sleep(50 * time.Millisecond)
	r.hubs.close()
	<-done
}

// A follower of a study is sent the lack of workers: at once if there is one already, once however often
// the stream begins anew, and again if it was gone meanwhile.
func TestEventsLack(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Stream = 20 * time.Millisecond })
	lack := func(text string) {
		r.fleet.mu.Lock()
		defer r.fleet.mu.Unlock()
		r.fleet.lacks = text
	}
	lack("no worker has x\nor y")
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	said, streams := make(chan string, 100), make(chan struct{}, 100)
	a := &Attachment{Client: r.client(t, "viewer"), Study: "tuned", Lacks: func(text string) { said <- text }}
	a.Client.stream.Transport = counting{a.Client.stream.Transport, streams}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = a.Run(ctx)
	}()
	if got := <-said; got != "no worker has x\nor y" {
		t.Errorf("said %q", got)
	}
	for range 3 {
		<-streams
	}
	if len(said) > 0 {
		t.Errorf("said again: %q", <-said)
	}
	lack("no worker has z")
	if got := <-said; got != "no worker has z" {
		t.Errorf("said %q", got)
	}
	cancel()
	<-done
}

// counting counts requests.
type counting struct {
	http.RoundTripper
	made chan struct{}
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case c.made <- struct{}{}:
	default:
	}
	return c.RoundTripper.RoundTrip(r)
}
