package study

import (
	"context"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// replay reads the record, replays it to the searcher, and leaves in open the proposals that neither ended nor were
// withdrawn.
//
// The events are read to the end before the first is played, because memos of the searcher come before all other
// calls. An event that another process adds without the journal from now on makes the next append a conflict. Without
// events, in a new study, the loop stays as it is.
func (l *loop) replay(ctx context.Context) error {
	t0 := time.Now()
	defer func() { l.overhead += time.Since(t0) }()
	events, err := l.read(ctx)
	if err != nil {
		return err
	}
	l.control.goLive()
	l.control.start(l.began)
	// Events of attempts elsewhere are no calls of the searcher, and most of the record of a fleet. They are dropped
	// from memory: many studies may wait for their turn to be played.
	var calls []assay.Event
	for _, e := range events {
		if e.Started == nil && e.Booked == nil {
			calls = append(calls, e)
		}
	}
	player := search.Player{Study: l.Name, Space: l.Space, Searcher: l.Searcher}
	return player.Play(calls)
}

// Recall returns the result of a study on record so far, without running or changing anything. It uses the fields
// Name, Store, Space, Goal, Race, Anywhere and Class of s.
func Recall(ctx context.Context, s *Study) (Result, error) {
	l := newLoop(&Study{
		Name: s.Name, Store: s.Store, Space: s.Space, Goal: s.Goal, Race: s.Race, Anywhere: s.Anywhere,
		MachineClass: s.MachineClass,
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
