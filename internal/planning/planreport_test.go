package planning

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/workflow/site"
	"github.com/assay-run/assay/workflow"
)

// chain is two tasks of 10 and 30 s, the second reading the output of the first.
func chain(t *testing.T, name string) *workflow.Workflow {
	t.Helper()
	b := workflow.Builder{Name: name, Format: "csv"}
	for _, task := range []workflow.Task{
		{ID: "a<1>", Kind: "k", Run: 10, Out: 1e9, Machine: -1}, {ID: "b", Kind: "", Run: 30, In: 1e9, Machine: -1},
	} {
		if _, err := b.Task(task, workflow.Pos{}); err != nil {
			t.Fatal(err)
		}
	}
	b.Edge("a<1>", "b", workflow.Pos{})
	w, err := b.Build(workflow.FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func plan(t *testing.T, name string, offers []workflow.Offer, opt workflow.PlanOptions) *Plan {
	t.Helper()
	p := &Plan{Workflow: chain(t, name), Options: opt, Offers: offers}
	p.Options.Levelers = workflow.Levelers()[:1]
	var err error
	if p.Comparison, err = workflow.Compare(p.Workflow, offers, p.Options); err != nil {
		t.Fatal(err)
	}
	p.Note("note %d", 1)
	return p
}

func wantAll(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("no %q in\n%s", w, got)
		}
	}
}

func TestPlanText(t *testing.T) {
	one := plan(t, "w", []workflow.Offer{{}}, workflow.PlanOptions{Slots: []int{1, 2}})
	late := plan(t, "v", []workflow.Offer{{}}, workflow.PlanOptions{Slots: []int{1}, Deadline: 1})
	var b strings.Builder
	if err := WriteText(&b, []*Plan{one}); err != nil {
		t.Fatal(err)
	}
	wantAll(t, b.String(), "w: 2 tasks in 2 levels, 40 s of work (csv)\n", "slot-seconds", "<- choice",
		"\nTake 1 slots (tda): more slots, up to 2,", "Note: note 1.\n")
	if strings.Contains(b.String(), "Compared") {
		t.Error("one workflow is compared")
	}
	b.Reset()
	if err := WriteText(&b, []*Plan{one, late}); err != nil {
		t.Fatal(err)
	}
	wantAll(t, b.String(), "\nCompared\n", "No choice keeps the limits; nearest are 1 slots")
}

// TestPlanJSON checks the shape that programs rely on: one object, or an array.
func TestPlanJSON(t *testing.T) {
	cheap, fast := workflow.Offer{Name: "cheap"}, workflow.Offer{Name: "fast", Speed: 2}
	p := plan(t, "w", []workflow.Offer{cheap, fast}, workflow.PlanOptions{Slots: []int{1}})
	p.Workflow.Makespan = 50
	p.Options.Calibration = &workflow.Calibration{Executions: 3, Configs: 2}
	p.Recorded = &workflow.Prediction{Makespan: 40, Low: 30, High: 60}
	var b bytes.Buffer
	if err := WriteJSON(&b, []*Plan{p}); err != nil {
		t.Fatal(err)
	}
	var got PlanData
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Workflow != "w" || got.Tasks != 2 || got.Work != 40 || got.Site != "fast" || len(got.Sites) != 2 ||
		len(got.Levels) != 1 || len(got.Levels[0].Levels) != 2 || got.Bounds[0] != (PlanBound{1, 20, 20}) {
		t.Errorf("%+v", got)
	}
	if got.Recommendation.Makespan != 20 || !got.Recommendation.Feasible || got.Notes[0] != "note 1" {
		t.Errorf("recommendation %+v, notes %q", got.Recommendation, got.Notes)
	}
	if r := got.Recorded; r == nil || *r.Error != 0.2 || *r.Makespan != 50 || r.Predicted != 40 {
		t.Errorf("recorded %+v", got.Recorded)
	}
	if c := got.Calibration; c == nil || c.Executions != 3 || c.Configs != 2 {
		t.Errorf("calibration %+v", got.Calibration)
	}
	b.Reset()
	var all []PlanData
	if err := WriteJSON(&b, []*Plan{p, p}); err != nil || json.Unmarshal(b.Bytes(), &all) != nil || len(all) != 2 {
		t.Errorf("two workflows: %v, %d objects", err, len(all))
	}
}

func TestPlanSVG(t *testing.T) {
	p := plan(t, "w", []workflow.Offer{{Name: "x"}, {Name: "y"}}, workflow.PlanOptions{Slots: []int{1, 2, 4}})
	p.Workflow.Makespan, p.Workflow.Machines = 50, []workflow.Machine{{Cores: 2}}
	var b strings.Builder
	if err := WriteSVG(&b, []*Plan{p}); err != nil {
		t.Fatal(err)
	}
	wantAll(t, b.String(), "w: makespan against slots", "x tda", "y tda", "recorded", ">take 1: 40 s<")
	p.Plans[p.Best].Choice.Feasible = false
	b.Reset()
	if err := WriteSVG(&b, []*Plan{p, p}); err != nil {
		t.Fatal(err)
	}
	wantAll(t, b.String(), ">makespan against slots<", "w x tda", "w recorded", ">w: nearest 1: 40 s<")
}

func TestLevelsAndGantt(t *testing.T) {
	w := chain(t, "w")
	w.Makespan, w.Machines, w.System = 55, []workflow.Machine{{Cores: 8}}, "Make"
	var b strings.Builder
	if err := WriteLevels(&b, w, workflow.Levelers()[0], 2); err != nil {
		t.Fatal(err)
	}
	wantAll(t, b.String(), "w: 2 tasks, 1 dependencies, 2 levels, 40 s of work (csv)\n",
		"recorded: 55 s on 8 cores of 1 machines (Make)\n", " ?\n", "critical path 40 s; on 2 slots at least 40 s\n")
	s, err := workflow.Simulate(w, 2, workflow.SimOptions{})
	if err != nil {
		t.Fatal(err)
	}
	g := Gantt(w, s)
	if len(g.Bars) != 2 || g.Bars[1].From != 10 || g.Bars[1].To != 40 || g.Span != 40 || g.Bars[0].Name != "a<1>" {
		t.Errorf("%+v", g)
	}
	if got := kindList(map[string]int{"": 1, "b": 3, "a": 3, "c": 9, "d": 2, "e": 2}); got != "c, a, b, d, and 2 more" {
		t.Errorf("kinds %q", got)
	}
}

func TestClock(t *testing.T) {
	for x, want := range map[float64]string{0: "0 s", 60.5: "60.5 s", 999.994: "999.99 s", 1.0 / 3: "0.33333 s"} {
		if got := clock(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
	if got := clock(3600); strings.HasSuffix(got, "3600 s") {
		t.Errorf("an hour is %q", got)
	}
}

// sites plans the chain over two sites, the second of which only computes.
func sites(t *testing.T) *Sites {
	t.Helper()
	net, err := site.NewNetwork([]site.Site{
		{Name: "home", Slots: 1, Speed: 1, Storage: math.Inf(1)}, {Name: "far", Slots: 2, Speed: 4},
	}, []site.Link{{A: 0, B: 1, Bandwidth: 1e9}})
	if err != nil {
		t.Fatal(err)
	}
	r := &Sites{Workflow: chain(t, ""), Network: net}
	if r.Plans, err = site.MakePlans(r.Workflow, net, site.Options{Error: 0.1}); err != nil {
		t.Fatal(err)
	}
	r.Note("so it is")
	return r
}

func TestSitesText(t *testing.T) {
	r := sites(t)
	var b strings.Builder
	if err := WriteSitesText(&b, []*Sites{r, r}); err != nil {
		t.Fatal(err)
	}
	wantAll(t, b.String(), "workflow: 2 tasks, 40 s of work (csv), over 2 sites\n", "<- best: ", " slower: ",
		"not possible: at far", "run b at far, data at home\n", "Note: so it is.\n")
	if n := strings.Count(b.String(), "Take it: "); n != 2 {
		t.Errorf("%d of two plans", n)
	}
}

func TestSitesJSON(t *testing.T) {
	r := sites(t)
	var b bytes.Buffer
	if err := WriteSitesJSON(&b, []*Sites{r}); err != nil {
		t.Fatal(err)
	}
	var got sitesJSON
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	p := got.Best.Path
	if sum := p.Compute + p.Local + p.Remote + p.Staging + p.Waiting; !(math.Abs(sum-got.Best.Makespan) <= 1e-9) {
		t.Errorf("the path %+v adds up to %v, makespan %v", p, sum, got.Best.Makespan)
	}
	if len(got.Best.Tasks) != 2 || got.Best.Tasks[1].ID != "b" || got.Best.Tasks[1].Data != "home" || got.Tasks != 2 ||
		len(got.NotPossible) == 0 || got.Best.Low >= got.Best.High || !got.Exact {
		t.Errorf("%s", b.String())
	}
	if !strings.Contains(b.String(), `"stagings": []`) {
		t.Error("an empty list is not written as one")
	}
}
