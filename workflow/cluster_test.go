package workflow

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestClusterBalances checks that tasks are dealt longest first: 9, 8, 7, 3, 2, 1 to
// two jobs is 15 and 15, in any other order of dealing more.
func TestClusterBalances(t *testing.T) {
	w := tasks(t, "a1:1 a2:2 a3:3 a4:7 a5:8 a6:9 z:1<a1,a2,a3,a4,a5,a6")
	c, err := Cluster(w, TopDown{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Seconds{15, 15, 1}; !slices.Equal(c.Runs(), want) || c.Graph.Edges() != 2 {
		t.Errorf("jobs %v with %d edges, want %v with 2", c.Runs(), c.Graph.Edges(), want)
	}
}

// TestClusterKeepsApart checks the tasks that are not gathered: other kinds, other levels,
// auxiliary tasks, and levels that have few tasks already.
func TestClusterKeepsApart(t *testing.T) {
	w := tasks(t, "a1:1 a2:1 a3:1 b1:1 b2:1 x1:1 x2:1 c1:1<a1 c2:1<a2")
	for i := range w.Tasks {
		w.Tasks[i].Auxiliary = strings.HasPrefix(w.Tasks[i].ID, "x")
	}
	c, err := Cluster(w, TopDown{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i := range c.Tasks {
		ids = append(ids, c.Tasks[i].ID)
	}
	if want := []string{"a1", "b1", "x1", "x2", "c1"}; !slices.Equal(ids, want) {
		t.Errorf("jobs %v, want %v", ids, want)
	}
	if c, err = Cluster(w, TopDown{}, 3); err != nil || len(c.Tasks) != len(w.Tasks) {
		t.Errorf("%d jobs of at most 3 a kind, %v; want all %d tasks", len(c.Tasks), err, len(w.Tasks))
	}
	if !panics(func() { _, _ = Cluster(w, TopDown{}, 0) }) {
		t.Error("no jobs: no panic")
	}
}

// TestClusterNeeds checks the needs of a job: the largest memory and cores, all bytes, and each file once.
func TestClusterNeeds(t *testing.T) {
	var b Builder
	for _, id := range []string{"a1", "a2"} {
		i, err := b.Task(Task{ID: id, Kind: "a", Run: 1, Machine: -1}, Pos{})
		if err != nil {
			t.Fatal(err)
		}
		b.Input(i, "shared")
		b.Output(i, "out-"+id)
	}
	b.SetFile("shared", 10)
	b.SetFile("out-a1", 1)
	b.SetFile("out-a2", 2)
	*b.At(0) = Task{ID: "a1", Kind: "a", Run: 1, Cores: 4, Memory: 5, Read: 7, Written: 1, Machine: -1}
	*b.At(1) = Task{ID: "a2", Kind: "a", Run: 2, Cores: 2, Memory: 50, Read: 8, Written: 2, Machine: -1}
	w, err := b.Build(FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Cluster(w, TopDown{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	got := c.Tasks[0]
	if got.Run != 3 || got.Cores != 4 || got.Memory != 50 || got.Read != 15 || got.Written != 3 {
		t.Errorf("job %+v", got)
	}
	if got.In != 10 || got.Out != 3 || len(c.Inputs(0)) != 1 || len(c.Outputs(0)) != 2 {
		t.Errorf("%v B in %d files in, %v B in %d out", got.In, len(c.Inputs(0)), got.Out, len(c.Outputs(0)))
	}
}

// TestClusterProperties checks that clustering keeps the work and the levels, makes at
// most k jobs of a kind and level, and lets no job start before its tasks could.
func TestClusterProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkflow(t, 14)
		k := rapid.IntRange(1, 4).Draw(t, "k")
		c, err := Cluster(w, TopDown{}, k)
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(c.Work()-w.Work()) <= 1e-9*w.Work()) {
			t.Fatalf("work %v, want %v", c.Work(), w.Work())
		}
		if c.Graph.Depth() != w.Graph.Depth() {
			t.Fatalf("%d levels, want %d", c.Graph.Depth(), w.Graph.Depth())
		}
		type group struct {
			level int32
			kind  string
		}
		count := map[group]int{}
		for t, l := range (TopDown{}).Level(c.Graph, nil, 1) {
			count[group{l, c.Tasks[t].Kind}]++
		}
		for g, n := range count {
			if n > k {
				t.Fatalf("%d jobs of kind %q on level %d, at most %d", n, g.kind, g.level, k)
			}
		}
		if path := Bounds(w, Overhead{}, 1).Path; Bounds(c, Overhead{}, 1).Path < path-1e-9 {
			t.Fatalf("the jobs' critical path is shorter than the tasks', %v", path)
		}
	})
}
