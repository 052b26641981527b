package assaytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A CarrierTicket is the constraint of a ticket of package queue, which this package does not import: the message of a
// carrier to workers.
type CarrierTicket interface {
	comparable
	~struct {
		ID           string `json:"id"`
		App          string `json:"app"`
		MachineClass string `json:"class,omitempty"`
	}
}

// A CarrierDelivery is a leased ticket: queue.Delivery.
type CarrierDelivery[T any] interface {
	Ticket() T
	Renew(ctx context.Context) error
	Done(ctx context.Context) error
}

// A Carrier brings tickets to workers: queue.Carrier, whose contract this is.
type Carrier[T any, D CarrierDelivery[T]] interface {
	Offer(ctx context.Context, ts ...T) error
	Depth(ctx context.Context, app string) (int, error)
	Take(ctx context.Context, apps []string, class string) (D, error)
}

// CarrierOptions describe a carrier.
type CarrierOptions struct {
	// Lease is how long the carriers of the test lease a ticket. It must be set: the
	// suite waits for some leases.
	Lease time.Duration
	// Slow is how long a ticket may take to a worker who waits for it; 0 means 5 s.
	Slow time.Duration
	// Bubble means that the carrier needs nothing outside the process, so that it can be tested in simulated time (package
	// testing/synctest).
	Bubble bool
}

// TestCarrier checks the contract of a carrier of tickets without failures. During failures a carrier may lose, repeat,
// delay and reorder tickets, and its callers must tolerate this: the simulator of package queue shows that a Fleet
// does. newCarrier returns a carrier without tickets, and ends it with t.Cleanup.
func TestCarrier[T CarrierTicket, D CarrierDelivery[T]](
	t *testing.T, newCarrier func(t *testing.T) Carrier[T, D], opts CarrierOptions,
) {
	t.Helper()
	if opts.Slow == 0 {
		opts.Slow = 5 * time.Second
	}
	for _, rule := range carrierRules {
		t.Run(rule.name, func(t *testing.T) {
			check := func(t *testing.T) error { return rule.check(newCarrierBench(t.Context(), newCarrier(t), opts)) }
			run := func(t *testing.T) {
				if err := check(t); err != nil {
					t.Errorf("%v\nthe rule: %s", err, rule.why)
				}
			}
			if opts.Bubble {
				synctest.Test(t, run)
				return
			}
			for range 4 {
				stall, err := unstalled(func() error { return check(t) })
				if err == nil {
					return
				}
				if stall < opts.Lease/8 {
					break
				}
				t.Logf("%v; this process stood still for %v, so the rule is checked again", err, stall)
			}
			run(t)
		})
	}
}

// unstalled runs f. It returns the longest time that this process stood still meanwhile, and the error of f. A lease
// that ends in such a time is not the carrier's fault.
func unstalled(f func() error) (stall time.Duration, err error) {
	const every = 5 * time.Millisecond
	over := make(chan struct{})
	longest := make(chan time.Duration)
	go func() {
		var most time.Duration
		for last := time.Now(); ; last = time.Now() {
			select {
			case <-time.After(every):
				most = max(most, time.Since(last)-every)
			case <-over:
				longest <- max(most, time.Since(last)-every)
				return
			}
		}
	}()
	err = f()
	close(over)
	return <-longest, err
}

// A ticket is a CarrierTicket of any type.
type ticket struct{ id, app, class string }

// A lease is a CarrierDelivery of any type.
type lease struct {
	ticket
	renew, done func(context.Context) error
}

// A carrierBench is the environment of one rule: a carrier of any type.
type carrierBench struct {
	CarrierOptions
	ctx   context.Context
	offer func(ctx context.Context, ts ...ticket) error
	depth func(ctx context.Context, app string) (int, error)
	take  func(ctx context.Context, apps []string, class string) (lease, error)
}

func newCarrierBench[T CarrierTicket, D CarrierDelivery[T]](
	ctx context.Context, c Carrier[T, D], opts CarrierOptions,
) *carrierBench {
	type plain = struct {
		ID           string `json:"id"`
		App          string `json:"app"`
		MachineClass string `json:"class,omitempty"`
	}
	return &carrierBench{
		opts, ctx, func(ctx context.Context, ts ...ticket) error {
			all := make([]T, len(ts))
			for i, t := range ts {
				all[i] = T(plain{t.id, t.app, t.class})
			}
			return c.Offer(ctx, all...)
		}, c.Depth, func(ctx context.Context, apps []string, class string) (lease, error) {
			d, err := c.Take(ctx, apps, class)
			if err != nil {
				return lease{}, err
			}
			t := plain(d.Ticket())
			return lease{ticket{t.ID, t.App, t.MachineClass}, d.Renew, d.Done}, nil
		},
	}
}

// next returns the next ticket, which must come.
func (b *carrierBench) next(class string, apps ...string) (lease, error) {
	ctx, cancel := context.WithTimeout(b.ctx, b.Slow)
	defer cancel()
	l, err := b.take(ctx, apps, class)
	if err != nil {
		return l, fmt.Errorf("no ticket of %q for class %q: %w", apps, class, err)
	}
	return l, nil
}

// none returns an error if there is a ticket within a time.
func (b *carrierBench) none(within time.Duration, class string, apps ...string) error {
	ctx, cancel := context.WithTimeout(b.ctx, within)
	defer cancel()
	switch l, err := b.take(ctx, apps, class); {
	case err == nil:
		return fmt.Errorf("got the ticket %+v of %q for class %q, want none", l.ticket, apps, class)
	case ctx.Err() == nil:
		return fmt.Errorf("waiting for a ticket: %w", err)
	}
	return nil
}

// deep returns an error unless the wanted number of an application's tickets wait or are leased. A carrier may take a
// moment to count them.
func (b *carrierBench) deep(app string, want int) error {
	for deadline := time.Now().Add(b.Slow); ; time.Sleep(b.Slow / 100) {
		n, err := b.depth(b.ctx, app)
		if err != nil || n == want {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the depth of %q is %d, want %d", app, n, want)
		}
	}
}

// A carrierRule is one promise of a carrier.
type carrierRule struct {
	name, why string
	check     func(*carrierBench) error
}

var carrierRules = []carrierRule{
	{"delivered", "a ticket that is offered is delivered as it was", func(b *carrierBench) error {
		for _, want := range []ticket{{"1", "x", ""}, {"2", "x", "c"}, {"3", "a b/ü.*>", ""}} {
			if err := b.offer(b.ctx, want); err != nil {
				return err
			}
			got, err := b.next("c", want.app)
			if err == nil && got.ticket != want {
				err = fmt.Errorf("got %+v, want %+v", got.ticket, want)
			}
			if err != nil {
				return err
			}
		}
		return b.offer(b.ctx)
	}},
	{"waits", "Take waits for a ticket, and ends with an error when its context does", func(b *carrierBench) error {
		if err := b.none(50*time.Millisecond, "", "x"); err != nil {
			return err
		}
		errs := make(chan error, 1)
		go func() {
			_, err := b.next("", "x")
			errs <- err
		}()
		time.Sleep(50 * time.Millisecond)
		if err := b.offer(b.ctx, ticket{"1", "x", ""}); err != nil {
			return err
		}
		return <-errs
	}},
	{"cancelled", "no ticket is lost to a Take whose context has ended", func(b *carrierBench) error {
		ctx, cancel := context.WithCancel(b.ctx)
		cancel()
		if _, err := b.take(ctx, []string{"x"}, ""); err == nil {
			return errors.New("Take with a context that is done has no error")
		}
		if err := b.offer(b.ctx, ticket{"1", "x", ""}); err != nil {
			return err
		}
		if _, err := b.take(ctx, []string{"x"}, ""); err == nil {
			return errors.New("Take with a context that is done has no error though there is a ticket")
		}
		ctx, cancel = context.WithTimeout(b.ctx, b.Slow+2*b.Lease)
		defer cancel()
		_, err := b.take(ctx, []string{"x"}, "")
		return err
	}},
	{"twice", "a ticket that is there already is not added", func(b *carrierBench) error {
		for range 2 {
			if err := b.offer(b.ctx, ticket{"1", "x", ""}, ticket{"1", "x", ""}); err != nil {
				return err
			}
		}
		if err := b.deep("x", 1); err != nil {
			return err
		}
		if _, err := b.next("", "x"); err != nil {
			return err
		}
		if err := b.offer(b.ctx, ticket{"1", "x", ""}); err != nil { // it is leased
			return err
		}
		return errors.Join(b.none(b.Lease/4, "", "x"), b.deep("x", 1))
	}},
	{"depth", "Depth counts the tickets of an application that wait or are leased", checkDepth},
	{"applications", "Take gets tickets of its applications only", func(b *carrierBench) error {
		if err := b.offer(b.ctx, ticket{"1", "x", ""}, ticket{"2", "y", ""}, ticket{"3", "z", ""}); err != nil {
			return err
		}
		y, err := b.next("", "y")
		if err != nil || y.id != "2" {
			return fmt.Errorf("got %+v of y, error %w", y.ticket, err)
		}
		if err := b.none(b.Lease/4, "", "y", "w"); err != nil {
			return err
		}
		got := map[string]bool{}
		for range 2 {
			l, err := b.next("", "z", "x")
			if err != nil {
				return err
			}
			got[l.id] = true
		}
		if !got["1"] || !got["3"] {
			return fmt.Errorf("of x and z, got %v", got)
		}
		return nil
	}},
	{"class", "a ticket of a class is for that class, one of none for all", func(b *carrierBench) error {
		if err := b.offer(b.ctx, ticket{"1", "x", "c"}, ticket{"2", "x", "d"}, ticket{"3", "x", ""}); err != nil {
			return err
		}
		for _, c := range []struct{ class, id string }{{"", "3"}, {"d", "2"}, {"c", "1"}} {
			l, err := b.next(c.class, "x")
			if err != nil || l.id != c.id {
				return fmt.Errorf("class %q got %+v, error %w", c.class, l.ticket, err)
			}
			if err := b.none(b.Lease/8, c.class, "x"); err != nil {
				return err
			}
		}
		return nil
	}},
	{"lease", "a ticket whose lease has ended is delivered again, and not before", func(b *carrierBench) error {
		if err := b.offer(b.ctx, ticket{"1", "x", ""}); err != nil {
			return err
		}
		if _, err := b.next("", "x"); err != nil {
			return err
		}
		if err := b.none(b.Lease/2, "", "x"); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(b.ctx, b.Slow+2*b.Lease)
		defer cancel()
		l, err := b.take(ctx, []string{"x"}, "")
		if err != nil || l.id != "1" {
			return fmt.Errorf("after the lease: %+v, %w", l.ticket, err)
		}
		return b.deep("x", 1)
	}},
	{"renew", "a lease that is renewed does not end", func(b *carrierBench) error {
		if err := b.offer(b.ctx, ticket{"1", "x", ""}); err != nil {
			return err
		}
		l, err := b.next("", "x")
		if err != nil {
			return err
		}
		for range 12 {
			if err := b.none(b.Lease/4, "", "x"); err != nil {
				return err
			}
			if err := l.renew(b.ctx); err != nil {
				return err
			}
		}
		return nil
	}},
	{"done", "a ticket that is done is not delivered again", func(b *carrierBench) error {
		if err := b.offer(b.ctx, ticket{"1", "x", ""}); err != nil {
			return err
		}
		l, err := b.next("", "x")
		if err != nil {
			return err
		}
		if err := l.done(b.ctx); err != nil {
			return err
		}
		return errors.Join(b.none(2*b.Lease, "", "x"), b.deep("x", 0))
	}},
	{"each once", "of many who take at once, each ticket is for one", checkEachOnce},
}

func checkDepth(b *carrierBench) error {
	if err := b.deep("x", 0); err != nil {
		return err
	}
	many := []ticket{{"y", "y", ""}}
	for i := range 300 {
		many = append(many, ticket{fmt.Sprint(i), "x", []string{"", "c"}[i%2]})
	}
	if err := b.offer(b.ctx, many...); err != nil {
		return err
	}
	if err := errors.Join(b.deep("x", 300), b.deep("y", 1), b.deep("z", 0)); err != nil {
		return err
	}
	l, err := b.next("c", "x")
	if err != nil {
		return err
	}
	if err := b.deep("x", 300); err != nil {
		return fmt.Errorf("with one leased: %w", err)
	}
	if err := l.done(b.ctx); err != nil {
		return err
	}
	return b.deep("x", 299)
}

func checkEachOnce(b *carrierBench) error {
	const tickets, takers = 60, 6
	ctx, cancel := context.WithTimeout(b.ctx, 3*b.Slow)
	defer cancel()
	var mu sync.Mutex
	var got []string
	var errs []error
	var wg sync.WaitGroup
	for range takers {
		wg.Go(func() {
			for {
				l, err := b.take(ctx, []string{"x"}, "")
				if err != nil {
					return
				}
				err = l.done(b.ctx)
				mu.Lock()
				got, errs = append(got, l.id), append(errs, err)
				if len(got) >= tickets {
					time.AfterFunc(b.Lease/4, cancel) // for one that comes twice
				}
				mu.Unlock()
			}
		})
	}
	for i := range tickets {
		if err := b.offer(b.ctx, ticket{fmt.Sprint(i), "x", ""}); err != nil {
			return err
		}
	}
	wg.Wait()
	if n := len(slices.Compact(slices.Sorted(slices.Values(got)))); n != tickets || len(got) != tickets {
		return fmt.Errorf("%d tickets were delivered %d times, %d of them", tickets, len(got), n)
	}
	return errors.Join(errs...)
}
