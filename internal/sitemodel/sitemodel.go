// Package sitemodel gives plans over sites the times of tasks that assay learn has
// made cost models of. It stands between costmodel and workflow/site, which do
// not know each other.
package sitemodel

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
	"github.com/assay-run/assay/costmodel"
	"github.com/assay-run/assay/workflow"
	"github.com/assay-run/assay/workflow/site"
)

// Tasks is the cost model of the tasks whose kinds have a learned one; others have
// that of the workflow's record, [site.ScaledModel]. It is safe for concurrent
// use.
type Tasks struct {
	models map[string]*costmodel.Model // by kind
	others site.TaskModel

	mu   sync.Mutex
	seen map[string]site.TaskTime // by kind and assignment
}

var _ site.TaskModel = (*Tasks)(nil)

// New returns the model of tasks by kind. Each of the models must have passed
// [Check]. It retains the map.
func New(models map[string]*costmodel.Model) *Tasks {
	return &Tasks{models: models, others: site.ScaledModel{}, seen: map[string]site.TaskTime{}}
}

// Check returns an error if m needs an attribute that sites and tasks do not tell.
func Check(m *costmodel.Model) error {
	for _, p := range m.Space().Params {
		if _, ok := attributes[p.Name]; !ok {
			return fmt.Errorf("the model needs %s, which sites and tasks do not tell (they tell %s)", p.Name,
				strings.Join(slices.Sorted(maps.Keys(attributes)), ", "))
		}
	}
	return nil
}

// attributes are what the attributes of a model are on a resource. ok is false
// where nothing limits: then it is the best of the model.
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

// Time implements [site.TaskModel]. Equal kinds with equal attributes are predicted
// once, as a plan asks for every task at every pair of sites. What is not waiting for
// data is divided by the speed of the site, which is relative to the machine that the
// model was learned on, unless that is an attribute of the model.
func (l *Tasks) Time(t *workflow.Task, r site.Resource) (site.TaskTime, error) {
	m, ok := l.models[t.Kind]
	if !ok {
		return l.others.Time(t, r)
	}
	at, key := map[string]string{}, t.Kind
	for _, p := range m.Space().Params {
		x, limited := attributes[p.Name](t, r)
		text := strconv.FormatFloat(x, 'g', -1, 64)
		if !limited {
			text = largest(p)
		}
		at[p.Name] = text
		key += "\x00" + text
	}
	speed := 1.0
	if m.Space().Index("speed") < 0 {
		speed = cmp.Or(r.Compute.Speed, 1)
		key += "\x00" + strconv.FormatFloat(speed, 'g', -1, 64)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if x, ok := l.seen[key]; ok {
		return x, nil
	}
	p, err := m.PredictAt(at)
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
	return slices.MaxFunc(p.Levels, func(a, b string) int {
		x, _ := assay.Number(a)
		y, _ := assay.Number(b)
		return cmp.Compare(x, y)
	})
}
