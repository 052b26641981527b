package spec

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/expr"
)

// A Template is a text with placeholders for parameters.
//
//	{name}        the text of the parameter's value
//	{name?TEXT}   TEXT, which may hold {name}s, if the value is on; else nothing
//	{{ and }}     a brace
//
// A value is off if it is written off, false, no, none or default in any case,
// or is empty; a switch is off at its first value, and a parameter wherever it is not in force. Numbers
// are never off.
// A value is data: it never becomes more than one argument, and braces in it
// mean nothing.
type Template struct {
	parts []part
}

// A part is literal text, a value, or a condition with its own parts.
type part struct {
	text  string
	param int // index in the parameters, or -1 for literal text
	cond  bool
	then  []part
}

// A TemplateError is a mistake at a rune of a template, counted from 1.
type TemplateError struct {
	Text    string
	Column  int
	Message string
}

// Error returns the message with the column.
func (e *TemplateError) Error() string {
	return fmt.Sprintf("%s at column %d of %q", e.Message, e.Column, clip(e.Text))
}

// ParseTemplate reads a template over the given parameter names. The error is
// a [*TemplateError].
func ParseTemplate(text string, names []string) (Template, error) {
	return parseTemplate(text, names, nil)
}

// parseTemplate is ParseTemplate with the further placeholders of own, which holds their replacements.
func parseTemplate(text string, names []string, own map[string]string) (Template, error) {
	r := &templateReader{text: text, names: names, own: own}
	parts := r.parts(false)
	if r.err != nil {
		return Template{}, r.err
	}
	return Template{parts}, nil
}

type templateReader struct {
	text  string
	names []string
	own   map[string]string
	at    int // byte offset
	err   *TemplateError
}

func (r *templateReader) fail(at int, format string, args ...any) {
	if r.err == nil {
		r.err = &TemplateError{r.text, utf8.RuneCountInString(r.text[:at]) + 1, fmt.Sprintf(format, args...)}
	}
}

// parts reads up to the end of the text, or in a condition past the brace that
// closes it. Literal text collects until a placeholder begins.
func (r *templateReader) parts(inside bool) []part {
	var out []part
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			out = append(out, part{text: literal.String(), param: -1})
			literal.Reset()
		}
	}
	opened := r.at
	for r.err == nil && r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			literal.WriteByte(rest[0])
			r.at += 2
		case rest[0] == '}' && inside:
			r.at++
			flush()
			return out
		case rest[0] == '}':
			r.fail(r.at, "a single } (write }} for a brace)")
		case rest[0] == '{':
			flush()
			out = append(out, r.placeholder(inside))
		default:
			n := strings.IndexAny(rest, "{}")
			if n < 0 {
				n = len(rest)
			}
			literal.WriteString(rest[:n])
			r.at += n
		}
	}
	if inside {
		r.fail(opened-1, "a condition {name?... without its closing }")
	}
	flush()
	return out
}

// placeholder reads {name} or {name?TEXT}; r.at is at the brace.
func (r *templateReader) placeholder(inside bool) part {
	open := r.at
	n := strings.IndexAny(r.text[open+1:], "?{}")
	if n < 0 || r.text[open+1+n] == '{' {
		r.fail(open, "{ without } (write {{ for a brace)")
		return part{}
	}
	name := r.text[open+1 : open+1+n]
	r.at = open + 1 + n + 1
	index := slices.Index(r.names, name)
	if text, ok := r.own[name]; ok && r.text[r.at-1] == '}' {
		return part{text: text, param: -1}
	}
	if index < 0 {
		hint := " (write {{ and }} for braces)"
		if near := expr.Nearest(name, r.names); near != "" {
			hint = " (did you mean {" + near + "}?)"
		}
		r.fail(open, "no parameter %q%s", clip(name), hint)
		return part{}
	}
	if r.text[r.at-1] == '}' {
		return part{param: index}
	}
	if inside {
		r.fail(open, "a condition within a condition")
		return part{}
	}
	return part{param: index, cond: true, then: r.parts(true)}
}

// Params returns the indices of the parameters that the template names.
func (t Template) Params() []int {
	var out []int
	var walk func(parts []part)
	walk = func(parts []part) {
		for _, p := range parts {
			if p.param >= 0 {
				out = append(out, p.param)
			}
			walk(p.then)
		}
	}
	walk(t.parts)
	slices.Sort(out)
	return slices.Compact(out)
}

// Expand returns the text for a configuration. ok is false if the template is
// nothing but conditions and all of them are off, or names a parameter that is not in force:
// as an argument it is left out.
func (t Template) Expand(params []assay.Param, c assay.Config) (text string, ok bool) {
	var b strings.Builder
	ok = len(t.parts) == 0
	void := false
	for _, p := range t.parts {
		switch {
		case p.param < 0:
			b.WriteString(p.text)
		case !p.cond && !assay.Active(params, c, p.param):
			void = true
		case !p.cond:
			b.WriteString(params[p.param].Text(c[p.param]))
		case isOff(params, c, p.param):
			continue
		default:
			t, _ := Template{p.then}.Expand(params, c)
			b.WriteString(t)
		}
		ok = true
	}
	return b.String(), ok && !void
}

// alone returns the parameter of which the template is the value and nothing else, or -1.
func (t Template) alone() int {
	if len(t.parts) == 1 && !t.parts[0].cond {
		return t.parts[0].param
	}
	return -1
}

// option returns the name of the option that the template is, in lower case with a dash for each _ and without those
// before it: threads of --threads; "" if it is no option.
func (t Template) option() string {
	if len(t.parts) != 1 || t.parts[0].param >= 0 || !strings.HasPrefix(t.parts[0].text, "-") {
		return ""
	}
	return optionName(strings.TrimLeft(t.parts[0].text, "-"))
}

func optionName(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }
