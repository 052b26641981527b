package spec

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// readReplay reads the description of a recorded table.
func readReplay(d *decoder, n *yaml.Node) *Replay {
	r := &Replay{}
	before := len(d.flaws)
	d.mark("replay", n)
	d.mapping(n, "replay", []field{
		{"file", func(n *yaml.Node) { r.File = besides(d.name, d.string("replay.file", n)) }},
		{"where", func(n *yaml.Node) { r.Where = d.textMap("replay.where", n) }},
		{"parameters", func(n *yaml.Node) {
			seen := map[string]bool{}
			for i, e := range d.list(n, "replay.parameters") {
				c, ok := d.text(e, fmt.Sprintf("replay.parameters %d", i+1))
				if !ok {
					continue
				}
				if m := nameFlaw(c); m != "" {
					d.fail(e, "column %q: %s", clip(c), m)
				} else if seen[c] {
					d.fail(e, "column %q is listed twice", clip(c))
				}
				seen[c] = true
				r.Parameters = append(r.Parameters, c)
			}
		}},
		{"metrics", func(n *yaml.Node) { r.Metrics = readColumns(d, n) }},
		{"unit_scale", func(n *yaml.Node) {
			r.UnitScale = map[string]float64{}
			d.pairs(n, "replay.unit_scale", func(key, value *yaml.Node) {
				if x, ok := d.number(value, "replay.unit_scale "+clip(key.Value)); ok {
					d.mark("replay.unit_scale."+key.Value, key)
					r.UnitScale[key.Value] = x
					if x <= 0 {
						d.fail(value, "replay.unit_scale %s: a number > 0 is needed", clip(key.Value))
					}
				}
			})
		}},
		{"ok", func(n *yaml.Node) {
			before := len(d.flaws)
			d.mapping(n, "replay.ok", []field{
				{"column", func(n *yaml.Node) { r.OKColumn = d.string("replay.ok.column", n) }},
				{"equals", func(n *yaml.Node) { r.OKEquals = d.string("replay.ok.equals", n) }},
			}, nil)
			if r.OKColumn == "" && len(d.flaws) == before {
				d.fail(n, "replay.ok: column and equals are needed")
			}
		}},
	}, nil)
	if len(d.flaws) == before {
		r.finish(d, n)
	}
	return r
}

// finish makes the checks that need more than one key of a replay.
func (r *Replay) finish(d *decoder, n *yaml.Node) {
	switch {
	case r.File == "":
		d.fail(n, "replay: file is needed")
	case len(r.Parameters) == 0:
		d.fail(n, "replay: parameters (a list of columns) is needed")
	case len(r.Metrics) == 0:
		d.fail(n, "replay: metrics (metric: column) is needed")
	}
	for m := range r.UnitScale {
		if _, ok := r.Metrics[m]; !ok {
			d.failAt("replay.unit_scale."+m, "replay.unit_scale: no metric %s in replay.metrics", clip(m))
		}
	}
}

// readColumns reads metric: COLUMN or metric: [COLUMN, ...].
func readColumns(d *decoder, n *yaml.Node) map[string][]string {
	m := map[string][]string{}
	d.pairs(n, "replay.metrics", func(key, value *yaml.Node) {
		what := "replay.metrics " + clip(key.Value)
		if f := nameFlaw(key.Value); f != "" {
			d.fail(key, "%s: %s", what, f)
			return
		}
		if follow(value).Kind == yaml.ScalarNode {
			if t, ok := d.text(value, what); ok {
				m[key.Value] = []string{t}
			}
			return
		}
		cols := d.texts("replay.metrics."+key.Value, what, value)
		if len(cols) == 0 && follow(value).Kind == yaml.SequenceNode {
			d.fail(value, "%s: an empty list", what)
		}
		m[key.Value] = cols
	})
	return m
}
