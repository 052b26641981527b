package jetstream_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue/jetstream"
)

// A monitored server reports how much is queued to a client that asks as KEDA's scaler nats-jetstream
// does, also while there is no worker yet.
func TestMonitor(t *testing.T) {
	at := fmt.Sprint("127.0.0.1:", ports(t, 1)[0])
	dir := t.TempDir()
	s, err := jetstream.Start(jetstream.ServerOptions{Dir: dir, Monitor: at})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, err := s.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Carrier().Offer(t.Context(), tickets("x264", "", 3)...); err != nil {
		t.Fatal(err)
	}
	// lag is the lag that KEDA reads from the answer; -1 if it finds no consumer.
	lag := func() int {
		resp, err := http.Get("http://" + at + "/jsz?acc=$G&consumers=true&config=true")
		if err != nil {
			return -1
		}
		defer resp.Body.Close()
		var a struct {
			Accounts []struct {
				Name    string
				Streams []struct {
					Name      string
					Consumers []struct {
						Name    string
						Pending int `json:"num_pending"`
						Taken   int `json:"num_ack_pending"`
					} `json:"consumer_detail"`
				} `json:"stream_detail"`
			} `json:"account_details"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
			t.Fatal(err)
		}
		for _, account := range a.Accounts {
			for _, st := range account.Streams {
				for _, c := range st.Consumers {
					if account.Name == "$G" && st.Name == "ASSAY_JOBS" && c.Name == "x264-any" {
						return c.Pending + c.Taken
					}
				}
			}
		}
		return -1
	}
	if got := lag(); got != 3 {
		t.Errorf("the lag is %d, want 3", got)
	}
	// One that is taken is work until it is done.
	d, err := b.Carrier().Take(t.Context(), []string{"x264"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := lag(); got != 3 {
		t.Errorf("with one taken the lag is %d, want 3", got)
	}
	if err := d.Done(t.Context()); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(soon); lag() != 2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("with one done the lag is %d, want 2", lag())
		}
	}
	for _, bad := range []string{at, "nonsense", "127.0.0.1:0", "127.0.0.1:x"} {
		o := jetstream.ServerOptions{Dir: t.TempDir(), Monitor: bad}
		if s, err := jetstream.Start(o); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("--monitor %s: %v", bad, err)
			if err == nil {
				s.Close()
			}
		}
	}
}
