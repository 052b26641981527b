package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// Times of services.
const (
	readyWithin  = time.Minute      // to be ready, unless the job sets it
	stopWithin   = 30 * time.Second // for a command that stops a service
	serviceGrace = 10 * time.Second // from SIGTERM to SIGKILL, at least: a server may have much to write
	// The waits between two looks whether a service is ready, the first and the longest.
	firstLook = 10 * time.Millisecond
	lastLook  = 250 * time.Millisecond
	dialled   = time.Second // for one look at a port
	// lateDeath is how long a service may take to be seen dead after a run that failed, which may
	// have failed because of it.
	lateDeath = 200 * time.Millisecond
)

// errServiceDied is why a run was ended whose service has ended.
var errServiceDied = errors.New("the service ended while it was needed")

// A server is a service that runs.
type server struct {
	*background
	spec  assay.Service
	stops assay.Job     // the job that stops it, without the arguments
	took  time.Duration // from its start until it was ready

	// dead is closed when the service has ended after it was ready, and last is how.
	dead chan struct{}
	last assay.Measurement
}

// watch closes dead when the service has ended: when no process of it is left or, if its program was alive when it
// became ready, when that program has ended.
func (s *server) watch() {
	left := s.left
	if len(left) > 0 { // it has started the server, and ended
		left = nil
	}
	go func() {
		select {
		case <-s.done:
			s.last = s.m
		case s.last = <-left:
			s.stop()
		}
		close(s.dead)
	}()
}

// over reports whether a service that was ready has ended.
func (s *server) over() bool {
	select {
	case <-s.dead:
		return true
	default:
		return false
	}
}

// serve starts the service of a job and waits until it is ready. A failure means that the service did not become
// ready; no process of it is left then.
func (h *Hooks) serve(ctx context.Context, job assay.Job, spec assay.Service) (*server, *assay.Failure, error) {
	k, ok := hostOf(h.inner)
	if !ok {
		return nil, nil, fmt.Errorf("%w: the runner cannot leave a service running beside the runs", assay.ErrSetup)
	}
	if p := spec.Ready.Port; p != "" && listens(ctx, p) {
		why := fmt.Sprintf("service: port %s is taken: another program answers there", p)
		return nil, assay.NewFailure("service", why, nil, nil), nil
	}
	start := aside(job)
	start.Argv, start.Limit, start.Resources = spec.Start, 0, nil
	start.Grace = max(job.Grace, h.grace)
	seen := &matcher{found: make(chan struct{})}
	if spec.Ready.Output != "" {
		e, err := regexp.Compile(spec.Ready.Output)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: ready: %w", assay.ErrSetup, err)
		}
		seen.expression = e
	}
	began := time.Now()
	s := &server{
		background: inBackground(during(ctx, "service"), k, start, seen.write), spec: spec, stops: aside(job),
		dead: make(chan struct{}),
	}
	s.stops.Limit, s.stops.Resources = h.stopWithin, nil
	failure, err := h.await(ctx, s, seen)
	if failure != nil || err != nil {
		s.stop()
		if err == nil && len(failure.Output) == 0 { // the last words come with the end
			failure = assay.NewFailure(failure.Step, failure.Reason, s.m.Stdout, s.m.Stderr)
		}
		return nil, failure, err
	}
	s.took = time.Since(began)
	s.watch()
	return s, nil, nil
}

// await waits until a service is ready.
func (h *Hooks) await(ctx context.Context, s *server, seen *matcher) (*assay.Failure, error) {
	within := cmp.Or(s.spec.Ready.Within, readyWithin)
	limit := time.NewTimer(within)
	defer limit.Stop()
	ready := make(chan struct{})
	looking, stop := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop(nil)
	why := &note{}
	wg.Go(func() {
		if h.look(looking, s, seen, why) {
			close(ready)
		}
	})
	left := s.left
	for {
		select {
		case <-ready:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-s.done:
			s.last = s.m
			return s.died("before it was ready"), s.unknown()
		case m := <-left:
			s.left <- m // for look
			if m.ExitCode != 0 {
				return assay.NewFailure("service", "service: start "+lastWords(m), m.Stdout, m.Stderr), nil
			}
			left = nil // a process that it has started may yet become ready
		case <-limit.C:
			text := fmt.Sprintf("service was not ready within %v", within)
			if w := why.get(); w != "" {
				text += ": " + w
			}
			return assay.NewFailure("service", text, nil, nil), nil
		}
	}
}

// look returns true when all conditions of a ready service hold, and false when ctx is done. It leaves in why the
// condition that does not hold yet.
func (h *Hooks) look(ctx context.Context, s *server, seen *matcher, why *note) bool {
	r := s.spec.Ready
	if len(r.Command) == 0 && r.Port == "" && r.Output == "" {
		why.set("its start has not ended, and there is no ready to define when it can be used")
		select {
		case m := <-s.left:
			s.left <- m
			return m.ExitCode == 0
		case <-ctx.Done():
			return false
		}
	}
	if r.Output != "" {
		why.set(fmt.Sprintf("/%s/ matches nothing that it printed", r.Output))
		select {
		case <-seen.found:
		case <-ctx.Done():
			return false
		}
	}
	for wait := firstLook; ; wait = min(2*wait, lastLook) {
		if ok, text := h.looksReady(ctx, s, r); ok {
			return true
		} else if ctx.Err() == nil {
			why.set(text)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return false
		}
	}
}

// looksReady looks once at the port and at the command.
func (h *Hooks) looksReady(ctx context.Context, s *server, r assay.Ready) (ok bool, why string) {
	if r.Port != "" && !listens(ctx, r.Port) {
		return false, "port " + r.Port + " does not answer"
	}
	if len(r.Command) == 0 {
		return true, ""
	}
	job := s.stops
	job.Argv, job.Limit = r.Command, cmp.Or(r.Within, readyWithin)
	m, err := h.inner.Run(during(ctx, "ready command"), job, nil)
	switch {
	case err != nil:
		return false, "ready: " + err.Error()
	case m.ExitCode != 0:
		return false, "ready " + lastWords(m)
	}
	return true, ""
}

// listens reports whether something takes connections at "PORT" or "HOST:PORT".
func listens(ctx context.Context, port string) bool {
	if !strings.Contains(port, ":") {
		port = net.JoinHostPort("localhost", port)
	}
	d := net.Dialer{Timeout: dialled}
	c, err := d.DialContext(ctx, "tcp", port)
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// died describes how a service ended unexpectedly; it is over.
func (s *server) died(when string) *assay.Failure {
	how := "it " + lastWords(s.last)
	if s.err != nil {
		how = s.err.Error()
	}
	return assay.NewFailure("service", fmt.Sprintf("service ended %s: %s", when, how), s.last.Stdout, s.last.Stderr)
}

// unknown returns the error of a service whose start another attempt may pass, or that no
// configuration can pass; nil for one that its configuration explains.
func (s *server) unknown() error {
	if s.err == nil || hopeless(s.err) {
		return nil
	}
	return fmt.Errorf("service: %w", s.err)
}

// halt ends a service: by its command, if it has one, and else, or if that leaves something, by
// signals. It returns when nothing of it is left.
func (h *Hooks) halt(ctx context.Context, s *server) *assay.Failure {
	defer s.stop()
	if len(s.spec.Stop) == 0 || s.over() {
		return nil
	}
	job := s.stops
	if m, _ := h.hook(context.WithoutCancel(ctx), "service stop", s.spec.Stop, job); m.Failure != nil {
		m.Failure.Step = "service"
		return m.Failure
	}
	select { // its stop command may take a while
	case <-s.dead:
	case <-time.After(h.grace):
	}
	return nil
}

// guard returns a context for a run that needs the service: it is done with errServiceDied when
// the service has ended. The function must be called when the run is over.
func (s *server) guard(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	quit := make(chan struct{})
	go func() {
		select {
		case <-s.dead:
			cancel(errServiceDied)
		case <-quit:
		}
	}()
	return ctx, func() { close(quit); cancel(nil) }
}

// A matcher looks for an expression in the output of a program.
type matcher struct {
	expression *regexp.Regexp // nil looks for nothing
	found      chan struct{}  // closed when it has matched
	over       bool
	text       []byte // the end of the output
}

// matchedOver is over how much of the end of the output an expression is looked for.
const matchedOver = 64 << 10

// write takes in more of the output.
func (m *matcher) write(p []byte) {
	if m.expression == nil || m.over {
		return
	}
	m.text = append(m.text, p...)
	if m.expression.Match(m.text) {
		m.over, m.text = true, nil
		close(m.found)
		return
	}
	if n := len(m.text) - matchedOver; n > 0 {
		m.text = append(m.text[:0], m.text[n:]...)
	}
}

// A note is a text that one goroutine leaves for another.
type note struct {
	mu   sync.Mutex
	text string
}

func (n *note) set(text string) {
	n.mu.Lock()
	n.text = text
	n.mu.Unlock()
}

func (n *note) get() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text
}
