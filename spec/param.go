package spec

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/expr"
)

// maxValues is the largest number of values that a user lists; a table may have
// more.
const maxValues = 10_000

// A Param is a parameter as a user states it. In a study of a recorded table,
// bounds and values may be left out until the table has been read.
type Param struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"` // int, real, ordinal, categorical, bool, permutation
	Min     float64  `json:"min,omitempty"`
	Max     float64  `json:"max,omitempty"`
	Step    float64  `json:"step,omitempty"`
	Log     bool     `json:"log,omitempty"`
	Values  []string `json:"values,omitempty"`
	Default *string  `json:"default,omitempty"`
	Unit    string   `json:"unit,omitempty"`
	// When is where the parameter is in force, a condition on others; "" is everywhere.
	When string `json:"when,omitempty"`
}

var kinds = []assay.Kind{
	assay.Real, assay.Integer, assay.Ordinal, assay.Categorical, assay.Switch, assay.Permutation,
}

// kindNames lists the types in the words of a study file.
func kindNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.String()
	}
	return names
}

// Param returns the parameter in the words of the root package, without its condition, which
// needs the others: see [Study.Parameters]. The type must be a known one.
func (p Param) Param() assay.Param {
	i := slices.Index(kindNames(), p.Type)
	if i < 0 {
		panic("spec: parameter " + p.Name + " of unknown type " + p.Type)
	}
	return assay.Param{
		Name: p.Name, Kind: kinds[i], Lo: p.Min, Hi: p.Max, Step: p.Step, Log: p.Log,
		Levels: slices.Clone(p.Values), Unit: p.Unit,
	}
}

func newParam(p assay.Param) Param {
	return Param{
		Name: p.Name, Type: p.Kind.String(), Min: p.Lo, Max: p.Hi, Step: p.Step, Log: p.Log,
		Values: slices.Clone(p.Levels), Unit: p.Unit,
	}
}

// text returns a parameter as the -p flag and messages show it.
func (p Param) text() string {
	if p.Type != "int" && p.Type != "real" {
		if len(p.Values) > 12 {
			return p.Type + " " + strings.Join(p.Values[:10], ",") + ",..."
		}
		return p.Type + " " + strings.Join(p.Values, ",")
	}
	t := p.Type + " " + assay.FormatNumber(p.Min) + ".." + assay.FormatNumber(p.Max)
	if p.Step != 0 {
		t += ":step=" + assay.FormatNumber(p.Step)
	}
	if p.Log {
		t += ":log"
	}
	return t
}

// Parameters returns the parameters in the words of the root package, with their conditions, but
// for one that cannot be read.
func (s *Study) Parameters() []assay.Param {
	out := make([]assay.Param, len(s.Params))
	for i, p := range s.Params {
		out[i] = p.Param()
		if slices.ContainsFunc(p.Values, func(v string) bool { return s.Workbench.traced(p.Name, v) }) {
			for _, v := range p.Values {
				x, _ := s.Workbench.level(p.Name, v) // checked
				out[i].Numbers = append(out[i].Numbers, x)
			}
		}
	}
	if !s.resolved() {
		return out
	}
	for i, p := range s.Params {
		if p.When == "" {
			continue
		}
		if r, err := expr.Relation(p.When, out); err == nil {
			out[i].When = &r
		}
	}
	return out
}

// namesOf returns the names of parameters.
func namesOf(params []assay.Param) []string {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.Name
	}
	return names
}

// nameFlaw returns the reason why a parameter or metric cannot have the name, or "".
func nameFlaw(name string) string {
	switch {
	case name == "":
		return "it has no name"
	case len(name) > 200:
		return "a name has at most 200 bytes"
	case strings.TrimSpace(name) != name:
		return "a name neither begins nor ends with a space"
	case strings.ContainsAny(name, "{}?="):
		return "a name has none of { } ? ="
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "a name has no control characters"
	}
	return ""
}

// A flawAt is a flaw of a parameter and the key at fault, "" if it is the whole.
type flawAt struct{ key, message string }

// flaw returns the flaw of a parameter, if any. Fields that a table will fill in may be empty.
func (p Param) flaw(fromTable bool) (flawAt, bool) {
	if m := nameFlaw(p.Name); m != "" {
		return flawAt{"", m}, true
	}
	var f flawAt
	switch p.Type {
	case "int", "real":
		f = p.rangeFlaw(fromTable)
	case "ordinal", "categorical", "bool", "permutation":
		f = p.listFlaw(fromTable)
	default:
		f = flawAt{"type", "type " + clip(p.Type) + " is not one of " + strings.Join(kindNames(), ", ")}
	}
	if f.message != "" {
		return f, true
	}
	return p.defaultFlaw(fromTable)
}

// rangeFlaw returns the flaw of a parameter that has bounds; the message is "" without one.
func (p Param) rangeFlaw(fromTable bool) flawAt {
	number := assay.FormatNumber
	switch {
	case len(p.Values) > 0:
		return flawAt{"values", p.Type + " has min and max; for a list write type: ordinal"}
	case p.Min > p.Max:
		return flawAt{"min", "min " + number(p.Min) + " is above max " + number(p.Max)}
	case p.Log && p.Min <= 0 && !(fromTable && p.Min == 0 && p.Max == 0):
		return flawAt{"min", "log needs min > 0, not " + number(p.Min)}
	case p.Step < 0:
		return flawAt{"step", "step " + number(p.Step) + " is not positive"}
	case p.Type == "real":
		return flawAt{}
	}
	for _, b := range []struct {
		key string
		x   float64
	}{{"min", p.Min}, {"max", p.Max}, {"step", p.Step}} {
		if b.x != math.Trunc(b.x) {
			return flawAt{b.key, b.key + " of an int is a whole number, not " + number(b.x)}
		}
		if math.Abs(b.x) > 1<<53 {
			return flawAt{b.key, b.key + " " + number(b.x) + " is beyond ±2^53, where whole numbers are not exact"}
		}
	}
	return flawAt{}
}

// listFlaw returns the flaw of a parameter that has values; the message is "" without one.
func (p Param) listFlaw(fromTable bool) flawAt {
	switch {
	case p.Log || p.Step != 0 || p.Min != 0 || p.Max != 0:
		return flawAt{"", p.Type + " has values, not min, max, step or log"}
	case len(p.Values) == 0 && !fromTable:
		return flawAt{"values", "it has no values"}
	case p.Type == "bool" && len(p.Values) != 2 && len(p.Values) != 0:
		return flawAt{"values", "bool has 2 values: off, then on"}
	case p.Type == "permutation" && fromTable:
		return flawAt{"type", "the values of a table are no permutation"}
	case p.Type == "permutation" && len(p.Values) > assay.MaxOrder:
		return flawAt{"values", fmt.Sprintf("a permutation has at most %d values, not %d", assay.MaxOrder, len(p.Values))}
	}
	return p.valuesFlaw()
}

// valuesFlaw returns the first flaw of the single values; the message is "" without one.
func (p Param) valuesFlaw() flawAt {
	seen := make(map[string]bool, len(p.Values))
	for _, v := range p.Values {
		if m := p.memberFlaw(v); m != "" {
			return flawAt{"values", m}
		}
		if seen[v] {
			return flawAt{"values", "value " + clip(v) + " is listed twice"}
		}
		seen[v] = true
	}
	return flawAt{}
}

// memberFlaw returns the flaw of one of the values, or "".
func (p Param) memberFlaw(v string) string {
	switch {
	case strings.ContainsRune(v, 0):
		return "a value with a NUL byte cannot be passed to a program"
	case p.Type == "permutation" && (v == "" || strings.ContainsAny(v, ", ")):
		return "value " + clip(v) + " of a permutation is empty, or has a comma or a space"
	}
	return ""
}

func (p Param) defaultFlaw(fromTable bool) (flawAt, bool) {
	if p.Default == nil || fromTable {
		return flawAt{}, false
	}
	if _, err := p.Param().Parse(*p.Default); err != nil {
		return flawAt{"default", "default " + clip(*p.Default) + " is not one of its values"}, true
	}
	return flawAt{}, false
}

// offWords are the values that mean "not at all" in a template.
var offWords = []string{"off", "false", "no", "none", "default", ""}

// isOff reports whether a value means that something is off. For a switch it is the first value, under any name; an
// inactive parameter is off.
func isOff(params []assay.Param, c assay.Config, i int) bool {
	if !assay.Active(params, c, i) {
		return true
	}
	p, coordinate := params[i], c[i]
	if p.Numeric() || p.Kind == assay.Permutation {
		return false
	}
	if p.Kind == assay.Switch {
		return coordinate == 0
	}
	return slices.Contains(offWords, strings.ToLower(p.Levels[int(coordinate)]))
}

// switchValues returns two values as off and on, or ok = false if they are not
// a pair of such words.
func switchValues(a, b string) (values []string, ok bool) {
	for _, pair := range [][2]string{{"off", "on"}, {"false", "true"}, {"no", "yes"}} {
		switch {
		case strings.EqualFold(a, pair[0]) && strings.EqualFold(b, pair[1]):
			return []string{a, b}, true
		case strings.EqualFold(b, pair[0]) && strings.EqualFold(a, pair[1]):
			return []string{b, a}, true
		}
	}
	return nil, false
}

// typeOf returns the type of a list of values without a type: bool for a pair of on and off, ordinal for numbers,
// else categorical.
func typeOf(values []string) (typ string, ordered []string) {
	if len(values) == 2 {
		if v, ok := switchValues(values[0], values[1]); ok {
			return "bool", v
		}
	}
	for _, v := range values {
		if _, ok := assay.Number(v); !ok {
			return "categorical", values
		}
	}
	return "ordinal", values
}
