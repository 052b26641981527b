package table

import "github.com/assay-run/assay"

// Mean returns the means over the good repetitions of a configuration: what a
// noise-free run of it would measure. ok is false if it was not recorded, or
// every repetition failed.
func (t *Table) Mean(c assay.Config) (m assay.Measurement, ok bool) {
	i, ok := t.index[c.Key()]
	if !ok {
		return assay.Measurement{}, false
	}
	return t.mean(i)
}
