package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"go.yaml.in/yaml/v4"

	"github.com/assay-run/assay/workflow"
)

// yamlTasks is the line above the list of tasks.
var yamlTasks = regexp.MustCompile(`(?m)^tasks:\s*(#.*)?$`)

// isYAML recognises the YAML form of the plain table by its list of tasks, or by a
// member of the workflow in front of it.
func isYAML(head []byte) bool {
	return yamlTasks.Match(head) || bytes.HasPrefix(head, []byte("name:")) ||
		bytes.HasPrefix(head, []byte("makespan_s:"))
}

// maxYAML is the size of the largest table in bytes. All of it is in memory, as a tree; CSV and JSON are streams.
const maxYAML = 16 << 20

// readYAML reads the YAML form of the plain table: a mapping with a list of tasks, whose values are scalars, and lists
// of them for the parents.
func (m *merger) readYAML(name string, r *bufio.Reader) error {
	m.b.Format = "yaml"
	data, err := io.ReadAll(io.LimitReader(r, maxYAML+1))
	if err != nil {
		return &workflow.InputError{File: name, Msg: fmt.Sprintf("reading: %v", err)}
	}
	if len(data) > maxYAML {
		return m.b.Errorf(lineCol(1, 1), "a table of more than %d MiB as YAML: give it as CSV or JSON", maxYAML>>20)
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	var doc, second yaml.Node
	if err == nil {
		err = loader.Load(&doc)
	}
	if err == nil {
		switch err = loader.Load(&second); {
		case err == nil:
			return m.b.Errorf(yamlPlace(&second), "a second document: a table has one")
		case errors.Is(err, io.EOF):
			err = nil
		}
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return m.yamlError(data, err)
	case len(doc.Content) != 1:
		return nil
	}
	return m.yamlMapping(doc.Content[0], "a table", func(key string, value *yaml.Node) error {
		switch key {
		case "tasks":
			return m.yamlList(value, "tasks", m.yamlTask)
		case "name", "system", "makespan_s", "cores":
			text, err := m.yamlText(value, key)
			if err != nil {
				return err
			}
			return m.setWorkflow(key, text, yamlPlace(value))
		}
		return m.b.Errorf(yamlPlace(value), "unknown member %q of a workflow", key)
	})
}

// yamlTask reads a task.
func (m *merger) yamlTask(n *yaml.Node) error {
	e := tableEntry{task: newTask(), pos: yamlPlace(n)}
	err := m.yamlMapping(n, "a task", func(key string, value *yaml.Node) error {
		if key == "parents" {
			return m.yamlList(value, key, func(p *yaml.Node) error {
				id, err := m.yamlText(p, "a parent")
				e.parents = append(e.parents, id)
				return err
			})
		}
		text, err := m.yamlText(value, key)
		if err != nil {
			return err
		}
		return m.setColumn(&e, key, text)
	})
	if err != nil {
		return err
	}
	return m.addEntry(&e)
}

// yamlMapping calls f for each member of a mapping.
func (m *merger) yamlMapping(n *yaml.Node, what string, f func(key string, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return m.b.Errorf(yamlPlace(n), "%s: want names and values", what)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := m.yamlText(n.Content[i], "a name")
		if err != nil {
			return err
		}
		if err := f(key, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// yamlList calls f for each value of a list. No value is an empty list.
func (m *merger) yamlList(n *yaml.Node, what string, f func(*yaml.Node) error) error {
	if n.Kind != yaml.SequenceNode && n.Tag != "!!null" {
		return m.b.Errorf(yamlPlace(n), "%s: want a list", what)
	}
	for _, c := range n.Content {
		if err := f(c); err != nil {
			return err
		}
	}
	return nil
}

// yamlText returns the text of a scalar as it is written, "" for null.
func (m *merger) yamlText(n *yaml.Node, what string) (string, error) {
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", m.b.Errorf(yamlPlace(n), "%s is no plain value", what)
	case n.Tag == "!!null":
		return "", nil
	}
	return n.Value, nil
}

// yamlError returns an error of the library in data, at the place where the fault begins.
func (m *merger) yamlError(data []byte, err error) error {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if many, several := errors.AsType[*yaml.LoadErrors](err); !ok && several && len(many.Errors) > 0 {
		e, ok = many.Errors[0], true
	}
	if !ok {
		return m.b.Errorf(lineCol(1, 1), "%v", err)
	}
	mark, message := e.Mark, e.Message
	if e.ContextMark.Line > 0 {
		mark = e.ContextMark
	}
	if e.ContextMsg != "" {
		message = e.ContextMsg + ": " + message
	}
	if lines := bytes.Split(data, []byte("\n")); e.Mark.Line > 0 && e.Mark.Line <= len(lines) {
		line := lines[e.Mark.Line-1]
		indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
		if i := bytes.IndexByte(indent, '\t'); i >= 0 {
			return m.b.Errorf(lineCol(int32(e.Mark.Line), int32(i+1)), "a tab in the indentation")
		}
	}
	return m.b.Errorf(lineCol(int32(max(mark.Line, 1)), int32(max(mark.Column, 1))), "%s", message)
}

func yamlPlace(n *yaml.Node) workflow.Pos { return lineCol(int32(n.Line), int32(n.Column)) }
