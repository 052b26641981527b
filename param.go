package assay

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind is the set of values that a parameter can take.
type Kind uint8

const (
	Real        Kind = iota // any value in [Lo, Hi], or Lo, Lo+Step, ... if Step > 0
	Integer                 // Lo, Lo+Step, ..., at most Hi
	Ordinal                 // one of Levels, which are ordered
	Categorical             // one of Levels, which are not ordered
	Switch                  // Levels[0] is off, Levels[1] is on
	Permutation             // all Levels, in an order; see [Param.Order]
)

// String returns the kind as study files spell it: "real", "int", "ordinal", "categorical", "bool" or "permutation".
func (k Kind) String() string {
	if names := [...]string{"real", "int", "ordinal", "categorical", "bool", "permutation"}; int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// A Param is one tunable dimension of a program or of its resources.
//
// Its coordinate in a [Config] is the value itself for Real and Integer, and the index of the level for the other
// kinds, but for a Permutation: the number of the order, see [Param.Order].
type Param struct {
	Name   string
	Kind   Kind
	Lo, Hi float64  // inclusive bounds; Real and Integer only
	Step   float64  // grid step from Lo; 0 means 1 for Integer, continuous for Real
	Log    bool     // search on a logarithmic scale; Lo must be > 0; Real and Integer only
	Levels []string // the other kinds: the texts as written
	// Numbers are the numbers of the levels if their texts do not contain them, one for each; nil otherwise.
	Numbers []float64
	Unit    string // base SI unit or "", for people and for exports
	// When is the condition under which the parameter is in force; nil means always. It reads other parameters of the
	// space: see [Space.Active]. It is code, and not part of a parameter's JSON.
	When *Relation `json:"-"`
}

// validate reports the first flaw of the parameter's definition. All other code in this package relies on its checks:
// the bounds are finite and in order, and there is at least one level, without duplicates.
func (p Param) validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("parameter %q: %s", p.Name, fmt.Sprintf(format, args...))
	}
	if p.Name == "" {
		return fmt.Errorf("a parameter has no name")
	}
	switch p.Kind {
	case Real, Integer:
		switch {
		case math.IsNaN(p.Lo) || math.IsInf(p.Lo, 0) || math.IsNaN(p.Hi) || math.IsInf(p.Hi, 0):
			return bad("bounds %v..%v are not finite", p.Lo, p.Hi)
		case p.Lo > p.Hi:
			return bad("min %v is above max %v", p.Lo, p.Hi)
		case p.Log && p.Lo <= 0:
			return bad("a logarithmic scale needs min > 0, not %v", p.Lo)
		case p.Step < 0 || math.IsNaN(p.Step) || math.IsInf(p.Step, 0):
			return bad("step %v is not positive", p.Step)
		case len(p.Levels) > 0:
			return bad("a %v parameter has bounds, not values", p.Kind)
		}
		if p.Kind == Integer {
			if p.Lo != math.Trunc(p.Lo) || p.Hi != math.Trunc(p.Hi) || p.Step != math.Trunc(p.Step) {
				return bad("bounds and step of an int are whole numbers")
			}
			if math.Max(math.Abs(p.Lo), math.Abs(p.Hi)) > 1<<53 {
				return bad("bounds beyond ±2^53 cannot be distinguished")
			}
		}
	case Ordinal, Categorical, Switch, Permutation:
		if len(p.Levels) == 0 {
			return bad("it has no values")
		}
		if n := len(p.Numbers); n > 0 && n != len(p.Levels) {
			return bad("%d numbers for %d values", n, len(p.Levels))
		}
		if p.Kind == Switch && len(p.Levels) != 2 {
			return bad("a switch has 2 values, not %d", len(p.Levels))
		}
		if p.Kind == Permutation {
			if len(p.Levels) > MaxOrder {
				return bad("a permutation has at most %d values, not %d", MaxOrder, len(p.Levels))
			}
			for _, l := range p.Levels {
				if l == "" || strings.ContainsAny(l, ", ") {
					return bad("value %q of a permutation is empty, or has a comma or a space", l)
				}
			}
		}
		seen := make(map[string]bool, len(p.Levels))
		for _, l := range p.Levels {
			if seen[l] {
				return bad("value %q is listed twice", l)
			}
			seen[l] = true
		}
	default:
		return bad("unknown kind %d", p.Kind)
	}
	return nil
}

// Numeric reports whether the coordinate is the value itself.
func (p Param) Numeric() bool { return p.Kind == Real || p.Kind == Integer }

// Ordered reports whether the values have an order that a model can use.
func (p Param) Ordered() bool { return p.Kind != Categorical && p.Kind != Permutation }

// LevelNumber returns the number that a level stands for, and whether it stands for one.
func (p Param) LevelNumber(l int) (x float64, ok bool) {
	if len(p.Numbers) > 0 {
		return p.Numbers[l], true
	}
	return Number(p.Levels[l])
}

// NumberAt returns the number of a coordinate: itself, or the number of its level. ok is false if it has no number.
func (p Param) NumberAt(x float64) (n float64, ok bool) {
	if p.Numeric() {
		return x, true
	}
	return p.LevelNumber(int(x))
}

// step returns the grid step, or 0 if p is continuous.
func (p Param) step() float64 {
	if p.Kind == Integer && p.Step == 0 {
		return 1
	}
	return p.Step
}

// Count returns the number of values, or 0 if p is continuous.
func (p Param) Count() int64 {
	switch {
	case p.Kind == Permutation:
		return factorial(len(p.Levels))
	case !p.Numeric():
		return int64(len(p.Levels))
	case p.Lo == p.Hi:
		return 1
	case p.step() == 0:
		return 0
	}
	// The tolerance keeps 0.9 in 0..0.9 by 0.1, which is 8.999... steps.
	n := math.Floor((p.Hi-p.Lo)/p.step()*(1+1e-12)+1e-9) + 1
	if n >= 1<<62 {
		return 1 << 62
	}
	return int64(n)
}

// At returns the coordinate of the i-th value, 0 <= i < Count.
func (p Param) At(i int64) float64 {
	if !p.Numeric() {
		return float64(i)
	}
	if i == 0 {
		return p.Lo
	}
	return tidy(p.Lo+float64(i)*p.step(), p)
}

// Values returns the coordinates of all values of p in order; nil if p is continuous or has more values than most.
func (p Param) Values(most int) []float64 {
	n := p.Count()
	if n == 0 || n > int64(most) {
		return nil
	}
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = p.At(int64(i))
	}
	return xs
}

// index returns the index of the value of a countable p that is nearest to coordinate x. A coordinate beyond the bounds
// is nearest to the first or the last value.
func (p Param) index(x float64) int64 {
	n := p.Count()
	if !p.Numeric() {
		return int64(math.Round(min(max(x, 0), float64(n-1))))
	}
	if n == 1 {
		return 0
	}
	return int64(math.Round(min(max((x-p.Lo)/p.step(), 0), float64(n-1))))
}

// tidy drops the digits that arithmetic on decimal steps leaves behind, such
// as 0.30000000000000004, and stays within the bounds.
func tidy(x float64, p Param) float64 {
	if p.Kind == Integer {
		return math.Round(x)
	}
	if y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64); err == nil {
		x = y
	}
	return min(max(x, p.Lo), p.Hi)
}

// Contains reports whether x is a coordinate of p. A number that differs from a value
// of a grid by a billionth, as arithmetic on decimal steps leaves it, is that value.
func (p Param) Contains(x float64) bool {
	if math.IsNaN(x) {
		return false
	}
	if !p.Numeric() {
		return x == math.Trunc(x) && x >= 0 && x < float64(p.Count())
	}
	if x < p.Lo || x > p.Hi {
		return false
	}
	// A whole number of steps of 1 is the usual case, and needs no rounding.
	if p.step() == 1 && p.Kind == Integer && x == math.Trunc(x) && p.Lo == math.Trunc(p.Lo) {
		return true
	}
	if p.Count() == 0 {
		return true
	}
	return math.Abs(x-p.At(p.index(x))) <= 1e-9*max(1, math.Abs(x))
}

// Snap returns the coordinate of p nearest to x, on the parameter's own scale.
func (p Param) Snap(x float64) float64 {
	if math.IsNaN(x) {
		x = p.Lo
	}
	if p.Count() > 0 {
		return p.At(p.index(x))
	}
	return min(max(x, p.Lo), p.Hi)
}

// ToUnit maps coordinate x to [0, 1] on the search scale: logarithmic if Log, else linear; the levels of the other
// kinds are equally spaced. A parameter of one value maps to 0.5.
func (p Param) ToUnit(x float64) float64 {
	switch {
	case !p.Numeric() && len(p.Levels) == 1, p.Numeric() && p.Lo == p.Hi:
		return 0.5
	case !p.Numeric():
		return x / float64(p.Count()-1)
	case p.Log:
		return math.Log(x/p.Lo) / math.Log(p.Hi/p.Lo)
	}
	return (x - p.Lo) / (p.Hi - p.Lo)
}

// FromUnit maps u in [0, 1] to a coordinate such that uniform u give values that are uniform on the search scale: every
// value of a countable, linear parameter has an interval of the same length. It is not the inverse of [Param.ToUnit];
// [Param.Unscale] is. A continuous value keeps 6 digits.
func (p Param) FromUnit(u float64) float64 {
	u = min(max(u, 0), 1)
	n := p.Count()
	switch {
	case n == 0:
		return p.Unscale(u)
	case p.Log && n > 1:
		// Each value v owns [v, v+step) of the widened range on the log scale.
		x := p.Lo * math.Pow((p.Hi+p.step())/p.Lo, u)
		return p.At(int64(min(math.Floor((x-p.Lo)/p.step()), float64(n-1))))
	}
	return p.At(int64(min(math.Floor(u*float64(n)), float64(n-1))))
}

// Unscale maps u in [0, 1] to the nearest coordinate: the inverse of
// [Param.ToUnit] up to rounding. A continuous value keeps 6 digits.
func (p Param) Unscale(u float64) float64 {
	u = min(max(u, 0), 1)
	if !p.Numeric() {
		return math.Round(u * float64(p.Count()-1))
	}
	x := p.Lo + u*(p.Hi-p.Lo)
	if p.Log {
		x = p.Lo * math.Pow(p.Hi/p.Lo, u)
	}
	if p.Count() > 0 {
		return p.At(p.index(x))
	}
	return min(max(shorten(x, p.Hi-p.Lo), p.Lo), p.Hi)
}

// shorten rounds x to 6 significant digits, or to a 10^-6 of the width of its range where that keeps more.
func shorten(x, width float64) float64 {
	if x == 0 || width == 0 {
		return x
	}
	digits := 6
	if r := math.Abs(x) / width; r > 1 {
		digits += int(math.Ceil(math.Log10(r)))
	}
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', min(digits, 17), 64), 64)
	return y
}

// Text returns the text of coordinate x as it appears in an argument: a level as it was written, an order as its levels
// with commas between them, a number in its shortest form without an exponent where that is readable.
func (p Param) Text(x float64) string {
	if p.Kind == Permutation {
		return p.orderText(x)
	}
	if !p.Numeric() {
		return p.Levels[int(x)]
	}
	return FormatNumber(x)
}

// FormatNumber returns the shortest text of x, without an exponent from 1e-5 up to 1e15.
func FormatNumber(x float64) string {
	if a := math.Abs(x); a == 0 || a >= 1e-5 && a < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Value returns the value of coordinate x for JSON and for relations: int64
// for Integer, float64 for Real, and for a level bool if it is written true or
// false, int64 or float64 if it is a plain number, else string; for an order its text.
func (p Param) Value(x float64) any {
	switch p.Kind {
	case Integer:
		return int64(x)
	case Real:
		return x
	case Permutation:
		return p.orderText(x)
	}
	switch l := p.Levels[int(x)]; l {
	case "true":
		return true
	case "false":
		return false
	default:
		if i, err := strconv.ParseInt(l, 10, 64); err == nil && strconv.FormatInt(i, 10) == l {
			return i
		}
		if f, err := strconv.ParseFloat(l, 64); err == nil && plainNumber(l) {
			return f
		}
		return l
	}
}

// plainNumber reports whether s is a JSON number, so that printing its value
// loses nothing that "007", "0x1p4" or "inf" would lose.
func plainNumber(s string) bool {
	t := strings.TrimPrefix(s, "-")
	if t == "" || strings.Trim(t, "0123456789.eE+-") != "" || t[0] < '0' || t[0] > '9' {
		return false
	}
	return len(t) == 1 || t[0] != '0' || t[1] < '0' || t[1] > '9'
}

// Parse returns the coordinate of a value given as text: a number within the bounds and on the grid, or a level as it
// was written. An integer may be written 1e3, a level that is a number by any spelling of it.
func (p Param) Parse(text string) (float64, error) {
	if p.Kind == Permutation {
		return p.parseOrder(text)
	}
	if !p.Numeric() {
		if i := slices.Index(p.Levels, text); i >= 0 {
			return float64(i), nil
		}
		if p.Kind == Switch {
			switch text {
			case "off", "false", "no", "0":
				return 0, nil
			case "on", "true", "yes", "1":
				return 1, nil
			}
		}
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			for i, l := range p.Levels {
				if y, err := strconv.ParseFloat(l, 64); err == nil && x == y {
					return float64(i), nil
				}
			}
		}
		return 0, fmt.Errorf("parameter %q has no value %q (it has %s)", p.Name, text, abbreviate(p.Levels))
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("parameter %q: %q is not a number", p.Name, text)
	}
	if !p.Contains(x) {
		return 0, fmt.Errorf("parameter %q: %s is not in %v..%v%s", p.Name, text, FormatNumber(p.Lo),
			FormatNumber(p.Hi), stepText(p))
	}
	return p.Snap(x), nil
}

// stepText returns the grid of p for a message, "" for steps of 1 and continuous ones.
func stepText(p Param) string {
	if s := p.step(); s != 0 && s != 1 {
		return " by " + FormatNumber(s)
	}
	return ""
}

// abbreviate lists levels for a message: the first six of more than eight.
func abbreviate(levels []string) string {
	if len(levels) > 8 {
		return fmt.Sprintf("%s, ... %d in all", strings.Join(levels[:6], ", "), len(levels))
	}
	return strings.Join(levels, ", ")
}

// units are the suffixes of a number that are no multiple of 1024.
var units = [...]struct {
	suffix      string
	times, over float64
}{
	{"ms", 1, 1e3},
	{"us", 1, 1e6},
	{"µs", 1, 1e6},
	{"ns", 1, 1e9},
	{"s", 1, 1},
	{"kbit", 1e3, 1},
	{"Mbit", 1e6, 1},
	{"Gbit", 1e9, 1},
	{"bit", 1, 1},
	{"kHz", 1e3, 1},
	{"MHz", 1e6, 1},
	{"GHz", 1e9, 1},
	{"Hz", 1, 1},
}

// Number returns the number that a level's text stands for, in base units: 8,
// 0.5, 64M (binary multiples K, M, G, T and P, with or without iB or B), 18ms (s, ms,
// us, ns), 100Mbit or 2.4GHz (decimal multiples); bits and bytes may be followed by
// /s.
func Number(text string) (x float64, ok bool) {
	if x, ok := finiteNumber(text); ok {
		return x, true
	}
	if t, ok := strings.CutSuffix(text, "/s"); ok && (strings.HasSuffix(t, "bit") || strings.HasSuffix(t, "B")) {
		text = t
	}
	for _, u := range units {
		if t, ok := strings.CutSuffix(text, u.suffix); ok {
			x, ok := finiteNumber(t)
			return x * u.times / u.over, ok
		}
	}
	t := strings.TrimSuffix(strings.TrimSuffix(text, "B"), "i")
	if t == "" {
		return 0, false
	}
	i := strings.IndexByte("KMGTP", t[len(t)-1]&^0x20)
	if i < 0 {
		return 0, false
	}
	x, ok = finiteNumber(t[:len(t)-1])
	return x * math.Pow(1024, float64(i+1)), ok
}

// finiteNumber parses text as strconv.ParseFloat does, without infinities and NaN.
func finiteNumber(text string) (float64, bool) {
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}
