package spec

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"
)

// ToldMetric is the objective of an external study that names none.
const ToldMetric = "value"

// SetAsked makes a study without a command, an application or a table an external study: its clients ask for
// configurations and report the results. Other studies stay as they are. It reports whether the study is external.
func (s *Study) SetAsked() bool {
	if s.Online || s.Replay != nil || s.App != "" || len(s.Command) > 0 || s.places["command"].line > 0 {
		return s.Asked
	}
	if s.Asked = true; s.Objective.Metric == "" {
		s.Objective.Metric = ToldMetric
	}
	return true
}

// asked checks an external study: it has no settings of how runs are made.
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
		c.add("", "", "asked", 0, "an external study has no command, app or replay")
	}
	for _, k := range s.excluded(External) {
		c.add("key:"+k.top(), "", k.top(), 0, "an external study does not have it: its clients make the runs")
	}
	for _, m := range s.Metrics {
		if m.Source != "" || m.Poll > 0 || m.Grows {
			c.add("metrics."+m.Name, "", "metric "+m.Name, 0, "the client reports it: no source, poll or grows")
		}
	}
	if s.Budget.Time > 0 {
		c.add("key:budget", "", "budget", 0, "time: an external study has no time budget: "+
			"give trials or a target")
	}
}

// readToldNames reads a list of names of metrics that clients report.
func readToldNames(d *decoder, n *yaml.Node) []Metric {
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

// told returns the metrics that a client may report: the declared ones, the objective, and the ones with limits if no
// metric is declared.
func told(s *Study, limits []string) []string {
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
