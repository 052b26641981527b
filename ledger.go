package assay

import (
	"fmt"
	"iter"
	"maps"
	"slices"
)

// A Ledger numbers the proposals of a [Searcher] and holds the outstanding ones, each with the data that the Searcher
// needs for the result. With it a Searcher keeps the rules of Ask and Tell on numbers: they count up from 1 without
// gaps, and each trial that was asked gets one result. Its zero value is ready to use. It is not safe for concurrent
// use.
type Ledger[T any] struct {
	last int64
	open map[int64]T
}

// Propose returns the next proposal of the Searcher, which is outstanding from now on.
func (l *Ledger[T]) Propose(c Config, about T) Proposal {
	p := Proposal{ID: l.last + 1, Config: c}
	l.Enter(p, about)
	return p
}

// Enter enters a numbered proposal: one of an inner searcher that a wrapper passes on. Numbers are entered in order.
func (l *Ledger[T]) Enter(p Proposal, about T) {
	if l.open == nil {
		l.open = map[int64]T{}
	}
	l.last = p.ID
	l.open[p.ID] = about
}

// Last returns the number of the latest proposal, 0 before the first.
func (l *Ledger[T]) Last() int64 { return l.last }

// Len returns the number of outstanding proposals.
func (l *Ledger[T]) Len() int { return len(l.open) }

// About returns the data of an outstanding proposal; its zero value if no such proposal is outstanding.
func (l *Ledger[T]) About(id int64) T { return l.open[id] }

// Take removes a proposal from the outstanding ones and returns its data.
func (l *Ledger[T]) Take(id int64) T {
	about := l.open[id]
	delete(l.open, id)
	return about
}

// Outstanding yields the outstanding proposals in the order in which they were made.
func (l *Ledger[T]) Outstanding() iter.Seq2[int64, T] {
	return func(yield func(int64, T) bool) {
		for _, id := range slices.Sorted(maps.Keys(l.open)) {
			if !yield(id, l.open[id]) {
				return
			}
		}
	}
}

// Check returns the error of a Searcher's Tell if one of the trials has not ended, was not asked or has a result
// already; otherwise nil.
func (l *Ledger[T]) Check(trials ...Trial) error {
	seen := make(map[int64]bool, len(trials))
	for _, t := range trials {
		_, open := l.open[t.ID]
		switch {
		case t.ID < 1 || t.ID > l.last:
			return fmt.Errorf("trial %d was not asked", t.ID)
		case !open || seen[t.ID]:
			return fmt.Errorf("trial %d already has a result", t.ID)
		}
		if err := CheckFinal(t); err != nil {
			return err
		}
		seen[t.ID] = true
	}
	return nil
}

// Settle removes trials from the outstanding ones and returns the data of each, in the order of the trials. If Check
// returns an error it changes nothing: a Tell that begins with Settle is all or nothing.
func (l *Ledger[T]) Settle(trials ...Trial) ([]T, error) {
	if err := l.Check(trials...); err != nil {
		return nil, err
	}
	about := make([]T, len(trials))
	for i, t := range trials {
		about[i] = l.open[t.ID]
		delete(l.open, t.ID)
	}
	return about, nil
}

// CheckFinal returns an error for a trial that has not ended.
func CheckFinal(trials ...Trial) error {
	for _, t := range trials {
		if !t.State.Final() {
			return fmt.Errorf("trial %d is %v", t.ID, t.State)
		}
	}
	return nil
}

// CheckObserved returns the error of an [Observer] of the space if one of the trials has not ended or has another
// number of coordinates; otherwise nil. A trial outside of the space is no error; see [Space.Member].
func (s *Space) CheckObserved(trials ...Trial) error {
	if err := CheckFinal(trials...); err != nil {
		return err
	}
	for _, t := range trials {
		if len(t.Config) != s.Dim() {
			return fmt.Errorf("an observed trial has %d coordinates for %d parameters", len(t.Config), s.Dim())
		}
	}
	return nil
}

// Member returns c with the exact values of the space, so that its Key equals a proposal's, and whether it is
// admissible. c is not changed; the result may share its memory.
func (s *Space) Member(c Config) (Config, bool) {
	if !s.Contains(c) || s.Listed() {
		return c, s.Contains(c)
	}
	snapped := c.Clone()
	for i, p := range s.Params {
		if p.Count() > 0 {
			snapped[i] = p.Snap(c[i])
		}
	}
	return snapped, true
}
