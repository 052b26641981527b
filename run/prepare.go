package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// Hooks surround the runs of a Runner by the commands that their jobs request: see [WithHooks].
type Hooks struct {
	inner assay.Runner
	slots slots
	// stopWithin and grace are stopWithin and serviceGrace but in tests.
	stopWithin, grace time.Duration
}

var _ assay.Runner = (*Hooks)(nil)

// WithHooks returns a Runner that surrounds each run of inner by the commands that its job requests, as hyperfine
// does; none of them is measured as part of the run:
//
//   - Prepare is run before everything else, Cleanup after it, with any outcome
//     of the run. Processes that Prepare leaves running live until Cleanup has ended.
//   - Service is started next, and waited for until it is ready. It is ended after the run, before
//     Cleanup. One with a Key goes on for the next job of that Key, unless the run failed.
//   - The job itself is run Warmup times before the run that is measured. A
//     warm-up run that fails is no error.
//
// A command that fails, is not there, or reaches the limit makes a run that failed, and so does a service that is not
// ready in time or ends before the run does, which ends the run: Measurement.Failure has the reason and the step,
// "prepare", "service" or "cleanup". Later steps are not run, except Cleanup, since Prepare may have done half of its
// work. The output is the output of the step, or of the run if there was one.
//
// A run beside a service has the metrics
//
//	service_start  s  from the start of the service until it was ready, if it was started for this run
//	service_cpu    s  processor time of the service during the run
//	service_rss    B  the largest resident set of any one process of it
//
// All of them obey the job's limit and the context as the run does, but the service has limits of its own. They have
// the job's ID without an attempt. Each job at once has another slot: its number is in place of [assay.SlotMark], and
// in the variable ASSAY_SLOT. Inner is given jobs without these fields.
//
// Services and processes that Prepare leaves running need an inner Runner that can leave them: a [Local], also within
// [Metrics]. With another one a job with a Service is an error that matches [assay.ErrSetup], and processes that
// Prepare leaves are ended with it.
func WithHooks(inner assay.Runner) *Hooks {
	return &Hooks{inner: inner, stopWithin: stopWithin, grace: serviceGrace}
}

// Close ends the services that go on. No run may be under way.
func (h *Hooks) Close() error {
	var wg sync.WaitGroup
	for _, s := range h.slots.all() {
		wg.Go(func() { h.halt(context.Background(), s) })
	}
	wg.Wait()
	return nil
}

// Run implements [assay.Runner].
func (h *Hooks) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (m assay.Measurement,
	err error,
) {
	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	key := ""
	if job.Service != nil {
		key = job.Service.Key
	}
	slot := h.slots.take(key)
	kept := h.slots.service(slot)
	defer func() { h.slots.give(slot, kept) }()
	number := strconv.Itoa(slot)
	job = job.Replace(assay.SlotMark, number)
	job.Env = append(slices.Clip(job.Env), "ASSAY_SLOT="+number)

	prepare, cleanup, service := job.Prepare, job.Cleanup, job.Service
	job.Prepare, job.Cleanup, job.Service = nil, nil, nil
	m, leftovers, err := h.prepare(ctx, prepare, job)
	if err == nil && m.Failure == nil {
		m, kept, err = h.beside(ctx, job, service, kept, observe)
	}
	// The clean-up runs even if the run was cancelled.
	after, e := h.hook(context.WithoutCancel(ctx), "cleanup", cleanup, job)
	if leftovers != nil {
		leftovers.stop()
	}
	switch {
	case err != nil || m.Failure != nil: // it came first
	case e != nil && after.Failure == nil:
		err = e
	case after.Failure != nil:
		m.Failure = after.Failure // the output stays the run's
	}
	return m, err
}

// prepare runs the preparation of a job. Processes that it leaves running go on until the caller stops the result;
// nil if it leaves none.
func (h *Hooks) prepare(ctx context.Context, argv []string, job assay.Job) (assay.Measurement, *background, error) {
	k, ok := hostOf(h.inner)
	if !ok || len(argv) == 0 {
		m, err := h.hook(ctx, "prepare", argv, job)
		return m, nil, err
	}
	job = aside(job)
	job.Argv = argv
	b := inBackground(during(ctx, "prepare"), k, job, nil)
	unwatch := context.AfterFunc(ctx, func() { b.cancel(context.Cause(ctx)) })
	var m assay.Measurement
	select {
	case m = <-b.left:
	case <-b.done:
		unwatch()
		m, err := hookEnded(ctx, "prepare", b.m, b.err)
		return m, nil, err
	}
	if !unwatch() { // it was cancelled meanwhile
		b.stop()
		return assay.Measurement{}, nil, context.Cause(ctx)
	}
	m, err := hookEnded(ctx, "prepare", m, nil)
	if err != nil || m.Failure != nil {
		b.stop()
		return m, nil, err
	}
	return m, b, nil
}

// beside runs a job beside its service, spec, nil for none. The argument kept is the service that goes on
// in the slot of the job, or nil; the result is the one that goes on after it.
func (h *Hooks) beside(ctx context.Context, job assay.Job, spec *assay.Service, kept *server,
	observe func(assay.Measurement),
) (m assay.Measurement, after *server, err error) {
	s := kept
	if s != nil && (spec == nil || spec.Key == "" || s.spec.Key != spec.Key || s.over()) {
		h.halt(ctx, s) // that it does not end well is no fault of this job
		s = nil
	}
	if spec == nil {
		m, err = h.warm(ctx, job, observe)
		return m, nil, err
	}
	started := s == nil
	if started {
		var failure *assay.Failure
		s, failure, err = h.serve(ctx, job, *spec)
		switch {
		case err != nil:
			return m, nil, err
		case failure != nil:
			m.Failure = failure
			m.Stderr = []byte(strings.Join(failure.Output, "\n") + "\n")
			return m, nil, nil
		}
	}
	m, err = h.guarded(ctx, job, s, observe)
	if err == nil && started {
		setMetric(&m, "service_start", s.took.Seconds())
	}
	if err == nil && m.Failure == nil && m.ExitCode == 0 && spec.Key != "" && !s.over() {
		return m, s, nil
	}
	if f := h.halt(ctx, s); f != nil && err == nil && m.Failure == nil {
		m.Failure = f
	}
	return m, nil, err
}

// guarded runs a job that needs a service that is ready.
func (h *Hooks) guarded(ctx context.Context, job assay.Job, s *server, observe func(assay.Measurement)) (
	m assay.Measurement, err error,
) {
	guarded, free := s.guard(ctx)
	var before assay.Measurement
	m, err = h.around(guarded, job, observe, func() { before, _ = s.now() })
	free()
	if now, ok := s.now(); ok {
		setMetric(&m, "service_cpu", max(0, now.Metrics["cpu"]-before.Metrics["cpu"]))
		setMetric(&m, "service_rss", now.Metrics["max_rss"])
	}
	if err == nil && m.ExitCode != 0 && !s.over() { // a client may notice sooner than we do
		select {
		case <-s.dead:
		case <-time.After(lateDeath):
		}
	}
	if ctx.Err() == nil && (errors.Is(err, errServiceDied) || err == nil && s.over()) {
		err = nil
		m.Failure = s.died("during the run")
	}
	return m, err
}

// setMetric adds a metric to a measurement.
func setMetric(m *assay.Measurement, name string, x float64) {
	if m.Metrics == nil {
		m.Metrics = map[string]float64{}
	}
	m.Metrics[name] = x
}

// warm runs the job Warmup times and then once more, which is measured.
func (h *Hooks) warm(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	return h.around(ctx, job, observe, func() {})
}

// around is warm, with a function that is called right before the run that is measured.
func (h *Hooks) around(ctx context.Context, job assay.Job, observe func(assay.Measurement), begins func()) (
	assay.Measurement, error,
) {
	warmup := job.Warmup
	job.Warmup = 0
	for range warmup {
		if m, err := h.inner.Run(during(ctx, "warm-up run"), aside(job), nil); err != nil {
			return m, err
		}
	}
	begins()
	return h.inner.Run(during(ctx, "run"), job, observe)
}

// aside returns a job as a run that is neither measured nor observed, and that its ID does not name.
func aside(job assay.Job) assay.Job {
	job.ID.Attempt, job.Interval, job.Metrics, job.Warmup, job.Verify = 0, 0, nil, 0, nil
	job.Live = false
	return job
}

// hook runs one command beside the run, which leaves nothing running. Its measurement is dropped except for the
// output and the failure of a command that failed. The error is the cause of a context that is done, [assay.ErrLimit]
// together with a failure, or an error that another attempt may avoid.
func (h *Hooks) hook(ctx context.Context, step string, argv []string, job assay.Job) (assay.Measurement, error) {
	if len(argv) == 0 {
		return assay.Measurement{}, nil
	}
	job = aside(job)
	job.Argv = argv
	m, err := h.inner.Run(during(ctx, step), job, nil)
	return hookEnded(ctx, step, m, err)
}

// hookEnded judges the result of a command beside the run: see hook.
func hookEnded(ctx context.Context, step string, m assay.Measurement, err error) (assay.Measurement, error) {
	out := assay.Measurement{Stdout: m.Stdout, Stderr: m.Stderr}
	switch {
	case ctx.Err() != nil:
		return assay.Measurement{}, context.Cause(ctx)
	case errors.Is(err, assay.ErrLimit):
		out.Failure = assay.NewFailure(step, fmt.Sprintf("%s: time limit of %v reached", step,
			m.Elapsed.Round(time.Millisecond)), m.Stdout, m.Stderr)
		return out, err
	case errors.Is(err, assay.ErrSetup):
		return out, err
	case err != nil && hopeless(err):
		out.Failure = assay.NewFailure(step, step+": "+err.Error(), nil, nil)
	case err != nil:
		return out, fmt.Errorf("%s: %w", step, err)
	case m.ExitCode != 0:
		out.Failure = assay.NewFailure(step, step+" "+lastWords(m), m.Stdout, m.Stderr)
	}
	return out, nil
}

// lastWords describes how a command ended, with its last output.
func lastWords(m assay.Measurement) string {
	how := fmt.Sprintf("exited with code %d", m.ExitCode)
	if m.Signal != "" {
		how = "was ended by " + m.Signal
	}
	return how + m.LastWords()
}

// hopeless reports whether an error of a Runner means that the program cannot be started.
func hopeless(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}
