package race

import (
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// An entry is the record of a configuration in a field: a field has thousands, and most of them one run.
type entry struct {
	first float64 // the value of its first run
	more  *rest   // rare data; nil for most
	run   int32   // the number of the run whose trial stands for it
	done  bool    // as in Entrant
}

// A rest has the data of an entry other than its first run.
type rest struct {
	values []float64     // of the further runs, in the order in which they were added
	own    int32         // index in the values of the value of run; 0 is first
	broken []assay.Trial // further runs without a value within the limits
}

// rest returns more, which it makes if need be.
func (e *entry) rest() *rest {
	if e.more == nil {
		e.more = &rest{}
	}
	return e.more
}

// add adds the value of a further run.
func (e *entry) add(v float64) { e.rest().values = append(e.rest().values, v) }

// runs returns how many values there are.
func (e *entry) runs() int {
	if e.more == nil {
		return 1
	}
	return 1 + len(e.more.values)
}

// value returns the i-th value.
func (e *entry) value(i int) float64 {
	if i == 0 {
		return e.first
	}
	return e.more.values[i-1]
}

// values returns all of them, which the caller may change.
func (e *entry) values() []float64 {
	all := []float64{e.first}
	if e.more != nil {
		all = append(all, e.more.values...)
	}
	return all
}

// own returns the value of the run that stands for the configuration.
func (e *entry) own() float64 {
	if e.more == nil {
		return e.first
	}
	return e.value(int(e.more.own))
}

func (e *entry) broken() []assay.Trial {
	if e.more == nil {
		return nil
	}
	return e.more.broken
}

// middle returns the upper median of the values: of two the greater. One lucky run does not change it by more
// than the noise.
func (e *entry) middle() float64 {
	if e.runs() == 1 {
		return e.first
	}
	v := e.values()
	slices.Sort(v)
	return v[len(v)/2]
}

// median returns the median of the values.
func (e *entry) median() float64 {
	if e.runs() == 1 {
		return e.first
	}
	return stats.Median(e.values())
}
