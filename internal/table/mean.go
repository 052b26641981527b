package table

import "github.com/assay-run/assay"

// Mean returns the means over the good repetitions of a configuration: the measurement of a noise-free run. A metric
// that some repetitions lack is the mean of the others. ok is false if it was not recorded, or every repetition
// failed.
func (t *Table) Mean(c assay.Config) (m assay.Measurement, ok bool) {
	i, ok := t.index.find(t.Configs, c)
	if !ok {
		return assay.Measurement{}, false
	}
	return t.mean(i)
}

// Measurements returns the measurement of each recorded run of a configuration at its end, in the order of the table,
// failed runs included: they have an exit code. It returns nil if the configuration was not recorded. The caller owns
// the result.
func (t *Table) Measurements(c assay.Config) []assay.Measurement {
	i, ok := t.index.find(t.Configs, c)
	if !ok {
		return nil
	}
	ms := make([]assay.Measurement, t.runs.count(i))
	for k := range ms {
		ms[k] = t.measurement(t.runs.at(i, k))
	}
	return ms
}
