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
// searcher come before all other calls. at is their number: an event that somebody
// adds from now on makes the next append a conflict. A new study has no events, and
// all of this leaves the loop as it is.
func (l *loop) replay(ctx context.Context) error {
	t0 := time.Now()
	defer func() { l.overhead += time.Since(t0) }()
	var events []assay.Event
	over := map[int64]bool{}
	for e, err := range l.Store.Events(ctx, l.Name, 0) {
		if err != nil {
			return err
		}
		events = append(events, e)
		l.before = max(l.before, e.Spent)
		switch {
		case e.Asked != nil:
			l.open = append(l.open, *e.Asked)
			l.runs.asked(*e.Asked)
		case e.Told != nil:
			over[e.Told.ID] = true
			l.runs.told(e.Told.ID)
			l.remember(*e.Told)
		case e.Withdrawn != nil:
			over[e.Withdrawn.Trial] = true
			l.runs.told(e.Withdrawn.Trial)
		case e.Checked != nil:
			l.recheck(*e.Checked, e.Race)
			l.runs.began(e.Checked.Config)
		case e.Cut != nil:
			l.cuts++
		}
	}
	l.at = assay.Position(len(events))
	l.open = slices.DeleteFunc(l.open, func(p assay.Proposal) bool { return over[p.ID] })
	l.replayed = len(l.history)
	l.choose()
	player := replay.Player{Study: l.Name, Space: l.Space, Searcher: l.Searcher}
	return player.Play(events)
}
