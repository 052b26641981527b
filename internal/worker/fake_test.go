package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/worker"
)

// A server is a Control and a Carrier for one worker.
type server struct {
	tickets chan queue.Ticket

	mu       sync.Mutex
	away     bool
	order    queue.Order
	verdict  queue.Verdict // of beats; "" is Go
	tasks    []queue.Task  // that are not claimed yet
	claimed  map[string]queue.Claim
	claims   int
	workers  []queue.Worker
	beats    []queue.Beat
	beatAt   []time.Time
	told     []queue.Outcome
	refuse   error // of Tell
	stranger bool  // it does not know the worker
	renewed  int
	done     int
	// telling is called by Tell, before the outcome counts.
	telling func(queue.Outcome)
}

func newServer(tasks ...queue.Task) *server {
	s := &server{tickets: make(chan queue.Ticket, 1000), tasks: tasks, claimed: map[string]queue.Claim{}}
	for i, t := range tasks {
		s.tickets <- queue.Ticket{ID: fmt.Sprint("t", i), App: t.App}
	}
	return s
}

var errAway = assay.Errorf(assay.ClassUnavailable, "nobody there")

// locked calls f unless the server is away.
func (s *server) locked(f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return errAway
	}
	return f()
}

func (s *server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *server) Hello(_ context.Context, w queue.Worker) (o queue.Order, err error) {
	err = s.locked(func() error {
		s.workers = append(s.workers, w)
		s.stranger = false
		o = s.order
		return nil
	})
	return o, err
}

func (s *server) Claim(_ context.Context, t queue.Ticket, _ string) (c queue.Claim, err error) {
	err = s.locked(func() error {
		s.claims++
		if s.stranger {
			return assay.Errorf(assay.ClassNotFound, "it must call Hello first")
		}
		if old, ok := s.claimed[t.ID]; ok {
			c = old
			return nil
		}
		c = queue.Claim{Verdict: queue.Drop}
		if len(s.tasks) > 0 {
			c = queue.Claim{Verdict: queue.Go, Task: s.tasks[0], Lease: 30 * time.Second, Beat: 10 * time.Second}
			s.tasks = s.tasks[1:]
			s.claimed[t.ID] = c
		}
		return nil
	})
	return c, err
}

func (s *server) Beat(_ context.Context, b queue.Beat) (v queue.Verdict, err error) {
	err = s.locked(func() error {
		s.beats = append(s.beats, b)
		s.beatAt = append(s.beatAt, time.Now())
		v = queue.Go
		if s.verdict != "" {
			v = s.verdict
		}
		return nil
	})
	return v, err
}

func (s *server) Tell(_ context.Context, o queue.Outcome) error {
	return s.locked(func() error {
		if s.telling != nil {
			s.telling(o)
		}
		if s.refuse != nil {
			return s.refuse
		}
		s.told = append(s.told, o)
		return nil
	})
}

func (s *server) Offer(context.Context, ...queue.Ticket) error { return nil }
func (s *server) Depth(context.Context, string) (int, error)   { return len(s.tickets), nil }

func (s *server) Take(ctx context.Context, apps []string, _ string) (queue.Delivery, error) {
	select {
	case t := <-s.tickets:
		if !slices.Contains(apps, t.App) {
			return nil, fmt.Errorf("no worker for %s", t.App)
		}
		return delivery{s, t}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

type delivery struct {
	s *server
	t queue.Ticket
}

func (d delivery) Ticket() queue.Ticket { return d.t }
func (d delivery) Renew(context.Context) error {
	return d.s.locked(func() error { d.s.renewed++; return nil })
}

func (d delivery) Done(context.Context) error {
	return d.s.locked(func() error { d.s.done++; return nil })
}

// outcomes returns the outcomes that were sent.
func (s *server) outcomes() []queue.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told)
}

// A program is a Runner that runs nothing: each job takes the time set in the program.
type program struct {
	takes time.Duration
	mu    sync.Mutex
	jobs  []assay.Job
	now   int // running
	most  int // at once
	err   error
}

func (p *program) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	p.mu.Lock()
	p.jobs = append(p.jobs, job)
	p.now++
	p.most = max(p.most, p.now)
	err := p.err
	p.mu.Unlock()
	defer func() { p.mu.Lock(); p.now--; p.mu.Unlock() }()
	if err != nil {
		return assay.Measurement{}, err
	}
	start := time.Now()
	so := func() assay.Measurement {
		return assay.Measurement{Elapsed: time.Since(start), Stdout: bytes.Repeat([]byte("x"), 5000)}
	}
	end := time.NewTimer(p.takes)
	defer end.Stop()
	var limit <-chan time.Time
	if job.Limit > 0 {
		limit = time.After(job.Limit)
	}
	tick := time.NewTicker(job.Interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			observe(so())
		case <-end.C:
			return so(), nil
		case <-limit:
			return so(), assay.ErrLimit
		case <-ctx.Done():
			return so(), context.Cause(ctx)
		}
	}
}

// task returns the n-th task of a study of commands.
func task(n int) queue.Task {
	return queue.Task{
		ID: assay.RunID{Study: "s", Trial: int64(n), Attempt: 1}, App: queue.Commands,
		Job: assay.Job{Argv: []string{"true"}}, Values: map[string]string{"n": fmt.Sprint(n)},
	}
}

// output is the output of a worker.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// options returns the options of a worker of a server.
func options(t *testing.T, s *server, p assay.Runner, out *output) worker.Options {
	t.Helper()
	return worker.Options{
		Control: s, Carrier: s, Runner: p, Accept: true, Dir: t.TempDir(), Name: "w", Out: out,
		Machine: worker.Machine{CPU: "Xeon 6338", Sockets: 2, Cores: 32, Memory: 256 << 30, Release: "6.1.0-1"},
		Slept:   func() time.Duration { return 0 },
	}
}

// counting is a Runner that counts the runs of another one.
type counting struct {
	inner assay.Runner
	n     atomic.Int64
}

func (c *counting) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	c.n.Add(1)
	return c.inner.Run(ctx, job, observe)
}
