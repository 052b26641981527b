package study

import "github.com/assay-run/assay"

// A tally numbers the runs of each configuration in the order of the record: a
// proposal when it is asked, a check when it has been recorded. A session that
// resumes the study therefore gives a run the ID that it had before: a Runner that
// outlives its caller finds the run again, and a recorded table plays the same
// repetition. The zero value is that of an empty record.
type tally struct {
	runs   map[string]int // of a configuration, by its Key
	repeat map[int64]int  // of the proposals that are not told yet, by ID
}

// began counts a run of c and returns how many there were before.
func (t *tally) began(c assay.Config) int {
	if t.runs == nil {
		t.runs, t.repeat = map[string]int{}, map[int64]int{}
	}
	key := c.Key()
	n := t.runs[key]
	t.runs[key]++
	return n
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
	return assay.RunID{Study: study, Trial: p.ID, Repeat: t.runs[p.Config.Key()], Attempt: 1}
}
