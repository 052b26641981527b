// Package durable writes what a run came to into files that survive their writer: what a worker of a server
// and the shim of a batch job have in common.
package durable

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/assay-run/assay"
)

// WriteFile writes a file, for this user alone, so that it is there whole or not at all, whatever is killed
// meanwhile: what it replaces stays until then. It is durable when WriteFile returns nil.
func WriteFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing once it is renamed
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("%w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes the names of a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

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
