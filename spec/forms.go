package spec

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// This file is the forms of values that their types do not explain.

func unwritten(*Study) *yaml.Node { return nil }

var (
	expressionSchema = `{"anyOf": [{"$ref": "#/$defs/names"}, {"type": "boolean"}]}`

	commandForm = form{
		value: "list of texts; one text if `shell`", schema: `{"$ref": "#/$defs/hook"}`,
		read: func(d *decoder, _ *Key, n *yaml.Node, s *Study) { readCommand(d, n, s) },
		node: func(s *Study) *yaml.Node {
			if s.Shell && len(s.Command) > 0 {
				return scalar(s.Command[0])
			}
			return textsOrNil(s.Command)
		},
	}
	envForm = form{
		value: "NAME: text", schema: `{"type": "object", "additionalProperties": {"$ref": "#/$defs/scalar"}}`,
		read: reads(func(d *decoder, n *yaml.Node) map[string]string { return readEnv(d, "", n) }),
	}
	secretsForm = form{
		value:  "NAME: `env:VARIABLE` or `file:PATH`",
		schema: `{"type": "object", "additionalProperties": {"type": "string", "pattern": "^(env|file):."}}`,
		read:   reads(func(d *decoder, n *yaml.Node) map[string]string { return readSecrets(d, "", n) }),
	}
	filesForm = form{
		value: "NAME: text", schema: `{"type": "object", "additionalProperties": {"$ref": "#/$defs/scalar"}}`,
		read: reads(readFiles),
		node: func(s *Study) *yaml.Node {
			var p pairing
			for _, f := range s.Files {
				p.add(true, f.Name, scalar(f.Text))
			}
			return p.block()
		},
	}
	pathForm = form{
		value: "path",
		read: func(d *decoder, k *Key, n *yaml.Node, s *Study) {
			d.mark(k.Path, n)
			*k.field(s).(*string) = d.directory(k.Path, n)
		},
	}
	listForm = form{
		value: "list", schema: `{"type": "array", "items": {"$ref": "#/$defs/scalar"}}`,
		read: func(d *decoder, k *Key, n *yaml.Node, s *Study) { *k.field(s).(*[]string) = d.texts(k.Path, k.Path, n) },
	}
	sizeForm = form{
		value: "number, or a text with placeholders",
		read: func(d *decoder, k *Key, n *yaml.Node, s *Study) {
			if kind := follow(n).Kind; kind == yaml.MappingNode || kind == yaml.SequenceNode {
				d.fail(n, "%[2]s: a parameter is declared in parameters, such as %[1]s: {min: 1, max: 64}, and stands here as "+
					"%[1]s: '{%[1]s}'", k.name(), k.Path)
				return
			}
			*k.field(s).(*string) = d.string(k.Path, n)
		},
	}
	readyOutputForm = form{
		value: "expression",
		read: func(d *decoder, k *Key, n *yaml.Node, s *Study) {
			r := &s.Service.Ready
			r.Output = d.string(k.Path, n)
			if t := r.Output; len(t) > 1 && t[0] == '/' && t[len(t)-1] == '/' {
				r.Output = t[1 : len(t)-1]
			}
			if _, err := regexp.Compile(r.Output); err != nil {
				d.fail(n, "%s: %v", k.Path, err)
			}
		},
		node: func(s *Study) *yaml.Node {
			if s.Service.Ready.Output == "" {
				return nil
			}
			return scalar("/" + s.Service.Ready.Output + "/")
		},
	}
	parametersForm = form{
		value: "name: parameter", schema: "parameters",
		read: reads(readParams),
		node: func(s *Study) *yaml.Node {
			var p pairing
			for _, q := range s.Params {
				p.add(true, q.Name, paramNode(q))
			}
			return p.block()
		},
	}
	objectiveForm = form{
		value: "`{minimize: METRIC}`, `{maximize: METRIC}`, or a list", schema: "objective",
		read: func(d *decoder, _ *Key, n *yaml.Node, s *Study) { s.Objective, s.Others = readObjectives(d, n) },
		node: func(s *Study) *yaml.Node {
			if s.Objective.Metric == "" && len(s.Others) == 0 {
				return nil
			}
			return objectiveNode(s.Objectives())
		},
	}
	metricsForm = form{
		value: "name: source; of an external study also a list of names", schema: "metrics",
		read: func(d *decoder, _ *Key, n *yaml.Node, s *Study) { s.Metrics = append(s.Metrics, readMetrics(d, n)...) },
		node: func(s *Study) *yaml.Node {
			var p pairing
			for _, m := range s.Metrics {
				p.add(m.Poll != progressPoll, m.Name, metricNode(m))
			}
			return p.block()
		},
	}
	progressForm = form{
		value: "`{metric, source, unit, grows}`", schema: "progress",
		read: func(d *decoder, _ *Key, n *yaml.Node, s *Study) { s.Metrics = append(s.Metrics, readProgress(d, n)) },
		node: progressNode,
	}
	replayForm = form{
		value: "mapping", schema: "replay",
		read: reads(readReplay),
		node: func(s *Study) *yaml.Node {
			if s.Replay == nil {
				return nil
			}
			return replayNode(s.Replay)
		},
	}
	tracesForm = form{
		value: "NAME: trace", schema: `{"type": "object"}`,
		read: reads(readTraces),
		node: func(s *Study) *yaml.Node {
			if len(s.Workbench.Traces) == 0 {
				return nil
			}
			return tracesNode(s.Workbench.Traces)
		},
	}
	gainForm = form{
		value: "share, such as 1%, or none",
		read: func(d *decoder, k *Key, n *yaml.Node, s *Study) {
			parsed(d, k, n, ParseGain, &s.Stop.Gain)
		},
		node: func(s *Study) *yaml.Node {
			if s.Stop.Gain == 0 {
				return nil
			}
			return scalar(GainText(s.Stop.Gain))
		},
		schema: `{"$ref": "#/$defs/scalar"}`,
	}
	targetForm = form{
		value: "number, or a duration for its seconds", schema: `{"$ref": "#/$defs/scalar"}`,
		read: func(d *decoder, k *Key, n *yaml.Node, s *Study) {
			var x float64
			if parsed(d, k, n, ParseTarget, &x) {
				s.Budget.Target = &x
			}
		},
		node: func(s *Study) *yaml.Node {
			if s.Budget.Target == nil {
				return nil
			}
			return number(*s.Budget.Target)
		},
	}
	runsForm = form{
		value: "whole number >= 1, or auto", schema: `{"anyOf": [{"$ref": "#/$defs/count"}, {"const": "auto"}]}`,
		read: func(d *decoder, k *Key, n *yaml.Node, s *Study) {
			s.Repeat.Runs, s.Repeat.Auto = 0, false
			if t := follow(n); t.Kind == yaml.ScalarNode && t.Value == "auto" {
				s.Repeat.Auto = true
				d.mark("repeat", n)
				return
			}
			s.Repeat.Runs, _ = d.integer(n, k.Path, 1)
		},
		node: func(s *Study) *yaml.Node {
			switch {
			case s.Repeat.Auto:
				return scalar("auto")
			case s.Repeat.Runs > 0:
				return plain(strconv.Itoa(s.Repeat.Runs))
			}
			return nil
		},
	}
	alphaForm = form{
		value: "number between 0 and 1, or auto", schema: `{"$ref": "#/$defs/scalar"}`,
		read: func(d *decoder, k *Key, n *yaml.Node, s *Study) {
			if s.Prior.Alpha = 0; follow(n).Value != "auto" {
				d.mark(k.Path, n)
				k.readScalar(d, n, &s.Prior.Alpha)
			}
		},
	}
	priorForm = form{
		value: "`auto`, `none`, or names", lists: true, schema: `{"$ref": "#/$defs/names"}`,
		read: func(d *decoder, _ *Key, n *yaml.Node, s *Study) {
			p := &s.Prior
			if follow(n).Kind == yaml.SequenceNode {
				p.Studies = d.texts("prior", "prior", n)
				return
			}
			t := d.string("prior", n)
			var ok bool
			p.None = t == "none"
			if p.Auto, p.Studies, ok = ParsePrior(t); !ok && t != "" {
				d.fail(n, "prior: %q is neither auto, none nor a list of different names", clip(t))
			}
		},
		node: func(s *Study) *yaml.Node {
			switch {
			case s.Prior.Auto:
				return scalar("auto")
			case s.Prior.None:
				return scalar("none")
			}
			return textsOrNil(s.Prior.Studies)
		},
	}
	parallelForm = form{
		read: func(d *decoder, k *Key, n *yaml.Node, s *Study) {
			if s.Parallel > 0 && d.places["place.parallel"].line > 0 {
				d.fail(n, "parallel: place.parallel is set already")
			}
			d.mark(k.Path, n)
			s.Parallel, _ = d.integer(n, k.Path, k.Least)
		},
	}
)

// reads is a form's reading by a function that returns the value.
func reads[T any](read func(*decoder, *yaml.Node) T) func(*decoder, *Key, *yaml.Node, *Study) {
	return func(d *decoder, k *Key, n *yaml.Node, s *Study) { *k.field(s).(*T) = read(d, n) }
}

// shellNode writes shell where there is a command for it.
func shellNode(s *Study) *yaml.Node {
	if !s.Shell || len(s.Command) == 0 {
		return nil
	}
	return plain("true")
}

// parsed reads a text that parse understands, and reports whether it does.
func parsed[T any](d *decoder, k *Key, n *yaml.Node, parse func(string) (T, error), to *T) bool {
	t, ok := d.text(n, k.Path)
	if !ok {
		return false
	}
	d.mark(k.Path, n)
	x, err := parse(t)
	if err != nil {
		d.fail(n, "%s: %v", k.Path, err)
		return false
	}
	*to = x
	return true
}

// readPlaceParallel reads the number of runs at once, which the top of the file may have as well.
func readPlaceParallel(d *decoder, k *Key, n *yaml.Node, s *Study) {
	if s.Parallel > 0 {
		d.fail(n, "%s: parallel is set already", k.Path)
	}
	d.mark(k.Path, n)
	s.Parallel, _ = d.integer(n, k.Path, k.Least)
}

// readPlaceTime reads the longest time of a job, or auto.
func readPlaceTime(d *decoder, k *Key, n *yaml.Node, s *Study) {
	if t, ok := d.text(n, k.Path); ok && t != "auto" {
		s.Placement.Batch.Time, _ = d.duration(n, k.Path)
		d.mark(k.Path, n)
	}
}

// readDataSet reads a directory, which may be in the folder of the setup: then the path is
// left as it is.
func readDataSet(d *decoder, k *Key, n *yaml.Node, s *Study) {
	d.mark(k.Path, n)
	if t := follow(n).Value; strings.HasPrefix(t, "{"+setupName+"}") {
		s.Workbench.Data = d.string(k.Path, n)
		return
	}
	s.Workbench.Data = d.directory(k.Path, n)
}

// progressNode writes the metric that is the progress of the study.
func progressNode(s *Study) *yaml.Node {
	m, ok := s.Progress()
	if !ok {
		return nil
	}
	var q pairing
	q.add(true, "metric", scalar(m.Name))
	q.add(true, "source", scalar(m.Source))
	q.add(m.Unit != "", "unit", scalar(m.Unit))
	q.add(m.Grows, "grows", plain("true"))
	return flow(yaml.MappingNode, q...)
}

func textsOrNil(of []string) *yaml.Node {
	if len(of) == 0 {
		return nil
	}
	return texts(of)
}

// textMap writes names and texts in the order of the names.
func textMap(of map[string]string) *yaml.Node {
	var p pairing
	for _, name := range slices.Sorted(maps.Keys(of)) {
		p.add(true, name, scalar(of[name]))
	}
	return p.block()
}

func finishSetup(d *decoder, n *yaml.Node, s *Study) {
	if len(s.Setup.Argv) == 0 {
		d.fail(n, "setup: a command is needed")
	}
}

func finishService(d *decoder, n *yaml.Node, s *Study) {
	if len(s.Service.Start.Argv) == 0 {
		d.fail(n, "service: start is needed, the command that starts it")
	}
}

func finishReady(d *decoder, n *yaml.Node, s *Study) {
	if r := s.Service.Ready; len(r.Command.Argv) == 0 && r.Port == "" && r.Output == "" && r.Within == 0 {
		d.fail(n, "service.ready: one of command, port and output is needed")
	}
}

func finishLevel(d *decoder, n *yaml.Node, s *Study) {
	switch l := s.Level; {
	case l.Parameter == "":
		d.fail(n, "level: a parameter is needed, such as {parameter: size, full: 100}")
	case l.Full == "":
		d.fail(n, "level: full is needed, the value of %s at which a run is an answer", clip(l.Parameter))
	default:
		return
	}
	s.Level = Level{}
}

func finishPlace(d *decoder, _ *yaml.Node, s *Study) {
	if d.places["place.target"].line > 0 && s.Placement.Class != Anywhere {
		d.failAt("place.target", "place.target: it goes with class: any; any other class is the target itself")
	}
}
