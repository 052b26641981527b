package study

import "github.com/assay-run/assay"

// A tally numbers the runs of each configuration in the order of the record: a proposal when it is asked, a check
// when it has been recorded. A resumed session therefore gives a run the same ID: a Runner that outlives its caller
// finds the run again, and a recorded table plays the same repetition. The zero value is the tally of an empty
// record.
type tally struct {
	roll   *assay.ConfigIndex
	runs   []int32       // of a configuration, by its number
	repeat map[int64]int // of the open proposals, by ID
}

// at returns the entry of a configuration in a list by its number, or its zero value.
func at[T any](list []T, r *assay.ConfigIndex, c assay.Config) (v T) {
	if r == nil {
		return v
	}
	if n, known := r.Find(c); known && n < len(list) {
		v = list[n]
	}
	return v
}

// slot returns the entry of a configuration in a list by its number, which it makes if need be.
func slot[T any](list *[]T, r *assay.ConfigIndex, c assay.Config) *T {
	n, _ := r.Number(c)
	for len(*list) <= n {
		var none T
		*list = append(*list, none)
	}
	return &(*list)[n]
}

// began counts a run of c and returns how many there were before.
func (t *tally) began(c assay.Config) int {
	if t.repeat == nil {
		t.repeat = map[int64]int{}
	}
	if t.roll == nil {
		t.roll = &assay.ConfigIndex{}
	}
	n := slot(&t.runs, t.roll, c)
	*n++
	return int(*n) - 1
}

// asked counts a proposal, which is on record.
func (t *tally) asked(p assay.Proposal) {
	n := t.began(p.Config)
	t.repeat[p.ID] = n
}

// told forgets a proposal that has ended or was withdrawn; its run counts on.
func (t *tally) told(id int64) { delete(t.repeat, id) }

// id returns the first attempt at a proposal, which it counts unless asked has.
func (t *tally) id(study string, p assay.Proposal) assay.RunID {
	if _, ok := t.repeat[p.ID]; !ok {
		t.asked(p)
	}
	n := t.repeat[p.ID]
	t.told(p.ID)
	return assay.RunID{Study: study, Trial: p.ID, Repeat: n, Attempt: 1}
}

// check returns the first attempt at the next repeated run of a proposal. It
// counts once it is on record: until then another session begins it again.
func (t *tally) check(study string, p assay.Proposal) assay.RunID {
	return assay.RunID{Study: study, Trial: p.ID, Repeat: int(at(t.runs, t.roll, p.Config)), Attempt: 1}
}
