package spec

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

func metricNode(m Metric) *yaml.Node {
	if m.Unit == "" && m.Poll == 0 && !m.Grows && m.Source != "" {
		return scalar(m.Source)
	}
	var p pairing
	kind, arg, _ := strings.Cut(m.Source, ":")
	if len(arg) > 1 && strings.HasPrefix(arg, "/") && strings.HasSuffix(arg, "/") {
		arg = arg[1 : len(arg)-1]
	}
	p.add(m.Source != "", kind, scalar(arg))
	p.add(m.Unit != "", "unit", scalar(m.Unit))
	p.add(m.Poll > 0, "poll", span(m.Poll))
	p.add(m.Grows, "grows", plain("true"))
	return flow(yaml.MappingNode, p...)
}
