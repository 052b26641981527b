package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// This file holds the stored form of a calibration: a JSON object whose first member is "assay":
// "calibration", by which IsCalibration distinguishes it from a workflow. ReadCalibration accepts the
// output of Write, for as long as the version is the same.

// calibrationVersion is the version of the stored form.
//
// It must be raised if a member changes its meaning, or if a compute model that files refer to is
// no more tried.
const calibrationVersion = 1

// Write writes c as JSON, which [ReadCalibration] reads.
//
// After an error w has a part of it.
func (c *Calibration) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(struct {
		Kind string `json:"assay"`
		*Calibration
	}{"calibration", c})
}

// IsCalibration reports whether a file that begins with head is a calibration.
//
// head must reach to the value of the first member.
func IsCalibration(head []byte) bool {
	head = bytes.TrimLeft(head, "{ \t\r\n")
	return bytes.HasPrefix(head, []byte(`"assay"`)) && bytes.Contains(head, []byte(`"calibration"`))
}

// ReadCalibration reads the output of Write. name is for messages. Input that is not a calibration, or
// is of a later version, is an [*InputError].
//
// Everything that a prediction relies on is checked: a weight above 0, terms that exist, compute models
// among those of computeModels (predictModels looks them up there), and finite numbers. Data after the
// JSON value are not read.
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
