package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Limits of a study file, checked before it is decoded.
const (
	MaxFile  = 16 << 20 // bytes
	maxItems = 100_000  // values, and as many once aliases are followed
	maxText  = 100_000  // bytes of one text
	maxDepth = 32       // of nesting; a study needs 4
)

// limits is the library's hook for its own limits.
type limits struct{}

func (limits) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	return nil
}

// CheckAlias lets aliases pass: they are counted in tooLarge, for they are
// only expanded by us.
func (limits) CheckAlias(int, int) error { return nil }

// document returns the root of the only YAML document in data.
func (d *decoder) document(data []byte) *yaml.Node {
	if len(data) > MaxFile {
		d.whole("larger than 16 MiB: this is no study file")
		return nil
	}
	if !utf8.Valid(data) {
		d.whole("not UTF-8 text: this is no YAML file")
		return nil
	}
	if items(data) > maxItems {
		d.whole("more than 100,000 values: give a numeric range as min, max and step, or keep them in a table")
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data), yaml.WithPlugin(limits{}))
	if err != nil {
		d.whole("%v", err)
		return nil
	}
	var doc, second yaml.Node
	if err := loader.Load(&doc); errors.Is(err, io.EOF) {
		d.whole("the file is empty")
		return nil
	} else if err != nil {
		d.syntax(data, err)
		return nil
	}
	if err := loader.Load(&second); err == nil {
		d.fail(&second, "a second document: a study file has one")
	} else if !errors.Is(err, io.EOF) {
		d.syntax(data, err)
		return nil
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		d.whole("the file is empty")
		return nil
	}
	if tooLarge(doc.Content[0]) {
		d.whole("aliases (*name) that expand to more than 100,000 values")
		return nil
	}
	return doc.Content[0]
}

// items returns an upper bound of the number of values in data: each begins
// after one of these characters.
func items(data []byte) int {
	n := 0
	for _, c := range data {
		switch c {
		case '\n', ',', ':', '[', '{', '-', '?', '\r':
			n++
		}
	}
	return n
}

// syntax records an error of the YAML library in data.
func (d *decoder) syntax(data []byte, err error) {
	var many *yaml.LoadErrors
	if errors.As(err, &many) {
		for _, e := range many.Errors {
			d.syntaxAt(data, e)
		}
		return
	}
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		d.syntaxAt(data, e)
		return
	}
	d.whole("%v", err)
}

func (d *decoder) syntaxAt(data []byte, e *yaml.LoadError) {
	mark := e.Mark
	if mark.Line == 0 {
		mark = e.ContextMark
	}
	message := e.Message
	if e.ContextMsg != "" {
		message = e.ContextMsg + ": " + message
	}
	if column := indentingTab(data, mark.Line); column > 0 {
		mark.Column, message = column, "a tab: YAML is indented with spaces"
	}
	d.flaws = append(d.flaws, Flaw{File: d.name, Line: mark.Line, Column: max(mark.Column, 1), Message: message})
}

// indentingTab returns the column of a tab in the indentation of a line of data, both from 1, or 0 without a tab.
func indentingTab(data []byte, line int) int {
	for l := range bytes.Lines(data) {
		if line--; line > 0 {
			continue
		}
		indent := l[:len(l)-len(bytes.TrimLeft(l, " \t"))]
		return bytes.IndexByte(indent, '\t') + 1
	}
	return 0
}

// tooLarge reports whether the tree has too many values once every alias is followed. It visits each node once.
func tooLarge(root *yaml.Node) bool {
	const visiting = -1
	size := map[*yaml.Node]int{}
	var count func(n *yaml.Node) int
	count = func(n *yaml.Node) int {
		switch s := size[n]; {
		case s == visiting:
			return maxItems + 1 // contains itself
		case s > 0:
			return s
		}
		size[n] = visiting
		total := 1
		if n.Kind == yaml.AliasNode {
			total += count(n.Alias)
		}
		for _, c := range n.Content {
			total = min(total+count(c), maxItems+1)
		}
		size[n] = total
		return total
	}
	return count(root) > maxItems
}

// follow returns the node that an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}
