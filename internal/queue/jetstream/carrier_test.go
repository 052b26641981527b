package jetstream_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/queue/jetstream"
)

const soon, never = 20 * time.Second, 300 * time.Millisecond

// depth fails unless soon so many tickets wait or are leased: the broker counts them a moment after it has acknowledged
// them.
func depth(t testing.TB, c queue.Carrier, app string, want int) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		n, err := c.Depth(t.Context(), app)
		if err == nil && n == want {
			return
		}
		if err != nil || time.Since(began) > soon {
			t.Errorf("depth of %s is %d, %v; want %d", app, n, err, want)
			return
		}
	}
}

// It is a carrier as any other.
func TestCarrier(t *testing.T) {
	t.Parallel() // most of the time it waits
	const lease = 3 * time.Second
	assaytest.TestCarrier[queue.Ticket](t, func(t *testing.T) assaytest.Carrier[queue.Ticket, queue.Delivery] {
		return dial(t, serve(t, jetstream.ServerOptions{Lease: lease})).Carrier()
	}, assaytest.CarrierOptions{Lease: lease, Slow: soon})
}

// Each ticket is taken once, from every application and class that is asked for.
func TestTake(t *testing.T) {
	s := serve(t, jetstream.ServerOptions{})
	c := dial(t, s).Carrier()
	w := dial(t, s).Carrier()
	depth(t, c, "a", 0)
	for _, ts := range [][]queue.Ticket{
		tickets("a", "", 3), tickets("a", "9f3a", 3), tickets("b", "", 3),
		tickets("a-b", "", 1),
	} {
		if err := c.Offer(t.Context(), ts...); err != nil {
			t.Fatal(err)
		}
		if err := c.Offer(t.Context(), ts...); err != nil { // what is there already is not added
			t.Fatal(err)
		}
	}
	depth(t, c, "a", 6)
	depth(t, c, "a-b", 1)
	seen := map[string]bool{}
	for range 9 {
		d := take(t, w, soon, "9f3a", "a", "b")
		if d == nil || seen[d.Ticket().ID] {
			t.Fatalf("took %v, seen %v", d, seen)
		}
		seen[d.Ticket().ID] = true
		if err := d.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := d.Done(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if d := take(t, w, never, "9f3a", "a", "b"); d != nil {
		t.Errorf("one too many: %+v", d.Ticket())
	}
	depth(t, c, "a", 0)
	// A ticket that is done is not there: it is added again.
	if err := c.Offer(t.Context(), tickets("b", "", 1)...); err != nil {
		t.Fatal(err)
	}
	depth(t, c, "b", 1)
	if d := take(t, w, soon, "", "b"); d == nil {
		t.Error("a ticket that was done before is not offered")
	}
	// Another class gets nothing that is for one.
	if err := c.Offer(t.Context(), tickets("a", "9f3a", 1)...); err != nil {
		t.Fatal(err)
	}
	if d := take(t, w, never, "0000", "a"); d != nil {
		t.Errorf("taken by another class: %+v", d.Ticket())
	}
}

// A ticket whose lease has ended is given to another; one that is renewed, or given back because
// no call waits for it, is not lost.
func TestLease(t *testing.T) {
	t.Parallel() // most of the time it waits
	s := serve(t, jetstream.ServerOptions{Lease: 2 * time.Second})
	c := dial(t, s).Carrier()
	if err := c.Offer(t.Context(), tickets("a", "", 1)...); err != nil {
		t.Fatal(err)
	}
	first := take(t, c, soon, "", "a")
	for range 4 {
		time.Sleep(700 * time.Millisecond)
		if err := first.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if d := take(t, c, never, "", "a"); d != nil {
		t.Fatal("two have one ticket")
	}
	second := take(t, c, soon, "", "a")
	if second == nil || second.Ticket() != first.Ticket() {
		t.Fatal("the ticket did not come back")
	}
	if err := first.Renew(t.Context()); assay.ClassOf(err) != assay.ClassConflict {
		t.Errorf("renewed after the lease: %v", err)
	}
	if err := first.Done(t.Context()); assay.ClassOf(err) != assay.ClassConflict {
		t.Errorf("done after the lease: %v", err)
	}
	depth(t, c, "a", 1)
	if err := second.Done(t.Context()); err != nil {
		t.Fatal(err)
	}
	depth(t, c, "a", 0)
}

// An incomplete ticket is refused, and any name is valid: it never stands for more than itself.
func TestNames(t *testing.T) {
	c := dial(t, serve(t, jetstream.ServerOptions{})).Carrier()
	for _, bad := range []queue.Ticket{{}, {ID: "x"}, {App: "a"}} {
		if err := c.Offer(t.Context(), bad); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := c.Take(t.Context(), nil, ""); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("take of nothing: %v", err)
	}
	names := []string{
		"a", "*", ">", "a.b", "a.*", "any", "=YQ", "a-any", "a\x00", strings.Repeat("long", 100),
		strings.Repeat("long", 101),
	}
	for i, app := range names {
		for j, class := range append(names, "") {
			ticket := queue.Ticket{ID: fmt.Sprintf("%d %d", i, j), App: app, MachineClass: class}
			if err := c.Offer(t.Context(), ticket); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, app := range names {
		depth(t, c, app, len(names)+1)
		for j, class := range names {
			d := take(t, c, soon, class, app)
			if d == nil || d.Ticket().App != app || d.Ticket().MachineClass != class && d.Ticket().MachineClass != "" {
				t.Errorf("%d, %d: %v", i, j, d)
			}
		}
	}
}
