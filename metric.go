package assay

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
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
)

var kindNames = [...]string{"stdout", "stderr", "json", "size", "cmd"}

// SourceKinds returns every kind, in the order in which they are listed for
// people.
func SourceKinds() []SourceKind {
	return []SourceKind{FromStdout, FromStderr, FromJSON, FromSize, FromCommand}
}

// String returns the name of the textual form.
func (k SourceKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("SourceKind(%d)", uint8(k))
}

// A MetricSource says how a metric is found after a run. It is data: its JSON
// is {"name":…,"source":…} with the source in its textual form. A caller that
// knows the parameters may replace placeholders in File and Command.
type MetricSource struct {
	Name    string
	Kind    SourceKind
	Pattern *regexp.Regexp // of stdout, stderr: with one group, the last match counts
	File    string         // of json, size
	Pointer string         // of json: RFC 6901, "" is the whole document
	Command string         // of cmd: a line for /bin/sh, which prints one number
}

// String returns the textual form, which [ParseMetricSource] reads.
func (s MetricSource) String() string {
	switch s.Kind {
	case FromStdout, FromStderr:
		return fmt.Sprintf("%v:/%v/", s.Kind, s.Pattern)
	case FromJSON:
		return "json:" + s.File + "#" + s.Pointer
	case FromSize:
		return "size:" + s.File
	}
	return "cmd:" + s.Command
}

// A SourceError says what is wrong with the textual form of a metric source.
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
//
// FILE ends at the first #/, or before a # at the end. The expression is one of
// [regexp/syntax], of at most 10,000 bytes, and has exactly one group that
// captures. The error is a *[SourceError].
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
	kind, rest, ok := strings.Cut(text, ":")
	if !ok {
		return s, errors.New("a source is one of stdout:/REGEXP/, stderr:/REGEXP/, json:FILE#/POINTER, size:FILE, " +
			"cmd:COMMAND")
	}
	i := slices.Index(kindNames[:], kind)
	if i < 0 {
		return s, fmt.Errorf("unknown source %.60q (known: %s)", kind, strings.Join(kindNames[:], ", "))
	}
	if strings.IndexByte(rest, 0) >= 0 {
		return s, errors.New("a source has no NUL byte")
	}
	s.Kind = SourceKind(i)
	switch s.Kind {
	case FromStdout, FromStderr:
		if len(rest) < 2 || rest[0] != '/' || rest[len(rest)-1] != '/' {
			return s, fmt.Errorf("%v: the regular expression stands between slashes: %v:/time: ([0-9.]+)/", s.Kind,
				s.Kind)
		}
		s.Pattern, err = compile(rest[1 : len(rest)-1])
		return s, err
	case FromJSON:
		s.File, s.Pointer = cutPointer(rest)
		if strings.TrimSpace(s.File) == "" {
			return s, errors.New("json: is followed by FILE#/POINTER")
		}
		if _, err := ParsePointer(s.Pointer); err != nil {
			return s, fmt.Errorf("json: is followed by FILE#/POINTER: %w", err)
		}
	case FromSize:
		if s.File = rest; strings.TrimSpace(rest) == "" {
			return s, errors.New("size: is followed by FILE")
		}
	case FromCommand:
		if s.Command = rest; strings.TrimSpace(rest) == "" {
			return s, errors.New("cmd: is followed by COMMAND")
		}
	}
	return s, nil
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

// compile compiles an expression with exactly one group. Its error says at which
// character the expression is wrong, if the library names the piece at fault.
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
}

// MarshalJSON implements [json.Marshaler]. It returns an error for a source
// whose textual form would not be read as the same source.
func (s MetricSource) MarshalJSON() ([]byte, error) {
	text := s.String()
	if again, err := ParseMetricSource(s.Name, text); err != nil {
		return nil, err
	} else if again.Kind != s.Kind || again.File != s.File || again.Pointer != s.Pointer || again.Command != s.Command {
		return nil, fmt.Errorf("metric %q: file %q and pointer %q cannot be told apart in %s", s.Name, s.File,
			s.Pointer, text)
	}
	return json.Marshal(sourceJSON{s.Name, rawText(text)})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *MetricSource) UnmarshalJSON(b []byte) error {
	var j sourceJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	var err error
	*s, err = ParseMetricSource(j.Name, string(j.Source))
	return err
}
