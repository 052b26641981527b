package costmodel

import (
	"fmt"
	"slices"

	"github.com/assay-run/assay"
)

// PredictAt predicts at an assignment given by the texts of its values. A numeric attribute may have any number, inside
// or outside the space; see [assay.Number]. A category has one of its levels. It returns an error for a missing or
// unknown attribute, and for an invalid value. Cost: a fit if a value is not in the space.
//
// The model does not change: a fit for other values is used once.
func (m *Model) PredictAt(at map[string]string) (Prediction, error) {
	for name := range at {
		if m.space.Index(name) < 0 {
			return Prediction{}, fmt.Errorf("no attribute %q", name)
		}
	}
	// The parameters are the space's until one is widened.
	params := slices.Clone(m.space.Params)
	c := make(assay.Config, len(params))
	outside := false
	for i, p := range params {
		text, ok := at[p.Name]
		if !ok {
			return Prediction{}, fmt.Errorf("no value for attribute %q", p.Name)
		}
		x, err := p.Parse(text)
		if err == nil {
			c[i] = x
			continue
		}
		// A switch has no third value, and a category none that was not run.
		number, isNumber := assay.Number(text)
		if !isNumber || !m.attrs[i].numeric || p.Kind == assay.Switch {
			return Prediction{}, err
		}
		params[i], c[i], outside = widened(p, text, number), 0, true
		if params[i].Numeric() {
			c[i] = number
		} else {
			// p is the parameter before it was widened: the new level has the next index.
			c[i] = float64(len(p.Levels))
		}
	}
	if !outside {
		return m.Predict(c), nil
	}
	wide, err := m.over(params)
	if err != nil {
		return Prediction{}, err
	}
	return wide.Predict(c), nil
}

// widened returns p with one more value. A numeric parameter becomes a continuum that reaches
// to x, so that c keeps its coordinates; of levels, x is the last.
//
// p is a copy, and its levels are cloned before one is appended: the space of the model keeps its own.
func widened(p assay.Param, text string, x float64) assay.Param {
	if p.Numeric() {
		p.Kind, p.Step = assay.Real, 0
		p.Lo, p.Hi = min(p.Lo, x), max(p.Hi, x)
		// A logarithmic scale cannot reach to 0.
		p.Log = p.Log && p.Lo > 0
		return p
	}
	p.Levels = append(slices.Clone(p.Levels), text)
	if len(p.Numbers) > 0 {
		p.Numbers = append(slices.Clone(p.Numbers), x)
	}
	return p
}

// over returns the model of the same runs over other parameters, which have all of their values at the same
// coordinates. It is fitted again: the scales of features depend on the range of the space.
//
// Relations and lists of the space are dropped: they restrict runs, not predictions.
func (m *Model) over(params []assay.Param) (*Model, error) {
	space, err := assay.NewSpace(params)
	if err != nil {
		return nil, err
	}
	wide, err := newModel(space, m.runs, m.failed, m.forms)
	if err != nil {
		return nil, err
	}
	wide.machine = m.machine
	return wide, nil
}

// A Beyond is an attribute of an assignment whose number lies outside the range of all runs.
type Beyond struct {
	Attribute  string
	Value, Ran float64 // of the assignment, and the nearest one that was run
	// Ranges is the distance from the range of the runs, in units of its width; +Inf if the runs have one value.
	Ranges float64
}

// BeyondRuns returns the numeric attributes of an assignment that lie outside the range of the runs, in the order of
// the space. A prediction there is an extrapolation. Texts are as for [Model.PredictAt]; texts without a number are
// skipped.
func (m *Model) BeyondRuns(at map[string]string) []Beyond {
	var out []Beyond
	for i, a := range m.attrs {
		x, ok := a.value(at[a.param.Name])
		if !ok {
			continue
		}
		lo, hi := m.ran(i)
		switch {
		// If all runs have one value, the quotient is +Inf by a division by 0.
		case x > hi:
			out = append(out, Beyond{a.param.Name, x, hi, (x - hi) / (hi - lo)})
		case x < lo:
			out = append(out, Beyond{a.param.Name, x, lo, (lo - x) / (hi - lo)})
		}
	}
	return out
}
