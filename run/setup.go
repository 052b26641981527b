package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/builds"
)

// WithSetup returns a Runner that makes what a job's Setup asks for, unless the cache has
// it, and gives its folder to the job in place of [assay.SetupDir]. Nothing of it is measured.
//
//   - A setup that fails is an error of the type *[assay.StepError], with the measurement of the
//     command, which has no metrics. It is not tried again by this Runner.
//   - While a setup is made no job runs, and the other way round, unless Setup.Parallel. Several
//     setups are made side by side.
//   - A cache that cannot be used is an error that matches [assay.ErrSetup].
//
// It is the outermost of the wrappers, for the hooks of a job use the folder too. Inner makes the
// setups: they are jobs without an attempt. It is given jobs without setups.
func WithSetup(inner assay.Runner, cache *builds.Cache) assay.Runner {
	s := &prepared{inner: inner, cache: cache, failed: map[string]failure{}}
	s.turns.changed = make(chan struct{})
	return s
}

// prepared is safe for concurrent use.
type prepared struct {
	inner assay.Runner
	cache *builds.Cache
	turns turns

	mu     sync.Mutex
	failed map[string]failure // by key, in this session
}

// A failure is a setup that failed.
type failure struct {
	err *assay.StepError
	m   assay.Measurement // with the output
}

// Unwrap returns what is wrapped, for what asks a Runner for its abilities.
func (p *prepared) Unwrap() assay.Runner { return p.inner }

// Run implements [assay.Runner].
func (p *prepared) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	if s := job.Setup; s != nil {
		use, m, err := p.build(ctx, *s, job)
		if err != nil {
			return m, err
		}
		defer use.Close()
		job.Setup = nil
		job = job.Replace(assay.SetupDir, use.Folder)
	}
	if err := p.turns.enter(ctx, running); err != nil {
		return assay.Measurement{}, err
	}
	defer p.turns.leave(running)
	return p.inner.Run(ctx, job, observe)
}

// build returns the build of a job's setup. The measurement is that of a setup that failed.
func (p *prepared) build(ctx context.Context, s assay.Setup, job assay.Job) (*builds.Use, assay.Measurement, error) {
	if s.Left > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.Left, assay.ErrUnbegun)
		defer cancel()
	}
	recipe := builds.Recipe{Argv: s.Argv, Env: s.Env, Dir: job.Dir, Inputs: s.Inputs}
	var use *builds.Use
	var m assay.Measurement
	err := builds.ErrChanged
	for range 2 { // somebody may have edited a source while it was compiled
		if !errors.Is(err, builds.ErrChanged) {
			break
		}
		var key string
		if key, err = p.cache.Key(recipe); err != nil {
			return nil, m, &assay.StepError{Step: "setup", Reason: err.Error()}
		}
		use, err = p.cache.Use(ctx, key, recipe, func(folder string) (err error) {
			m, err = p.make(ctx, key, s, job, folder)
			return err
		})
	}
	step, isStep := errors.AsType[*assay.StepError](err)
	switch {
	case err == nil:
		return use, assay.Measurement{}, nil
	case isStep:
		return nil, m, step
	case ctx.Err() != nil:
		return nil, assay.Measurement{}, context.Cause(ctx)
	case errors.Is(err, builds.ErrChanged):
		return nil, m, &assay.StepError{Step: "setup", Reason: err.Error()}
	case errors.Is(err, assay.ErrLost):
		return nil, assay.Measurement{}, err
	}
	return nil, assay.Measurement{}, fmt.Errorf("%w: setup: %w", assay.ErrSetup, err)
}

// make runs the command of a setup in the working directory of the job. The lock of the key is held: of
// several jobs that wait for one build that fails, one has run it.
func (p *prepared) make(ctx context.Context, key string, s assay.Setup, job assay.Job, folder string) (
	assay.Measurement, error,
) {
	p.mu.Lock()
	old, known := p.failed[key]
	p.mu.Unlock()
	if known {
		return old.m, old.err
	}
	if !s.Parallel {
		if err := p.turns.enter(ctx, building); err != nil {
			return assay.Measurement{}, err
		}
		defer p.turns.leave(building)
	}
	b := assay.Job{
		ID:   assay.RunID{Study: job.ID.Study, Trial: job.ID.Trial, Repeat: job.ID.Repeat},
		Argv: s.Argv, Env: s.Env, Dir: job.Dir, Limit: s.Limit, Grace: job.Grace,
	}.Replace(assay.SetupDir, folder)
	m, err := p.inner.Run(ctx, b, nil)
	m.Metrics, m.Missing = nil, nil // they are not those of the run
	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	step := &assay.StepError{Step: "setup"}
	switch {
	case err == nil && m.ExitCode == 0:
		return m, nil
	case err == nil:
		step.Reason = exitText(m)
	case errors.Is(err, assay.ErrLimit):
		step.Reason = fmt.Sprintf("time limit of %v reached", s.Limit)
	case hopeless(err):
		step.Reason = err.Error()
	default: // nothing was learned: another attempt may go better
		return m, err
	}
	p.mu.Lock()
	p.failed[key] = failure{step, m}
	p.mu.Unlock()
	return m, step
}

// exitText says how a command beside a run failed, with the end of its error output, or of its output if
// that is empty.
func exitText(m assay.Measurement) string {
	text := fmt.Sprintf("exit code %d", m.ExitCode)
	if m.Signal != "" {
		text = "ended by " + m.Signal
	}
	if tail := cmp.Or(assay.Tail(m.Stderr), assay.Tail(m.Stdout)); tail != "" {
		text += ": " + tail
	}
	return text
}

// hopeless reports whether an error of a Runner says that the program cannot be started.
func hopeless(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}
