// Package durable writes what a run came to into files that survive their writer: what a worker of a server
// and the shim of a batch job have in common.
package durable

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// What is kept of an output with an outcome: its beginning and its end.
const (
	headBytes = 16 << 10
	tailBytes = 48 << 10
)

// Shorten returns an output with what is too much cut out of its middle.
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
