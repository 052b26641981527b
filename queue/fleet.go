package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// Options of a [Fleet]. The zero value means the documented defaults.
type Options struct {
	// Lease is how long an attempt may be silent before it is taken for lost; 0 means 30 s.
	Lease time.Duration
	// Beat is how often an attempt must be heard of; 0 means a third of the lease. A job
	// that is to be observed more often is, up to once a second, or every Beat if that is
	// less.
	Beat time.Duration
	// Now is the clock of leases; nil means time.Now. It must be monotonic: a step of the
	// machine's clock is no silence.
	Now func() time.Time
	// Version is that of the server: workers of versions that are too far from it are refused. ""
	// refuses none.
	Version string
	// Orders are those that hold from the beginning, by the ID of the worker.
	Orders map[string]Order
	// Keep has all orders that hold on record, before the one that is new holds; nil has none. The map
	// is the caller's.
	Keep func(map[string]Order) error
	// Warn is told, for people, of what went wrong and goes on by itself; nil means nobody.
	Warn func(string)
}

// A Fleet runs the trials of many studies on the workers behind a [Carrier]. It is safe
// for concurrent use. See the package comment.
type Fleet struct {
	o       Options
	carrier Carrier

	ordering sync.Mutex // held while an order is given

	// mu guards all that follows, and all of the studies, runs and attempts. It is never
	// held while something is written, offered or observed.
	mu      sync.Mutex
	studies map[string]*member
	parted  map[string]bool // studies that have left and whose runs go on
	ready   bool
	down    bool // Serve has ended
	claims  map[claimKey]*claimed
	looked  time.Time // when leases were last looked at
	forgot  time.Time // when claims and workers were last forgotten
	offered bool      // somebody is offering what is pending
	roster
	line
}

var _ Control = (*Fleet)(nil)

// Errors of a [Control] beside those of the class unavailable.
var (
	// ErrStranger is returned to a worker that has not said Hello since the server
	// started. It says Hello, and calls again.
	ErrStranger = assay.Errorf(assay.ClassNotFound, "the worker is not known here: it must say hello first")
	// ErrDraining is returned to a worker that claims although it was told to take
	// nothing more. It leaves the ticket to others, and says Hello to hear of its order.
	ErrDraining = assay.Errorf(assay.ClassConflict, "the worker is to take nothing more")
	// ErrQuarantined is returned to a worker that claims although it was set aside; it does as with
	// ErrDraining.
	ErrQuarantined = assay.Errorf(assay.ClassConflict,
		"the worker was set aside: it takes nothing until a person has it go on")
	// ErrUnknown is returned for an outcome of an attempt that is not on record. It will
	// never be taken: the worker need not keep it.
	ErrUnknown = assay.Errorf(assay.ClassNotFound, "the attempt is not on record")

	errUnready = assay.Errorf(assay.ClassUnavailable, "the server is not ready yet")
	errDown    = assay.Errorf(assay.ClassUnavailable, "the server is ending")
)

// New returns a Fleet without studies and workers. It answers from now on; leases and
// lost tickets are looked after while Serve runs.
func New(c Carrier, o Options) *Fleet {
	o.Lease = cmp.Or(o.Lease, 30*time.Second)
	o.Beat = cmp.Or(o.Beat, o.Lease/3)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	return &Fleet{
		o: o, carrier: c, studies: map[string]*member{}, parted: map[string]bool{}, claims: map[claimKey]*claimed{},
		roster: roster{
			lease: o.Lease, workers: map[string]*worker{}, orders: kept(o.Orders), quarantined: map[machine]*quarantine{},
		},
		line: line{ticket: rand.Text, apps: map[string]*app{}},
	}
}

// Ready says that every study that was running has joined. A study that is unknown from
// now on has no runs: what its workers still run is cancelled. Before, they are told to
// ask again later.
func (f *Fleet) Ready() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ready = true
}

// Serve looks after leases and lost tickets until ctx is done. From then on every call
// of a worker is answered with an error of the class unavailable: the runs go on, and
// their outcomes wait for the next server.
func (f *Fleet) Serve(ctx context.Context) error {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.down = true
	}()
	var losing sync.WaitGroup
	defer losing.Wait()
	look := time.NewTicker(f.o.lookEvery())
	defer look.Stop()
	refill := time.NewTicker(refillEvery)
	defer refill.Stop()
	f.mu.Lock()
	f.looked, f.forgot = f.now(), f.now()
	f.mu.Unlock()
	f.refill(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			f.expire(ctx, &losing)
		case <-refill.C:
			select { // what is due at the same time is done in one order
			case <-look.C:
				f.expire(ctx, &losing)
			default:
			}
			f.refill(ctx)
		}
	}
}

// lookEvery returns how often leases are looked at.
func (o Options) lookEvery() time.Duration {
	return max(min(o.Lease/6, 5*time.Second), time.Millisecond)
}

// beat returns how often an attempt must be heard of whose job is observed every so often.
func (o Options) beat(interval time.Duration) time.Duration {
	if interval <= 0 {
		return o.Beat
	}
	return min(o.Beat, max(interval, time.Second))
}

// member returns a study by name, or what to tell the worker: a verdict for a run that
// nobody wants, or an error. The lock is held.
func (f *Fleet) member(study string) (*member, error) {
	switch m := f.studies[study]; {
	case f.down:
		return nil, errDown
	case m != nil:
		return m, nil
	case !f.ready, f.parted[study]:
		return nil, errUnready
	}
	return nil, ErrUnknown
}

// flush offers the tickets that are pending. One caller offers for all, so that many runs
// that open at once become one offer. The lock is held.
func (f *Fleet) flush() {
	if len(f.pending) == 0 || f.offered {
		return
	}
	f.offered = true
	go func() {
		for {
			f.mu.Lock()
			ts := f.pending
			f.pending = nil
			f.offered = len(ts) > 0
			f.mu.Unlock()
			if len(ts) == 0 {
				return
			}
			ctx, cancel := context.WithTimeout(context.Background(), refillEvery)
			if err := f.carrier.Offer(ctx, ts...); err != nil {
				f.o.Warn("offering work to the workers: " + err.Error() + "; it is offered again")
			}
			cancel()
		}
	}()
}

// unlock offers what has opened meanwhile, and unlocks.
func (f *Fleet) unlock() {
	f.flush()
	f.mu.Unlock()
}

// drop takes an element out of a list in which order means nothing.
func drop[T comparable](list []T, i int) []T {
	last := len(list) - 1
	list[i] = list[last]
	var zero T
	list[last] = zero
	return list[:last]
}
