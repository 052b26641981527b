package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// Exit codes of a shim that ran nothing.
const (
	ExitClaimed = 66 // the attempt was begun before, or is not to begin
	ExitNoSpool = 67 // the directory is not there
)

// ErrTerm is the cause of the context of a [Shim] whose job is being ended.
var ErrTerm = errors.New("the batch system ended the job")

// Causes with which a shim ends its run.
var (
	errOrderStop   = errors.New("stopped by order")
	errOrderCancel = errors.New("cancelled by order")
	errWalltime    = errors.New("the time of the job was over")
)

// spare is how long before the end of its job a shim ends its run: for the grace of the run, and to write its result.
const spare = 10 * time.Second

// maxStream is how much of each output of a run a shim keeps in the spool.
const maxStream = 64 << 20

// A Shim makes the run of one attempt, in its directory.
type Shim struct {
	Runner assay.Runner
	Job    string    // its number, for people
	Node   string    // the machine, for people
	Boot   string    // of the machine, for people
	Ends   time.Time // when the batch system ends the job; zero if it is not known
	// Tee returns a context in which the Runner passes the output of the run to two functions; nil if it cannot.
	Tee func(ctx context.Context, stdout, stderr func([]byte)) context.Context
}

// Run makes the run and returns the exit code of the shim: the program's, if one was started. ctx ends with the cause
// [ErrTerm] when the job is to end. It returns an error if no result could be written.
func (s Shim) Run(ctx context.Context, at string) (code int, err error) {
	d := dir(at)
	var sp assignment
	if ok, err := d.read(specFile, &sp); err != nil || !ok {
		if _, e := os.Stat(at); errors.Is(e, fs.ErrNotExist) {
			return ExitNoSpool, assay.Errorf(assay.ClassNotFound, "no directory %s on %s: is the spool on a file system "+
				"that the machines share?", at, s.Node)
		}
		return ExitNoSpool, assay.Errorf(assay.ClassIO, "%s cannot be read: %w", d.path(specFile),
			errors.Join(err, errors.New("it is not there, or not whole")))
	}
	mine, err := d.take(claim{byShim, s.Job, s.Node, os.Getpid(), s.Boot, time.Now().UTC()})
	if err != nil {
		return ExitNoSpool, err
	}
	if !mine {
		d.second(s)
		return ExitClaimed, nil
	}
	r := s.run(ctx, d, sp)
	r.Name, r.Node, r.Job = sp.Name, s.Node, s.Job
	return r.Measurement.ExitCode, s.keep(ctx, d, r)
}

// second notes that a job found its attempt begun.
func (d dir) second(s Shim) {
	f, err := os.OpenFile(d.path(secondFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return // it is for people
	}
	fmt.Fprintf(f, "%s job %s on %s ran nothing\n", time.Now().UTC().Format(time.RFC3339), s.Job, s.Node)
	f.Close()
}

// keep writes the result. It waits while the disk is full: measurements are expensive.
func (s Shim) keep(ctx context.Context, d dir, r result) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 10*time.Second) {
		err := d.write(resultFile, r)
		if err == nil {
			return nil
		}
		last := ctx.Err() != nil
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		if last && wait > time.Second {
			return err
		}
	}
}

// ends returns when the run is to end, zero for never: before the job is ended.
func (s Shim) ends(d dir, sp assignment) time.Time {
	end := s.Ends
	if end.IsZero() && sp.Walltime > 0 {
		end = time.Now().Add(sp.Walltime)
		var lowered time.Duration
		if ok, _ := d.read(lowerFile, &lowered); ok && lowered > 0 && lowered < sp.Walltime {
			end = time.Now().Add(lowered)
		}
	}
	if end.IsZero() {
		return end
	}
	return end.Add(-spare)
}

// run makes the run.
func (s Shim) run(ctx context.Context, d dir, sp assignment) (r result) {
	if o := d.order(); o != "" {
		return result{Why: assay.WhyCancel, Reason: "it was not to begin"}
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	at := s.ends(d, sp)
	if !at.IsZero() {
		timer := time.AfterFunc(time.Until(at), func() { end(errWalltime) })
		defer timer.Stop()
	}
	b := &pulse{d: d}
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { b.loop(max(sp.Every, time.Millisecond), over, end) })
	hush := sync.OnceFunc(func() { close(over); wg.Wait() })
	defer hush()
	stdout, stderr := &stream{path: d.path("stdout")}, &stream{path: d.path("stderr")}
	job := sp.Job
	job.Interval = max(sp.Every, time.Millisecond)
	tee := ctx
	if s.Tee != nil {
		tee = s.Tee(ctx, stdout.write, stderr.write)
	}
	m, err := s.Runner.Run(tee, job, b.observe)
	if err == nil && termed(ctx, m) {
		err = ErrTerm
	}
	hush()
	stdout.close()
	stderr.close()
	r = result{
		Measurement: ledger.Storable(m),
		Stdout:      ledger.Shorten(m.Stdout), Stderr: ledger.Shorten(m.Stderr),
	}
	r.judge(ctx, err, at)
	return r
}

// judge notes why a run ended, with the error that it returned. ends is when it was to end; zero for never.
func (r *result) judge(ctx context.Context, err error, ends time.Time) {
	switch {
	case err == nil:
	case errors.Is(err, errWalltime), errors.Is(err, ErrTerm) && !ends.IsZero() && time.Until(ends) < spare:
		r.Why, r.Reason = assay.WhyLimit, errWalltime.Error()
	case errors.Is(err, assay.ErrLimit):
		r.Why = assay.WhyLimit
	case errors.Is(err, errOrderStop):
		r.Why = assay.WhyStop
	case errors.Is(err, errOrderCancel):
		r.Why = assay.WhyCancel
	case ctx.Err() != nil:
		r.Why, r.Reason = whyTerm, context.Cause(ctx).Error()
	case errors.Is(err, assay.ErrSetup):
		r.Why, r.Reason = assay.WhySetup, err.Error()
	case errors.Is(err, fs.ErrNotExist):
		r.Why, r.Reason = whyAbsent, err.Error()
	case errors.Is(err, fs.ErrPermission):
		r.Why, r.Reason = whyDenied, err.Error()
	default:
		r.Why, r.Reason = assay.WhyError, err.Error()
	}
}

// A batch system that ends a job signals all its processes, in any order. So a program that has just ended may have
// been ended with its job, with any exit code: a shim waits this long for the signal, and longer if a signal ended the
// program.
const (
	settle       = 100 * time.Millisecond
	settleSignal = time.Second
)

// termed reports whether the job is being ended of a run that has just ended by itself, as it seems.
func termed(ctx context.Context, m assay.Measurement) bool {
	wait := settle
	if m.Signal != "" || m.ExitCode >= 128 {
		wait = settleSignal
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
	return errors.Is(context.Cause(ctx), ErrTerm)
}

// order returns the Runner's order, "" without one. The directory is read first: a network file system may hide a new
// name otherwise.
func (d dir) order() string {
	names, err := d.names()
	if err != nil || !has(names, orderFile) {
		return ""
	}
	b, err := os.ReadFile(d.path(orderFile))
	if err != nil {
		return ""
	}
	return string(b)
}

// A pulse shows how a run goes on, and looks for an order.
type pulse struct {
	d      dir
	mu     sync.Mutex
	latest assay.Measurement
}

func (b *pulse) observe(m assay.Measurement) {
	b.mu.Lock()
	b.latest = m
	b.mu.Unlock()
}

func (b *pulse) loop(every time.Duration, over <-chan struct{}, end context.CancelCauseFunc) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for seq := int64(1); ; seq++ {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		switch b.d.order() {
		case ledger.Stop:
			end(errOrderStop)
		case ledger.Cancel:
			end(errOrderCancel)
		}
		b.mu.Lock()
		m := b.latest
		b.mu.Unlock()
		m.Stdout, m.Stderr = nil, nil
		b.write(beat{seq, ledger.Storable(m)})
	}
}

// write replaces the beat. It need not be durable, and one that cannot be written is missed.
func (b *pulse) write(v beat) {
	text, err := json.Marshal(v)
	if err != nil {
		return
	}
	tmp := b.d.path(".beat")
	if os.WriteFile(tmp, text, 0o600) == nil {
		_ = os.Rename(tmp, b.d.path(beatFile))
	}
}

// A stream is a file of the output of a run, made at the first byte. A full disk, or an output without an end, loses
// only the rest of the output.
type stream struct {
	path string
	f    *os.File
	n    int64
	over bool
}

func (s *stream) write(p []byte) {
	if s.over {
		return
	}
	var err error
	if s.f == nil {
		s.f, err = os.OpenFile(s.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	}
	if room := maxStream - s.n; int64(len(p)) > room {
		p, s.over = p[:room], true
	}
	n := 0
	if err == nil {
		n, err = s.f.Write(p)
	}
	s.n += int64(n)
	s.over = s.over || err != nil
}

func (s *stream) close() {
	if s.f != nil {
		s.f.Close()
	}
}
