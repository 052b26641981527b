package assaytest

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay/internal/queue"
)

// flawedCarrier is a carrier in memory with one flaw.
type flawedCarrier struct {
	*queue.Memory
	flaw string
	n    int
}

func (c *flawedCarrier) Offer(ctx context.Context, ts ...queue.Ticket) error {
	ts = slices.Clone(ts)
	for i := range ts {
		switch c.flaw {
		case "adds twice":
			c.n++
			ts[i].ID += string(rune('a' + c.n))
		case "forgets the class":
			ts[i].MachineClass = ""
		case "forgets the application":
			ts[i].App = "x"
		}
	}
	return c.Memory.Offer(ctx, ts...)
}

func (c *flawedCarrier) Depth(ctx context.Context, app string) (int, error) {
	n, err := c.Memory.Depth(ctx, app)
	if c.flaw == "counts what waits" {
		n -= c.n
	}
	return n, err
}

func (c *flawedCarrier) Take(ctx context.Context, apps []string, class string) (queue.Delivery, error) {
	switch c.flaw {
	case "does not wait":
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
	case "delivers anyway":
		ctx = context.WithoutCancel(ctx)
		if n, _ := c.Memory.Depth(ctx, apps[0]); n == 0 {
			return nil, context.Canceled
		}
	}
	d, err := c.Memory.Take(ctx, apps, class)
	c.n++
	if err != nil {
		return nil, err
	}
	switch c.flaw {
	case "leases for ever":
		go func() {
			for i := 0; i < 100 && d.Renew(context.Background()) == nil; i++ {
				time.Sleep(time.Second / 3)
			}
		}()
	case "delivers twice":
		go func() {
			time.Sleep(time.Millisecond)
			d.Done(context.Background())
			c.Memory.Offer(context.Background(), d.Ticket())
		}()
	}
	return &flawedDelivery{d, c}, nil
}

type flawedDelivery struct {
	queue.Delivery
	c *flawedCarrier
}

func (d *flawedDelivery) Renew(ctx context.Context) error {
	if d.c.flaw == "does not renew" {
		return nil
	}
	return d.Delivery.Renew(ctx)
}

func (d *flawedDelivery) Done(ctx context.Context) error {
	if d.c.flaw == "never done" {
		return nil
	}
	return d.Delivery.Done(ctx)
}

// Each flaw is found by the rule that is meant to find it.
func TestCarrierRulesFindFlaws(t *testing.T) {
	flaws := map[string][]string{ // by rule
		"delivered":    {"forgets the class", "forgets the application", "adds twice"},
		"waits":        {"does not wait"},
		"cancelled":    {"delivers anyway"},
		"twice":        {"adds twice"},
		"depth":        {"counts what waits", "never done"},
		"applications": {"forgets the application"},
		"class":        {"forgets the class"},
		"lease":        {"leases for ever", "delivers twice"},
		"renew":        {"does not renew"},
		"done":         {"never done"},
		"each once":    {"delivers twice"},
	}
	for _, rule := range carrierRules {
		t.Run(rule.name, func(t *testing.T) {
			if len(flaws[rule.name]) == 0 {
				t.Error("no flaw is known for the rule")
			}
			for _, flaw := range append(flaws[rule.name], "") {
				var err error
				synctest.Test(t, func(t *testing.T) {
					c := &flawedCarrier{Memory: queue.NewMemory(time.Second), flaw: flaw}
					opts := CarrierOptions{Lease: time.Second, Slow: 5 * time.Second}
					err = rule.check(newCarrierBench(t.Context(), Carrier[queue.Ticket, queue.Delivery](c), opts))
					time.Sleep(time.Minute) // for goroutines that still renew
				})
				if found := err != nil; found != (flaw != "") {
					t.Errorf("the flaw %q: %v", flaw, err)
				}
			}
		})
	}
}
