package spec

import (
	"errors"
	"slices"
	"strings"

	"github.com/assay-run/assay"
)

// A Workbench runs the command on emulated resources: the parameters with the names of [Resources] are its
// assignment.
type Workbench struct {
	// Data is the directory of the data set, which the program reads and writes over the emulated network, from the
	// emulated disk. It is a template: with parameters, or {setup}, it is another directory for each of their values, so
	// that attributes of the data vary with the resources.
	Data string `json:"data,omitempty"`
	// Mount is where the program sees the data set; "" means at Data itself.
	Mount string `json:"mount,omitempty"`
	// Passive emulates nothing, and takes the measures of a workbench from real runs: no parameter is then a resource.
	Passive bool `json:"passive,omitempty"`
	// Traces are levels that vary during a run, by the names that stand for them among the values of a resource. They
	// hold the content of their files.
	Traces map[string]assay.Trace `json:"traces,omitempty"`
}

// Resources returns the names of the parameters that a workbench realises:
//
//	cpu        cores; below 1 a share of one
//	memory     bytes, page cache included
//	rtt        round trip between program and data set, s
//	bandwidth  of the link between them, bit/s
//	disk       rate of the disk that the data set is on, B/s
func Resources() []string { return []string{"cpu", "memory", "rtt", "bandwidth", "disk"} }

// Resources returns the assignment of resources of a configuration, in base units; nil without a workbench that
// emulates. A text becomes the number that [assay.Number] reads from it: 18ms, 100Mbit, 512M; the name of a trace
// becomes its mean.
func (w *Workbench) Resources(space *assay.Space, c assay.Config) map[string]float64 {
	if w == nil || w.Passive {
		return nil
	}
	m := map[string]float64{}
	for i, p := range space.Params {
		if !slices.Contains(Resources(), p.Name) {
			continue
		}
		m[p.Name], _ = p.NumberAt(c[i]) // checked
	}
	return m
}

// varies reports whether the data set is another one for other configurations.
func (w *Workbench) varies() bool {
	return w != nil && strings.ContainsAny(strings.NewReplacer("{{", "", "}}", "").Replace(w.Data), "{}")
}

// checkData checks the template of the data set, and adds to used the parameters in it.
func (c *checker) checkData(names []string, used []bool) {
	w := c.study.Workbench
	if w == nil || w.Data == "" || w.Passive {
		return
	}
	own := c.study.folder()
	t, err := parseTemplate(w.Data, names, own)
	if e, ok := errors.AsType[*TemplateError](err); ok {
		c.add("workbench.data", "", "workbench.data", 0, "%s", e.Message)
		return
	}
	for _, i := range t.Params() {
		used[i] = true
	}
	if w.varies() && w.Mount == "" {
		c.add("workbench.data", "", "workbench", 0, "mount is needed: the directory of the data set varies, "+
			"and the program sees it at mount")
	}
}

// Data returns the directory of the data set of a configuration, or "" if it is not one of its own.
func (p *Program) Data(c assay.Config) string {
	if !p.dataVaries {
		return ""
	}
	text, _ := p.data.Expand(p.params, c)
	return text
}

// FixedData returns the directory of the data set that all runs have, or "" if each configuration has
// its own, see [Program.Data].
func (w *Workbench) FixedData() string {
	if w.varies() {
		return ""
	}
	return strings.NewReplacer("{{", "{", "}}", "}").Replace(w.Data)
}

// workbench checks that resources are numbers, and that resources of data have a data set.
func (c *checker) workbench() {
	s := c.study
	w := s.Workbench
	if w == nil {
		return
	}
	if s.Replay != nil {
		c.add("workbench", "", "", 0, "a recorded table runs on no resources")
		return
	}
	if w.Passive {
		if w.Data != "" || w.Mount != "" || len(w.Traces) > 0 {
			c.add("workbench", "", "", 0, "a passive workbench has no data, no mount and no traces: it only observes the runs")
		}
		return
	}
	c.resources(w)
	c.traces()
	if w.Mount != "" && w.Data == "" {
		c.add("workbench", "", "", 0, "mount needs data: the directory that is mounted there")
	}
}

// resources checks the parameters that are resources.
func (c *checker) resources(w *Workbench) {
	s := c.study
	for _, p := range s.Params {
		if !slices.Contains(Resources(), p.Name) {
			continue
		}
		path, where := "parameters."+p.Name, "parameter "+p.Name
		switch {
		case p.Type == "categorical" || p.Type == "bool":
			c.add(path, "", where, 0, "a resource of the workbench is a number, or a list of numbers such as %s",
				resourceExample(p.Name))
			continue
		case w.Data == "" && p.Name != "cpu" && p.Name != "memory":
			c.add("workbench", "", "", 0, "%s needs data: the directory that the program reads and writes", p.Name)
		}
		for _, v := range p.Values {
			if _, ok := s.Workbench.level(p.Name, v); !ok {
				c.add(path, "", where, 0, "%q is no number; write it like %s, or give a trace of that name in workbench.traces",
					clip(v), resourceExample(p.Name))
			}
		}
	}
}

func resourceExample(name string) string {
	return map[string]string{
		"cpu": "0.5", "memory": "512M", "rtt": "18ms", "bandwidth": "100Mbit", "disk": "20M",
	}[name]
}
