package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/store"
)

// The simulator runs a whole control plane in simulated time: servers that restart and
// replay the record, workers that crash, freeze and are cut off, a carrier that loses,
// repeats and reorders, a disk that fails, and studies that ask, stop and take back. The
// rules are checked at each answer of the server (sim_server_test.go) and on the record
// at the end (sim_ledger_test.go).
//
// A seed takes the same course each time, down to the nanosecond: TestSimulatorRepeats, and [dice].

// simLease is the lease of attempts in the simulation.
const simLease = 30 * time.Second

// A world is one simulation.
type world struct {
	seed  uint64
	*dice // of the main course: of nobody who goes on beside it
	store *store.Mem
	began time.Time

	mu       sync.Mutex
	wrong    error // the first thing that did not hold
	server   *simServer
	epochs   int // of servers
	carrier  *simCarrier
	workers  []*simWorker
	studies  []*simStudy
	attempts map[assay.RunID]*truth
	stood    map[assay.RunID]bool // a worker has said in a beat that it stood still for longer than a lease
	tokens   float64
	step     time.Duration // by which the wall clock was set, in all
	steps    int           // how often
	broken   time.Time     // until when the disk fails
	done     chan struct{} // closed when something is wrong
	calls    sync.WaitGroup
}

// A simStudy is the state of a study, whichever server runs it.
type simStudy struct {
	name      string
	class     string
	priority  int
	parallel  int
	plans     []plan
	withdrawn map[int64]time.Time // when whoever runs the trial was told
	ordered   map[int64]int
	over      bool
}

// A plan is the course that a trial would take.
type plan struct {
	lasts time.Duration
	stop  time.Duration // at which it is stopped, 0 for never
	limit time.Duration
}

// A truth is the course of an attempt, as its worker has it.
type truth struct {
	worker  string
	process int
	token   float64
	beats   map[time.Duration]float64 // with the token
	tainted bool
	outcome *Outcome
	acked   bool
	heard   time.Time // by a server
}

func newWorld(seed uint64) *world {
	w := &world{
		seed: seed, store: store.NewMem(), began: time.Now(),
		attempts: map[assay.RunID]*truth{}, stood: map[assay.RunID]bool{}, done: make(chan struct{}),
	}
	w.dice = w.diceOf("main")
	w.carrier = &simCarrier{w: w, inner: NewMemory(simLease)}
	for i := range 1 + w.intn(3) {
		s := &simStudy{
			name: fmt.Sprintf("s%d", i), class: []string{ClassSame, ClassAny}[w.intn(2)], priority: w.intn(2),
			parallel: 1 + w.intn(4), withdrawn: map[int64]time.Time{}, ordered: map[int64]int{},
		}
		for range 2 + w.intn(6) {
			p := plan{lasts: w.between(time.Second, 3*time.Minute)}
			if w.intn(4) == 0 {
				p.stop = w.between(time.Second, p.lasts)
			}
			if w.intn(6) == 0 {
				p.limit = w.between(time.Second, 2*p.lasts)
			}
			s.plans = append(s.plans, p)
		}
		w.studies = append(w.studies, s)
		if err := w.store.Create(context.Background(), s.name, nil); err != nil {
			panic(err)
		}
	}
	for i := range 2 + w.intn(3) {
		id := fmt.Sprintf("w%d", i)
		w.workers = append(w.workers, &simWorker{w: w, spool: map[assay.RunID]Outcome{}, Worker: Worker{
			ID: id, Name: "host-" + id, Slots: 1 + w.intn(2), Apps: []string{"app"}, MachineClass: []string{"a", "b"}[w.intn(2)],
		}})
	}
	return w
}

// failf notes that something does not hold, and ends the simulation.
func (w *world) failf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failLocked(format, args...)
}

func (w *world) failLocked(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = fmt.Errorf("at %v: "+format, append([]any{time.Since(w.began)}, args...)...)
		close(w.done)
		w.dump()
	}
}

// dump prints the records if ASSAY_SIM asks for it.
func (w *world) dump() {
	if os.Getenv("ASSAY_SIM") == "" {
		return
	}
	for _, s := range w.studies {
		for e := range w.store.Events(context.Background(), s.name, 0) {
			text, _ := store.EncodeEvent(e)
			fmt.Println(e.At.Sub(w.began), s.name, string(text))
		}
	}
}

// sleep waits, and reports whether ctx is still there.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// Times of a simulation: how long there is trouble, and how long all may take.
const (
	troubleFor = 8 * time.Minute
	allFor     = 12 * time.Hour
)

// run runs the simulation and returns the first thing that did not hold.
func (w *world) run() error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-w.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	w.boot()
	for _, k := range w.workers {
		k.start(ctx)
	}
	w.trouble(ctx)
	for ctx.Err() == nil && !w.settled() {
		if time.Since(w.began) > allFor {
			w.failf("not all has ended: %s", w.unsettled())
		}
		sleep(ctx, time.Minute)
	}
	if ctx.Err() == nil {
		sleep(ctx, 5*simLease) // what was lost is booked, who drains ends
		w.audit()
	}
	cancel()
	w.halt(false)
	for _, k := range w.workers {
		k.kill()
	}
	w.calls.Wait()
	time.Sleep(time.Minute) // what a server that has ended was offering
	return w.wrong
}

// settled reports whether all studies have ended and no worker has anything.
func (w *world) settled() bool { return w.unsettled() == "" }

func (w *world) unsettled() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.studies {
		if !s.over {
			return "study " + s.name
		}
	}
	for _, k := range w.workers {
		if n := len(k.spool) + len(k.running); n > 0 {
			return fmt.Sprintf("worker %s has %d", k.ID, n)
		}
	}
	return ""
}

// trouble makes trouble for a while.
func (w *world) trouble(ctx context.Context) {
	for ctx.Err() == nil && time.Since(w.began) < troubleFor && !w.settled() {
		if !sleep(ctx, w.between(time.Second, 25*time.Second)) {
			return
		}
		k := w.workers[w.intn(len(w.workers))]
		s := w.studies[w.intn(len(w.studies))]
		trial := int64(1 + w.intn(len(s.plans)))
		switch w.intn(12) {
		case 0:
			k.kill()
			dead := w.between(time.Second, 50*time.Second)
			w.calls.Go(func() {
				sleep(ctx, dead)
				if ctx.Err() == nil {
					k.start(ctx)
				}
			})
		case 1, 2:
			k.freeze(w.between(time.Second, 3*simLease))
		case 3, 4:
			k.cutOff(w.between(time.Second, 4*simLease))
		case 5, 6:
			w.halt(w.chance(0.3))
			sleep(ctx, w.between(10*time.Millisecond, 20*time.Second))
			w.boot()
		case 7:
			w.carrier.wipe()
		case 8:
			w.mu.Lock()
			w.step += testbed.Steps()[w.steps%len(testbed.Steps())]
			w.steps++
			w.mu.Unlock()
		case 9:
			w.mu.Lock()
			w.broken = time.Now().Add(w.between(0, 5*time.Second))
			w.mu.Unlock()
		case 10:
			w.order(s, trial, w.intn(3))
			w.withdraw(s, int64(1+w.intn(len(s.plans))))
		case 11:
			w.drain(k)
		}
	}
	if w.current() == nil {
		w.boot()
	}
}

// current returns the server that runs, or nil.
func (w *world) current() *simServer {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.server
}

// simSeeds is how many seeds a run of the tests has; ASSAY_SEEDS sets another number.
func simSeeds() uint64 {
	n, err := strconv.ParseUint(os.Getenv("ASSAY_SEEDS"), 10, 64)
	switch {
	case err == nil:
		return n
	case os.Getenv("ASSAY_SOAK") != "":
		return 200_000
	}
	return uint64(testbed.Times(200, 2000))
}

// simulate runs one seed.
func simulate(t *testing.T, seed uint64) (err error) {
	synctest.Test(t, func(*testing.T) { err = newWorld(seed).run() })
	return err
}

// The control plane keeps its promises, whatever fails. ASSAY_SIM=SEED runs
// one seed alone, and ASSAY_SIM=SEED..SEED those in between; both show the records of one that fails.
func TestSimulator(t *testing.T) {
	first, end := uint64(0), simSeeds()
	a, b, several := strings.Cut(os.Getenv("ASSAY_SIM"), "..")
	if seed, err := strconv.ParseUint(a, 10, 64); err == nil {
		first, end = seed, seed+1
	}
	if seed, err := strconv.ParseUint(b, 10, 64); several && err == nil {
		end = seed + 1
	}
	for seed := first; seed < end; seed++ {
		if err := simulate(t, seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// errAway is a worker's error when no server answers.
var errAway = assay.WithClass(assay.ClassUnavailable, errors.New("no answer"))
