package assay

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
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

// ParseMetricSource reads the textual form of a source:
//
//	stdout:/REGEXP/      the group of the last match in the standard output
//	stderr:/REGEXP/      the same in the standard error
//	json:FILE#/POINTER   a number in a JSON file (RFC 6901); no pointer means the whole file
//	size:FILE            the size of a file in bytes
//	cmd:COMMAND          the number that a command line prints
//
// The expression is one of [regexp/syntax] and has exactly one group that
// captures.
func ParseMetricSource(name, text string) (MetricSource, error) {
	s := MetricSource{Name: name}
	fail := func(format string, args ...any) (MetricSource, error) {
		return MetricSource{}, fmt.Errorf("metric %q: %w", name, fmt.Errorf(format, args...))
	}
	switch {
	case strings.TrimSpace(name) == "":
		return fail("the name is empty")
	case !utf8.ValidString(name):
		return fail("the name is not UTF-8")
	}
	kind, rest, ok := strings.Cut(text, ":")
	if !ok {
		return fail("%q is none of stdout:/REGEXP/, stderr:/REGEXP/, json:FILE#/POINTER, size:FILE, cmd:COMMAND", text)
	}
	switch kind {
	case "stdout", "stderr":
		if kind == "stderr" {
			s.Kind = FromStderr
		}
		if len(rest) < 2 || rest[0] != '/' || rest[len(rest)-1] != '/' {
			return fail("%q: the expression must be between slashes: %s:/REGEXP/", text, kind)
		}
		p, err := compile(rest[1 : len(rest)-1])
		if err != nil {
			return fail("%w", err)
		}
		s.Pattern = p
	case "json":
		s.Kind = FromJSON
		switch at := strings.Index(rest, "#/"); { // FILE may have a # in it
		case at >= 0:
			s.File, s.Pointer = rest[:at], rest[at+1:]
		case strings.HasSuffix(rest, "#"):
			s.File = rest[:len(rest)-1]
		default:
			s.File, s.Pointer, _ = strings.Cut(rest, "#")
		}
		if _, err := ParsePointer(s.Pointer); err != nil {
			return fail("%w", err)
		}
	case "size":
		s.Kind, s.File = FromSize, rest
	case "cmd":
		s.Kind, s.Command = FromCommand, rest
	default:
		return fail("unknown source %q: want stdout, stderr, json, size or cmd", kind)
	}
	if strings.TrimSpace(rest) == "" || s.Kind == FromJSON && s.File == "" {
		return fail("%q names no %s", text, map[bool]string{true: "command", false: "file"}[s.Kind == FromCommand])
	}
	if strings.IndexByte(rest, 0) >= 0 {
		return fail("%q has a NUL byte", text)
	}
	return s, nil
}

// compile compiles an expression with exactly one group.
func compile(expr string) (*regexp.Regexp, error) {
	p, err := regexp.Compile(expr)
	var se *syntax.Error
	if errors.As(err, &se) {
		if at := strings.Index(expr, se.Expr); at >= 0 && se.Expr != "" {
			return nil, fmt.Errorf("expression /%s/ at character %d: %s: %s", expr, len([]rune(expr[:at]))+1, se.Code, se.Expr)
		}
		return nil, fmt.Errorf("expression /%s/: %s", expr, se.Code)
	}
	if err != nil {
		return nil, err
	}
	if n := p.NumSubexp(); n != 1 {
		return nil, fmt.Errorf("expression /%s/ has %d groups, want exactly one, around the number; (?:...) does not count", expr, n)
	}
	return p, nil
}

// ParsePointer splits an RFC 6901 pointer into its tokens.
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
		return nil, fmt.Errorf("metric %q: file %q and pointer %q cannot be told apart in %s", s.Name, s.File, s.Pointer, text)
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
