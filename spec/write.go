package spec

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/assay-run/assay"
)

// YAML returns a study file that defines s as on record: with the study's own directory, and with the parameters of a
// table spelt out. The text is read back: if that gives another study, ok is false, and the text is the JSON of the
// record instead.
func (s *Study) YAML() (text string, ok bool) {
	out, err := yaml.Marshal(&yaml.Node{Kind: yaml.MappingNode, Content: nodesOf(s)})
	if err == nil && sameStudy(s, out) {
		return string(out), true
	}
	out, err = json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("spec: " + err.Error()) // every field can be encoded
	}
	return string(out) + "\n", false
}

// sameStudy reports whether a study file is read as s. A study file does not contain the resolved earlier studies and
// table.
func sameStudy(s *Study, file []byte) bool {
	back, _, err := Parse("study.yaml", file, func(back *Study) error {
		if s.Asked {
			back.SetAsked()
		}
		return nil
	})
	if err != nil {
		return false
	}
	is := *s
	is.Prior.Resolved, is.Configs, is.Staged, is.Searchers = nil, nil, nil, 0
	if s.Replay != nil {
		r := *s.Replay
		r.Digest = ""
		is.Replay = &r
	}
	is.Version, back.Version = Version, Version
	a, errA := json.Marshal(is)
	b, errB := json.Marshal(back)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// nodesOf returns the keys of a study file and their values. Metrics are written in their order, if they have one: it
// is part of the record.
func nodesOf(s *Study) []*yaml.Node {
	var p pairing
	for _, k := range keysIn("") {
		if k.stored {
			continue
		}
		n := k.node(s)
		if k.Path == "progress" && n != nil && s.Metrics[0].Poll == progressPoll && len(s.Metrics) > 1 {
			p = slices.Insert(p, len(p)-2, scalar(k.Path), n) // before the metrics
			continue
		}
		p.add(n != nil, k.Path, n)
	}
	return p
}

func scalar(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	return n
}

// plain is a scalar of another type than a text.
func plain(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

func number(x float64) *yaml.Node { return plain(assay.FormatNumber(x)) }

func flow(kind yaml.Kind, of ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: kind, Style: yaml.FlowStyle, Content: of}
}

func texts(of []string) *yaml.Node {
	n := flow(yaml.SequenceNode)
	for _, t := range of {
		n.Content = append(n.Content, scalar(t))
	}
	return n
}

// A pairing is a mapping that is being made; keys without a value are left out.
type pairing []*yaml.Node

func (p *pairing) add(given bool, key string, value *yaml.Node) {
	if given {
		*p = append(*p, scalar(key), value)
	}
}

// block returns the mapping over several lines; nil if it is empty.
func (p pairing) block() *yaml.Node {
	if len(p) == 0 {
		return nil
	}
	return &yaml.Node{Kind: yaml.MappingNode, Content: p}
}

func span(d time.Duration) *yaml.Node { return scalar(d.String()) }

// options appends the options of a method in lexical order.
func (p *pairing) options(of map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(of)) {
		p.add(true, key, optionNode(of[key]))
	}
}

func optionNode(v any) *yaml.Node {
	switch v := v.(type) {
	case []any:
		n := flow(yaml.SequenceNode)
		for _, e := range v {
			n.Content = append(n.Content, optionNode(e))
		}
		return n
	case float64:
		return number(v)
	case bool:
		return plain(strconv.FormatBool(v))
	case string:
		return scalar(v)
	}
	return plain("null") // is no option, so that the text is not read back as the study
}

func hookNode(h Hook) *yaml.Node {
	if h.Shell {
		return scalar(h.Argv[0])
	}
	return texts(h.Argv)
}

func paramNode(q Param) *yaml.Node {
	var p pairing
	numeric := q.Type == "int" || q.Type == "real"
	p.add(true, "type", scalar(q.Type))
	p.add(numeric, "min", number(q.Min))
	p.add(numeric, "max", number(q.Max))
	p.add(q.Step > 0, "step", number(q.Step))
	p.add(q.Log, "log", plain("true"))
	p.add(len(q.Values) > 0, "values", texts(q.Values))
	if q.Default != nil {
		p.add(true, "default", scalar(*q.Default))
	}
	p.add(q.Unit != "", "unit", scalar(q.Unit))
	p.add(q.When != "", "when", scalar(q.When))
	return flow(yaml.MappingNode, p...)
}

func replayNode(r *Replay) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	if r == nil {
		return n
	}
	var p, where, metrics, scales pairing
	p.add(true, "file", scalar(r.File))
	for _, column := range slices.Sorted(maps.Keys(r.Where)) {
		where.add(true, column, scalar(r.Where[column]))
	}
	p.add(len(where) > 0, "where", flow(yaml.MappingNode, where...))
	p.add(true, "parameters", texts(r.Parameters))
	for _, metric := range slices.Sorted(maps.Keys(r.Metrics)) {
		columns := texts(r.Metrics[metric])
		if len(r.Metrics[metric]) == 1 {
			columns = columns.Content[0]
		}
		metrics.add(true, metric, columns)
	}
	p.add(true, "metrics", flow(yaml.MappingNode, metrics...))
	for _, metric := range slices.Sorted(maps.Keys(r.UnitScale)) {
		scales.add(true, metric, number(r.UnitScale[metric]))
	}
	p.add(len(scales) > 0, "unit_scale", flow(yaml.MappingNode, scales...))
	p.add(r.OKColumn != "", "ok", flow(yaml.MappingNode, scalar("column"), scalar(r.OKColumn), scalar("equals"),
		scalar(r.OKEquals)))
	n.Content = p
	return n
}
