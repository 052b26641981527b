package study

import (
	"context"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/replay"
)

// replay feeds the stored events to the searcher, compares each of its
// proposals with the stored one, and leaves in open those never told.
func (l *loop) replay(ctx context.Context) error {
	told := map[int64]bool{}
	player := replay.Player{Study: l.Name, Space: l.Space, Searcher: l.Searcher}
	for e, err := range l.Store.Events(ctx, l.Name, 0) {
		if err != nil {
			return err
		}
		l.at++
		l.before = max(l.before, e.Spent)
		switch {
		case e.Asked != nil:
			if err := player.Asked(*e.Asked); err != nil {
				return err
			}
			l.open = append(l.open, *e.Asked)
			l.runs.asked(*e.Asked)
		case e.Told != nil:
			told[e.Told.ID] = true
			l.runs.told(e.Told.ID)
			l.remember(*e.Told)
			if err := player.Told(*e.Told); err != nil {
				return err
			}
		case e.Withdrawn != nil:
			i := slices.IndexFunc(l.open, func(p assay.Proposal) bool { return p.ID == e.Withdrawn.Trial })
			if i < 0 || told[e.Withdrawn.Trial] {
				continue
			}
			told[e.Withdrawn.Trial] = true
			if err := player.Told(assay.Trial{Proposal: l.open[i], State: assay.Withdrawn, Value: math.Inf(1)}); err != nil {
				return err
			}
		case e.Checked != nil:
			l.checks = append(l.checks, *e.Checked)
			l.runs.began(e.Checked.Config)
		case e.Cut != nil:
			l.cuts++
		}
	}
	l.open = slices.DeleteFunc(l.open, func(p assay.Proposal) bool { return told[p.ID] })
	l.replayed = len(l.history)
	return nil
}
