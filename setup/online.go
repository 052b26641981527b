package setup

import (
	"cmp"
	"context"
	"errors"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/online"
	"github.com/assay-run/assay/spec"
)

// Online makes a definition a study that is tuned on line, by [OnlineSearcher] unless it names a searcher; see
// spec.Study.SetOnline.
func Online(def *spec.Study) {
	def.SetOnline()
	def.Search.Name = cmp.Or(def.Search.Name, OnlineSearcher)
}

// A Session is an on-line problem that has its place in a store. Mode, Deadline,
// Clock and Flush may be set before it is opened with online.Open.
type Session struct {
	online.Options
	Resumed bool // the study was on record before

	// release gives up the lock of the study.
	release func() error
}

// Session finds or makes the study of an on-line problem in the store, as
// [Problem.Study] does, and makes this process its owner until the session is closed.
// If an error is returned, the lock is not held. A study that was made before the error stays
// on record, and is resumed by the next call.
func (p *Problem) Session(ctx context.Context, store *Store, name string) (*Session, error) {
	if p.Definition.Mode() != spec.ModeOnline {
		return nil, errors.New("setup: a session of a study that is not on line")
	}
	c, err := p.claim(ctx, store, name)
	if err != nil {
		return nil, err
	}
	release, err := store.Lock(ctx, c.name)
	if err != nil {
		return nil, err
	}
	s := &Session{Resumed: c.resumed, release: release, Options: online.Options{
		Name: c.name, Space: p.Space, Store: store.Store, Default: p.First[0],
		Searcher: p.epoch, Samples: p.Definition.Repeat.Runs,
	}}
	if p.Definition.Repeat.Estimator != "" {
		s.Estimator = estimatorOf(p.Definition.Repeat).reduce
	}
	return s, nil
}

// epoch returns the searcher after n restarts of the search, always the same one for an
// n: a session is resumed by replay. Each restart has a seed of its own, since a search
// that begins again is to look elsewhere. The session takes the samples: there are no
// repeated runs.
// Epoch 0 takes the searcher that New made.
func (p *Problem) epoch(n int) (assay.Searcher, error) {
	def, again := *p.Definition, *p
	def.Search.Seed += uint64(n)
	def.Repeat = spec.Repeat{}
	if again.Definition = &def; n > 0 {
		again.made = nil
	} else {
		p.made = nil
	}
	return again.searcher(nil)
}

// Close gives up the ownership of the study.
func (s *Session) Close() error { return s.release() }
