package spec

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// readParams reads the mapping of parameters in file order. A parameter is a
// mapping, or a text as after -p NAME=, or a list of values.
func readParams(d *decoder, n *yaml.Node) []Param {
	var params []Param
	d.pairs(n, "parameters", func(key, value *yaml.Node) {
		if m := nameFlaw(key.Value); m != "" {
			d.fail(key, "parameter %q: %s", clip(key.Value), m)
			return
		}
		path := "parameters." + key.Value
		d.mark(path, key)
		before := len(d.flaws)
		var p Param
		switch v := follow(value); v.Kind {
		case yaml.ScalarNode:
			p = readShortParam(d, path, key.Value, value)
		case yaml.SequenceNode:
			p = Param{Name: key.Value, Values: readValues(d, path, value)}
			p.Type, p.Values = typeOf(p.Values)
		default:
			p = readFullParam(d, path, key, value)
		}
		if len(d.flaws) == before {
			params = append(params, p)
		}
	})
	return params
}

func readShortParam(d *decoder, path, name string, n *yaml.Node) Param {
	spec, ok := d.text(n, "parameter "+name)
	if !ok {
		return Param{}
	}
	p, flaw := parseSpec(name, spec)
	if flaw != nil {
		d.mark(path+".spec", n)
		at := d.places[path+".spec"]
		f := Flaw{File: d.name, Line: at.line, Column: at.column, Message: "parameter " + name + ": " + flaw.message}
		if at.inline {
			f.Column += len([]rune(spec[:min(flaw.at, len(spec))]))
		}
		d.flaws = append(d.flaws, f)
		return Param{}
	}
	d.mark(path+".min", n)
	d.mark(path+".max", n)
	return p
}

func readFullParam(d *decoder, path string, key, n *yaml.Node) Param {
	what := "parameter " + key.Value
	p := Param{Name: key.Value}
	num := func(name string, x *float64) field {
		return field{name, func(n *yaml.Node) {
			var ok bool
			if *x, ok = d.number(n, what+": "+name); ok {
				d.mark(path+"."+name, n)
				if name == "step" && *x <= 0 {
					d.fail(n, "%s: step %s is not positive", what, follow(n).Value)
				}
			}
		}}
	}
	before := len(d.flaws)
	d.mapping(n, what, []field{
		{"type", func(n *yaml.Node) {
			p.Type, _ = d.choice(n, what+": type", kindNames()...)
			d.mark(path+".type", n)
		}},
		num("min", &p.Min), num("max", &p.Max), num("step", &p.Step),
		{"log", func(n *yaml.Node) { p.Log = d.boolean(n, what+": log") }},
		{"values", func(n *yaml.Node) {
			d.mark(path+".values", n)
			p.Values = readValues(d, path, n)
		}},
		{"default", func(n *yaml.Node) {
			if t, ok := d.text(n, what+": default"); ok {
				d.mark(path+".default", n)
				p.Default = &t
			}
		}},
		{"unit", func(n *yaml.Node) { p.Unit, _ = d.text(n, what+": unit") }},
		{"when", func(n *yaml.Node) {
			if t, ok := d.text(n, what+": when"); ok {
				d.mark(path+".when", n)
				p.When = t
			}
		}},
	}, nil)
	if len(d.flaws) > before {
		return p
	}
	p.inferType(d, path)
	return p
}

// inferType gives a type to a parameter that states none, and brings the values
// of a bool into the order off, on.
func (p *Param) inferType(d *decoder, path string) {
	at := func(key string) string { return d.places[path+"."+key].text }
	switch {
	case p.Type == "bool" && len(p.Values) == 2:
		if v, ok := switchValues(p.Values[0], p.Values[1]); ok {
			p.Values = v
		}
	case p.Type != "":
	case len(p.Values) > 0:
		p.Type, p.Values = typeOf(p.Values)
	case at("min") != "" && at("max") != "":
		p.Type = "int"
		if strings.ContainsAny(at("min")+at("max"), ".eE") {
			p.Type = "real"
		}
	default:
		d.failAt(path, "parameter %s needs a type, values, or min and max", p.Name)
	}
}

// readValues reads a list of values; numbers and words keep the text as written.
func readValues(d *decoder, path string, n *yaml.Node) []string {
	elements := d.list(n, "values")
	if len(elements) > maxValues {
		d.fail(n, "more than 10,000 values: state a range, or keep them in a table")
		return nil
	}
	if len(elements) == 0 && follow(n).Kind == yaml.SequenceNode {
		d.fail(n, "values: an empty list")
	}
	var out []string
	seen := make(map[string]bool, len(elements))
	for i, e := range elements {
		t, ok := d.text(e, fmt.Sprintf("value %d", i+1))
		if !ok {
			continue
		}
		if seen[t] {
			d.fail(e, "value %q is listed twice", clip(t))
			continue
		}
		seen[t] = true
		out = append(out, t)
	}
	return out
}
