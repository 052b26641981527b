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

// YAML returns a study file that says what s says, as on record: with the study's own
// directory, and with the parameters of a table spelt out. ok is false if the text would be
// read as another study, and then it is the JSON of the record instead: the text is read
// back to know.
func (s *Study) YAML() (text string, ok bool) {
	w := &writer{}
	w.study(s)
	out, err := yaml.Marshal(&yaml.Node{Kind: yaml.MappingNode, Content: w.top})
	if err == nil && s.same(out) {
		return string(out), true
	}
	out, err = json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("spec: " + err.Error()) // every field can be encoded
	}
	return string(out) + "\n", false
}

// same reports whether a study file is read as s. What earlier studies and a table were
// resolved to is not said by a study file.
func (s *Study) same(file []byte) bool {
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

// A writer makes the nodes of a study file.
type writer struct{ top []*yaml.Node }

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

func (w *writer) study(s *Study) {
	p := (*pairing)(&w.top)
	p.add(s.Name != "", "name", scalar(s.Name))
	switch {
	case s.Shell && len(s.Command) > 0:
		p.add(true, "command", scalar(s.Command[0]))
		p.add(true, "shell", plain("true"))
	default:
		p.add(len(s.Command) > 0, "command", texts(s.Command))
	}
	p.add(s.App != "", "app", scalar(s.App))
	env := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env.Content = append(env.Content, scalar(name), scalar(s.Env[name]))
	}
	p.add(len(s.Env) > 0, "env", env)
	secrets := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range slices.Sorted(maps.Keys(s.Secrets)) {
		secrets.Content = append(secrets.Content, scalar(name), scalar(s.Secrets[name]))
	}
	p.add(len(s.Secrets) > 0, "secrets", secrets)
	p.add(s.Dir != "", "dir", scalar(s.Dir))
	p.around(s)
	p.add(len(s.Prepare.Argv) > 0, "prepare", hookNode(s.Prepare))
	p.add(s.Warmup > 0, "warmup", plain(strconv.Itoa(s.Warmup)))
	p.add(len(s.Cleanup.Argv) > 0, "cleanup", hookNode(s.Cleanup))
	p.add(len(s.Verify.Argv) > 0, "verify", hookNode(s.Verify))
	p.add(s.Replay != nil, "replay", replayNode(s.Replay))
	params := &yaml.Node{Kind: yaml.MappingNode}
	for _, q := range s.Params {
		params.Content = append(params.Content, scalar(q.Name), paramNode(q))
	}
	p.add(len(s.Params) > 0, "parameters", params)
	p.add(len(s.Where) > 0, "where", texts(s.Where))
	p.add(s.Objective.Metric != "" || len(s.Others) > 0, "objective", objectiveNode(s.Objectives()))
	p.add(len(s.SubjectTo) > 0, "subject_to", texts(s.SubjectTo))
	p.measured(s.Metrics)
	w.method(s)
}

// method writes how the study searches, and when it ends.
func (w *writer) method(s *Study) {
	p := (*pairing)(&w.top)
	var search, stop, repeat, prior, budget pairing
	search.add(s.Search.Name != "", "name", scalar(s.Search.Name))
	search.add(true, "seed", plain(strconv.FormatUint(s.Search.Seed, 10)))
	search.options(s.Search.Options)
	p.add(true, "search", flow(yaml.MappingNode, search...))
	stop.add(s.Stop.Rule != "", "rule", scalar(s.Stop.Rule))
	stop.add(s.Stop.Interval > 0, "interval", span(s.Stop.Interval))
	stop.add(s.Stop.Gain > 0, "gain", scalar(GainText(s.Stop.Gain)))
	stop.options(s.Stop.Options)
	p.add(len(stop) > 0, "stop", flow(yaml.MappingNode, stop...))
	repeat.add(s.Repeat.Auto, "runs", scalar("auto"))
	repeat.add(s.Repeat.Runs > 0, "runs", plain(strconv.Itoa(s.Repeat.Runs)))
	repeat.add(s.Repeat.Estimator != "", "estimator", scalar(s.Repeat.Estimator))
	p.add(len(repeat) > 0, "repeat", flow(yaml.MappingNode, repeat...))
	prior.add(s.Prior.Auto, "use", scalar("auto"))
	prior.add(len(s.Prior.Studies) > 0, "use", texts(s.Prior.Studies))
	prior.add(s.Prior.Alpha > 0, "alpha", number(s.Prior.Alpha))
	prior.add(s.Prior.Threshold > 0, "threshold", number(s.Prior.Threshold))
	prior.add(len(s.Prior.Keep) > 0, "keep", texts(s.Prior.Keep))
	prior.add(s.Prior.Rule != "", "rule", scalar(s.Prior.Rule))
	prior.add(s.Prior.Surrogate != "", "surrogate", scalar(s.Prior.Surrogate))
	p.add(len(prior) > 0, "prior", flow(yaml.MappingNode, prior...))
	p.add(s.Level.On(), "level", levelNode(s.Level))
	budget.add(s.Budget.Time > 0, "time", span(s.Budget.Time))
	budget.add(s.Budget.Trials > 0, "trials", plain(strconv.Itoa(s.Budget.Trials)))
	budget.add(s.Budget.CPUHours > 0, "cpu_hours", number(s.Budget.CPUHours))
	if s.Budget.Target != nil {
		budget.add(true, "target", number(*s.Budget.Target))
	}
	p.add(len(budget) > 0, "budget", flow(yaml.MappingNode, budget...))
	p.add(s.Timeout > 0, "timeout", span(s.Timeout))
	p.add(s.Parallel > 0, "parallel", plain(strconv.Itoa(s.Parallel)))
	var place pairing
	place.add(s.Placement.On != "", "on", scalar(s.Placement.On))
	place.add(s.Placement.Class != "", "class", scalar(s.Placement.Class))
	place.add(s.Placement.Target != "", "target", scalar(s.Placement.Target))
	place.batch(s.Placement.Batch)
	p.add(len(place) > 0, "place", flow(yaml.MappingNode, place...))
	if b := s.Workbench; b != nil {
		var bench pairing
		bench.add(b.Data != "", "data", scalar(b.Data))
		bench.add(b.Mount != "", "mount", scalar(b.Mount))
		bench.add(len(b.Traces) > 0, "traces", tracesNode(b.Traces))
		bench.add(b.Passive, "passive", plain("true"))
		p.add(true, "workbench", flow(yaml.MappingNode, bench...))
	}
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
