package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/builds"
)

// WithSetup returns a Runner that runs a job's Setup, unless the cache has its result, and gives its folder to the
// job in place of [assay.SetupDir]. It is not measured.
//
//   - A setup that fails makes a run that failed: Measurement.Failure has the reason, at the step "setup", and
//     the output is the setup's. It is not tried again by this Runner.
//   - While a setup is made no job runs, and the other way round, unless Setup.Parallel. Several
//     setups are made side by side.
//   - A cache that cannot be used is an error that matches [assay.ErrSetup].
//
// It is the outermost of the wrappers, for the hooks of a job use the folder too. Inner makes the setups: they are
// jobs without an attempt. It is given jobs without setups.
func WithSetup(inner assay.Runner, cache *builds.Cache) assay.Runner {
	s := &prepared{inner: inner, cache: cache, failed: map[string]assay.Measurement{}}
	s.turns.changed = make(chan struct{})
	return s
}

// prepared is safe for concurrent use.
type prepared struct {
	inner assay.Runner
	cache *builds.Cache
	turns turns

	mu     sync.Mutex
	failed map[string]assay.Measurement // by key, in this session
}

// Unwrap returns the inner Runner, for a caller that looks for its abilities.
func (p *prepared) Unwrap() assay.Runner { return p.inner }

// Run implements [assay.Runner].
func (p *prepared) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	if s := job.Setup; s != nil {
		use, m, err := p.build(ctx, *s, job)
		if err != nil || use == nil {
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

// errFailed reports that a setup has failed; a measurement has the reason.
var errFailed = errors.New("the setup failed")

// build returns the build of a job's setup, or nil and the measurement of one that failed.
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
	for range 2 { // a source may have been edited while it was compiled
		if !errors.Is(err, builds.ErrChanged) {
			break
		}
		key, failed := p.cache.Key(recipe)
		if failed != nil {
			return nil, spoilt(assay.Measurement{}, failed.Error()), nil
		}
		use, err = p.cache.Use(ctx, key, recipe, func(folder string) (err error) {
			m, err = p.make(ctx, key, s, job, folder)
			return err
		})
	}
	switch {
	case err == nil:
		return use, assay.Measurement{}, nil
	case errors.Is(err, errFailed):
		return nil, m, nil
	case ctx.Err() != nil:
		return nil, assay.Measurement{}, context.Cause(ctx)
	case errors.Is(err, builds.ErrChanged):
		return nil, spoilt(m, err.Error()), nil
	case errors.Is(err, assay.ErrLost):
		return nil, assay.Measurement{}, err
	}
	return nil, assay.Measurement{}, fmt.Errorf("%w: setup: %w", assay.ErrSetup, err)
}

// spoilt returns the measurement of a setup that failed: its output, and the reason.
func spoilt(m assay.Measurement, reason string) assay.Measurement {
	return assay.Measurement{
		Stdout: m.Stdout, Stderr: m.Stderr, Failure: assay.NewFailure("setup", "setup: "+reason, m.Stdout, m.Stderr),
	}
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
		return old, errFailed
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
	switch {
	case ctx.Err() != nil:
		return m, context.Cause(ctx)
	case err == nil && m.ExitCode == 0:
		return m, nil
	case err == nil:
		m = spoilt(m, lastWords(m))
	case errors.Is(err, assay.ErrLimit):
		m = spoilt(m, fmt.Sprintf("time limit of %v reached", s.Limit))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		m = spoilt(m, err.Error())
	default: // nothing was learned: another attempt may go better
		return m, err
	}
	p.mu.Lock()
	p.failed[key] = m
	p.mu.Unlock()
	return m, errFailed
}
