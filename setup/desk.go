package setup

import (
	"context"
	"errors"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// An ExternalSession is an external study with its place in a store. This process is its owner until the session is
// closed.
type ExternalSession struct {
	*study.ExternalSession
	Name    string
	Problem *Problem
	Resumed bool     // the study was on record before
	Notes   []string // about its place, and the earlier studies that help

	store   *Store
	release func() error
}

// Delays between attempts at a lock that another process holds.
const (
	firstLook = 5 * time.Millisecond
	lastLook  = 100 * time.Millisecond
)

// ExternalSession finds or makes the study in the store, as [Problem.Study] does, and opens it. If another process
// has the study it is waited for, for as long as patience: askers hold it for a moment. The error is
// [assay.ErrLocked] then.
func (p *Problem) ExternalSession(
	ctx context.Context, store *Store, name string, patience time.Duration,
) (*ExternalSession, error) {
	if p.Definition.Mode() != spec.ModeAsked {
		return nil, usagef("this study makes its runs itself, as one of a %v (assay tune)", p.Definition.Mode())
	}
	c, err := p.claim(ctx, store, name)
	if err != nil {
		return nil, err
	}
	release, err := store.await(ctx, c.name, patience)
	if err != nil {
		return nil, err
	}
	d, err := p.desk(ctx, store, c)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	d.release = release
	return d, nil
}

// desk opens the desk of a claim, of which this process is the owner.
func (p *Problem) desk(ctx context.Context, store *Store, c claim) (*ExternalSession, error) {
	searcher, cuts, note, err := p.helped(ctx, store, c)
	if err != nil {
		return nil, err
	}
	d := &ExternalSession{Name: c.name, Problem: p, Resumed: c.resumed, Notes: c.notes, store: store}
	if note != "" {
		d.Notes = append(d.Notes, note)
	}
	def := p.Definition
	s := &study.Study{
		Name: c.name, Space: p.Space, Goal: p.Goal, Searcher: searcher, Cuts: cuts, Store: store.Store,
		Budget: study.Budget{Trials: def.Budget.Trials, Target: def.Budget.Target}, Declared: def.HasDefault(),
	}
	d.ExternalSession, err = s.ExternalSession(ctx)
	return d, err
}

// await is Lock that waits while another process has the study.
func (s *Store) await(ctx context.Context, study string, patience time.Duration) (release func() error, err error) {
	began := time.Now()
	for delay := firstLook; ; delay = min(2*delay, lastLook) {
		release, err = s.Lock(ctx, study)
		if !errors.Is(err, assay.ErrLocked) {
			return release, err
		}
		if time.Since(began)+delay > patience {
			return nil, assay.WithHint(err, "--wait sets how long to wait for it")
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// Current reports whether the session knows the whole record. A process that was frozen for longer than its lock lasts
// may have a session of a study that another process goes on with.
func (d *ExternalSession) Current(ctx context.Context) (bool, error) {
	sum, err := d.store.Summary(ctx, d.Name)
	return sum.Events == int64(d.Position()), err
}

// Close gives up the ownership of the study. A study that is over is known to the next one that looks for help.
func (d *ExternalSession) Close(ctx context.Context) error {
	if d.Result().EndedBy != "" {
		d.store.Remember(ctx)
	}
	return d.release()
}
