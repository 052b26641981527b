package spec

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// finishStudy makes the checks of shape that need more than one key.
func finishStudy(d *decoder, n *yaml.Node, s *Study) {
	if text := d.places["command"].text; text != "" && !s.Shell {
		d.failAt("command", "command: a list is needed, not a text: write %s, or set shell: true to run it with sh -c",
			flowList(strings.Fields(text)))
	}
	if s.Shell && len(s.Command) > 1 {
		d.failAt("command", "command: with shell: true the command is one text, not a list")
	}
	if s.App != "" && s.Placement.On == "" {
		s.Placement.On = Fleet // only workers have applications
	}
	if s.App != "" && (s.Replay != nil || d.places["command"].line > 0) {
		d.fail(n, "app: a study has one of app, command and replay")
	}
	if s.Replay != nil && d.places["command"].line > 0 {
		d.fail(n, "command and replay: a study has one of them")
	}
	if s.Replay == nil {
		finishParams(d, s)
	}
}

// finishParams gives bounds and values to parameters that need no table for them.
func finishParams(d *decoder, s *Study) {
	for i, p := range s.Params {
		_, hasMin := d.places["parameters."+p.Name+".min"]
		_, hasMax := d.places["parameters."+p.Name+".max"]
		if (p.Type == "int" || p.Type == "real") && !(hasMin && hasMax) && len(p.Values) == 0 {
			d.failAt("parameters."+p.Name, "parameter %s: %s needs min and max", p.Name, p.Type)
			s.Params[i].Min, s.Params[i].Max = 1, 1 // reported once
		}
		if p.Type == "bool" && len(p.Values) == 0 {
			s.Params[i].Values = []string{"false", "true"}
		}
	}
}

// flowList returns words as a YAML list.
func flowList(words []string) string {
	quoted := make([]string, 0, len(words))
	for _, w := range words {
		quoted = append(quoted, strconv.Quote(w))
	}
	if len(quoted) > 8 {
		quoted = append(quoted[:8], "...")
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func readCommand(d *decoder, n *yaml.Node, s *Study) {
	d.mark("command", n)
	if follow(n).Kind != yaml.ScalarNode {
		s.Command = d.texts("command", "argument", n)
		if len(follow(n).Content) == 0 && follow(n).Kind == yaml.SequenceNode {
			d.fail(n, "command: an empty list")
		}
		return
	}
	if t, ok := d.text(n, "command"); ok {
		if strings.TrimSpace(t) == "" {
			d.fail(n, "command: an empty text")
			delete(d.places, "command")
			return
		}
		d.mark("command[0]", n)
		s.Command = []string{t}
	} else {
		delete(d.places, "command")
	}
}

// readEnv reads variables; its first argument begins the messages.
func readEnv(d *decoder, what string, n *yaml.Node) map[string]string {
	return d.variables(n, what, "env", "env", func(_ *yaml.Node, _, text string) (string, bool) { return text, true })
}

func readHook(d *decoder, path string, n *yaml.Node) Hook {
	if follow(n).Kind == yaml.ScalarNode {
		if t, ok := d.text(n, path); ok && strings.TrimSpace(t) != "" {
			d.mark(path+"[0]", n)
			return Hook{Argv: []string{t}, Shell: true}
		} else if ok {
			d.fail(n, "%s: an empty text", path)
		}
		return Hook{}
	}
	argv := d.texts(path, path, n)
	if len(argv) == 0 && len(follow(n).Content) == 0 && follow(n).Kind == yaml.SequenceNode {
		d.fail(n, "%s: an empty list", path)
	}
	return Hook{Argv: argv}
}

// conditions reads a list of expressions, or one alone.
func (d *decoder) conditions(path string, n *yaml.Node) []string {
	if follow(n).Kind == yaml.ScalarNode {
		if t, ok := d.text(n, path); ok {
			d.mark(path+"[0]", n)
			return []string{t}
		}
		return nil
	}
	return d.texts(path, path, n)
}

// option reads the value of an option: a number, true or false, a text, or a
// list of those.
func (d *decoder) option(n *yaml.Node, what string) (any, bool) {
	switch v := follow(n); {
	case v.Kind == yaml.SequenceNode:
		list := []any{}
		for _, e := range v.Content {
			if follow(e).Kind != yaml.ScalarNode {
				d.fail(e, "%s: a number or a text is needed, not %s", what, describe(follow(e)))
				return nil, false
			}
			x, ok := d.option(e, what)
			if !ok {
				return nil, false
			}
			list = append(list, x)
		}
		return list, true
	case v.Kind == yaml.ScalarNode && (v.Tag == "!!int" || v.Tag == "!!float"):
		return unbox(d.number(n, what))
	case v.Kind == yaml.ScalarNode && v.Tag == "!!bool":
		before := len(d.flaws)
		b := d.boolean(n, what)
		return b, len(d.flaws) == before
	}
	return unbox(d.text(n, what))
}

func unbox[T any](x T, ok bool) (any, bool) { return x, ok }

var estimators = []string{"min", "median", "mean"}
