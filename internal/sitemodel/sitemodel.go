package main

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
)

// learnedTasks is the cost model of the tasks whose kinds have one of assay learn;
// others have that of the workflow's record.
type learnedTasks struct {
	models map[string]*costmodel.Model // by kind
	others workflow.TaskModel

	mu   sync.Mutex
	seen map[string]workflow.TaskTime // by kind and assignment
}

var _ workflow.TaskModel = (*learnedTasks)(nil)

// newLearnedTasks reads the models of --model KIND=FILE.
func newLearnedTasks(texts []string) (*learnedTasks, error) {
	l := &learnedTasks{models: map[string]*costmodel.Model{}, others: workflow.ScaledModel{}, seen: map[string]workflow.TaskTime{}}
	for _, text := range texts {
		kind, file, ok := strings.Cut(text, "=")
		if !ok || kind == "" || file == "" {
			return nil, usagef("--model %s: a model is given as KIND=FILE", text)
		}
		m, err := readModel(file)
		if err != nil {
			return nil, err
		}
		l.models[kind] = m
		for _, p := range m.Space().Params {
			if _, ok := siteAttributes[p.Name]; !ok {
				return nil, usagef("--model %s: the model needs %s, which sites and tasks do not tell (they tell %s)", text, p.Name,
					strings.Join(slices.Sorted(maps.Keys(siteAttributes)), ", "))
			}
		}
	}
	return l, nil
}

// siteAttributes are what the attributes of a model are on a resource. ok is false
// where nothing limits: then it is the best of the model.
var siteAttributes = map[string]func(t *workflow.Task, r workflow.Resource) (x float64, ok bool){
	"cpu": func(_ *workflow.Task, r workflow.Resource) (float64, bool) {
		if r.Compute.Speed == 0 {
			return 1, true
		}
		return r.Compute.Speed, true
	},
	"memory": func(_ *workflow.Task, r workflow.Resource) (float64, bool) {
		return r.Compute.Memory, r.Compute.Memory > 0
	},
	"rtt": func(_ *workflow.Task, r workflow.Resource) (float64, bool) {
		if r.Network == nil {
			return 0, true
		}
		return r.Network.Latency, true
	},
	"bandwidth": func(_ *workflow.Task, r workflow.Resource) (float64, bool) {
		if r.Network == nil || math.IsInf(r.Network.Bandwidth, 1) {
			return 0, false
		}
		return 8 * r.Network.Bandwidth, true // bit/s
	},
	"disk":     func(_ *workflow.Task, r workflow.Resource) (float64, bool) { return r.Storage.Disk, r.Storage.Disk > 0 },
	"in_bytes": func(t *workflow.Task, _ workflow.Resource) (float64, bool) { return t.In, true },
}

// Time implements [workflow.TaskModel].
func (l *learnedTasks) Time(t *workflow.Task, r workflow.Resource) (workflow.TaskTime, error) {
	m, ok := l.models[t.Kind]
	if !ok {
		return l.others.Time(t, r)
	}
	at, key := map[string]string{}, t.Kind
	for _, p := range m.Space().Params {
		x, limited := siteAttributes[p.Name](t, r)
		text := strconv.FormatFloat(x, 'g', -1, 64)
		if !limited {
			text = largest(p)
		}
		at[p.Name] = text
		key += "\x00" + text
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if x, ok := l.seen[key]; ok {
		return x, nil
	}
	p, err := m.PredictAt(at)
	if err != nil {
		return workflow.TaskTime{}, fmt.Errorf("the model of %s: %w", t.Kind, err)
	}
	x := workflow.TaskTime{Compute: p.Compute, Stall: p.Network + p.Disk}
	if !math.IsNaN(p.Deviation) && !math.IsInf(p.Deviation, 0) {
		x.Error = p.Deviation
	}
	l.seen[key] = x
	return x, nil
}

// unknown says how many tasks no model is for.
func (l *learnedTasks) unknown(w *workflow.Workflow) []string {
	n := 0
	for i := range w.Tasks {
		if _, ok := l.models[w.Tasks[i].Kind]; !ok {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d tasks are of a kind without --model: their times are the recorded ones by the speed of a site", n, len(w.Tasks))}
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
