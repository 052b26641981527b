package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// calibrationVersion is the version of the stored form.
const calibrationVersion = 1

// Write writes c as JSON, which [ReadCalibration] reads.
func (c *Calibration) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(struct {
		Kind string `json:"assay"`
		*Calibration
	}{"calibration", c})
}

// IsCalibration reports whether a file that begins with head is a calibration.
func IsCalibration(head []byte) bool {
	head = bytes.TrimLeft(head, "{ \t\r\n")
	return bytes.HasPrefix(head, []byte(`"assay"`)) && bytes.Contains(head, []byte(`"calibration"`))
}

// ReadCalibration reads what Write wrote. name is for messages. What is not a
// calibration, or of a later version, is an [*InputError].
func ReadCalibration(name string, r io.Reader) (*Calibration, error) {
	bad := func(format string, args ...any) error {
		return &InputError{File: name, Msg: fmt.Sprintf(format, args...)}
	}
	var c Calibration
	if err := json.NewDecoder(r).Decode(&c); err != nil {
		return nil, bad("calibration: %v", err)
	}
	switch {
	case c.Version != calibrationVersion:
		return nil, bad("calibration of version %d; this program reads version %d", c.Version, calibrationVersion)
	case len(c.Models) == 0:
		return nil, bad("calibration without models")
	case !(c.Sigma >= 0) || math.IsInf(c.Sigma, 0) || !(c.NodeCores > 0):
		return nil, bad("calibration with sigma %v and node_cores %v", c.Sigma, c.NodeCores)
	}
	compute := computeModels()
	for i, m := range c.Models {
		if !(m.Weight > 0) || len(m.Terms) == 0 || !slices.Contains(compute, m.Compute) {
			return nil, bad("model %d of the calibration has weight %v, %d terms and compute model %+v", i+1,
				m.Weight, len(m.Terms), m.Compute)
		}
		for _, t := range m.Terms {
			if !(t.Value >= 0) || math.IsInf(t.Value, 0) {
				return nil, bad("model %d of the calibration has %s %v", i+1, t.Term, t.Value)
			}
		}
	}
	return &c, nil
}
