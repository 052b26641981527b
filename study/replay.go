package study

import (
	"context"
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
	l.control.goLive()
	l.control.start(l.began)
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
		l.race.recall(l.control.recall(e))
	}
	return l.result(), nil
}

// read reads the record, and all of the loop that follows from it but the searcher. The parts read each event in
// turn: a given configuration is owed unless it was known at that time.
func (l *loop) read(ctx context.Context) ([]assay.Event, error) {
	journal, err := l.Journal(ctx)
	if err != nil {
		return nil, err
	}
	events := l.record.open(journal)
	for _, e := range events {
		l.ask.read(e)
		l.run.read(e)
		l.judge.read(e)
		l.control.read(e)
		switch {
		case e.Checked != nil && e.Redone:
			l.race.redone(e.Checked.ID)
		case e.Drifted != nil && !e.Drifted.Over:
			l.race.spoil(l.judge.setAside(*e.Drifted))
		}
	}
	l.ask.resume()
	l.judge.resumed()
	return events, nil
}
