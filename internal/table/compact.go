package table

import (
	"math"

	"github.com/assay-run/assay"
)

// This file holds a table of a million rows in a few large arrays: an allocation for each row takes several times the
// room.

// runs are the recorded runs of configurations; the runs of configuration i are start[i] to start[i+1].
type runs struct {
	width  int // metrics of a run
	start  []int32
	failed []bool
	values []float64 // width of each run in turn
}

// count returns the number of runs of configuration i.
func (r *runs) count(i int) int { return int(r.start[i+1] - r.start[i]) }

// at returns the k-th run of configuration i.
func (r *runs) at(i, k int) recordedRun {
	n := int(r.start[i]) + k
	return recordedRun{r.failed[n], r.values[n*r.width : (n+1)*r.width : (n+1)*r.width]}
}

// gathered returns the runs of n configurations, where of[k] is the configuration of the k-th, in the order of the
// runs.
func (r *runs) gathered(of []int32, n int) *runs {
	out := &runs{
		width: r.width, start: make([]int32, n+1), failed: make([]bool, len(of)), values: make([]float64, len(r.values)),
	}
	for _, i := range of {
		out.start[i+1]++
	}
	for i := range n {
		out.start[i+1] += out.start[i]
	}
	next := append([]int32(nil), out.start[:n]...)
	for k, i := range of {
		to := int(next[i])
		next[i]++
		out.failed[to] = r.failed[k]
		copy(out.values[to*r.width:(to+1)*r.width], r.values[k*r.width:])
	}
	return out
}

// add appends a run; start does not contain it yet.
func (r *runs) add(run recordedRun) {
	r.failed, r.values = append(r.failed, run.failed), append(r.values, run.values...)
}

// An index finds configurations by a hash: slots has the number of one plus 1, or 0.
type index struct{ slots []uint32 }

// newIndex returns an index with room for n configurations.
func newIndex(n int) index {
	size := 4
	for size < 2*n {
		size *= 2
	}
	return index{make([]uint32, size)}
}

// slot returns where c is, or where it would be.
func (x index) slot(all []assay.Config, c assay.Config) *uint32 {
	h := uint64(len(c))
	for _, v := range c {
		if v == 0 {
			v = 0 // -0 and 0 are equal
		}
		h = (h ^ math.Float64bits(v)) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	for at := int(h) & (len(x.slots) - 1); ; at = (at + 1) & (len(x.slots) - 1) {
		if s := &x.slots[at]; *s == 0 || all[*s-1].Equal(c) {
			return s
		}
	}
}

// find returns the number of c in all; false if it is not there.
func (x index) find(all []assay.Config, c assay.Config) (int, bool) {
	if s := x.slot(all, c); *s > 0 {
		return int(*s) - 1, true
	}
	return 0, false
}

// joined makes Configs of the configurations of runs, without repetitions, and returns the index of each run's
// configuration.
func (t *Table) joined(n int, at func(k int) assay.Config) []int32 {
	of := make([]int32, n)
	t.index, t.Configs = newIndex(n), make([]assay.Config, 0, n)
	for k := range n {
		c := at(k)
		s := t.index.slot(t.Configs, c)
		if *s == 0 {
			t.Configs = append(t.Configs, c)
			*s = uint32(len(t.Configs))
		}
		of[k] = int32(*s) - 1
	}
	return of
}
