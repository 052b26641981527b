package study

import (
	"context"
	"slices"

	"github.com/assay-run/assay"
)

// repeater is implemented by runners of recorded tables, which hand out the
// repetitions of a configuration in turn: Skip says that n runs of it belong to
// an earlier session. See run.Replay.
type repeater interface {
	Skip(c assay.Config, n int) error
}

// replay feeds the stored events to the searcher, compares each of its
// proposals with the stored one, and leaves in open those never told.
func (l *loop) replay(ctx context.Context) error {
	told := map[int64]bool{}
	runs, _ := l.Runner.(repeater)
	for e, err := range l.Store.Events(ctx, l.Name) {
		if err != nil {
			return err
		}
		l.before = max(l.before, e.Spent)
		switch {
		case e.Asked != nil:
			if err := l.repeat(*e.Asked); err != nil {
				return err
			}
			l.open = append(l.open, *e.Asked)
		case e.Told != nil:
			told[e.Told.ID] = true
			l.remember(*e.Told)
			if err := l.Searcher.Tell(*e.Told); err != nil {
				return l.departs(e.Told.Proposal, assay.Proposal{}, err)
			}
			if runs != nil {
				if err := runs.Skip(e.Told.Config, e.Told.Attempts); err != nil {
					return err
				}
			}
		case e.Checked != nil:
			l.checks = append(l.checks, *e.Checked)
		case e.Cut != nil:
			l.cuts++
		}
	}
	l.open = slices.DeleteFunc(l.open, func(p assay.Proposal) bool { return told[p.ID] })
	l.replayed = len(l.history)
	return nil
}

// repeat asks the searcher for one proposal, which must be the stored one.
func (l *loop) repeat(stored assay.Proposal) error {
	ps, err := l.Searcher.Ask(1)
	if err != nil {
		return l.departs(stored, assay.Proposal{}, err)
	}
	if len(ps) == 0 {
		return l.departs(stored, assay.Proposal{}, errNothing)
	}
	if ps[0].ID != stored.ID || !ps[0].Config.Equal(stored.Config) {
		return l.departs(stored, ps[0], nil)
	}
	return nil
}

type constError string

func (e constError) Error() string { return string(e) }

// errNothing is what a searcher's silence is called in a ReplayError.
const errNothing = constError("no proposal")

func (l *loop) departs(stored, got assay.Proposal, err error) error {
	e := &ReplayError{Study: l.Name, Stored: stored, Got: got, Err: err, Proposals: int(stored.ID - 1)}
	e.StoredAs = l.text(stored.Config)
	if err == nil {
		e.GotAs = l.text(got.Config)
	}
	return e
}

func (l *loop) text(c assay.Config) string {
	if l.Space == nil || l.Space.Dim() != len(c) {
		return "a configuration of another space"
	}
	return l.Space.Text(c)
}
