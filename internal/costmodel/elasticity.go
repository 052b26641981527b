package costmodel

import (
	"maps"
	"math"
	"strconv"

	"github.com/assay-run/assay"
)

// elasticityStep is the factor between the value of an attribute and those on both sides at which the
// time is looked at: far enough that the smooth function has changed, near enough to be its slope.
const elasticityStep = 1.1

// ElasticitiesAt returns the elasticity of the predicted time for each attribute that is a number above 0 at the
// assignment: the change of the time in percent if the attribute grows by 1 %. It is -1 if the time is inversely
// proportional to the attribute, and 0 if the attribute does not matter. It is d log T/d log ρ over a tenth to both
// sides, and to one side at an end of the range of the runs. Texts and the error are as for [Model.PredictAt]. See
// [Model.Explain] for an assignment of the space. Cost: two fits for each attribute.
func (m *Model) ElasticitiesAt(at map[string]string) (map[string]float64, error) {
	if _, err := m.PredictAt(at); err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for i, a := range m.attrs {
		x, ok := a.value(at[a.param.Name])
		if !ok || !(x > 0) {
			continue
		}
		lo, hi := x/elasticityStep, x*elasticityStep
		least, most := m.ran(i)
		if x <= most {
			hi = min(hi, most)
		}
		if x >= least {
			lo = max(lo, least)
		}
		if !(lo < hi) {
			continue // all runs have this value
		}
		log := func(x float64) (float64, error) {
			there := maps.Clone(at)
			there[a.param.Name] = strconv.FormatFloat(x, 'g', -1, 64)
			p, err := m.PredictAt(there)
			return math.Log(p.Seconds), err
		}
		t0, err := log(lo)
		if err != nil {
			return nil, err
		}
		t1, err := log(hi)
		if err != nil {
			return nil, err
		}
		out[a.param.Name] = (t1 - t0) / math.Log(hi/lo)
	}
	return out, nil
}

// value reads the number of a value; ok is false for a category and a switch.
func (a attribute) value(text string) (x float64, ok bool) {
	if !a.numeric || a.param.Kind == assay.Switch {
		return 0, false
	}
	if c, err := a.param.Parse(text); err == nil {
		return a.number(c), true
	}
	return assay.Number(text)
}

// ran returns the range of a numeric attribute over the runs, of which there is one at least.
func (m *Model) ran(i int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, r := range m.runs {
		x := m.attrs[i].number(r.Config[i])
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo, hi
}
