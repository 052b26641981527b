package spec

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/assay-run/assay"
)

// ParamSpec reads NAME=SPEC, the argument of the -p flag. SPEC is
//
//	1..19           whole numbers; also 1..64:step=4 and 1..1024:log
//	0.1..0.9        reals, for a bound has a decimal point or an exponent
//	1,2,4 or 1M,64M numbers, ordered by size; the argument keeps the text as written
//	gzip,zstd       categories
//	on,off          a switch; also true,false and yes,no in any order
//
// The error is an [*Error] with the spec and a caret under the fault.
func ParamSpec(text string) (Param, error) {
	name, spec, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return Param{}, specError(text, 0, "a parameter is written NAME=SPEC, such as level=1..19")
	}
	if m := nameFlaw(name); m != "" {
		return Param{}, specError(text, 0, "%s", m)
	}
	p, flaw := parseSpec(name, spec)
	if flaw != nil {
		return Param{}, specError(text, len(name)+1+flaw.at, "%s", flaw.message)
	}
	return p, nil
}

func specError(text string, at int, format string, args ...any) error {
	f := flawf(format, args...)
	f.Where = "-p " + strconv.Quote(clip(text))
	if len(text) < 1000 {
		f.Text, f.Mark = text, utf8.RuneCountInString(text[:min(at, len(text))])+1
	}
	return newError([]Flaw{f})
}

// A specFlaw is a mistake at a byte offset of a spec.
type specFlaw struct {
	at      int
	message string
}

// parseSpec reads the part after NAME=.
func parseSpec(name, spec string) (Param, *specFlaw) {
	switch {
	case spec == "":
		return Param{}, &specFlaw{0, "no values: write a range 1..19 or a list 1,2,4"}
	case strings.ContainsRune(spec, 0):
		return Param{}, &specFlaw{strings.IndexByte(spec, 0), "a NUL byte cannot be passed to a program"}
	}
	if lo, hi, ok := strings.Cut(spec, ".."); ok && !strings.Contains(lo, ",") && looksNumeric(lo) {
		return rangeSpec(name, lo, hi)
	}
	if lo, hi, ok := strings.Cut(spec, ".."); ok && lo != "" && hi != "" && !strings.ContainsAny(spec, ",/") {
		return Param{}, &specFlaw{0, "a range has numbers, 1..19; values are listed with commas, " +
			clip(lo) + "," + clip(hi)}
	}
	return listSpec(name, spec)
}

// looksNumeric reports whether a text was meant to be a number, so that
// ../a,../b are categories and 1..x is a mistake in its second number.
func looksNumeric(s string) bool {
	s = strings.TrimLeft(strings.TrimSpace(s), "+-.")
	return s != "" && '0' <= s[0] && s[0] <= '9'
}

func rangeSpec(name, lo, rest string) (Param, *specFlaw) {
	hi, options, _ := strings.Cut(rest, ":")
	hiAt := len(lo) + 2
	a, flaw := bound(lo, 0)
	if flaw != nil {
		return Param{}, flaw
	}
	b, flaw := bound(hi, hiAt)
	if flaw != nil {
		return Param{}, flaw
	}
	p := Param{Name: name, Type: "int", Min: a, Max: b}
	if strings.ContainsAny(lo+hi, ".eE") {
		p.Type = "real"
	}
	stepAt := 0
	at := hiAt + len(hi) + 1
	if len(rest) > len(hi) {
		for option := range strings.SplitSeq(options, ":") {
			key, value, _ := strings.Cut(option, "=")
			switch key {
			case "log":
				p.Log = true
				if value != "" {
					return Param{}, &specFlaw{at, "log has no value"}
				}
			case "step":
				step, flaw := bound(value, at+len("step="))
				if flaw != nil {
					return Param{}, flaw
				}
				if step <= 0 {
					return Param{}, &specFlaw{at + len("step="), "step " + value + " is not positive"}
				}
				p.Step, stepAt = step, at+len("step=")
			default:
				return Param{}, &specFlaw{at, "unknown option " + strconv.Quote(clip(option)) +
					": a range has :step=N and :log"}
			}
			at += len(option) + 1
		}
	}
	if f, bad := p.flaw(false); bad {
		where := map[string]int{"max": hiAt, "step": stepAt}[f.key]
		return Param{}, &specFlaw{where, f.message}
	}
	return p, nil
}

// bound reads a number of a range.
func bound(text string, at int) (float64, *specFlaw) {
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "":
		return 0, &specFlaw{at, "a number is missing"}
	case err != nil && math.IsInf(x, 0):
		return 0, &specFlaw{at, text + " is too large"}
	case err != nil:
		if _, ok := assay.Number(text); ok {
			return 0, &specFlaw{at, "sizes are listed, not in a range: 1M,4M,64M"}
		}
		return 0, &specFlaw{at, strconv.Quote(clip(text)) + " is not a number"}
	case math.IsInf(x, 0) || math.IsNaN(x):
		return 0, &specFlaw{at, text + " is not a finite number"}
	}
	return x, nil
}

func listSpec(name, spec string) (Param, *specFlaw) {
	if n := strings.Count(spec, ",") + 1; n > maxValues {
		return Param{}, &specFlaw{0, "more than 10,000 values: state a range, or keep them in a table"}
	}
	values := strings.Split(spec, ",")
	at, places := 0, make([]int, len(values))
	seen := make(map[string]bool, len(values))
	for i, v := range values {
		switch {
		case v == "":
			return Param{}, &specFlaw{at, "a value is empty (a study file can list an empty value)"}
		case seen[v]:
			return Param{}, &specFlaw{at, "value " + clip(v) + " is listed twice"}
		}
		seen[v], places[i] = true, at
		at += len(v) + 1
	}
	typ, values := typeOf(values)
	if typ == "ordinal" {
		if i := sameNumber(values); i >= 0 {
			return Param{}, &specFlaw{places[i], "value " + clip(values[i]) + " is listed twice, written differently"}
		}
		slices.SortStableFunc(values, compareNumbers)
	}
	p := Param{Name: name, Type: typ, Values: values}
	if f, bad := p.flaw(false); bad {
		return Param{}, &specFlaw{0, f.message}
	}
	return p, nil
}

func compareNumbers(a, b string) int {
	x, _ := assay.Number(a)
	y, _ := assay.Number(b)
	return cmp.Compare(x, y)
}

// sameNumber returns the index of the first value that stands for the number
// of an earlier one, or -1.
func sameNumber(values []string) int {
	seen := make(map[float64]bool, len(values))
	for i, v := range values {
		x, _ := assay.Number(v)
		if seen[x] {
			return i
		}
		seen[x] = true
	}
	return -1
}
