package study

import (
	"slices"

	"github.com/assay-run/assay"
)

// pending are the enqueued configurations that are not measured. They are run at any rest of the budget of trials,
// because a person asked for them. The search keeps to the budget.
//
// Each needs one run: if runs are repeated, the others belong to the search.
type pending struct {
	wanted   []assay.Config // not proposed yet
	proposed map[int64]bool // proposed
	overtime int            // batches beyond the budget that had none of them
}

// mostOvertime is how many batches beyond the budget may contain no pending configuration: a wrapper first completes
// the work that it has begun. A searcher that continues with its own proposals for longer will not propose it.
const mostOvertime = 16

// gave notes configurations that were given. Those that were proposed before, and not taken back, are
// not run again, and so not owed.
func (a *asker) gave(configs []assay.Config) {
	a.pending.overtime = 0
	for _, c := range configs {
		if !a.knows(c) && !slices.ContainsFunc(a.pending.wanted, c.Equal) {
			a.pending.wanted = append(a.pending.wanted, c)
		}
	}
}

// knows reports whether a configuration was proposed, and not taken back.
func (a *asker) knows(c assay.Config) bool {
	return slices.ContainsFunc(a.open, func(p assay.Proposal) bool { return !a.withdrawn[p.ID] && p.Config.Equal(c) }) ||
		a.away.knows(c)
}

// proposed notes proposals, and reports whether one of them is owed.
func (a *asker) proposed(ps ...assay.Proposal) (any bool) {
	for _, p := range ps {
		i := slices.IndexFunc(a.pending.wanted, p.Config.Equal)
		if i < 0 {
			continue
		}
		a.pending.wanted = slices.Delete(a.pending.wanted, i, i+1)
		a.pending.proposed[p.ID], any = true, true
	}
	return any
}

// hope notes whether a batch had a pending configuration, and gives up the rest after too many without. full is true
// if the budget of trials has no room.
func (a *asker) hope(had, full bool) {
	if had || !full {
		return
	}
	if a.pending.overtime++; a.pending.overtime > mostOvertime {
		a.pending.wanted = nil
	}
}

// owes returns how many configurations are owed that do not run yet.
func (a *asker) owes() int {
	n := len(a.pending.wanted)
	for _, p := range a.open {
		if a.pending.proposed[p.ID] {
			n++
		}
	}
	return n
}
