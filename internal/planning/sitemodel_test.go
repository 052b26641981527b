package planning

import (
	"math"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/workflow/site"
	"github.com/assay-run/assay/workflow"
)

// model is fitted to runs that take 100 s by the value of one attribute.
func model(t *testing.T, attribute string) *costmodel.Model {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{{Name: attribute, Kind: assay.Ordinal, Levels: []string{"1", "2", "4"}}})
	if err != nil {
		t.Fatal(err)
	}
	var runs []costmodel.Run
	for i, x := range []float64{1, 2, 4} {
		runs = append(runs, costmodel.Run{Config: assay.Config{float64(i)}, Seconds: 100 / x, DataFlow: 1, Compute: 100 / x})
	}
	m, err := costmodel.Fit(space, runs, nil, costmodel.Best)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCheck(t *testing.T) {
	sites := []site.Site{{Name: "a", Slots: 1}, {Name: "store"}}
	if err := Check(model(t, "cpu"), sites, nil); err != nil {
		t.Error(err)
	}
	err := Check(model(t, "humidity"), sites, nil)
	want := "needs humidity, which is neither known of sites and tasks (known: bandwidth, cores, cpu"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
	// A profile of each site that computes may contain it.
	damp := map[string]costmodel.Machine{"a": {"humidity": 2}}
	if err := Check(model(t, "humidity"), sites, damp); err != nil {
		t.Error(err)
	}
}

// The profiles of two machines give their relative speed, whatever speed a site states. They give
// the equipment of a site if the site does not state it.
func TestProfiles(t *testing.T) {
	learned, err := model(t, "cpu").LearnedOn(costmodel.Machine{"integer_speed": 1e8})
	if err != nil {
		t.Fatal(err)
	}
	machines := map[string]costmodel.Machine{
		"fast": {"integer_speed": 4e8, "cpus": 8, "memory_size": 64e9, "disk": 1e9}, "slow": {"integer_speed": 5e7},
	}
	sites := []site.Site{
		{Name: "fast", Slots: 4, Speed: 7}, {Name: "slow", Slots: 2, Cores: 2}, {Name: "other", Slots: 1, Speed: 10},
	}
	Equip(sites, machines)
	if f, s := sites[0], sites[1]; f.Cores != 2 || f.Memory != 16e9 || f.Disk != 1e9 || s.Cores != 2 || s.Memory != 0 {
		t.Errorf("equipped: %+v, %+v", f, s)
	}
	tasks := NewSiteModel(map[string]*costmodel.Model{"solve": learned}, machines)
	for i, want := range []float64{50.0 / 4, 50 * 2, 100.0 / 10} {
		x, err := tasks.Time(&workflow.Task{Kind: "solve"}, site.Resource{Compute: &sites[i], Storage: &sites[i]})
		if err != nil || !(math.Abs(x.Compute-want) <= 0.1*want) {
			t.Errorf("at %s: %+v, %v; want %g s", sites[i].Name, x, err, want)
		}
	}
}

// TestTime checks that a kind with a model has its times, and others the times of the record.
func TestTime(t *testing.T) {
	tasks := NewSiteModel(map[string]*costmodel.Model{"solve": model(t, "cpu")}, nil)
	at := func(speed float64) site.Resource {
		s := &site.Site{Name: "s", Slots: 1, Speed: speed}
		return site.Resource{Compute: s, Storage: s}
	}
	for _, tt := range []struct {
		kind        string
		speed, want float64
	}{{"solve", 1, 100}, {"solve", 2, 50}, {"solve", 4, 25}, {"solve", 0, 100}, {"other", 2, 4}, {"", 4, 2}} {
		x, err := tasks.Time(&workflow.Task{Kind: tt.kind, Run: 8}, at(tt.speed))
		if err != nil || !(math.Abs(x.Compute+x.Stall-tt.want) <= 0.1*tt.want) {
			t.Errorf("%q at speed %v: %+v, %v; want %v s", tt.kind, tt.speed, x, err, tt.want)
		}
	}
	// Cores and speed multiply, and a model by speed has it once.
	four := &site.Site{Name: "s", Slots: 1, Speed: 2, Cores: 4}
	x, err := tasks.Time(&workflow.Task{Kind: "solve"}, site.Resource{Compute: four, Storage: four})
	if err != nil || !(math.Abs(x.Compute-12.5) <= 1.25) {
		t.Errorf("4 cores of speed 2: %+v, %v; want 12.5 s", x, err)
	}
	fast := NewSiteModel(map[string]*costmodel.Model{"solve": model(t, "speed")}, nil)
	if x, err := fast.Time(&workflow.Task{Kind: "solve"}, at(2)); err != nil || !(math.Abs(x.Compute-50) <= 5) {
		t.Errorf("a model by speed: %+v, %v; want 50 s", x, err)
	}
	again, err := tasks.Time(&workflow.Task{Kind: "solve"}, at(2))
	first, _ := tasks.Time(&workflow.Task{Kind: "solve", Run: 99}, at(2))
	if err != nil || again != first {
		t.Errorf("%+v and %+v at the same assignment", again, first)
	}
}

// A program of one thread that takes 10 s on any number of cores takes 5 s at a site of
// speed 2, and none of it is I/O.
func TestSpeedIsNotCores(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "cpu", Kind: assay.Integer, Lo: 1, Hi: 4}})
	if err != nil {
		t.Fatal(err)
	}
	var runs []costmodel.Run
	for _, cpu := range []float64{1, 2, 4} {
		runs = append(runs, costmodel.Run{
			Config: assay.Config{cpu}, Seconds: 10, DataFlow: 1,
			Split: costmodel.SplitFull, Compute: 10 / cpu, Other: 10 - 10/cpu,
		})
	}
	m, err := costmodel.Fit(space, runs, nil, costmodel.Best)
	if err != nil {
		t.Fatal(err)
	}
	tasks := NewSiteModel(map[string]*costmodel.Model{"solve": m}, nil)
	for _, c := range []float64{0, 2, 4} {
		s := &site.Site{Name: "s", Slots: 1, Speed: 2, Cores: c}
		x, err := tasks.Time(&workflow.Task{Kind: "solve", In: 1e6}, site.Resource{Compute: s, Storage: s})
		if err != nil || !(math.Abs(x.Compute-5) <= 0.5) || x.Stall > 0.01 {
			t.Errorf("%v cores of speed 2: %+v, %v; want 5 s and no I/O", c, x, err)
		}
	}
}

// TestUnlimited checks that an unlimited resource is the best that the model knows: a site without
// a limit of memory has the largest.
func TestUnlimited(t *testing.T) {
	tasks := NewSiteModel(map[string]*costmodel.Model{"solve": model(t, "memory")}, nil)
	s := &site.Site{Name: "s", Slots: 1}
	x, err := tasks.Time(&workflow.Task{Kind: "solve"}, site.Resource{Compute: s, Storage: s})
	if err != nil || !(math.Abs(x.Compute+x.Stall-25) <= 2.5) {
		t.Errorf("%+v, %v; want 25 s", x, err)
	}
}

// TestAttributes checks the value of each attribute on a resource with a route.
func TestAttributes(t *testing.T) {
	near, far := &site.Site{Speed: 2, Cores: 3, Memory: 8}, &site.Site{Disk: 5}
	r := site.Resource{Compute: near, Storage: far, Route: &site.Route{Bandwidth: 100, Latency: 0.5}}
	task := &workflow.Task{In: 7}
	for name, want := range map[string]float64{
		"cpu": 3, "cores": 3, "speed": 2, "memory": 8, "rtt": 0.5, "bandwidth": 800, "disk": 5, "in_bytes": 7,
	} {
		if x, ok := attributes[name](task, r); !ok || x != want {
			t.Errorf("%s is %v, %v; want %v", name, x, ok, want)
		}
	}
	local := site.Resource{Compute: far, Storage: near}
	if x, ok := attributes["rtt"](task, local); !ok || x != 0 {
		t.Errorf("rtt without a route is %v, %v", x, ok)
	}
	for _, name := range []string{"bandwidth", "disk", "memory"} {
		if x, ok := attributes[name](task, local); ok {
			t.Errorf("%s is limited to %v where nothing limits it", name, x)
		}
	}
}

func TestUnknown(t *testing.T) {
	w := &workflow.Workflow{Tasks: []workflow.Task{{Kind: "solve"}, {Kind: "x"}, {}}}
	if n := NewSiteModel(map[string]*costmodel.Model{"solve": nil}, nil).Unknown(w); n != 2 {
		t.Errorf("%d tasks without a model, want 2", n)
	}
}
