package site

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/workflow"
)

// A handTask is a task of a workflow that is written by hand.
type handTask struct {
	run     workflow.Seconds
	kind    string
	reads   []string
	writes  map[string]workflow.Bytes
	waitFor []int
}

// handMade builds a workflow of tasks t0, t1, ... and input files with their sizes.
func handMade(t testing.TB, inputs map[string]workflow.Bytes, tasks ...handTask) *workflow.Workflow {
	t.Helper()
	b := workflow.Builder{Name: "hand"}
	for name, size := range inputs {
		b.SetFile(name, size)
	}
	for i, x := range tasks {
		task := workflow.Task{ID: fmt.Sprint("t", i), Kind: x.kind, Run: x.run, Machine: -1}
		if _, err := b.Task(task, workflow.Pos{}); err != nil {
			t.Fatal(err)
		}
		for name, size := range x.writes {
			b.SetFile(name, size)
			b.Output(i, name)
		}
		for _, name := range x.reads {
			b.Input(i, name)
		}
		for _, j := range x.waitFor {
			b.Edge(fmt.Sprint("t", j), fmt.Sprint("t", i), workflow.Pos{})
		}
	}
	w, err := b.Build(workflow.FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// pairOfSites are a home with the data and no slot, and a site that computes, 10 B/s away.
func pairOfSites(t testing.TB, slots int) *Network {
	t.Helper()
	return network(t, []Site{
		{Name: "home", Storage: math.Inf(1)},
		{Name: "far", Slots: slots, Speed: 1, Storage: math.Inf(1)},
	}, Link{0, 1, 10, 0})
}

// Makespans that can be worked out by hand.
func TestMakespansByHand(t *testing.T) {
	twoInputs := map[string]workflow.Bytes{"x": 100, "y": 100}
	for _, tt := range []struct {
		name string
		w    *workflow.Workflow
		net  *Network
		want workflow.Seconds
		why  string
	}{
		{
			"an input is staged and then read",
			handMade(t, map[string]workflow.Bytes{"x": 100}, handTask{run: 7, reads: []string{"x"}}),
			pairOfSites(t, 1), 17, "10 s to stage 100 B, 7 s to compute",
		},
		{
			"two transfers share a link", handMade(t, twoInputs,
				handTask{run: 50, reads: []string{"x"}}, handTask{run: 50, reads: []string{"y"}}),
			pairOfSites(t, 2), 70, "the second input arrives at 20",
		},
		{
			"two tasks share a slot", handMade(t, twoInputs,
				handTask{run: 50, reads: []string{"x"}}, handTask{run: 50, reads: []string{"y"}}),
			pairOfSites(t, 1), 110, "the second task waits from 20 to 60",
		},
		{
			"a file is staged once for two readers", handMade(t, map[string]workflow.Bytes{"x": 100},
				handTask{run: 50, reads: []string{"x"}}, handTask{run: 50, reads: []string{"x"}}),
			pairOfSites(t, 2), 60, "both have it at 10",
		},
		{
			"what a task writes is where it ran", handMade(t, map[string]workflow.Bytes{"x": 100},
				handTask{run: 5, reads: []string{"x"}, writes: map[string]workflow.Bytes{"m": 1000}},
				handTask{run: 5, reads: []string{"m"}, waitFor: []int{0}}),
			pairOfSites(t, 1), 20, "10 + 5 + 5: nothing goes back",
		},
	} {
		s, err := MakePlans(tt.w, tt.net, Options{Model: local{}})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if !(math.Abs(s.Best.Makespan-tt.want) <= 1e-9) || !s.Exact {
			t.Errorf("%s: %v s (exact %v), want %v: %s", tt.name, s.Best.Makespan, s.Exact, tt.want, tt.why)
		}
		if s.Bound > s.Best.Makespan+1e-9 {
			t.Errorf("%s: the bound %v is above the optimum", tt.name, s.Bound)
		}
	}
}

// local is a model of tasks that take their run time, and a thousand times as long with their data elsewhere.
type local struct{}

func (local) Time(t *workflow.Task, r Resource) (TaskTime, error) {
	if r.Route != nil {
		return TaskTime{Compute: 1000 * t.Run}, nil
	}
	return TaskTime{Compute: t.Run}, nil
}

// A task that reads over the link holds the link for its data flow, and a second one waits for it.
func TestRemoteReadersShareTheLink(t *testing.T) {
	w := handMade(t, map[string]workflow.Bytes{"x": 100, "y": 100},
		handTask{run: 1, reads: []string{"x"}}, handTask{run: 1, reads: []string{"y"}})
	net := network(t, []Site{
		{Name: "home", Storage: math.Inf(1)},
		{Name: "far", Slots: 2, Speed: 1}, // it keeps nothing: its input is at home
	}, Link{0, 1, 10, 0})
	s, err := MakePlans(w, net, Options{Model: ScaledModel{Block: 1e9}})
	if err != nil {
		t.Fatal(err)
	}
	ends := []workflow.Seconds{s.Best.Decisions[0].End, s.Best.Decisions[1].End}
	slices.Sort(ends)
	// Alone each takes 1 + 10 s. Both together want the link for 20 s.
	if ends[0] != 11 || ends[1] != 20 || s.Best.Remote != 200 || s.Best.Staged != 0 {
		t.Errorf("ends %v, %v B over the link; want 11 and 20, 200 B", ends, s.Best.Remote)
	}
	b := s.Best.Path
	if b.Compute != 1 || b.Remote != 19 || b.Waiting != 0 {
		t.Errorf("the path is %+v, want 1 s of computing and 19 s of remote I/O", b)
	}
}

// The delay of a site is part of each task there, and counts as waiting.
func TestDelayOfASite(t *testing.T) {
	w := handMade(t, nil, handTask{run: 10}, handTask{run: 20, waitFor: []int{0}})
	s, err := MakePlans(w, network(t, []Site{{Name: "A", Slots: 1, Delay: 3}}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Best.Makespan != 36 || s.Best.Path.Waiting != 6 || s.Best.Path.Compute != 30 {
		t.Errorf("%v s along %+v, want 36 with 6 of waiting", s.Best.Makespan, s.Best.Path)
	}
}

// An equal input gives an equal plan, decision for decision.
func TestPlansAreDeterministic(t *testing.T) {
	var first []Decision
	for range 3 {
		s, err := MakePlans(layers(t, 120, 12), tenSites(t), Options{Error: 0.15, Samples: 20})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = s.Best.Decisions
		}
		if !slices.Equal(s.Best.Decisions, first) {
			t.Fatal("two plans of the same workflow differ")
		}
	}
}

// Without errors there is no interval. With one, tasks of a kind err together: the interval of ten tasks in
// a row of one kind is ten times as wide as the interval of one, and the interval of ten kinds is much
// narrower.
func TestIntervalsErrByKind(t *testing.T) {
	chain := func(kind func(int) string) *workflow.Workflow {
		var tasks []handTask
		for i := range 10 {
			x := handTask{run: 10, kind: kind(i)}
			if i > 0 {
				x.waitFor = []int{i - 1}
			}
			tasks = append(tasks, x)
		}
		return handMade(t, nil, tasks...)
	}
	one := chain(func(int) string { return "k" })
	many := chain(func(i int) string { return fmt.Sprint("k", i) })
	net := network(t, []Site{{Name: "A", Slots: 1}})
	width := func(w *workflow.Workflow, opt Options) float64 {
		s, err := MakePlans(w, net, opt)
		if err != nil {
			t.Fatal(err)
		}
		if s.Best.Makespan != 100 || s.Best.Low > 100 || s.Best.High < 100 {
			t.Errorf("%v from %v to %v, want 100 inside", s.Best.Makespan, s.Best.Low, s.Best.High)
		}
		return s.Best.High - s.Best.Low
	}
	if got := width(one, Options{}); got != 0 {
		t.Errorf("an interval of %v without errors", got)
	}
	same, apart := width(one, Options{Error: 0.2, Samples: 400}), width(many, Options{Error: 0.2, Samples: 400})
	// Uniform in ±20 %: 5 % and 95 % quantiles at ±18 s.
	if !(math.Abs(same-36) <= 3) {
		t.Errorf("one kind: an interval of %v s, want about 36", same)
	}
	if !(apart < 0.6*same && apart > 0) {
		t.Errorf("ten kinds: an interval of %v s, of one kind %v", apart, same)
	}
	if a, b := width(one, Options{Error: 0.2, Seed: 1}), width(one, Options{Error: 0.2, Seed: 1}); a != b {
		t.Errorf("the same seed gives %v and %v", a, b)
	}
	// An error that the model gives is the deviation of the logarithm, in place of Options.Error.
	// 2·1.645·0.1
	if got := width(one, Options{Model: unsure(0.1), Error: 0.9, Samples: 400}); !(math.Abs(got-33) <= 6) {
		t.Errorf("an error of 10 %%: an interval of %v s, want about 33", got)
	}
}

// unsure is a model that gives its error.
type unsure float64

func (e unsure) Time(t *workflow.Task, _ Resource) (TaskTime, error) {
	return TaskTime{Compute: t.Run, Error: float64(e)}, nil
}

// broken is a model that returns an error, or nonsense.
type broken struct {
	x   TaskTime
	err error
}

func (b broken) Time(*workflow.Task, Resource) (TaskTime, error) { return b.x, b.err }

// An error of the model ends the planning, and so does an invalid time.
func TestModelsThatCannotSay(t *testing.T) {
	w, net := handMade(t, nil, handTask{run: 1}), network(t, []Site{{Name: "A", Slots: 1}})
	lost := errors.New("lost")
	if _, err := MakePlans(w, net, Options{Model: broken{err: lost}}); !errors.Is(err, lost) {
		t.Errorf("got %v, want the model's error", err)
	}
	for _, x := range []TaskTime{
		{Compute: -1}, {Stall: -1}, {Compute: math.Inf(1)}, {Compute: math.NaN()}, {Compute: 5, Stall: -1},
	} {
		_, err := MakePlans(w, net, Options{Model: broken{x: x}})
		if err == nil || !strings.Contains(err.Error(), `task "t0" at A`) {
			t.Errorf("%+v: %v", x, err)
		}
	}
	if _, err := MakePlans(&workflow.Workflow{}, net, Options{}); err == nil {
		t.Error("a workflow without tasks is planned")
	}
}

// A workflow without files has the files that its bytes imply: one for the output of each task, and one
// for its input that no task writes.
func TestFilesThatBytesImply(t *testing.T) {
	b := workflow.Builder{Name: "bytes"}
	for i, x := range []workflow.Task{{ID: "a", In: 30, Out: 50}, {ID: "b", In: 80, Out: 10}, {ID: "c", In: 50}} {
		x.Run, x.Machine = 1, -1
		if _, err := b.Task(x, workflow.Pos{}); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			b.Edge("a", x.ID, workflow.Pos{})
		}
	}
	w, err := b.Build(workflow.FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	p, err := newProblem(w, pairOfSites(t, 1), Options{Data: func(name string) int { asked[name] = true; return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	// Outputs of a, b and c, then a's input of 30 and the 30 B of b that a did not write.
	if want := []workflow.Bytes{50, 10, 0, 30, 30}; !slices.Equal(p.size, want) {
		t.Errorf("files of %v B, want %v", p.size, want)
	}
	if len(asked) != 2 || !asked["a"] || !asked["b"] {
		t.Errorf("asked where the inputs of %v are, want of a and b", asked)
	}
	if p.first.used[0] != 60 {
		t.Errorf("%v B at home in the beginning, want 60", p.first.used[0])
	}
}

// The bound holds without search: a chain is bounded by its length, tasks side by side by the slots.
func TestBoundsOfSimpleWorkflows(t *testing.T) {
	var side []handTask
	for range 12 {
		side = append(side, handTask{run: 10})
	}
	net := network(t, []Site{{Name: "A", Slots: 2, Speed: 1}, {Name: "B", Slots: 2, Speed: 2}}, Link{0, 1, 1, 0})
	for _, tt := range []struct {
		name  string
		w     *workflow.Workflow
		least workflow.Seconds
		most  workflow.Seconds
	}{
		{"a chain at the fastest site", handMade(t, nil, handTask{run: 10}, handTask{run: 30, waitFor: []int{0}}), 20, 20},
		{"120 s in slots of speed 1, 1, 2 and 2", handMade(t, nil, side...), 20, 25},
	} {
		s, err := MakePlans(tt.w, net, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Bound < tt.least-1e-9 || s.Best.Makespan > tt.most+1e-9 || s.Bound > s.Best.Makespan+1e-9 {
			t.Errorf("%s: bound %v and makespan %v, want %v and %v", tt.name, s.Bound, s.Best.Makespan, tt.least, tt.most)
		}
	}
}
