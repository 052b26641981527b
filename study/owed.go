package study

import (
	"slices"

	"github.com/assay-run/assay"
)

// owed are the configurations that people gave and that are not measured, whatever is left of the
// budget of trials: a person asked for them. The search keeps to the budget.
//
// Each is owed one run: where runs are repeated, the others are those of the search.
type owed struct {
	wanted   []assay.Config // not proposed yet
	promised map[int64]bool // proposed
	beside   int            // batches beyond the budget that had none of them
}

// mostBeside is how many batches beyond the budget may have none of what is owed: a wrapper goes first
// with what it has begun. A searcher that goes on with its own for longer will not propose it.
const mostBeside = 16

// gave notes configurations that were given. Those that were proposed before, and not taken back, are
// not run again, and so not owed.
func (l *loop) gave(configs []assay.Config) {
	l.beside = 0
	for _, c := range configs {
		if !l.knows(c) && !slices.ContainsFunc(l.wanted, c.Equal) {
			l.wanted = append(l.wanted, c)
		}
	}
}

// knows reports whether a configuration was proposed, and not taken back.
func (l *loop) knows(c assay.Config) bool {
	return slices.ContainsFunc(l.open, func(p assay.Proposal) bool { return !l.withdrawn[p.ID] && p.Config.Equal(c) }) ||
		slices.ContainsFunc(l.running, func(r Running) bool { return r.Config.Equal(c) }) ||
		l.judge.tried(c)
}

// proposed notes proposals, and reports whether one of them is owed.
func (l *loop) proposed(ps ...assay.Proposal) (any bool) {
	for _, p := range ps {
		i := slices.IndexFunc(l.wanted, p.Config.Equal)
		if i < 0 {
			continue
		}
		l.wanted = slices.Delete(l.wanted, i, i+1)
		if l.promised == nil {
			l.promised = map[int64]bool{}
		}
		l.promised[p.ID], any = true, true
	}
	return any
}

// hope says whether a batch had something that is owed, and gives up what will not be proposed.
func (l *loop) hope(had bool) {
	if had || l.Budget.Trials == 0 || l.judge.size()+l.searching() < l.Budget.Trials {
		return
	}
	if l.beside++; l.beside > mostBeside {
		l.wanted = nil
	}
}

// owes returns how many configurations are owed that do not run yet.
func (l *loop) owes() int {
	n := len(l.wanted)
	for _, p := range l.open {
		if l.promised[p.ID] {
			n++
		}
	}
	return n
}

// affords returns how many more trials the budget has room for, those that run and what is owed taken
// into account; it is for a budget of trials.
func (l *loop) affords() int {
	return max(l.Budget.Trials-l.judge.size()-l.searching(), l.owes())
}
