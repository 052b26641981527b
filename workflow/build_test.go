package workflow

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func addTask(t *testing.T, b *Builder, id string, run Seconds) int {
	t.Helper()
	i, err := b.Task(Task{ID: id, Run: run, Machine: -1}, Pos{Line: int32(b.Len() + 1), Column: 3})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestBuilderFlaws checks the flaws of an input, and their reported places.
func TestBuilderFlaws(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name string
		make func(b *Builder) error
		opt  FillOptions
		want string
	}{
		{"nothing", func(*Builder) error { return nil }, FillOptions{}, "f.x: no tasks"},
		{"no id", func(b *Builder) error {
			_, err := b.Task(Task{}, Pos{2, 4})
			return err
		}, FillOptions{}, "f.x:2:4: a task has no id"},
		{"twice", func(b *Builder) error {
			addTask(t, b, "a", 1)
			_, err := b.Task(Task{ID: "a"}, Pos{9, 1})
			return err
		}, FillOptions{}, `f.x:9:1: duplicate task id "a", first on line 1`},
		{"negative", func(b *Builder) error {
			_, err := b.Task(Task{ID: "a", Run: -1}, Pos{1, 2})
			return err
		}, FillOptions{}, `f.x:1:2: task "a" has run time -1 s`},
		{"infinite", func(b *Builder) error {
			_, err := b.Task(Task{ID: "a", Run: math.Inf(1)}, Pos{1, 2})
			return err
		}, FillOptions{}, `f.x:1:2: task "a" has run time +Inf s`},
		{"undefined", func(b *Builder) error {
			addTask(t, b, "a", 1)
			b.Edge("ghost", "a", Pos{5, 6})
			return nil
		}, FillOptions{}, `f.x:5:6: a dependency names task "ghost", which is not defined`},
		{"undefined, as the one that waits", func(b *Builder) error {
			addTask(t, b, "a", 1)
			b.Edge("a", "ghost", Pos{Line: 5})
			return nil
		}, FillOptions{}, `f.x:5: a dependency names task "ghost", which is not defined`},
		{"waits for itself", func(b *Builder) error {
			addTask(t, b, "a", 1)
			b.Edge("a", "a", Pos{5, 6})
			return nil
		}, FillOptions{}, `f.x:1:3: tasks wait for each other: "a" -> "a"`},
		{"cycle", func(b *Builder) error {
			for _, id := range []string{"a", "b", "c", "d"} {
				addTask(t, b, id, 1)
			}
			for _, e := range []string{"ab", "bc", "cd", "db"} {
				b.Edge(e[:1], e[1:], Pos{})
			}
			return nil
		}, FillOptions{}, `f.x:2:3: tasks wait for each other: "b" -> "c" -> "d" -> "b"`},
		{"one run time missing", func(b *Builder) error {
			addTask(t, b, "a", 1)
			addTask(t, b, "b", nan)
			return nil
		}, FillOptions{}, `f.x:2:3: task "b" has no run time (1 of 2 tasks have none; they can be filled`},
		{"all missing", func(b *Builder) error {
			addTask(t, b, "a", nan)
			return nil
		}, FillOptions{Fill: true}, "f.x: no run times: the input describes a workflow but no execution of it"},
	} {
		b := &Builder{File: "f.x"}
		err := tt.make(b)
		if err == nil {
			_, err = b.Build(tt.opt)
		}
		var in *InputError
		if !errors.As(err, &in) || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

// TestInputError checks the place in front of a message, without its unknown parts.
func TestInputError(t *testing.T) {
	for _, tt := range []struct {
		err  InputError
		want string
	}{
		{InputError{"f", Pos{3, 4}, "m"}, "f:3:4: m"},
		{InputError{"f", Pos{Line: 3}, "m"}, "f:3: m"},
		{InputError{"f", Pos{}, "m"}, "f: m"},
		{InputError{"", Pos{3, 4}, "m"}, "3:4: m"},
		{InputError{"", Pos{Column: 4}, "m"}, "m"},
		{InputError{"", Pos{}, "m: n"}, "m: n"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.err, got, tt.want)
		}
	}
}

// TestBuilderOrder checks that a dependency may be added before its tasks, twice, and that tasks
// keep the order in which they were added.
func TestBuilderOrder(t *testing.T) {
	var b Builder
	b.Edge("late", "early", Pos{})
	b.Edge("late", "early", Pos{})
	early, late := addTask(t, &b, "early", 1), addTask(t, &b, "late", 2)
	if b.Find("late") != late || b.Find("nobody") != -1 || b.Len() != 2 {
		t.Errorf("late is %d, nobody %d, of %d", b.Find("late"), b.Find("nobody"), b.Len())
	}
	b.At(early).Kind = "k"
	w, err := b.Build(FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if w.Graph.Edges() != 1 || !slices.Equal(w.Graph.Preds(early), []int32{1}) || w.Tasks[0].Kind != "k" {
		t.Errorf("%d edges, early waits for %v: %+v", w.Graph.Edges(), w.Graph.Preds(early), w.Tasks)
	}
	if !math.IsNaN(w.Makespan) {
		t.Errorf("makespan %v, though none was recorded", w.Makespan)
	}
}

// TestAliases checks that a second name stands for a task only where this is asked
// for, no task has it as its ID, and it is one task's.
func TestAliases(t *testing.T) {
	for _, tt := range []struct {
		name    string
		aliases bool
		more    []string // tasks besides "1" that have the name "x" too
		id      string   // of a task with that ID, "" for none
		want    string   // task that y waits for, or part of the error
	}{
		{"asked for", true, nil, "", "1"},
		{"not asked for", false, nil, "", `names task "x", which is not defined`},
		{"of two tasks", true, []string{"2"}, "", `several tasks are named "x"`},
		{"an ID goes before", true, nil, "x", "x"},
	} {
		b := Builder{Aliases: tt.aliases}
		for _, id := range append([]string{"1"}, tt.more...) {
			b.Alias(b.Ref([]byte("x"), Pos{}), addTask(t, &b, id, 1))
		}
		if tt.id != "" {
			addTask(t, &b, tt.id, 1)
		}
		y := addTask(t, &b, "y", 1)
		b.Edge("x", "y", Pos{})
		w, err := b.Build(FillOptions{})
		got := fmt.Sprint(err)
		if err == nil {
			got = w.Tasks[w.Graph.Preds(y)[0]].ID
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestRefs checks that numbers and names mean the same, and that a hint changes
// only how fast a number is found.
func TestRefs(t *testing.T) {
	var b Builder
	names := []string{"a", "b", "c", "d"}
	for i, id := range names {
		if r := b.Ref([]byte(id), Pos{}); int(r) != i || b.Said(r) != id || b.Defined(r) != -1 {
			t.Errorf("%s is number %d, said %q, task %d", id, r, b.Said(r), b.Defined(r))
		}
		if f := b.FileRef([]byte(id)); int(f) != i {
			t.Errorf("file %s is number %d", id, f)
		}
	}
	for from := range names {
		for i, id := range names {
			hint := TaskRef(from)
			if r := b.RefNear(&hint, []byte(id), Pos{}); int(r) != i || hint != r {
				t.Errorf("%s near %d is number %d, hint %d", id, from, r, hint)
			}
			file := FileRef(from)
			if f := b.FileRefNear(&file, []byte(id)); int(f) != i || file != f {
				t.Errorf("file %s near %d is number %d, hint %d", id, from, f, file)
			}
		}
	}
	hint := TaskRef(3)
	if r := b.RefNear(&hint, []byte("new"), Pos{}); r != 4 {
		t.Errorf("a new name is number %d", r)
	}
	if addTask(t, &b, "c", 1); b.Defined(2) != 0 {
		t.Errorf("task c is %d", b.Defined(2))
	}
	if x, y := b.Intern([]byte("kind")), b.Intern([]byte("kind")); x != "kind" || x != y {
		t.Errorf("interned %q and %q", x, y)
	}
}

// TestFiles checks sizes, repeated mentions, and dependencies that files imply.
func TestFiles(t *testing.T) {
	make3 := func() *Builder {
		b := &Builder{}
		b.SetFile("raw", 100)
		for _, id := range []string{"cut", "sum", "own"} {
			addTask(t, b, id, 1)
		}
		b.Input(0, "raw")
		b.Input(0, "raw")
		b.Output(0, "part")
		b.Input(1, "part")
		b.Output(1, "sum")
		b.Output(2, "log") // reads its own output
		b.Input(2, "log")
		b.SetFile("part", 30)
		return b
	}
	w, err := make3().Build(FillOptions{Infer: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Tasks[0].In; got != 100 {
		t.Errorf("cut reads %v B, want 100: one file named twice", got)
	}
	if w.Tasks[0].Out != 30 || w.Tasks[1].In != 30 || w.Tasks[1].Out != 0 {
		t.Errorf("sizes %+v", w.Tasks)
	}
	if w.Graph.Edges() != 1 || len(w.Graph.Preds(1)) != 1 || len(w.Graph.Preds(2)) != 0 {
		t.Errorf("%d edges; sum waits for %v, own for %v", w.Graph.Edges(), w.Graph.Preds(1), w.Graph.Preds(2))
	}
	w, err = make3().Build(FillOptions{})
	if err != nil || w.Graph.Edges() != 0 {
		t.Errorf("%d edges without Infer, %v", w.Graph.Edges(), err)
	}
	b := make3()
	b.Edge("own", "cut", Pos{})
	w, err = b.Build(FillOptions{Infer: true})
	if err != nil || w.Graph.Edges() != 1 || !slices.Equal(w.Graph.Preds(0), []int32{2}) {
		t.Errorf("what is said counts, and files then imply nothing: %v, %v", w, err)
	}
}

// TestFillMissing checks the median of the kind, of all tasks where the kind has
// none, and that tasks that have a run time keep it.
func TestFillMissing(t *testing.T) {
	add := func(b *Builder, kind string, runs ...Seconds) {
		for _, r := range runs {
			if _, err := b.Task(Task{ID: fmt.Sprint(b.Len()), Kind: kind, Run: r, Machine: -1}, Pos{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	nan := math.NaN()
	var b Builder
	add(&b, "a", 1, 9, 2, nan)
	add(&b, "b", 50, nan, 70)
	add(&b, "c", nan, nan)
	w, err := b.Build(FillOptions{Fill: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := []Seconds{1, 9, 2, 2, 50, 60, 70, 9, 9}; !slices.Equal(w.Runs(), want) || w.Filled != 4 {
		t.Errorf("%d filled: %v, want %v", w.Filled, w.Runs(), want)
	}
}

// TestMachines checks that machines are named once, and whose cores count.
func TestMachines(t *testing.T) {
	var b Builder
	a, c := b.Machine("a"), b.Machine("c")
	if again := b.Machine("a"); a != 0 || c != 1 || again != a {
		t.Errorf("machines %d, %d, %d", a, c, again)
	}
	b.Machines[a].Cores, b.Machines[c].Cores = 8, 16
	b.Machine("idle")
	addTask(t, &b, "x", 1)
	b.Warn("%d odd things", 3)
	w, err := b.Build(FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if w.Cores() != 25 { // cores not known count as one
		t.Errorf("%d cores where no task names a machine, want those of all, 25", w.Cores())
	}
	w.Tasks[0].Machine = int32(c)
	if w.Cores() != 16 || usedMachines(w) != 1 {
		t.Errorf("%d cores of %d machines, want 16 of 1", w.Cores(), usedMachines(w))
	}
	if !slices.Equal(w.Warnings, []string{"3 odd things"}) {
		t.Errorf("warnings %q", w.Warnings)
	}
}

// TestWithRuns checks that other run times leave the workflow as it was.
func TestWithRuns(t *testing.T) {
	w := tasks(t, "a:1 b:2<a")
	v := w.WithRuns([]Seconds{10, 20})
	if w.Work() != 3 || v.Work() != 30 || v.Graph != w.Graph {
		t.Errorf("work %v and %v", w.Work(), v.Work())
	}
	w.Runs()[0] = 99
	if w.Tasks[0].Run != 1 {
		t.Error("Runs is not a copy")
	}
	if !panics(func() { w.WithRuns([]Seconds{1}) }) {
		t.Error("too few run times: no panic")
	}
}
