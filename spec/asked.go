package spec

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"
)

// ToldMetric is the objective of a study that somebody else makes the runs of, where it names none.
const ToldMetric = "value"

// SetAsked makes a study that says nothing of how to run a program one whose runs somebody else makes: they
// ask for configurations and tell what came of them. It reports whether it is one. A study with a command, an
// application or a table stays as it is.
func (s *Study) SetAsked() bool {
	if s.Online || s.Replay != nil || s.App != "" || len(s.Command) > 0 || s.places["command"].line > 0 {
		return s.Asked
	}
	if s.Asked = true; s.Objective.Metric == "" {
		s.Objective.Metric = ToldMetric
	}
	return true
}

// asked checks a study whose runs somebody else makes: what is said of runs is said to nobody.
func (c *checker) asked() {
	s := c.study
	if !s.Asked {
		for _, m := range s.Metrics {
			if m.Source == "" && !s.Online {
				c.add("metrics."+m.Name, "", "metric "+m.Name, 0, "one of %s is needed", sourceKinds())
			}
		}
		return
	}
	if len(s.Command) > 0 || s.App != "" || s.Replay != nil || s.Online {
		c.add("", "", "asked", 0, "a study whose runs somebody else makes has no command, app or replay")
	}
	for _, k := range s.excluded(External) {
		c.add("key:"+k.top(), "", k.top(), 0, "it is of runs that assay makes: without a command whoever asks makes them")
	}
	for _, m := range s.Metrics {
		if m.Source != "" || m.Poll > 0 || m.Grows {
			c.add("metrics."+m.Name, "", "metric "+m.Name, 0, "whoever makes the runs tells it: no source, poll or grows")
		}
	}
	if s.Budget.Time > 0 {
		c.add("key:budget", "", "budget", 0, "time: the time of runs that somebody else makes is theirs: "+
			"give trials or a target")
	}
}

// toldNames reads a list of names of metrics, which those who make the runs tell.
func (d *decoder) toldNames(n *yaml.Node) []Metric {
	var metrics []Metric
	for i, name := range d.texts("metrics", "metric", n) {
		if flaw := nameFlaw(name); flaw != "" {
			d.fail(follow(n).Content[i], "metric %q: %s", clip(name), flaw)
			continue
		}
		d.places["metrics."+name] = d.places[fmt.Sprintf("metrics[%d]", i)]
		metrics = append(metrics, Metric{Name: name})
	}
	return metrics
}

// told returns the metrics that may be told of a run: those that are declared, the objective, and, if none
// is declared, those of the limits.
func (s *Study) told(limits []string) []string {
	names := []string{s.Objective.Metric}
	for _, m := range s.Metrics {
		names = append(names, m.Name)
	}
	if len(s.Metrics) == 0 {
		names = append(names, limits...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
