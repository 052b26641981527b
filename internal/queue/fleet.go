package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// Options of a [Fleet]. The zero value means the documented defaults.
type Options struct {
	// Lease is how long an attempt may be silent before it counts as lost; 0 means 30 s.
	Lease time.Duration
	// Beat is the longest time between beats of an attempt; 0 means a third of the lease. Jobs with a shorter observation
	// interval beat more often: up to once a second, or every Beat if that is shorter.
	Beat time.Duration
	// Now is the clock of leases; nil means time.Now. It must be monotonic, so that a step of the machine's clock does not
	// count as silence.
	Now func() time.Time
	// Version is the server's version. Workers of incompatible versions are refused; "" refuses none.
	Version string
	// Orders are those that hold from the beginning, by the ID of the worker.
	Orders map[string]Order
	// Keep stores all orders in force, before a new one takes effect; it may be nil. The map belongs to the caller.
	Keep func(map[string]Order) error
	// Waited is called with the time for which a run was open when a worker claimed it. It must not block; it may be nil.
	Waited func(time.Duration)
	// Log receives the begin and end of each attempt, and warnings about faults that heal by themselves; it may be nil.
	Log *slog.Logger
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
	parted  map[string]bool // studies that have left and whose runs continue
	ready   bool
	down    bool // Serve has ended
	claims  map[claimKey]*claimed
	looked  time.Time // time of the last check of leases
	forgot  time.Time // when claims and workers were last forgotten
	offered bool      // a caller is offering the pending tickets
	roster
	line
}

var _ Control = (*Fleet)(nil)

// Errors of a [Control] besides errors of class unavailable.
var (
	// ErrStranger is returned to a worker that has not called Hello since the server started. The worker must call Hello
	// and repeat the call.
	ErrStranger = assay.Errorf(assay.ClassNotFound, "the worker is not known here: it must call Hello first")
	// ErrDraining is returned to a worker that claims although it is draining. It leaves the ticket to others, and calls
	// Hello to get its order.
	ErrDraining = assay.Errorf(assay.ClassConflict, "the worker is to take nothing more")
	// ErrQuarantined is returned to a worker that claims although it was set aside; it does as with
	// ErrDraining.
	ErrQuarantined = assay.Errorf(assay.ClassConflict,
		"the worker was set aside: it takes nothing until a person has it go on")
	// ErrUnknown is returned for an outcome of an attempt that is not on record. It will never be accepted: the worker
	// need not keep it.
	ErrUnknown = assay.Errorf(assay.ClassNotFound, "the attempt is not on record")

	errUnready = assay.Errorf(assay.ClassUnavailable, "the server is not ready yet")
	errDown    = assay.Errorf(assay.ClassUnavailable, "the server is ending")
)

// New returns a Fleet without studies and workers. It answers calls immediately; leases and lost tickets are handled
// while Serve runs.
func New(c Carrier, o Options) *Fleet {
	o.Lease = cmp.Or(o.Lease, 30*time.Second)
	o.Beat = cmp.Or(o.Beat, o.Lease/3)
	if o.Now == nil {
		o.Now = func() time.Time { return time.Now().UTC() }
	}
	if o.Waited == nil {
		o.Waited = func(time.Duration) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Fleet{
		o: o, carrier: c, studies: map[string]*member{}, parted: map[string]bool{}, claims: map[claimKey]*claimed{},
		roster: roster{
			lease: o.Lease, workers: map[string]*worker{}, orders: kept(o.Orders), quarantined: map[machine]*quarantine{},
		},
		line: line{ticket: rand.Text, apps: map[string]*app{}},
	}
}

// Ready marks the end of startup: every running study has joined. From now on, a study that is unknown has no runs, and
// its attempts at workers are cancelled. Before, their workers are asked to retry later.
func (f *Fleet) Ready() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ready = true
}

// Serve handles leases and lost tickets until ctx is done. After that every call of a worker is answered with an error
// of class unavailable: the runs continue, and their outcomes wait for the next server.
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
	f.looked, f.forgot = f.o.Now(), f.o.Now()
	f.mu.Unlock()
	f.refill(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			f.expire(ctx, &losing)
		case <-refill.C:
			select { // events that are due at the same time are handled in a fixed order
			case <-look.C:
				f.expire(ctx, &losing)
			default:
			}
			f.refill(ctx)
		}
	}
}

// lookEvery returns the interval of the checks of leases.
func (o Options) lookEvery() time.Duration {
	return max(min(o.Lease/6, 5*time.Second), time.Millisecond)
}

// beat returns the time between beats of an attempt whose job is observed at an interval.
func (o Options) beat(interval time.Duration) time.Duration {
	if interval <= 0 {
		return o.Beat
	}
	return min(o.Beat, max(interval, time.Second))
}

// member returns a study by name, or the error for the worker. ErrUnknown means that the study has no runs. The lock is
// held.
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
				f.o.Log.Warn("offering work to the workers: " + err.Error() + "; it is offered again")
			}
			cancel()
		}
	}()
}

// unlock offers the attempts that have opened meanwhile, and unlocks.
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
