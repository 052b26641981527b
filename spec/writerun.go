package spec

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// around writes what is done around a run: setup, files and service.
func (p *pairing) around(s *Study) {
	p.add(len(s.Setup.Argv) > 0, "setup", setupNode(s.Setup))
	files := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range s.Files {
		files.Content = append(files.Content, scalar(f.Name), scalar(f.Text))
	}
	p.add(len(s.Files) > 0, "files", files)
	p.add(len(s.Inputs) > 0, "inputs", texts(s.Inputs))
	p.add(len(s.Outputs) > 0, "outputs", texts(s.Outputs))
	p.add(len(s.Shared) > 0, "shared", texts(s.Shared))
	if s.Service != nil {
		p.add(true, "service", serviceNode(*s.Service))
	}
}

func serviceNode(s Service) *yaml.Node {
	var p, ready pairing
	ready.add(len(s.Ready.Command.Argv) > 0, "command", hookNode(s.Ready.Command))
	ready.add(s.Ready.Port != "", "port", scalar(s.Ready.Port))
	ready.add(s.Ready.Output != "", "output", scalar("/"+s.Ready.Output+"/"))
	ready.add(s.Ready.Within > 0, "within", span(s.Ready.Within))
	p.add(true, "start", hookNode(s.Start))
	p.add(len(ready) > 0, "ready", flow(yaml.MappingNode, ready...))
	p.add(len(s.Stop.Argv) > 0, "stop", hookNode(s.Stop))
	p.add(s.Restart != "", "restart", scalar(s.Restart))
	return flow(yaml.MappingNode, p...)
}

func setupNode(s Setup) *yaml.Node {
	if len(s.Argv) == 0 {
		return nil
	}
	var p pairing
	p.add(true, "command", hookNode(s.Hook))
	p.add(len(s.Inputs) > 0, "inputs", texts(s.Inputs))
	p.add(len(s.Uses) > 0, "uses", texts(s.Uses))
	p.add(s.Timeout > 0, "timeout", span(s.Timeout))
	p.add(s.Parallel, "parallel", plain("true"))
	return flow(yaml.MappingNode, p...)
}

// measured writes the metrics of the study's own, and the one that is its progress. They are written in
// their order, as far as there is one: it is part of what is on record.
func (p *pairing) measured(all []Metric) {
	metrics := &yaml.Node{Kind: yaml.MappingNode}
	for _, m := range all {
		if m.Poll != progressPoll {
			metrics.Content = append(metrics.Content, scalar(m.Name), metricNode(m))
		}
	}
	progress := func() {
		for _, m := range all {
			if m.Poll == progressPoll {
				var q pairing
				q.add(true, "metric", scalar(m.Name))
				q.add(true, "source", scalar(m.Source))
				q.add(m.Unit != "", "unit", scalar(m.Unit))
				q.add(m.Grows, "grows", plain("true"))
				p.add(true, "progress", flow(yaml.MappingNode, q...))
			}
		}
	}
	first := slices.IndexFunc(all, func(m Metric) bool { return m.Poll == progressPoll }) == 0
	if first {
		progress()
	}
	p.add(len(metrics.Content) > 0, "metrics", metrics)
	if !first {
		progress()
	}
}

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
