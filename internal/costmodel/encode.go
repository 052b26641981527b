package costmodel

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// version is the version of the encoding of a Model.
//
// It grows with each change that an older reader would misread. Readers ignore unknown members, so that an optional new
// member needs no new version.
const version = 1

// modelJSON is the stored form of a Model: the space, the runs, and the form of each predictor function. The functions
// are fitted again when a model is read, so that the file holds only measurements and choices.
//
// Configurations are coordinates, not texts: the attributes in the same file give their meaning. There is at least one
// run, and the forms refer to runs by index.
type modelJSON struct {
	Version int         `json:"assay_cost_model"`        // of this format
	Params  []paramJSON `json:"attributes"`              // of the space
	Listed  bool        `json:"listed,omitempty"`        // the space is the list of Assignments
	List    [][]float64 `json:"assignments,omitempty"`   // coordinates, if Listed
	Runs    []runJSON   `json:"runs"`                    // all finished ones
	Failed  [][]float64 `json:"failed,omitempty"`        // coordinates of failed runs
	Forms   []formJSON  `json:"predictors"`              // one for each function
	Error   *float64    `json:"error_percent,omitempty"` // for people
	Machine Machine     `json:"machine,omitempty"`       // of the runs
}

// paramJSON is a parameter of the space; its members are the same as in a study file.
//
// Lo and Hi may be omitted if they are 0.
type paramJSON struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Lo     float64  `json:"min,omitempty"`
	Hi     float64  `json:"max,omitempty"`
	Step   float64  `json:"step,omitempty"`
	Log    bool     `json:"log,omitempty"`
	Levels []string `json:"values,omitempty"`
	// Numbers replace values that are not numeric, such as traces.
	Numbers []float64 `json:"numbers,omitempty"`
	Unit    string    `json:"unit,omitempty"`
}

// runJSON is a [Run]: seconds, units of data flow, and seconds per unit.
//
// The occupancies are as in [Run]. [Profile] makes them so that their sum times the data flow is the time.
type runJSON struct {
	Config   []float64 `json:"at"`              // coordinates
	Seconds  float64   `json:"seconds"`         // T
	DataFlow float64   `json:"data_flow"`       // D
	Split    Split     `json:"split"`           // 0: the total only, 1: compute and stall, 2: compute, network and disk
	Compute  float64   `json:"compute"`         // o_a
	Network  float64   `json:"network"`         // o_n
	Disk     float64   `json:"disk"`            // o_d
	Other    float64   `json:"other,omitempty"` // see Run
	NoIO     bool      `json:"no_io,omitempty"` // see Run
}

// formJSON is a form. Attributes, Runs and Base are indices into the lists of the same file.
//
// Attributes that are left out are none, and Runs that are left out are all: see form.
type formJSON struct {
	Part       string   `json:"part"`       // the predicted one
	Regression string   `json:"regression"` // by name
	Attributes []int    `json:"attributes,omitempty"`
	Transforms []string `json:"transforms,omitempty"` // by name
	Runs       []int    `json:"runs,omitempty"`
	Base       int      `json:"base,omitempty"` // the baseline run R_b
}

// MarshalJSON implements [json.Marshaler]: version 1 of the format, see
// docs/format/cost-model.md. Relations of the space are not part of it.
func (m *Model) MarshalJSON() ([]byte, error) {
	j := modelJSON{Version: version, Machine: m.machine}
	for _, p := range m.space.Params {
		j.Params = append(j.Params, paramJSON{
			p.Name, p.Kind.String(), p.Lo, p.Hi, p.Step, p.Log, p.Levels, p.Numbers, p.Unit,
		})
	}
	if m.space.Listed() {
		j.Listed = true
		for c := range m.space.All() {
			j.List = append(j.List, c)
		}
	}
	for _, r := range m.runs {
		j.Runs = append(j.Runs, runJSON{
			Config: r.Config, Seconds: r.Seconds, DataFlow: r.DataFlow, Split: r.Split,
			Compute: r.Compute, Network: r.Network, Disk: r.Disk, Other: r.Other, NoIO: r.NoIO,
		})
	}
	for _, c := range m.failed {
		j.Failed = append(j.Failed, c)
	}
	// The forms are in the order of [Model.Predictors].
	for _, f := range m.forms {
		g := formJSON{
			Part: f.part.String(), Regression: f.regression.String(), Attributes: f.attributes,
			Runs: f.runs, Base: f.base,
		}
		for _, t := range f.transforms {
			g.Transforms = append(g.Transforms, t.String())
		}
		j.Forms = append(j.Forms, g)
	}
	// JSON has no NaN. The error is not read back: it follows from the runs.
	if !math.IsNaN(m.error) && !math.IsInf(m.error, 0) {
		j.Error = &m.error
	}
	return json.Marshal(j)
}

// UnmarshalJSON implements [json.Unmarshaler]. It returns a descriptive error for a file that is damaged, of another
// version, or no cost model.
//
// An error leaves m unchanged. Cost: the fits of all functions and their validation.
func (m *Model) UnmarshalJSON(b []byte) error {
	var j modelJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("not a cost model: %w", err)
	}
	if j.Version != version {
		return fmt.Errorf("cost model of version %d, this program reads version %d", j.Version, version)
	}
	space, err := j.space()
	if err != nil {
		return fmt.Errorf("%w", err)
	}
	var runs []Run
	for i, r := range j.Runs {
		run := Run{
			Config: r.Config, Seconds: r.Seconds, DataFlow: r.DataFlow, Split: r.Split,
			Compute: r.Compute, Network: r.Network, Disk: r.Disk, Other: r.Other, NoIO: r.NoIO,
		}
		// Written so that NaN is refused too.
		for _, x := range [...]float64{r.Compute, r.Network, r.Disk, r.Other} {
			if !(x >= 0) {
				return fmt.Errorf("run %d has an occupancy of %v", i+1, x)
			}
		}
		if !(r.Seconds > 0) || !(r.DataFlow > 0) || r.Split > SplitFull {
			return fmt.Errorf("run %d of %v s, data flow %v, split %d", i+1, r.Seconds, r.DataFlow, r.Split)
		}
		runs = append(runs, run)
	}
	var failed []assay.Config
	for _, c := range j.Failed {
		if err := space.Check(c); err != nil {
			return fmt.Errorf("%w", err)
		}
		failed = append(failed, c)
	}
	forms, err := j.forms(space, len(runs))
	if err != nil {
		return err
	}
	// m is set as a whole and last, so that an error before leaves it alone.
	n, err := newModel(space, runs, failed, forms)
	if err != nil {
		return err
	}
	if n, err = n.LearnedOn(j.Machine); err != nil {
		return fmt.Errorf("machine: %w", err)
	}
	*m = *n
	return nil
}

// space makes the space of the file, which checks the attributes. Kinds are read by name:
// their numbers are no part of the format.
func (j *modelJSON) space() (*assay.Space, error) {
	var params []assay.Param
	for _, p := range j.Params {
		kind := assay.Real
		for kind.String() != p.Kind {
			if kind++; kind > assay.Switch {
				return nil, fmt.Errorf("attribute %q is of unknown kind %q", p.Name, p.Kind)
			}
		}
		params = append(params, assay.Param{
			Name: p.Name, Kind: kind, Lo: p.Lo, Hi: p.Hi, Step: p.Step,
			Log: p.Log, Levels: p.Levels, Numbers: p.Numbers, Unit: p.Unit,
		})
	}
	if !j.Listed {
		return assay.NewSpace(params)
	}
	var list []assay.Config
	for _, c := range j.List {
		list = append(list, c)
	}
	return assay.NewList(params, list)
}

// forms checks the assumptions of newModel: known parts and regressions, at most one predictor of each part, indices in
// range, and predictors of the data flow and of the time or all of its parts.
func (j *modelJSON) forms(space *assay.Space, runs int) ([]form, error) {
	var forms []form
	has := map[Part]bool{}
	for _, g := range j.Forms {
		f, err := g.form(has, space.Dim(), runs)
		if err != nil {
			return nil, err
		}
		has[f.part] = true
		forms = append(forms, f)
	}
	// The parts of one split must be complete: a sum without one of them would be too small.
	apart := has[Whole]
	for s := SplitStall; s <= SplitFull; s++ {
		all := true
		for _, p := range s.Parts() {
			all = all && has[p]
		}
		apart = apart || all
	}
	if !has[DataFlow] || !has[Time] && !apart {
		return nil, fmt.Errorf("a cost model needs predictors of the data flow, and of the time or of its parts")
	}
	return forms, nil
}

// form checks a predictor that is read. has are the parts of those before it.
func (g formJSON) form(has map[Part]bool, dim, runs int) (f form, err error) {
	f = form{attributes: g.Attributes, runs: g.Runs, base: g.Base}
	if f.part, err = ParsePart(g.Part); err != nil {
		return f, err
	}
	if f.regression, err = ParseRegression(g.Regression); err != nil {
		return f, err
	}
	if f.regression == Best || has[f.part] {
		return f, fmt.Errorf("predictor of %v by %v", f.part, f.regression)
	}
	for _, name := range g.Transforms {
		t := Identity
		for t.String() != name {
			if t++; t > Logarithm {
				return f, fmt.Errorf("no transformation %q", name)
			}
		}
		f.transforms = append(f.transforms, t)
	}
	if f.regression == Linear && len(f.transforms) != len(f.attributes) {
		return f, fmt.Errorf("%d transformations of %d attributes", len(f.transforms), len(f.attributes))
	}
	outside := func(n int) func(int) bool { return func(i int) bool { return i < 0 || i >= n } }
	if i := slices.IndexFunc(f.attributes, outside(dim)); i >= 0 {
		return f, fmt.Errorf("attribute %d of %d", f.attributes[i], dim)
	}
	all := append([]int{f.base}, f.runs...)
	if i := slices.IndexFunc(all, outside(runs)); i >= 0 {
		return f, fmt.Errorf("run %d of %d", all[i], runs)
	}
	return f, nil
}
