package exchange

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
	fmt.Fprintf(&b, "# The settings of %s, as it reports them. Add a command, and delete settings of no interest.\n",
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

// paramName returns the name of the parameter of a setting: a name that a shell accepts as a variable.
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
	text := fmt.Sprintf("type: %s, min: %s, max: %s", kind, digits(low), digits(high))
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

// wide is the ratio of a bound to the default above which the bound is ignored: a range that ends at the
// limit of the number's type carries no information about sensible values.
const wide = 1000

// reach is how many times less and more than its default a digits without bounds is tuned.
const reach = 8

// space returns the range in which a number is tuned: the program's range where it is narrow, else from
// an eighth of the default to eight times as much, within the program's range.
func (s Setting) space() (low, high float64) {
	d, err := strconv.ParseFloat(s.Default, 64)
	low, high = s.Min, s.Max
	if known := err == nil; !math.IsInf(low, 0) && !math.IsInf(high, 0) &&
		(known && math.Max(math.Abs(low), math.Abs(high)) <= wide*math.Max(math.Abs(d), 1) || !known && high-low <= wide) {
		return low, high
	}
	d = math.Abs(d)
	if d == 0 {
		d = 1 // 0 gives no scale
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
	if high <= low { // an odd default: use the range as it is
		low, high = math.Max(s.Min, low-1), math.Min(s.Max, low+1)
	}
	return low, high
}

// narrowed describes the program's own range, if another is written.
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
		return digits(x)
	}
	return fmt.Sprintf("may be %s to %s", side(s.Min), side(s.Max))
}

func digits(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

var plainText = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./-]*$`)

// quote returns a text as YAML: bare where it can be nothing but a word or a digits.
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
