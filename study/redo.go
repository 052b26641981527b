package study

import (
	"slices"

	"github.com/assay-run/assay"
)

// spoil has trials be run again whose runs do not count any more.
func (r *racer) spoil(ps []assay.Proposal) { r.spoilt = append(r.spoilt, ps...) }

// owes reports whether trials are to be run again.
func (r *racer) owes() bool { return len(r.spoilt) > 0 }

// toRedo returns the next trial that is to be run again, and is not.
func (r *racer) toRedo() (p assay.Proposal, ok bool) {
	for _, p := range r.spoilt {
		if !r.redoing[p.ID] {
			return p, true
		}
	}
	return p, false
}

// redo notes that a trial runs again.
func (r *racer) redo(id int64) { r.redoing[id] = true }

// redoes reports whether a trial runs again whose run did not count.
func (r *racer) redoes(id int64) bool { return r.redoing[id] }

// redone takes note that a trial was run again, and reports whether it was owed.
func (r *racer) redone(id int64) bool {
	i := slices.IndexFunc(r.spoilt, func(p assay.Proposal) bool { return p.ID == id })
	delete(r.redoing, id)
	if i < 0 {
		return false
	}
	r.spoilt = slices.Delete(r.spoilt, i, i+1)
	return true
}

// missed returns why there are fewer comparisons of the best with the first than were wanted, or "".
func (r *racer) missed() string { return r.short }

// recall takes in why there are fewer comparisons on record.
func (r *racer) recall(short string) { r.short = short }
