package catalogue

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Write writes the catalogue as YAML that becomes a study file when a command is added.
func (c *Catalogue) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# What can be set in %s, as it says itself. Add a command, and drop what is of no interest.\n",
		c.Version)
	b.WriteString("parameters:\n")
	var named []Named
	taken := map[string]bool{}
	for _, s := range c.Settings {
		name := paramName(s.Name)
		for taken[strings.ToLower(name)] {
			name += "_"
		}
		taken[strings.ToLower(name)] = true
		named = append(named, Named{s, name})
		fmt.Fprintf(&b, "  %s: {%s}", quote(name), s.keys())
		var notes []string
		for _, n := range []string{s.Restart, s.Note, s.narrowed()} {
			if n != "" {
				notes = append(notes, n)
			}
		}
		if len(notes) > 0 {
			b.WriteString("  # " + strings.Join(strings.Fields(strings.Join(notes, "; ")), " "))
		}
		b.WriteByte('\n')
	}
	b.WriteString(c.Keys(named))
	_, err := io.WriteString(w, b.String())
	return err
}

// paramName returns the name of the parameter of a setting: what a shell takes as the name of
// a variable.
func paramName(name string) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, strings.TrimLeft(name, "-"))
	if id == "" || id[0] >= '0' && id[0] <= '9' {
		id = "_" + id
	}
	return id
}

// keys returns the keys of the parameter.
func (s Setting) keys() string {
	if s.Kind == Choice {
		var values []string
		for _, v := range s.Values {
			values = append(values, quote(v))
		}
		return "type: categorical, values: [" + strings.Join(values, ", ") + "]" + s.common()
	}
	low, high := s.space()
	kind := "int"
	if s.Real {
		kind = "real"
	}
	text := fmt.Sprintf("type: %s, min: %s, max: %s", kind, number(low), number(high))
	if low > 0 && high/low >= 100 {
		text += ", log: true"
	}
	return text + s.common()
}

func (s Setting) common() string {
	text := ""
	if s.Default != "" {
		text += ", default: " + quote(s.Default)
	}
	if s.Unit != "" {
		text += ", unit: " + quote(s.Unit)
	}
	return text
}

// wide is how many times the default a bound may be before it counts as none: a range that
// ends where the type of the number does says nothing of what is sensible.
const wide = 1000

// reach is how many times less and more than its default a number without bounds is tuned.
const reach = 8

// space returns the range in which a number is tuned: that of the program where it is narrow,
// else from an eighth of the default to eight times as much, within that of the program.
func (s Setting) space() (low, high float64) {
	d, err := strconv.ParseFloat(s.Default, 64)
	low, high = s.Min, s.Max
	if known := err == nil; !math.IsInf(low, 0) && !math.IsInf(high, 0) &&
		(known && math.Max(math.Abs(low), math.Abs(high)) <= wide*math.Max(math.Abs(d), 1) || !known && high-low <= wide) {
		return low, high
	}
	d = math.Abs(d)
	if d == 0 {
		d = 1 // 0 tells no size
	}
	least, most := d/reach, d*reach
	if !s.Real {
		least, most = math.Floor(least), math.Ceil(most)
	}
	if v, _ := strconv.ParseFloat(s.Default, 64); v <= 0 {
		least = v
	} else if !s.Real {
		least = math.Max(least, 1)
	}
	low, high = math.Max(low, least), math.Min(high, most)
	if high <= low { // an odd default: what there is
		low, high = math.Max(s.Min, low-1), math.Min(s.Max, low+1)
	}
	return low, high
}

// narrowed says what the program's own range is, if another is written.
func (s Setting) narrowed() string {
	if s.Kind == Choice {
		return ""
	}
	low, high := s.space()
	if low == s.Min && high == s.Max || math.IsInf(s.Min, 0) && math.IsInf(s.Max, 0) {
		return ""
	}
	side := func(x float64) string {
		if math.IsInf(x, 0) {
			return "?"
		}
		return number(x)
	}
	return fmt.Sprintf("may be %s to %s", side(s.Min), side(s.Max))
}

func number(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

var plainText = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./-]*$`)

// quote returns a text as YAML: bare where it can be nothing but a word or a number.
func quote(s string) string {
	bare := plainText.MatchString(s)
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		bare = false
	}
	if bare {
		return s
	}
	return strconv.Quote(s)
}

// list returns a list of texts as YAML.
func list(texts ...string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = quote(t)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
