package online

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// realClock is the clock of the machine, in UTC as study's.
type realClock struct{}

func (realClock) Now() time.Time { return time.Now().UTC() }

// Errors of a session of on-line tuning. Each means that a request was refused and nothing changed.
var (
	ErrNotJoined  = errors.New("not joined")            // the session does not know this process
	ErrRankTaken  = errors.New("rank is in use")        // by another process, which is alive
	ErrNotFetched = errors.New("turn was not fetched")  // by this process, or is no longer its latest
	ErrReported   = errors.New("turn was reported")     // before
	ErrBadReport  = errors.New("bad report")            // NaN, infinite or negative
	ErrOver       = errors.New("the session has ended") // by End
	ErrOnePoint   = errors.New("nothing to tune: the space has one configuration")
)

// A Mode is the way in which the ranks of a program depend on each other.
type Mode uint8

const (
	// Free ranks iterate each at its own pace and report singly: every report is
	// one sample of the configuration that the rank ran (Tabatabaee et al. 2005,
	// footnote 1).
	Free Mode = iota
	// Steps makes all ranks wait for each other at the end of an iteration; they may
	// run different configurations in it. A report is a sample of its own
	// configuration, so it must not contain the waiting; the time of iteration k
	// is T_k = max over the ranks (eq. 1).
	Steps
	// Same is as Steps, and all ranks of an iteration run one configuration, because
	// the program needs them to agree. One iteration is one sample: T_k.
	Same
)

var modeNames = [...]string{"free", "steps", "same"}

// String returns the mode's name as it is written on command lines.
func (m Mode) String() string { return modeNames[m] }

// ParseMode is the inverse of [Mode.String].
func ParseMode(text string) (Mode, error) {
	if i := slices.Index(modeNames[:], text); i >= 0 {
		return Mode(i), nil
	}
	return 0, fmt.Errorf("no mode %q (there are free, steps, same)", text)
}

// Options configure an on-line session. The zero value of an optional field means its documented default.
type Options struct {
	Name  string
	Space *assay.Space // of two configurations or more
	// Searcher returns a new searcher for the given epoch, which counts the
	// restarts of the search from 0. It must always return the same one for an
	// epoch: a session is resumed by replay.
	Searcher func(epoch int) (assay.Searcher, error)
	Store    assay.Store  // the study exists there; see assay.Store.Create
	Default  assay.Config // handed out while nothing better is known

	Mode Mode
	// Samples is the least number of samples of each configuration; 0 means 1.
	// Each of n configurations that P ranks share gets ⌊P/n⌋ samples if that is
	// more: they cost no time (§5.2).
	Samples   int
	Estimator func([]float64) float64 // of the samples; nil means the minimum (eq. 13)
	// Deadline is how long a rank may be silent before it is given up for dead: its configuration goes to another rank,
	// and its rank to the next process that requests it. 0 means ten times the longest iteration so far, at least a
	// second, and a minute before the first report.
	Deadline time.Duration
	Clock    assay.Clock   // optional; nil is the machine's
	Flush    time.Duration // longest time that an event is kept back; 0 means 200 ms
}

// A Turn is the work of a rank in one iteration.
type Turn struct {
	ID     int64        // for its report; unique in the session of one server
	Config assay.Config // not to be changed
	Trial  int64        // the trial that it is a sample of, or 0 for the best so far
}

// A Session tunes a running SPMD program: each process (rank) fetches a configuration before an iteration and reports
// its time after it.
//
// Neither Fetch nor Report waits for the searcher or the store, which have a goroutine each; if nothing new is to be
// tried, a rank gets the best configuration so far. Ranks may join late, leave and die at any time. It is safe for
// concurrent use.
//
// Events reach the store in their order but late, by at most [Options.Flush] and one append: a server that is killed
// forgets the last samples, which are taken again, and never contradicts itself. [Session.Close] loses nothing. If the
// store fails, the program continues with the best configuration so far, and Close and Status return the reason.
type Session struct {
	o      Options
	began  time.Time
	before time.Duration      // spent by earlier sessions
	wake   chan struct{}      // to the goroutine of think; capacity 1
	log    chan []assay.Event // the events of one call of the searcher together
	ended  sync.WaitGroup
	stop   context.CancelFunc
	quit   context.Context
	end    assay.Position // of the record; owned by write, once it runs

	searcher assay.Searcher // owned by think, once it runs, as the rest of this block
	at       int            // its epoch
	offset   int64          // trial ID - the searcher's ID, in this epoch

	mu sync.Mutex
	sessionState
}

// sessionState is guarded by the mutex. It is held briefly: never while the searcher computes or the store writes.
type sessionState struct {
	members map[string]*member // by instance
	ranks   map[int]*member
	alive   int   // of the members: those that are not dead
	looks   int64 // at one member after the other, in all
	turns   int64
	scan    time.Time // when to look for the dead next
	longest time.Duration

	queue  []*point         // one entry for each sample to be taken
	open   map[int64]*point // proposals without a result, by trial ID
	told   []assay.Trial    // complete, for think
	trials int64            // results in all
	lastID int64

	best   assay.Trial // of this epoch; Config is the default until there is one
	step   *step       // the latest, unless Free
	steps  int64       // complete
	total  float64     // seconds of them: TotalTime (eq. 2)
	epoch  int         // that think must reach
	done   bool        // the searcher has ended
	paused bool
	over   bool
	asked  bool // to be over, by End
	fault  error
}

// A point is a proposal whose samples are being taken.
type point struct {
	assay.Proposal
	want    int
	samples []float64
	started time.Time
	failed  string // why a rank could not run it
}

// Open resumes the session from the events of the study, or begins it.
// It returns ErrOnePoint for a space without a choice, and a *[replay.Error] if
// the searcher does not repeat its proposals.
func Open(ctx context.Context, o Options) (*Session, error) {
	if o.Space.Size().N == 1 {
		return nil, ErrOnePoint
	}
	if err := o.Space.Check(o.Default); err != nil {
		return nil, fmt.Errorf("the default configuration: %w", err)
	}
	if o.Clock == nil {
		o.Clock = realClock{}
	}
	if o.Estimator == nil {
		o.Estimator = slices.Min[[]float64]
	}
	if o.Flush <= 0 {
		o.Flush = 200 * time.Millisecond
	}
	o.Samples = max(o.Samples, 1)
	s := &Session{o: o, wake: make(chan struct{}, 1), log: make(chan []assay.Event, 4096)}
	s.members, s.ranks, s.open = map[string]*member{}, map[int]*member{}, map[int64]*point{}
	s.best = assay.Trial{Proposal: assay.Proposal{Config: s.o.Default}, Value: math.Inf(1)}
	if err := s.replay(ctx); err != nil {
		return nil, err
	}
	s.began = o.Clock.Now()
	s.quit, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.ended.Go(s.think)
	s.ended.Go(s.write)
	s.poke()
	return s, nil
}

// poke has think look around. It never waits: wake holds one call, and one look is enough
// for all that happened before it.
func (s *Session) poke() {
	select {
	case s.wake <- struct{}{}:
	default: // it will anyway
	}
}

// Close ends this server's part: it records the results so far, and a later Open resumes. Requests after it get
// ErrOver. It returns the reason if the session could not be recorded in full.
func (s *Session) Close() error {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.stop()
	s.ended.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

// Pause has every rank run the best configuration so far until Resume. Samples
// that are being taken still count. A pause is not recorded.
func (s *Session) Pause() error { return s.control(func() { s.paused = true }) }

// Resume ends a pause.
func (s *Session) Resume() error { return s.control(func() { s.paused = false }) }

// Restart begins the search anew, for a program whose behaviour has changed: earlier measurements no longer count. The
// best configuration stays in use until the new search has measured one.
func (s *Session) Restart() error {
	return s.control(func() {
		s.done = false
		s.epoch++
		s.clear()
	})
}

// clear drops the results of the search before a restart.
func (s *Session) clear() {
	s.dropPoints()
	s.best.ID, s.best.Value = 0, math.Inf(1)
}

// dropPoints forgets the proposals without a result.
func (s *Session) dropPoints() {
	s.queue, s.told = nil, nil
	clear(s.open)
}

// End ends the session: ranks that ask again get ErrOver and keep the
// configuration they have.
func (s *Session) End() error { return s.control(func() { s.over, s.asked = true, true }) }

// control makes a change that a user asks for, unless the session is over.
func (s *Session) control(change func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return ErrOver
	}
	change()
	s.poke()
	return nil
}

// A Status is a view of a session at one moment. Best must not be changed.
type Status struct {
	Study   string
	Mode    Mode
	State   string // "searching", "paused", "done" (the search is) or "ended"
	Best    assay.Config
	Value   float64 // of Best in seconds; +Inf while nothing is known
	Trials  int64   // that have all their samples
	Running int     // trials that have not
	Ranks   int     // that are alive
	Turns   int64   // fetched from this server
	Steps   int64   // iterations of all ranks that have ended, unless Free
	Total   float64 // seconds of these: the sum of T_k
	Epoch   int     // restarts
	Fault   error   // why the session is no longer recorded, or nil
}

// Status returns the present status.
func (s *Session) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{
		Study: s.o.Name, Mode: s.o.Mode, State: "searching", Best: s.best.Config, Value: s.best.Value, Trials: s.trials,
		Running: len(s.open), Ranks: s.alive, Turns: s.turns, Steps: s.steps, Total: s.total, Epoch: s.epoch,
		Fault: s.fault,
	}
	switch {
	case s.over:
		st.State = "ended"
	case s.paused:
		st.State = "paused"
	case s.done || s.fault != nil:
		st.State = "done"
	}
	return st
}
