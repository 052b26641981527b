package spec

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/assay-run/assay"
)

// MaxObjectives is the most objectives of a study. With more of them, most trials would be on the Pareto front.
const MaxObjectives = 3

// readObjectives reads {minimize: METRIC}, {minimize: [METRIC, METRIC], maximize: METRIC}, or a list of such mappings.
// An element of a list of metrics may have its own direction.
func readObjectives(d *decoder, n *yaml.Node) (first Objective, others []Objective) {
	var all []Objective
	before := len(d.flaws)
	add := func(maximize bool, n *yaml.Node) {
		d.mark(fmt.Sprintf("objective[%d]", len(all)), n)
		all = append(all, Objective{Metric: d.string("objective", n), Maximize: maximize})
	}
	var read func(maximize bool) func(n *yaml.Node)
	one := func(n *yaml.Node) {
		d.mapping(n, "objective", []field{{"minimize", read(false)}, {"maximize", read(true)}}, nil)
	}
	read = func(maximize bool) func(n *yaml.Node) {
		return func(n *yaml.Node) {
			if follow(n).Kind != yaml.SequenceNode {
				add(maximize, n)
				return
			}
			for _, e := range follow(n).Content {
				if follow(e).Kind == yaml.MappingNode {
					one(e)
				} else {
					add(maximize, e)
				}
			}
		}
	}
	if follow(n).Kind == yaml.SequenceNode {
		for _, e := range follow(n).Content {
			one(e)
		}
	} else {
		one(n)
	}
	if len(all) == 0 {
		if len(d.flaws) == before {
			d.fail(n, "objective: one of minimize and maximize is needed")
		}
		return Objective{}, nil
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all[0], all[1:]
}

// ObjectiveFlags returns the objectives of the flags --minimize and --maximize: metrics with commas
// between them.
func ObjectiveFlags(minimize, maximize string) (first Objective, others []Objective, err error) {
	var all []Objective
	for _, f := range []struct {
		flag, text string
		maximize   bool
	}{{"minimize", minimize, false}, {"maximize", maximize, true}} {
		if f.text == "" {
			continue
		}
		for m := range strings.SplitSeq(f.text, ",") {
			if m = strings.TrimSpace(m); m == "" {
				return first, nil, assay.Errorf(assay.ClassUsage, "--%s %s: a metric is missing", f.flag, f.text)
			}
			all = append(all, Objective{Metric: m, Maximize: f.maximize})
		}
	}
	if len(all) == 0 {
		return first, nil, assay.Errorf(assay.ClassUsage, "--minimize and --maximize name a metric")
	}
	if len(all) == 1 {
		return all[0], nil, nil
	}
	return all[0], all[1:], nil
}

// Objectives returns all objectives of the study, in order.
func (s *Study) Objectives() []Objective {
	first := s.Objective
	if first.Metric == "" {
		first.Metric = "elapsed"
	}
	return append([]Objective{first}, s.Others...)
}

// objectives checks that the objectives are metrics that exist, and the settings that exclude several objectives.
func (c *checker) objectives(known []string) {
	s := c.study
	all := s.Objectives()
	path := func(i int) string { return fmt.Sprintf("objective[%d]", i) }
	for i, o := range all {
		if (i > 0 || s.Objective.Metric != "") && !slices.Contains(known, o.Metric) {
			c.add(path(i), o.Metric, "objective", 0, "%s", unknownMetric(o.Metric, known))
		}
		if k := slices.IndexFunc(all[:i], func(p Objective) bool { return p.Metric == o.Metric }); k >= 0 {
			c.add(path(i), o.Metric, "objective", 0, "the metric %s is an objective twice", clip(o.Metric))
		}
	}
	if len(all) > MaxObjectives {
		c.add(path(MaxObjectives), all[MaxObjectives].Metric, "objective", 0,
			"%d objectives: at most %d are possible; make a limit of one (subject_to)", len(all), MaxObjectives)
	}
	if len(all) == 1 {
		return
	}
	if s.Budget.Target != nil {
		c.add("budget.target", "", "target", 0,
			"several objectives have no target: use a limit, subject_to, or a budget")
	}
	if s.Prior.On() {
		c.add("prior", "", "prior", 0, "earlier studies do not help one with several objectives")
	}
	if s.Placement.Class == Anywhere {
		c.add("place.class", "", "place", 0,
			"class: any is for one objective: measurements of several machine classes have no common Pareto front")
	}
	if s.Repeat.Auto {
		c.add("repeat", "", "repeat", 0,
			"auto compares by one objective: with several, give the number of runs, or leave them to the end of the study")
	}
	if s.Workbench != nil || s.Search.Name == "nimo" {
		c.add("objective[1]", all[1].Metric, "objective", 0, "a cost model is learned of one objective")
	}
}

// limited names the objective that a limit is on, if there are several.
func (c *checker) limited(path, text, where string, names []string) {
	if len(c.study.Others) == 0 {
		return
	}
	for _, o := range c.study.Objectives() {
		if slices.Contains(names, o.Metric) {
			c.add(path, text, where, 0, "%s is an objective: the Pareto front shows the cost of each value, "+
				"so that it needs no limit", clip(o.Metric))
			return
		}
	}
}

// text returns the objectives in words.
func objectivesText(all []Objective) string {
	parts := make([]string, len(all))
	for i, o := range all {
		parts[i] = o.text()
	}
	return strings.Join(parts, ", ")
}

// objectiveNode returns the objectives as they are written in a study file.
func objectiveNode(all []Objective) *yaml.Node {
	one := func(o Objective) *yaml.Node {
		goal := "minimize"
		if o.Maximize {
			goal = "maximize"
		}
		return flow(yaml.MappingNode, scalar(goal), scalar(o.Metric))
	}
	if len(all) == 1 {
		return one(all[0])
	}
	var list []*yaml.Node
	for _, o := range all {
		list = append(list, one(o))
	}
	return flow(yaml.SequenceNode, list...)
}
