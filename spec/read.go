package spec

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// study reads the keys of a study file into s.
func (d *decoder) study(n *yaml.Node, s *Study) {
	keys := d.keys(s)
	for i, k := range keys {
		keys[i].read = func(n *yaml.Node) {
			d.mark("key:"+k.key, n)
			k.read(n)
		}
	}
	d.mapping(n, "the study", keys, nil)
	d.finish(n, s)
}

// keys returns the keys of a study file, each with what reads it into s.
func (d *decoder) keys(s *Study) []field {
	return []field{
		{"name", func(n *yaml.Node) { s.Name = d.string("name", n) }},
		{"command", func(n *yaml.Node) { d.command(n, s) }},
		{"app", func(n *yaml.Node) { s.App = d.string("app", n) }},
		{"shell", func(n *yaml.Node) { s.Shell = d.boolean(n, "shell") }},
		{"env", func(n *yaml.Node) { s.Env = d.env(n) }},
		{"secrets", func(n *yaml.Node) { s.Secrets = d.secrets("", n) }},
		{"dir", func(n *yaml.Node) { s.Dir = d.directory("dir", n) }},
		{"setup", func(n *yaml.Node) { s.Setup = d.setup(n) }},
		{"prepare", func(n *yaml.Node) { s.Prepare = d.hook("prepare", n) }},
		{"warmup", func(n *yaml.Node) { s.Warmup, _ = d.integer(n, "warmup", 0) }},
		{"cleanup", func(n *yaml.Node) { s.Cleanup = d.hook("cleanup", n) }},
		{"service", func(n *yaml.Node) { s.Service = d.service(n) }},
		{"files", func(n *yaml.Node) { s.Files = d.filesKey(n) }},
		{"inputs", func(n *yaml.Node) { s.Inputs = d.conditions("inputs", n) }},
		{"outputs", func(n *yaml.Node) { s.Outputs = d.conditions("outputs", n) }},
		{"shared", func(n *yaml.Node) { s.Shared = d.conditions("shared", n) }},
		{"verify", func(n *yaml.Node) { s.Verify = d.hook("verify", n) }},
		{"parameters", func(n *yaml.Node) { s.Params = d.parameters(n) }},
		{"where", func(n *yaml.Node) { s.Where = d.conditions("where", n) }},
		{"objective", func(n *yaml.Node) { s.Objective, s.Others = d.objectives(n) }},
		{"subject_to", func(n *yaml.Node) { s.SubjectTo = d.conditions("subject_to", n) }},
		{"metrics", func(n *yaml.Node) { s.Metrics = append(s.Metrics, d.metrics(n)...) }},
		{"progress", func(n *yaml.Node) { s.Metrics = append(s.Metrics, d.progress(n)) }},
		{"search", func(n *yaml.Node) { s.Search = d.search(n) }},
		{"stop", func(n *yaml.Node) { s.Stop = d.stop(n) }},
		{"repeat", func(n *yaml.Node) { s.Repeat = d.repeat(n) }},
		{"prior", func(n *yaml.Node) {
			d.mark("prior", n)
			s.Prior = d.prior(n)
		}},
		{"level", func(n *yaml.Node) { s.Level = d.level(n) }},
		{"budget", func(n *yaml.Node) { s.Budget = d.budget(n) }},
		{"timeout", func(n *yaml.Node) { s.Timeout, _ = d.duration(n, "timeout") }},
		{"parallel", func(n *yaml.Node) {
			if s.Parallel > 0 {
				d.fail(n, "parallel: place says it already")
			}
			s.Parallel, _ = d.integer(n, "parallel", 1)
		}},
		{"place", func(n *yaml.Node) { s.Placement = d.placement(n, s) }},
		{"workbench", func(n *yaml.Node) { s.Workbench = d.workbench(n) }},
		{"replay", func(n *yaml.Node) { s.Replay = d.replay(n) }},
	}
}

// finish makes the checks of shape that need more than one key.
func (d *decoder) finish(n *yaml.Node, s *Study) {
	if p, ok := d.places["command"]; ok && p.text != "" && !s.Shell {
		d.flaws = append(d.flaws, Flaw{
			File: d.name, Line: p.line, Column: p.column,
			Message: "command: a list is needed, not a text: write " +
				flowList(strings.Fields(p.text)) + ", or set shell: true to run it with sh -c",
		})
	}
	if s.Shell && len(s.Command) > 1 {
		p := d.places["command"]
		d.flaws = append(d.flaws, Flaw{
			File: d.name, Line: p.line, Column: p.column,
			Message: "command: with shell: true the command is one text, not a list",
		})
	}
	if s.App != "" && s.Placement.On == "" {
		s.Placement.On = Fleet // nobody else has applications
	}
	if s.App != "" && (s.Replay != nil || d.places["command"].line > 0) {
		d.fail(n, "app: a study has one of app, command and replay")
	}
	if s.Replay != nil && d.places["command"].line > 0 {
		d.fail(n, "command and replay: a study has one of them")
	}
	if s.Replay != nil {
		return
	}
	for i, p := range s.Params {
		at := d.places["parameters."+p.Name]
		_, hasMin := d.places["parameters."+p.Name+".min"]
		_, hasMax := d.places["parameters."+p.Name+".max"]
		if (p.Type == "int" || p.Type == "real") && !(hasMin && hasMax) && len(p.Values) == 0 {
			d.flaws = append(d.flaws, Flaw{
				File: d.name, Line: at.line, Column: at.column,
				Message: "parameter " + p.Name + ": " + p.Type + " needs min and max",
			})
			s.Params[i].Min, s.Params[i].Max = 1, 1 // said once
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

// string reads a text and remembers its place.
func (d *decoder) string(path string, n *yaml.Node) string {
	t, ok := d.text(n, path)
	if ok {
		d.mark(path, n)
	}
	return t
}

// directory reads a path that starts at the study file. It is absolute, so that
// the study is the same one from wherever it is started.
func (d *decoder) directory(key string, n *yaml.Node) string {
	t := d.string(key, n)
	if t == "" {
		return ""
	}
	path, err := filepath.Abs(besides(d.name, t))
	if err != nil {
		d.fail(n, "%s: %v", key, err)
	}
	return path
}

func (d *decoder) command(n *yaml.Node, s *Study) {
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

func (d *decoder) env(n *yaml.Node) map[string]string {
	env := map[string]string{}
	d.pairs(n, "env", func(key, value *yaml.Node) {
		if key.Value == "" || strings.ContainsAny(key.Value, "=\x00") {
			d.fail(key, "env: %q is no name of a variable", clip(key.Value))
			return
		}
		if t, ok := d.text(value, "env "+clip(key.Value)); ok {
			d.mark("env."+key.Value, value)
			env[key.Value] = t
		}
	})
	return env
}

func (d *decoder) hook(path string, n *yaml.Node) Hook {
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

// method reads NAME alone or {name: NAME, ...}, where the other keys are fields
// or options.
func (d *decoder) method(path, key string, n *yaml.Node, name *string, options *map[string]any, fields ...field) {
	if follow(n).Kind == yaml.ScalarNode {
		*name = d.string(path+"."+key, n)
		return
	}
	fields = append(fields, field{key, func(n *yaml.Node) { *name = d.string(path+"."+key, n) }})
	d.mapping(n, path, fields, func(key, value *yaml.Node) {
		if v, ok := d.option(value, path+"."+clip(key.Value)); ok {
			d.mark(path+"."+key.Value, key)
			if *options == nil {
				*options = map[string]any{}
			}
			(*options)[key.Value] = v
		}
	})
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

func (d *decoder) search(n *yaml.Node) (m Method) {
	d.method("search", "name", n, &m.Name, &m.Options, field{"seed", func(n *yaml.Node) {
		t, ok := d.text(n, "search.seed")
		if !ok {
			return
		}
		seed, err := strconv.ParseUint(t, 10, 64)
		if err != nil {
			d.fail(n, "search.seed: a whole number from 0 to 2^64-1 is needed, not %q", clip(t))
		}
		m.Seed = seed
	}})
	return m
}

func (d *decoder) stop(n *yaml.Node) (s Stop) {
	d.method("stop", "rule", n, &s.Rule, &s.Options, field{"interval", func(n *yaml.Node) {
		s.Interval, _ = d.duration(n, "stop.interval")
	}}, field{"gain", func(n *yaml.Node) {
		t, ok := d.text(n, "stop.gain")
		if !ok {
			return
		}
		d.mark("stop.gain", n)
		gain, err := ParseGain(t)
		if err != nil {
			d.fail(n, "stop.gain: %v", err)
		}
		s.Gain = gain
	}})
	return s
}

func (d *decoder) repeat(n *yaml.Node) (r Repeat) {
	runs := func(n *yaml.Node) {
		if t := follow(n); t.Kind == yaml.ScalarNode && t.Value == "auto" {
			r.Auto = true
			d.mark("repeat", n)
			return
		}
		r.Runs, _ = d.integer(n, "repeat.runs", 1)
	}
	if follow(n).Kind == yaml.ScalarNode {
		runs(n)
		return r
	}
	d.mapping(n, "repeat", []field{
		{"runs", runs},
		{"estimator", func(n *yaml.Node) { r.Estimator, _ = d.choice(n, "repeat.estimator", estimators...) }},
	}, nil)
	return r
}

var estimators = []string{"min", "median", "mean"}

func (d *decoder) budget(n *yaml.Node) (b Budget) {
	span := func(n *yaml.Node) {
		var ok bool
		if b.Time, ok = d.duration(n, "budget.time"); ok && b.Time == 0 {
			d.fail(n, "budget.time: more than 0 is needed")
		}
	}
	if follow(n).Kind == yaml.ScalarNode {
		span(n)
		return b
	}
	d.mapping(n, "budget", []field{
		{"time", span},
		{"trials", func(n *yaml.Node) { b.Trials, _ = d.integer(n, "budget.trials", 1) }},
		{"target", func(n *yaml.Node) {
			text, ok := d.text(n, "budget.target")
			if !ok {
				return
			}
			x, err := ParseTarget(text)
			if err != nil {
				d.fail(n, "budget.target: %v", err)
				return
			}
			b.Target = &x
			d.mark("budget.target", n)
		}},
		{"cpu_hours", func(n *yaml.Node) {
			d.mark("budget.cpu_hours", n)
			var ok bool
			if b.CPUHours, ok = d.number(n, "budget.cpu_hours"); ok && !(b.CPUHours > 0 && b.CPUHours < math.Inf(1)) {
				d.fail(n, "budget.cpu_hours: more than 0 is needed")
			}
		}},
	}, nil)
	return b
}
