package ledger

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// The kept parts of an output with an outcome: its beginning and its end.
const (
	headBytes = 16 << 10
	tailBytes = 48 << 10
)

// Shorten returns an output with its middle cut out if it is too long.
func Shorten(b []byte) []byte {
	if len(b) <= headBytes+tailBytes {
		return b
	}
	mark := fmt.Sprintf("\n... %d bytes are left out ...\n", len(b)-headBytes-tailBytes)
	return slices.Concat(b[:headBytes], []byte(mark), b[len(b)-tailBytes:])
}

// Storable returns a measurement that can be written as JSON: a metric that is no finite number
// is missing.
func Storable(m assay.Measurement) assay.Measurement {
	var missing map[string]string
	for name, x := range m.Metrics {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			if missing == nil {
				missing = maps.Clone(m.Missing)
				if missing == nil {
					missing = map[string]string{}
				}
				m.Metrics = maps.Clone(m.Metrics)
			}
			missing[name] = fmt.Sprintf("%v is no finite number", x)
			delete(m.Metrics, name)
		}
	}
	if missing != nil {
		m.Missing = missing
	}
	return m
}
