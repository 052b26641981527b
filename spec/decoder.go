package spec

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/assay-run/assay/internal/expr"
)

// A decoder reads the nodes of a YAML file and keeps their flaws and places. It goes on after a flaw. Each value knows
// the meaning of its own nodes.
type decoder struct {
	name   string // of the file
	lines  []string
	flaws  []Flaw
	places map[string]place
}

// A place is where a piece of a study was written.
type place struct {
	file         string
	line, column int
	text         string // the text there; the place is void once the piece has changed
	inline       bool   // the text is in the file as it is, beginning at column
}

// decode returns the decoder of a file, and the root of its YAML document; the root is nil if there is a flaw.
func decode(name string, data []byte) (*decoder, *yaml.Node) {
	d := &decoder{name: name, places: map[string]place{}}
	root := d.document(data)
	if root != nil {
		d.lines = strings.Split(string(data), "\n")
	}
	return d, root
}

// whole records a flaw of the file as a whole.
func (d *decoder) whole(format string, args ...any) {
	d.flaws = append(d.flaws, Flaw{File: d.name, Message: fmt.Sprintf(format, args...)})
}

// fail records a flaw at a node.
func (d *decoder) fail(n *yaml.Node, format string, args ...any) {
	d.flaws = append(d.flaws, Flaw{File: d.name, Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)})
}

// failAt records a flaw of a piece whose place is known.
func (d *decoder) failAt(path, format string, args ...any) {
	p := d.places[path]
	d.flaws = append(d.flaws, Flaw{
		File: cmp.Or(p.file, d.name), Line: p.line, Column: p.column, Message: fmt.Sprintf(format, args...),
	})
}

// mark remembers where the piece of that path was written.
func (d *decoder) mark(path string, n *yaml.Node) {
	p := place{file: d.name, line: n.Line, column: n.Column}
	if n.Kind == yaml.ScalarNode {
		p.text = n.Value
		column := n.Column
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
			column++
		}
		if n.Line >= 1 && n.Line <= len(d.lines) {
			if rest := skipRunes(d.lines[n.Line-1], column-1); strings.HasPrefix(rest, n.Value) {
				p.column, p.inline = column, true
			}
		}
	}
	d.places[path] = p
}

func skipRunes(s string, n int) string {
	for ; n > 0 && s != ""; n-- {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return s
}

// A field is a key of a mapping and the function that reads its value.
type field struct {
	key  string
	read func(n *yaml.Node)
}

// mapping reads a mapping with the given fields. Any other key goes to rest,
// or is a flaw if rest is nil.
func (d *decoder) mapping(n *yaml.Node, what string, fields []field, rest func(key, value *yaml.Node)) {
	d.pairs(n, what, func(key, value *yaml.Node) {
		var names []string
		for _, f := range fields {
			if f.key == key.Value {
				f.read(value)
				return
			}
			names = append(names, f.key)
		}
		if rest != nil {
			rest(key, value)
			return
		}
		hint := " (known: " + strings.Join(names, ", ") + ")"
		if near := expr.Nearest(key.Value, names); near != "" {
			hint = " (did you mean " + near + "?)"
		}
		d.fail(key, "unknown key %q in %s%s", clip(key.Value), what, hint)
	})
}

// pairs yields the keys and values of a mapping in file order; keys are texts
// and none comes twice.
func (d *decoder) pairs(n *yaml.Node, what string, yield func(key, value *yaml.Node)) {
	at := n
	if n = follow(n); n.Kind != yaml.MappingNode {
		d.fail(at, "%s: a mapping (key: value) is needed, not %s", what, describe(n))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := follow(n.Content[i]), n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode:
			d.fail(n.Content[i], "%s: a key is a text, not %s", what, describe(key))
		case key.Tag == "!!merge" || key.Value == "<<" && key.Style == 0:
			d.fail(n.Content[i], "%s: merge keys (<<) are not supported", what)
		case seen[key.Value] > 0:
			d.fail(n.Content[i], "key %q is given twice in %s, first on line %d", clip(key.Value), what,
				seen[key.Value])
		default:
			seen[key.Value] = n.Content[i].Line
			yield(key, value)
		}
	}
}

// list returns the elements of a sequence.
func (d *decoder) list(n *yaml.Node, what string) []*yaml.Node {
	at := n
	if n = follow(n); n.Kind != yaml.SequenceNode {
		d.fail(at, "%s: a list is needed, not %s", what, describe(n))
		return nil
	}
	return n.Content
}

// text returns a scalar as it was written.
func (d *decoder) text(n *yaml.Node, what string) (string, bool) {
	at := n
	n = follow(n)
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		d.fail(at, "%s has no value", what)
	case n.Kind != yaml.ScalarNode:
		d.fail(at, "%s: a text is needed, not %s", what, describe(n))
	case n.Tag == "!!binary" || !strings.HasPrefix(n.Tag, "!!"):
		d.fail(at, "%s: the tag %s is not supported", what, clip(n.Tag))
	case len(n.Value) > maxText:
		d.fail(at, "%s: a text of more than 100,000 bytes", what)
	case strings.ContainsRune(n.Value, 0):
		d.fail(at, "%s: a NUL byte", what)
	default:
		return n.Value, true
	}
	return "", false
}

// texts reads a list of texts and remembers the place of each.
func (d *decoder) texts(path, what string, n *yaml.Node) []string {
	var out []string
	for _, e := range d.list(n, what) {
		if t, ok := d.text(e, fmt.Sprintf("%s %d", what, len(out)+1)); ok {
			d.mark(fmt.Sprintf("%s[%d]", path, len(out)), e)
			out = append(out, t)
		}
	}
	return out
}

// number reads a finite number.
func (d *decoder) number(n *yaml.Node, what string) (float64, bool) {
	t, ok := d.text(n, what)
	if !ok {
		return 0, false
	}
	s := follow(n)
	x, err := strconv.ParseFloat(t, 64)
	lower := strings.ToLower(strings.TrimLeft(t, "+-."))
	switch {
	case lower == "inf" || lower == "nan" || lower == "infinity":
		d.fail(n, "%s: %s is not a finite number", what, t)
	case s.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		d.fail(n, "%s: a number is needed, not the text %q", what, clip(t))
	case err != nil && math.IsInf(x, 0):
		d.fail(n, "%s: %s is too large", what, clip(t))
	case err != nil:
		d.fail(n, "%s: %q is not a number", what, clip(t))
	default:
		return x, true
	}
	return 0, false
}

// integer reads a whole number from low up to 2^31-1.
func (d *decoder) integer(n *yaml.Node, what string, low int) (int, bool) {
	x, ok := d.number(n, what)
	if !ok {
		return 0, false
	}
	if x != math.Trunc(x) || x < float64(low) || x > math.MaxInt32 {
		d.fail(n, "%s: a whole number >= %d is needed, not %s", what, low, clip(follow(n).Value))
		return 0, false
	}
	return int(x), true
}

// boolean reads true or false.
func (d *decoder) boolean(n *yaml.Node, what string) bool {
	t, ok := d.text(n, what)
	if !ok {
		return false
	}
	switch strings.ToLower(t) {
	case "true", "on", "yes":
		return true
	case "false", "off", "no":
		return false
	}
	d.fail(n, "%s: true or false is needed, not %q", what, clip(t))
	return false
}

// duration reads a span of time.
func (d *decoder) duration(n *yaml.Node, what string) (time.Duration, bool) {
	t, ok := d.text(n, what)
	if !ok {
		return 0, false
	}
	x, err := ParseDuration(t)
	if err != nil {
		d.fail(n, "%s: %v", what, err)
		return 0, false
	}
	return x, true
}

// choice reads one of a few words.
func (d *decoder) choice(n *yaml.Node, what string, words ...string) (string, bool) {
	t, ok := d.text(n, what)
	if !ok {
		return "", false
	}
	for _, w := range words {
		if t == w {
			return t, true
		}
	}
	hint := ""
	if near := expr.Nearest(t, words); near != "" {
		hint = " (did you mean " + near + "?)"
	}
	d.fail(n, "%s: %q is not one of %s%s", what, clip(t), strings.Join(words, ", "), hint)
	return "", false
}

// string reads a text and remembers its place.
func (d *decoder) string(path string, n *yaml.Node) string {
	t, ok := d.text(n, path)
	if ok {
		d.mark(path, n)
	}
	return t
}

// textMap reads a mapping of names to texts, and remembers the place of each.
func (d *decoder) textMap(path string, n *yaml.Node) map[string]string {
	all := map[string]string{}
	d.pairs(n, path, func(key, value *yaml.Node) {
		if t, ok := d.text(value, path+" "+clip(key.Value)); ok {
			d.mark(path+"."+key.Value, value)
			all[key.Value] = t
		}
	})
	return all
}

// variables reads a mapping of the names of variables to texts. read returns the text that is kept; one is the word
// for one of them.
func (d *decoder) variables(
	n *yaml.Node, what, group, one string, read func(value *yaml.Node, one, text string) (string, bool),
) map[string]string {
	all := map[string]string{}
	d.pairs(n, what+group, func(key, value *yaml.Node) {
		if key.Value == "" || strings.ContainsAny(key.Value, "=\x00") {
			d.fail(key, "%s%s: %q is no name of a variable", what, group, clip(key.Value))
			return
		}
		one := what + one + " " + clip(key.Value)
		t, ok := d.text(value, one)
		if ok {
			t, ok = read(value, one, t)
		}
		if ok {
			d.mark(group+"."+key.Value, value)
			all[key.Value] = t
		}
	})
	return all
}

// absolute returns a directory as an absolute path, so that the study is the same one from wherever it is started. A
// relative one starts at the file.
func (d *decoder) absolute(n *yaml.Node, what, dir string) string {
	path, err := filepath.Abs(besides(d.name, dir))
	if err != nil {
		d.fail(n, "%s: %v", what, err)
	}
	return path
}

// directory reads a path that starts at the study file.
func (d *decoder) directory(key string, n *yaml.Node) string {
	t := d.string(key, n)
	if t == "" {
		return ""
	}
	return d.absolute(n, key, t)
}

// describe names the kind of a node, for a message that another kind is needed.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	case n.Tag == "!!int" || n.Tag == "!!float":
		return "the number " + clip(n.Value)
	}
	return fmt.Sprintf("the text %q", clip(n.Value))
}

// clip cuts a text to a length that fits in a message.
func clip(s string) string {
	const keep = 60
	if len(s) <= keep {
		return s
	}
	cut := keep
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}
