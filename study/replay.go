package study

import (
	"context"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/replay"
)

// replay reads the record, brings the searcher to where it was, and leaves in
// open the proposals that neither ended nor were withdrawn.
//
// The events are read to the end before the first is played, because memos of the
// searcher come before all other calls. An event that somebody adds without the
// journal from now on makes the next append a conflict. A new study has no events, and
// all of this leaves the loop as it is.
func (l *loop) replay(ctx context.Context) error {
	t0 := time.Now()
	defer func() { l.overhead += time.Since(t0) }()
	events, err := l.read(ctx)
	if err != nil {
		return err
	}
	l.live = true
	if l.watch.start(l.began); l.paused {
		l.watch.halt()
		l.hold()
	}
	// What runs came to elsewhere is no call of the searcher, and most of the record of a fleet. It is let
	// go of: many studies may wait for their turn to be played.
	var calls []assay.Event
	for _, e := range events {
		if e.Started == nil && e.Booked == nil {
			calls = append(calls, e)
		}
	}
	player := replay.Player{Study: l.Name, Space: l.Space, Searcher: l.Searcher}
	return player.Play(calls)
}

// Recall returns what a study on record has come to so far, without running or changing
// anything. Of s it needs Name, Store, Space, Goal, Race, Anywhere and Class.
func Recall(ctx context.Context, s *Study) (Result, error) {
	l := newLoop(&Study{
		Name: s.Name, Store: s.Store, Space: s.Space, Goal: s.Goal, Race: s.Race, Anywhere: s.Anywhere, Class: s.Class,
	})
	events, err := l.read(ctx)
	if err != nil {
		return Result{}, err
	}
	for _, e := range events {
		if l.endedBy, l.short = "", ""; e.Ended != nil {
			l.endedBy, l.short = e.Ended.By, e.Ended.Short
			l.enough.End = *e.Ended
		}
	}
	return l.result(), nil
}

// read reads the record, and all of the loop that follows from it but the searcher.
func (l *loop) read(ctx context.Context) (events []assay.Event, err error) {
	over := map[int64]bool{}
	var discards []Discard
	var restored []int64
	if l.journal, err = l.Journal(ctx); err != nil {
		return nil, err
	}
	l.watch = l.journal.watch
	events = l.journal.take()
	for _, e := range events {
		switch {
		case e.Asked != nil:
			l.open = append(l.open, *e.Asked)
			l.runs.asked(*e.Asked)
			l.proposed(*e.Asked)
		case e.Told != nil:
			over[e.Told.ID] = true
			l.runs.told(e.Told.ID)
			l.judge.remember(*e.Told)
		case e.Withdrawn != nil:
			over[e.Withdrawn.Trial] = true
			if _, again := l.withdrawn[e.Withdrawn.Trial]; !again {
				l.withdrawn[e.Withdrawn.Trial] = true
				discards = append(discards, Discard{Withdrawal: *e.Withdrawn, At: e.At})
			}
			l.runs.told(e.Withdrawn.Trial)
		case e.Given != nil:
			restored = append(restored, e.Given.Restores...)
			l.gave(e.Given.Configs)
		case e.Ordered != nil:
			l.rank(e.Ordered.Trial, e.Ordered.Priority)
		case e.Steered != nil && l.Helm != nil:
			l.obey(*e.Steered)
		case e.Checked != nil:
			l.judge.recheck(*e.Checked, e.Race)
			if e.Redone {
				l.redone(e.Checked.ID)
			}
			l.runs.began(e.Checked.Config)
		case e.Drifted != nil && !e.Drifted.Over:
			l.setAside(*e.Drifted)
		case e.Cut != nil:
			l.cuts++
		case e.Ended != nil && e.Ended.By == byGain:
			l.enough.End = *e.Ended
		}
	}
	l.recallDiscards(discards, restored)
	l.open = slices.Clone(slices.DeleteFunc(l.open, func(p assay.Proposal) bool { return over[p.ID] })) // without its capacity
	l.judge.resumed()
	return events, nil
}
