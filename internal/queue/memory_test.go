package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/queue"
)

func TestMemory(t *testing.T) {
	assaytest.TestCarrier(t, func(*testing.T) assaytest.Carrier[queue.Ticket, queue.Delivery] {
		return queue.NewMemory(time.Second)
	}, assaytest.CarrierOptions{Lease: time.Second, Bubble: true})
}

// Tickets that are there already do not keep out others that are offered with them.
func TestMemoryOffersWhatIsNew(t *testing.T) {
	c, ctx := queue.NewMemory(time.Second), t.Context()
	ticket := func(id string) queue.Ticket { return queue.Ticket{ID: id, App: "a"} }
	for _, ids := range [][]string{{"1", "2"}, {"2", "3", "1", "4"}} {
		var ts []queue.Ticket
		for _, id := range ids {
			ts = append(ts, ticket(id))
		}
		if err := c.Offer(ctx, ts...); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := c.Depth(ctx, "a"); n != 4 || err != nil {
		t.Fatalf("%d tickets, want 4; %v", n, err)
	}
	for _, want := range []string{"1", "2", "3", "4"} {
		d, err := c.Take(ctx, []string{"a"}, "")
		if err != nil || d.Ticket().ID != want {
			t.Fatalf("got %v, %v, want ticket %s", d, err, want)
		}
	}
}

// A lease of no length is one of 30 s: until then no other worker gets the ticket.
func TestMemoryLease(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{
		0: 30 * time.Second, -time.Second: 30 * time.Second, time.Second: time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			c, ctx := queue.NewMemory(given), t.Context()
			if err := c.Offer(ctx, queue.Ticket{ID: "1", App: "a"}); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			for range 2 {
				if _, err := c.Take(ctx, []string{"a"}, ""); err != nil {
					t.Fatal(err)
				}
			}
			if took := time.Since(began); took < want || took > want+time.Second {
				t.Errorf("a lease of %v ended after %v, want %v", given, took, want)
			}
		})
	}
}
