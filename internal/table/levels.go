package table

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
)

// table makes the parameters and configurations of the rows. Rows of one configuration
// may stand anywhere in the file: their runs are joined in the order of the rows.
func (tr *tableReader) table(given []assay.Param) (*Table, error) {
	t := &Table{Metrics: slices.Sorted(maps.Keys(tr.spec.Metrics))}
	t.elapsed = slices.Index(t.Metrics, "elapsed")
	for k, name := range tr.spec.Parameters {
		values := tr.texts[k]
		p := assay.Param{Name: name}
		i := slices.IndexFunc(given, func(g assay.Param) bool { return g.Name == name })
		if i < 0 {
			p.Kind, p.Levels = levelsOf(values)
		} else {
			p = given[i]
			if flaw := completeParam(&p, values); flaw != "" {
				tr.line = 1
				return nil, tr.flaw(name, "%s", flaw)
			}
		}
		t.Params = append(t.Params, p)
	}
	coordinates, err := tr.coordinates(t.Params)
	if err != nil {
		return nil, err
	}
	d := len(t.Params)
	flat := make([]float64, len(tr.lines)*d)
	for i, code := range tr.cells {
		flat[i] = coordinates[i%d][code]
	}
	tr.cells = nil // the largest of the data that is no longer needed
	row := t.joined(len(tr.lines), func(k int) assay.Config { return flat[k*d : (k+1)*d : (k+1)*d] })
	for k, i := range tr.runOf {
		tr.runOf[k] = row[i]
	}
	t.runs = tr.runs.gathered(tr.runOf, len(t.Configs))
	return t, nil
}

// coordinates returns, by parameter, the coordinate of each text. The error is the error of the first row with an
// invalid text.
func (tr *tableReader) coordinates(params []assay.Param) ([][]float64, error) {
	all, wrong := make([][]float64, len(params)), make([]map[uint32]error, len(params))
	flawed := false
	for k, p := range params {
		all[k], wrong[k] = make([]float64, len(tr.texts[k])), map[uint32]error{}
		level := map[string]float64{}
		for i, l := range p.Levels {
			level[l] = float64(i)
		}
		for code, text := range tr.texts[k] {
			x, known := level[text]
			if !known {
				var err error
				if x, err = p.Parse(text); err != nil {
					wrong[k][uint32(code)], flawed = err, true
				}
			}
			all[k][code] = x
		}
	}
	if !flawed {
		return all, nil
	}
	for i, code := range tr.cells {
		if k := i % len(params); wrong[k][code] != nil {
			tr.line = int(tr.lines[i/len(params)])
			return nil, tr.flaw(tr.spec.Parameters[k], "%q is not a value of the parameter: %v",
				clipCell(tr.texts[k][code]), wrong[k][code])
		}
	}
	return all, nil
}

// levelsOf returns the kind of parameter that values suggest, and its levels; see [Read].
func levelsOf(values []string) (assay.Kind, []string) {
	if len(values) == 2 {
		for _, pair := range [][2]string{{"0", "1"}, {"false", "true"}, {"off", "on"}, {"no", "yes"}} {
			for i, v := range values {
				if strings.EqualFold(v, pair[0]) && strings.EqualFold(values[1-i], pair[1]) {
					return assay.Switch, []string{v, values[1-i]}
				}
			}
		}
	}
	var ordered []string
	seen := map[float64]bool{}
	for _, v := range values {
		if _, ok := assay.Number(v); !ok {
			return assay.Categorical, values
		}
		x, err := strconv.ParseFloat(v, 64)
		if err == nil && seen[x] {
			continue // another spelling; 1024K beside 1M stays, as Param.Parse has it
		}
		seen[x] = err == nil
		ordered = append(ordered, v)
	}
	slices.SortStableFunc(ordered, func(a, b string) int {
		x, _ := assay.Number(a)
		y, _ := assay.Number(b)
		return cmp.Compare(x, y)
	})
	return assay.Ordinal, ordered
}

// completeParam fills in the missing parts of a given parameter from its values: levels, or bounds if both are 0.
// Given parts stay. It returns the flaw, or "".
func completeParam(p *assay.Param, values []string) string {
	if !p.Numeric() {
		if len(p.Levels) > 0 {
			return ""
		}
		kind, found := levelsOf(values)
		switch {
		case p.Kind == assay.Switch && kind != assay.Switch && len(values) != 2:
			return "a bool has 2 values, not " + strconv.Itoa(len(values))
		case p.Kind == assay.Switch && kind == assay.Switch, p.Kind == assay.Ordinal && kind != assay.Categorical:
			p.Levels = found
		default:
			p.Levels = values
		}
		return ""
	}
	if p.Lo != 0 || p.Hi != 0 {
		return ""
	}
	p.Lo, p.Hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return strconv.Quote(clipCell(v)) + " is not a number"
		}
		p.Lo, p.Hi = min(p.Lo, x), max(p.Hi, x)
	}
	return ""
}
