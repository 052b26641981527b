package setup

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
)

// An Option is a key that a study file may give to a searcher or a stopping rule.
type Option struct {
	Key   string
	Takes string // the allowed values, such as "a whole number from 1 to 100"
}

// fields are the options of one row of a table. A row declares each of its options
// once, with the variable that it sets, whose value until then is the default:
//
//	o := search.PSOOptions{}
//	f.int("particles", &o.Particles, 1, 10_000)
//
// A declaration reads the option, if the study has it. The first flaw stays in err.
//
// A row is declared with values to read a study, and without any to list its options for
// people and tests: a declaration must not depend on whether others were given. Values
// are as the YAML reader leaves them: every number is a float64.
type fields struct {
	// def is only asked where an option stands in its file.
	def    *spec.Study
	at     string         // where they are in a study file: "search" or "stop"
	values map[string]any // texts, float64s, bools and lists of those
	// options are the options declared so far, in the order of the declarations.
	options []Option
	// err is the first flaw, of the class usage.
	err error
}

// unknown returns an error if the study gives an option that was not declared; its argument names the owner of the
// options, such as "searcher pso". If there are several, it names the first in the order of the alphabet, so that the
// error is always the same. All options must have been declared before.
func (f *fields) unknown(what string) error {
	var keys []string
	for _, o := range f.options {
		keys = append(keys, o.Key)
	}
	var strange []string
	for key := range f.values {
		if !slices.Contains(keys, key) {
			strange = append(strange, key)
		}
	}
	if len(strange) == 0 {
		return nil
	}
	key := slices.Min(strange)
	return usagef("%s%s has no option %q (it has %s)", f.def.At(f.at+"."+key), what, key, orNone(keys))
}

// orNone writes a list that may be empty.
func orNone(keys []string) string {
	if len(keys) == 0 {
		return "none"
	}
	return strings.Join(keys, ", ")
}

// flaw records the flaw of an option. Flaws after the first are dropped.
func (f *fields) flaw(key, format string, args ...any) {
	if f.err == nil {
		f.err = usagef("%s%s option %s: %s", f.def.At(f.at+"."+key), f.at, key, fmt.Sprintf(format, args...))
	}
}

// value declares an option and returns its value; given is false without one.
func (f *fields) value(key, takes string) (v any, given bool) {
	f.options = append(f.options, Option{key, takes})
	v, given = f.values[key]
	return v, given
}

// int declares a whole number from lo to hi.
// If the value is flawed, *to keeps the default, here and in number.
func (f *fields) int(key string, to *int, lo, hi int) {
	takes := fmt.Sprintf("a whole number from %d to %d", lo, hi)
	v, given := f.value(key, takes)
	if !given {
		return
	}
	x, ok := v.(float64)
	if !ok || x != math.Trunc(x) || x < float64(lo) || x > float64(hi) {
		f.flaw(key, "%v is not %s", v, takes)
		return
	}
	*to = int(x)
}

// number declares a number from lo to hi.
// The bounds are allowed values; NaN is not.
func (f *fields) number(key string, to *float64, lo, hi float64) {
	takes := fmt.Sprintf("a number from %v to %v", lo, hi)
	v, given := f.value(key, takes)
	if !given {
		return
	}
	x, ok := v.(float64)
	if !ok || !(x >= lo && x <= hi) {
		f.flaw(key, "%v is not %s", v, takes)
		return
	}
	*to = x
}

// share declares a share from 0 to hi, as a number or in per cent.
func (f *fields) share(key string, to *float64, hi float64) {
	takes := fmt.Sprintf("a share from 0 to %v, such as 0.05 or 5%%", hi)
	v, given := f.value(key, takes)
	if !given {
		return
	}
	x, ok := v.(float64)
	if text, percent := strings.CutSuffix(fmt.Sprint(v), "%"); percent {
		var err error
		x, err = strconv.ParseFloat(strings.TrimSpace(text), 64)
		x, ok = x/100, err == nil
	}
	if !ok || !(x >= 0 && x <= hi) {
		f.flaw(key, "%v is not %s", v, takes)
		return
	}
	*to = x
}

// bool declares true or false.
func (f *fields) bool(key string, to *bool) {
	word := fmt.Sprint(*to)
	f.word(key, &word, "true", "false")
	*to = word == "true"
}

// text declares any text.
func (f *fields) text(key, takes string, to *string) {
	if v, given := f.value(key, takes); given {
		*to = fmt.Sprint(v)
	}
}

// word declares one of several words.
func (f *fields) word(key string, to *string, words ...string) {
	v, given := f.value(key, strings.Join(words, ", "))
	if !given {
		return
	}
	switch text := fmt.Sprint(v); {
	case slices.Contains(words, text):
		*to = text
	case len(words) == 2:
		f.flaw(key, "%q is neither %s nor %s", text, words[0], words[1])
	default:
		f.flaw(key, "%q is not one of %s", text, strings.Join(words, ", "))
	}
}

// oneOf declares an option that is the text of one of the values, of which the first
// is the default.
func oneOf[T fmt.Stringer](f *fields, key string, to *T, all ...T) {
	var words []string
	for _, v := range all {
		words = append(words, v.String())
	}
	word := words[0]
	f.word(key, &word, words...)
	*to = all[slices.Index(words, word)]
}

// list declares a list, or a text with commas, each item of which is read by read. An
// empty item is passed over. The first error of read is the flaw.
func (f *fields) list(key, takes string, read func(item string) error) {
	v, _ := f.value(key, takes)
	var items []string
	switch v := v.(type) {
	case nil:
	case []any:
		for _, item := range v {
			items = append(items, fmt.Sprint(item))
		}
	default:
		items = strings.Split(strings.Trim(fmt.Sprint(v), "[]"), ",")
	}
	for _, item := range items {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		if err := read(item); err != nil {
			f.flaw(key, "%v", err)
		}
	}
}

// given reports whether the study has an option.
func (f *fields) given(key string) bool {
	_, ok := f.values[key]
	return ok
}

// usagef returns an error of the class of mistakes in a user's input. The text may wrap an error by %w.
func usagef(format string, args ...any) error { return assay.Errorf(assay.ClassUsage, format, args...) }

// usageError returns err as a mistake of the user.
func usageError(err error) error { return assay.WithClass(assay.ClassUsage, err) }
