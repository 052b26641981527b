package trace

import (
	"bufio"
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// This file reads the YAML form of the plain table without a YAML library. The part of YAML that it
// takes fits one pass over the lines; every value has a line to report.

// yamlTasks is the line above the list of tasks.
var yamlTasks = regexp.MustCompile(`(?m)^tasks:\s*(#.*)?$`)

// isYAML recognises the YAML form of the plain table by its list of tasks, or by a
// member of the workflow in front of it.
func isYAML(head []byte) bool {
	return yamlTasks.Match(head) || bytes.HasPrefix(head, []byte("name:")) ||
		bytes.HasPrefix(head, []byte("makespan_s:"))
}

// readYAML reads the YAML form of the plain table. It takes the part of YAML
// that such a table needs: "name: value" lines, and under "tasks:" a list whose
// items are mappings, on lines of their own or in braces, of plain or quoted
// scalars; parents are a list in brackets. Anything else is an error with its
// line, never read wrongly in silence.
func (m *merger) readYAML(name string, r *bufio.Reader) error {
	m.b.Format = "yaml"
	// The task being read, nil outside of one. It is added when the next item, a member of the
	// workflow or the end of the input shows that it is complete.
	var e *tableEntry
	// indent is the column at which the members of e begin: where the first stands behind its dash.
	inTasks, indent := false, 0
	flush := func() error {
		if e == nil {
			return nil
		}
		err := m.addEntry(e)
		e = nil
		return err
	}
	err := eachLine(name, r, func(n int32, line string) error {
		text, err := m.yamlText(line, n)
		if err != nil || text == "" || text == "---" {
			return err
		}
		depth := len(line) - len(strings.TrimLeft(line, " "))
		pos := lineCol(n, int32(depth+1))
		// The dash may stand at any depth, 0 included: both are common.
		if item, ok := strings.CutPrefix(text, "- "); ok && inTasks {
			if err := flush(); err != nil {
				return err
			}
			e = &tableEntry{task: newTask(), pos: pos}
			indent = depth + len(text) - len(strings.TrimLeft(item, " "))
			return m.yamlItem(e, strings.TrimSpace(item), n)
		}
		if depth == 0 {
			if err := flush(); err != nil {
				return err
			}
			key, value, ok := yamlPair(text)
			if inTasks = key == "tasks"; inTasks && value != "" || !ok {
				return m.b.Errorf(pos, "want a name and a value, or tasks and a list below")
			}
			if inTasks {
				return nil
			}
			if !slices.Contains([]string{"name", "system", "makespan_s", "cores"}, key) {
				return m.b.Errorf(pos, "unknown member %q of a workflow", key)
			}
			return m.setWorkflow(key, value, pos)
		}
		if e == nil || depth != indent {
			return m.b.Errorf(pos, "indented by %d, which fits nothing above", depth)
		}
		return m.yamlMember(e, text, pos)
	})
	if err != nil {
		return err
	}
	return flush()
}

// A yamlQuote is the quote that a scan is inside of, or 0.
type yamlQuote byte

// holds reports whether c, the next character, belongs to a quoted text, its quotes
// included.
//
// It must be called for every character in order. The closing quote belongs to the text too.
func (q *yamlQuote) holds(c byte) bool {
	switch {
	case *q != 0:
		if c == byte(*q) {
			*q = 0
		}
		return true
	case c == '"' || c == '\'':
		*q = yamlQuote(c)
		return true
	}
	return false
}

// yamlText returns a line without comment and surrounding space.
//
// A # begins a comment only at the start or behind a space (YAML 1.2, §6.6), so that "a#b" is a
// value. YAML does not allow tabs in indentation (§6.1), and neither does this, since depth is
// counted in spaces.
func (m *merger) yamlText(line string, n int32) (string, error) {
	if i := strings.IndexByte(line, '\t'); i >= 0 && strings.TrimSpace(line[:i]) == "" {
		return "", m.b.Errorf(lineCol(n, int32(i+1)), "a tab in the indentation")
	}
	var quote yamlQuote
	for i := range len(line) {
		switch c := line[i]; {
		case quote.holds(c):
		case c == '#' && (i == 0 || line[i-1] == ' '):
			return strings.TrimSpace(line[:i]), nil
		}
	}
	if quote != 0 {
		return "", m.b.Errorf(lineCol(n, 1), "a quote is not closed")
	}
	return strings.TrimSpace(line), nil
}

// yamlPair splits "key: value" and takes quotes off the value.
//
// A colon that no space follows is part of a plain scalar in YAML; a line with such a colon first
// is no pair.
func yamlPair(s string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(s, ":")
	if !ok || value != "" && value[0] != ' ' {
		return "", "", false
	}
	return yamlScalar(key), yamlScalar(value), true
}

// yamlScalar returns a scalar without its quotes. Escapes in quotes are not
// understood: names and numbers need none.
//
// A quote on one side only is kept as a part of the text.
func yamlScalar(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// yamlItem reads what stands behind a dash: a first member, or all in braces.
//
// n is the line of the dash. Members in braces have the place of the item, since all are on its
// line.
func (m *merger) yamlItem(e *tableEntry, s string, n int32) error {
	inner, ok := strings.CutPrefix(s, "{")
	if !ok {
		return m.yamlMember(e, s, e.pos)
	}
	inner, ok = strings.CutSuffix(inner, "}")
	if !ok {
		return m.b.Errorf(e.pos, "{ without } on the same line")
	}
	for _, part := range yamlSplit(inner) {
		if err := m.yamlMember(e, part, e.pos); err != nil {
			return err
		}
	}
	return nil
}

// yamlMember reads "name: value" of a task. What a table does not need, such as
// anchors and blocks, is an error.
func (m *merger) yamlMember(e *tableEntry, s string, pos workflow.Pos) error {
	key, value, ok := yamlPair(s)
	if !ok {
		return m.b.Errorf(pos, "%q is not a name, a colon and a value", s)
	}
	// The first characters of what is no plain scalar: collections, anchors, aliases, tags, blocks.
	if key != "parents" {
		if value != "" && strings.ContainsRune("[{&*!|>", rune(value[0])) {
			return m.b.Errorf(pos, "%s: %q is no plain value", key, value)
		}
		return m.setColumn(e, key, value)
	}
	list, ok := strings.CutPrefix(value, "[")
	list, closed := strings.CutSuffix(list, "]")
	if !ok || !closed {
		return m.b.Errorf(pos, "parents: want a list in brackets on one line")
	}
	for _, p := range yamlSplit(list) {
		e.parents = append(e.parents, yamlScalar(p))
	}
	return nil
}

// yamlSplit splits at commas outside of brackets and quotes.
//
// The parts have no space around them. Empty parts between commas are kept, but a comma at the end
// adds none, as in YAML.
func yamlSplit(s string) []string {
	var out []string
	var quote yamlQuote
	depth, from := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case quote.holds(c):
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(s[from:i]))
			from = i + 1
		}
	}
	if last := strings.TrimSpace(s[from:]); last != "" {
		out = append(out, last)
	}
	return out
}
