package planning

// This file gives plans over sites the times of tasks from the cost models of assay learn.
// It joins costmodel and internal/workflow/site, which do
// not import each other.

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/workflow/site"
	"github.com/assay-run/assay/workflow"
)

// Tasks is the cost model of the tasks whose kinds have a learned one; others have the model of the
// workflow's record, [site.ScaledModel]. It is safe for concurrent use.
type Tasks struct {
	models   map[string]*costmodel.Model  // by kind
	machines map[string]costmodel.Machine // by site
	others   site.TaskModel

	mu   sync.Mutex
	seen map[string]site.TaskTime // by kind and assignment
}

var _ site.TaskModel = (*Tasks)(nil)

// NewSiteModel returns the model of tasks by kind, on sites of which some have a profile, by
// name. Each of the models must have passed [Check] with these. It retains the maps.
func NewSiteModel(models map[string]*costmodel.Model, machines map[string]costmodel.Machine) *Tasks {
	return &Tasks{
		models: models, machines: machines, others: site.ScaledModel{}, seen: map[string]site.TaskTime{},
	}
}

// Check returns an error if m needs an attribute that is neither known of every site and task, nor in
// the profile of each site that computes.
func Check(m *costmodel.Model, sites []site.Site, machines map[string]costmodel.Machine) error {
	for _, p := range m.Space().Params {
		if _, ok := attributes[p.Name]; ok {
			continue
		}
		for _, s := range sites {
			if _, ok := machines[s.Name].Attribute(p.Name); !ok && s.Slots > 0 {
				return fmt.Errorf("the model needs %s, which is neither known of sites and tasks (known: %s) "+
					"nor in the profile of %s",
					p.Name, strings.Join(slices.Sorted(maps.Keys(attributes)), ", "), s.Name)
			}
		}
	}
	return nil
}

// Equip fills missing fields of sites from their profiles: the cores of a slot, the memory of one, and
// the rate of the disk.
func Equip(sites []site.Site, machines map[string]costmodel.Machine) {
	for i := range sites {
		s := &sites[i]
		p := machines[s.Name]
		slots := float64(max(s.Slots, 1))
		if x := p["cpus"]; x > 0 && s.Cores == 0 {
			s.Cores = x / slots
		}
		if x := p["memory_size"]; x > 0 && s.Memory == 0 {
			s.Memory = x / slots
		}
		if x := p["disk"]; x > 0 && s.Disk == 0 {
			s.Disk = x
		}
	}
}

// attributes computes the attributes of a model on a resource. ok is false for an attribute without a
// limit: then it is the best of the model.
var attributes = map[string]func(t *workflow.Task, r site.Resource) (x float64, ok bool){
	"cpu":   cores,
	"cores": cores,
	"speed": func(_ *workflow.Task, r site.Resource) (float64, bool) { return cmp.Or(r.Compute.Speed, 1), true },
	"memory": func(_ *workflow.Task, r site.Resource) (float64, bool) {
		return r.Compute.Memory, r.Compute.Memory > 0
	},
	"rtt": func(_ *workflow.Task, r site.Resource) (float64, bool) {
		if r.Route == nil {
			return 0, true
		}
		return r.Route.Latency, true
	},
	"bandwidth": func(_ *workflow.Task, r site.Resource) (float64, bool) {
		if r.Route == nil || math.IsInf(r.Route.Bandwidth, 1) {
			return 0, false
		}
		return 8 * r.Route.Bandwidth, true // bit/s
	},
	"disk":     func(_ *workflow.Task, r site.Resource) (float64, bool) { return r.Storage.Disk, r.Storage.Disk > 0 },
	"in_bytes": func(t *workflow.Task, _ site.Resource) (float64, bool) { return t.In, true },
}

// cores is how many cores a task has. That a site's processors are faster is its Speed, which
// is another thing: one thread gains nothing from a second core.
func cores(_ *workflow.Task, r site.Resource) (float64, bool) {
	return cmp.Or(r.Compute.Cores, 1), true
}

// Time implements [site.TaskModel]. Equal kinds with equal attributes are predicted once, as a plan asks
// for every task at every pair of sites. The time that is not spent waiting for data is divided by the
// speed of the site, which is relative to the machine that the model was learned on, unless that is an
// attribute of the model. If the profiles of both machines are known, they determine the speed.
func (l *Tasks) Time(t *workflow.Task, r site.Resource) (site.TaskTime, error) {
	m, ok := l.models[t.Kind]
	if !ok {
		return l.others.Time(t, r)
	}
	at, key := map[string]string{}, t.Kind
	for _, p := range m.Space().Params {
		x, limited := l.attribute(p.Name, t, r)
		text := strconv.FormatFloat(x, 'g', -1, 64)
		if !limited {
			text = largest(p)
		}
		at[p.Name] = text
		key += "\x00" + text
	}
	speed := 1.0
	machine := l.machines[r.Compute.Name]
	if m.Machine() == nil || m.Space().Index("speed") >= 0 {
		machine = nil
	}
	if machine != nil {
		if r.Storage != r.Compute {
			machine = withDisk(machine, l.machines[r.Storage.Name])
		}
		key += "\x00" + r.Compute.Name + "\x00" + r.Storage.Name
	} else if m.Space().Index("speed") < 0 {
		speed = cmp.Or(r.Compute.Speed, 1)
		key += "\x00" + strconv.FormatFloat(speed, 'g', -1, 64)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if x, ok := l.seen[key]; ok {
		return x, nil
	}
	p, err := predict(m, at, machine)
	if err != nil {
		return site.TaskTime{}, fmt.Errorf("the model of %s: %w", t.Kind, err)
	}
	x := site.TaskTime{Compute: (p.Compute + p.Other) / speed, Stall: p.Network + p.Disk}
	if !math.IsNaN(p.Deviation) && !math.IsInf(p.Deviation, 0) {
		x.Error = p.Deviation
	}
	l.seen[key] = x
	return x, nil
}

// withDisk returns a machine with the disk of another, or without one.
func withDisk(p, storage costmodel.Machine) costmodel.Machine {
	p = maps.Clone(p)
	delete(p, "disk")
	if x, ok := storage["disk"]; ok {
		p["disk"] = x
	}
	return p
}

// predict predicts on a machine, or on the machine of the model's runs if it is nil.
func predict(m *costmodel.Model, at map[string]string, on costmodel.Machine) (costmodel.Prediction, error) {
	if on == nil {
		return m.PredictAt(at)
	}
	return m.PredictOn(at, on)
}

// attribute returns an attribute of a model on a resource: from the site and the task, or else from the
// profile of the site.
func (l *Tasks) attribute(name string, t *workflow.Task, r site.Resource) (x float64, limited bool) {
	if of, ok := attributes[name]; ok {
		return of(t, r)
	}
	return l.machines[r.Compute.Name].Attribute(name)
}

// Unknown returns how many tasks of w are of a kind that no model is for.
func (l *Tasks) Unknown(w *workflow.Workflow) int {
	n := 0
	for i := range w.Tasks {
		if _, ok := l.models[w.Tasks[i].Kind]; !ok {
			n++
		}
	}
	return n
}

// largest returns the text of the largest value of an attribute.
func largest(p assay.Param) string {
	if p.Numeric() {
		return p.Text(p.Hi)
	}
	most, best := math.Inf(-1), 0
	for l := range p.Levels {
		if x, _ := p.LevelNumber(l); x > most {
			most, best = x, l
		}
	}
	return p.Levels[best]
}
