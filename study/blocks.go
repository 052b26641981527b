package study

import (
	"iter"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/workereffect"
)

// finalists is how many of the leading configurations a study on machines of any class runs again on the target
// class.
const finalists = 5

// A Placer is a Runner that can be held to machines of one class.
type Placer interface {
	// Place has further runs begin on machines of a class alone, or on any if it is "".
	Place(class string)
}

// A purpose is the reason for a run.
type purpose uint8

const (
	searched purpose = iota // a trial
	raced                   // to find out which is best
	compared                // to compare the best with the first
	spoilt                  // for any purpose: it does not count any more, see setAside
)

// A known is a run on record.
type known struct {
	assay.Trial // as it is on record
	purpose
	number int // on the shelf
}

// blocked is the part of the judge that corrects for the workers that make the runs: see package block. All compared
// values are corrected; recorded values are not. When the effects of workers are estimated anew, every run on record
// is taken in anew, so that the judgement of a record depends on the record alone. It is guarded by the mutex of the
// judge.
type blocked struct {
	model    *workereffect.Model
	version  int
	shelf    assay.PackedTrials // of the runs on record
	purposes []purpose          // of the runs on the shelf
	history  []int32            // those on the shelf that are trials
}

func newBlocked(s *Study) blocked { return blocked{model: workereffect.New(s.Space, s.MachineClass)} }

// known returns the runs on record that count, in the order in which they were taken in.
func (b *blocked) known() iter.Seq[known] {
	return func(yield func(known) bool) {
		for i, t := range b.shelf.All() {
			if b.purposes[i] != spoilt && !yield(known{t, b.purposes[i], i}) {
				return
			}
		}
	}
}

// told returns a trial of the history.
func (b *blocked) told(i int) assay.Trial { return b.shelf.At(int(b.history[i])) }

// all returns the trials of the history from one of them on, in the order in which they ended.
func (b *blocked) all(from int) iter.Seq[assay.Trial] {
	return func(yield func(assay.Trial) bool) {
		for i := from; i < len(b.history); i++ {
			if !yield(b.told(i)) {
				return
			}
		}
	}
}

// corrected returns a run with the value that it would have on the average worker of the target class.
// The mutex of the judge is held.
func (b *blocked) corrected(t assay.Trial) assay.Trial {
	t.Value = b.model.Correct(t)
	return t
}

// A standing is the place of a configuration within its class of machines.
type standing struct {
	trial assay.Trial
	value float64
	rank  float64 // as a share of their number
}

// size returns how many trials have ended.
func (b *blocked) size() int { return len(b.history) }

// state returns the state of a trial that has ended.
func (b *blocked) state(id int64) (s assay.State, ok bool) {
	for t := range b.all(0) {
		if t.ID == id {
			return t.State, true
		}
	}
	return s, false
}

// tried reports whether a trial of a configuration has ended.
func (b *blocked) tried(c assay.Config) bool {
	for t := range b.all(0) {
		if t.Config.Equal(c) {
			return true
		}
	}
	return false
}

// correctedAll returns runs with their corrected values.
func (b *blocked) correctedAll(runs []assay.Trial) []assay.Trial {
	all := slices.Clone(runs)
	for i := range all {
		all[i] = b.corrected(all[i])
	}
	return all
}

// targetClass returns the class of machines that the answer is for.
func (b *blocked) targetClass() string { return b.model.Target() }
