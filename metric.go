package assay

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// SourceKind is where a metric comes from.
type SourceKind uint8

// The kinds of sources, with their textual form.
const (
	FromStdout  SourceKind = iota // stdout:/REGEXP/
	FromStderr                    // stderr:/REGEXP/
	FromJSON                      // json:FILE#/POINTER
	FromSize                      // size:FILE
	FromCommand                   // cmd:COMMAND
	FromGPU                       // gpu:QUANTITY
)

// sourceKinds is the table of the kinds of sources: their names in the textual form, and the argument after the colon.
// The method to find the metric is in the table of package run. To add a kind, add a row to both; see CONTRIBUTING.md.
var sourceKinds = [...]struct {
	name     string
	argument SourceArgument
}{
	FromStdout:  {"stdout", PatternArgument},
	FromStderr:  {"stderr", PatternArgument},
	FromJSON:    {"json", PointerArgument},
	FromSize:    {"size", FileArgument},
	FromCommand: {"cmd", CommandArgument},
	FromGPU:     {"gpu", QuantityArgument},
}

// A SourceArgument is the kind of text after the colon in the textual form of a source.
type SourceArgument uint8

// The arguments, with the fields of a [MetricSource] that they fill.
const (
	PatternArgument  SourceArgument = iota // Pattern
	PointerArgument                        // File and Pointer
	FileArgument                           // File
	CommandArgument                        // Command
	QuantityArgument                       // Quantity
)

var argumentForms = [...]string{"/REGEXP/", "FILE#/POINTER", "FILE", "COMMAND", "QUANTITY"}

// The quantities of graphics cards: joules and mean watts of a run, the most memory in bytes, and the mean per cent of
// the time in which a kernel ran.
const (
	GPUEnergy      = "energy"
	GPUPower       = "power"
	GPUMemory      = "memory"
	GPUUtilization = "utilization"
)

// String returns the form for people, such as "/REGEXP/".
func (a SourceArgument) String() string {
	if int(a) < len(argumentForms) {
		return argumentForms[a]
	}
	return fmt.Sprintf("SourceArgument(%d)", uint8(a))
}

// Files reports whether the argument names a file.
func (a SourceArgument) Files() bool { return a == PointerArgument || a == FileArgument }

// SourceKinds returns every kind, in the order in which they are listed for
// people.
func SourceKinds() []SourceKind {
	all := make([]SourceKind, len(sourceKinds))
	for i := range all {
		all[i] = SourceKind(i)
	}
	return all
}

// String returns the name of the textual form.
func (k SourceKind) String() string {
	if int(k) < len(sourceKinds) {
		return sourceKinds[k].name
	}
	return fmt.Sprintf("SourceKind(%d)", uint8(k))
}

// Argument returns the kind of text after the colon in the textual form. It panics if the kind is unknown.
func (k SourceKind) Argument() SourceArgument { return sourceKinds[k].argument }

// SourceForms returns the textual forms of all kinds for people: "stdout:/REGEXP/, …".
func SourceForms() string {
	var forms []string
	for _, k := range SourceKinds() {
		forms = append(forms, fmt.Sprintf("%v:%v", k, k.Argument()))
	}
	return strings.Join(forms, ", ")
}

// A MetricSource defines how a metric is found after a run. It is data: its JSON is {"name":…,"source":…,"poll_ns":…}
// with the source in its textual form. A caller that knows the parameters may replace placeholders in File and Command.
type MetricSource struct {
	Name    string
	Kind    SourceKind
	Pattern *regexp.Regexp // if the Kind takes a pattern: with one group, the last match counts
	File    string         // if it takes a file
	Pointer string         // if it takes a pointer: RFC 6901, "" is the whole document
	Command string         // if it takes a command: a line for /bin/sh, which prints one number
	// Quantity is of the graphics cards, if it takes one: GPUEnergy, GPUPower, GPUMemory or GPUUtilization.
	Quantity string
	// Poll is how often it is found while a run goes on, at the most; 0 means only after it.
	Poll time.Duration
	// Curve means that the values during the run are kept; see [Curve].
	Curve bool
}

// String returns the textual form, which [ParseMetricSource] reads.
func (s MetricSource) String() string {
	if int(s.Kind) >= len(sourceKinds) {
		return s.Kind.String() + ":"
	}
	argument := s.Command
	switch s.Kind.Argument() {
	case PatternArgument:
		argument = fmt.Sprintf("/%v/", s.Pattern)
	case PointerArgument:
		argument = s.File + "#" + s.Pointer
	case FileArgument:
		argument = s.File
	case QuantityArgument:
		argument = s.Quantity
	}
	return s.Kind.String() + ":" + argument
}

// A SourceError is a flaw in the textual form of a metric source.
type SourceError struct {
	Metric string
	Err    error // without the name of the metric
}

// Error implements error.
func (e *SourceError) Error() string { return fmt.Sprintf("metric %q: %v", e.Metric, e.Err) }

// Unwrap returns Err.
func (e *SourceError) Unwrap() error { return e.Err }

// maxPattern is the longest expression in bytes: one from elsewhere must not
// cost more to compile than a run does.
const maxPattern = 10_000

// ParseMetricSource reads the textual form of a source:
//
//	stdout:/REGEXP/      the group of the last match in the standard output
//	stderr:/REGEXP/      the same in the standard error
//	json:FILE#/POINTER   a number in a JSON file (RFC 6901); no pointer means the whole file
//	size:FILE            the size of a file in bytes
//	cmd:COMMAND          the number that a command line prints
//	gpu:QUANTITY         use of the graphics cards during the run: energy, power, memory or utilization
//
// FILE ends at the first #/, or before a # at the end. The expression is one of [regexp/syntax], of at most 10,000
// bytes, and has exactly one group that captures. The error is a *[SourceError].
func ParseMetricSource(name, text string) (MetricSource, error) {
	s, err := parseSource(text)
	switch {
	case strings.TrimSpace(name) == "":
		err = errors.New("the name is empty")
	case !utf8.ValidString(name):
		err = errors.New("the name is not UTF-8")
	}
	if err != nil {
		return MetricSource{}, &SourceError{name, err}
	}
	s.Name = name
	return s, nil
}

func parseSource(text string) (s MetricSource, err error) {
	name, rest, ok := strings.Cut(text, ":")
	if !ok {
		return s, fmt.Errorf("a source is one of %s", SourceForms())
	}
	var known []string
	for _, k := range SourceKinds() {
		known = append(known, k.String())
	}
	i := slices.Index(known, name)
	if i < 0 {
		return s, fmt.Errorf("unknown source %.60q (known: %s)", name, strings.Join(known, ", "))
	}
	if strings.IndexByte(strings.ReplaceAll(rest, SetupDir, ""), 0) >= 0 {
		return s, errors.New("a source has no NUL byte")
	}
	s.Kind = SourceKind(i)
	return s, s.readArgument(rest)
}

// readArgument reads the text after the colon.
func (s *MetricSource) readArgument(text string) (err error) {
	switch s.Kind.Argument() {
	case PatternArgument:
		if len(text) < 2 || text[0] != '/' || text[len(text)-1] != '/' {
			return fmt.Errorf("%v: the regular expression stands between slashes: %v:/time: ([0-9.]+)/", s.Kind, s.Kind)
		}
		s.Pattern, err = compile(text[1 : len(text)-1])
		return err
	case PointerArgument:
		s.File, s.Pointer = cutPointer(text)
		_, err = ParsePointer(s.Pointer)
		text = s.File
	case FileArgument:
		s.File = text
	case CommandArgument:
		s.Command = text
	case QuantityArgument:
		s.Quantity = text
		if !slices.Contains([]string{GPUEnergy, GPUPower, GPUMemory, GPUUtilization}, text) {
			return fmt.Errorf("%v: is followed by energy, power, memory or utilization, not %.40q", s.Kind, text)
		}
	}
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%v: is followed by %v", s.Kind, s.Kind.Argument())
	case err != nil:
		return fmt.Errorf("%v: is followed by %v: %w", s.Kind, s.Kind.Argument(), err)
	}
	return nil
}

// cutPointer splits FILE#/POINTER. Either may be "".
func cutPointer(text string) (file, pointer string) {
	switch at := strings.Index(text, "#/"); { // FILE may have a # in it
	case at >= 0:
		return text[:at], text[at+1:]
	case strings.HasSuffix(text, "#"):
		return text[:len(text)-1], ""
	}
	file, pointer, _ = strings.Cut(text, "#")
	return file, pointer
}

// clip shortens a text for a message.
func clip(text string) string {
	const keep = 60
	if runes := []rune(text); len(runes) > keep {
		return string(runes[:keep]) + "..."
	}
	return text
}

// compile compiles an expression with exactly one group. Its error names the position of the mistake in the expression,
// if the library names the piece at fault.
func compile(expr string) (*regexp.Regexp, error) {
	if len(expr) > maxPattern {
		return nil, errors.New("a regular expression has at most 10,000 bytes")
	}
	p, err := regexp.Compile(expr)
	var se *syntax.Error
	if errors.As(err, &se) {
		if at := strings.Index(expr, se.Expr); at >= 0 && se.Expr != "" {
			return nil, fmt.Errorf("the regular expression /%s/ at character %d: %s: %s", clip(expr),
				len([]rune(expr[:at]))+1, se.Code, clip(se.Expr))
		}
		return nil, fmt.Errorf("the regular expression /%s/: %s", clip(expr), se.Code)
	}
	if err != nil {
		return nil, err
	}
	if n := p.NumSubexp(); n != 1 {
		return nil, fmt.Errorf("the regular expression needs exactly one group ( ) around the number and has %d, "+
			"write (?: ) for others", n)
	}
	return p, nil
}

// ParsePointer splits an RFC 6901 pointer into its tokens, in which ~1 and ~0 have
// become / and ~. "" is the whole document and has none; "/" has one, the empty name.
func ParsePointer(p string) ([]string, error) {
	if p == "" {
		return nil, nil
	}
	if p[0] != '/' {
		return nil, fmt.Errorf("JSON pointer %q does not begin with /", p)
	}
	tokens := strings.Split(p[1:], "/")
	for i, t := range tokens {
		for k := 0; k < len(t); k++ {
			if t[k] == '~' && (k+1 == len(t) || t[k+1] != '0' && t[k+1] != '1') {
				return nil, fmt.Errorf("JSON pointer %q: ~ must be written ~0, and / in a name ~1", p)
			}
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return tokens, nil
}

// sourceJSON is the JSON of a MetricSource.
type sourceJSON struct {
	Name   string  `json:"name"`
	Source rawText `json:"source"`

	Poll  time.Duration `json:"poll_ns,omitempty"`
	Curve bool          `json:"curve,omitempty"`
}

// MarshalJSON implements [json.Marshaler]. It returns an error for a source
// whose textual form would not be read as the same source.
func (s MetricSource) MarshalJSON() ([]byte, error) {
	text := s.String()
	if again, err := ParseMetricSource(s.Name, text); err != nil {
		return nil, err
	} else if again.Kind != s.Kind || again.File != s.File || again.Pointer != s.Pointer || again.Command != s.Command ||
		again.Quantity != s.Quantity {
		return nil, fmt.Errorf("metric %q: file %q and pointer %q cannot be distinguished in %s", s.Name, s.File,
			s.Pointer, text)
	}
	return json.Marshal(sourceJSON{s.Name, rawText(text), s.Poll, s.Curve})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *MetricSource) UnmarshalJSON(b []byte) error {
	var j sourceJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	var err error
	*s, err = ParseMetricSource(j.Name, string(j.Source))
	s.Poll, s.Curve = j.Poll, j.Curve
	return err
}
