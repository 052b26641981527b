package workflow

import (
	"fmt"
	"slices"
	"testing"
)

// This file checks the numbers printed in Pietri et al. (WORKS 2014).

// figure1 is the example DAG of Fig. 1a. The paper prints run times per level
// only (Fig. 1b, 1c); the run times below are the one assignment that gives
// both tables, and the edges one set that gives both level columns.
func figure1(t testing.TB) *Workflow {
	t.Helper()
	b := Builder{Name: "fig1"}
	for i, run := range []Seconds{13, 9, 13, 7, 9, 12, 10, 11} {
		if _, err := b.Task(Task{ID: fmt.Sprint(i), Run: run, Machine: -1}, Pos{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range []string{"01", "02", "03", "14", "24", "35", "46", "57", "67"} {
		b.Edge(e[:1], e[1:], Pos{})
	}
	w, err := b.Build(FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestFigure1 checks the worked example of §IV.D and its costs.
func TestFigure1(t *testing.T) {
	w := figure1(t)
	for _, tt := range []struct {
		name    string
		leveler Leveler
		slots   int
		want    Seconds
		cost    float64
	}{
		{"TDA", TopDown{}, 2, 60.5, 121},
		{"TDA", TopDown{}, 4, 59, 236},
		{"BUA", BottomUp{}, 2, 58, 116},
		{"BUA", BottomUp{}, 4, 58, 232},
	} {
		m, err := NewLevelModel(w, tt.leveler, Overhead{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Makespan(tt.slots)
		if err != nil || got != tt.want {
			t.Errorf("%s on %d slots: makespan %v, %v; want %v", tt.name, tt.slots, got, err, tt.want)
		}
		if cost := PerSlotSecond(1).Cost(tt.slots, got); cost != tt.cost {
			t.Errorf("%s on %d slots: cost %v; want %v", tt.name, tt.slots, cost, tt.cost)
		}
	}
	// Reference: section IV.D, Eq. 4 and 5
}

// TestFigure1Tables checks Fig. 1b and 1c.
func TestFigure1Tables(t *testing.T) {
	w := figure1(t)
	for _, tt := range []struct {
		name    string
		leveler Leveler
		level   []int32
		want    []Level
	}{
		{
			"TDA",
			TopDown{},
			[]int32{0, 1, 1, 1, 2, 2, 3, 4},
			[]Level{{1, 13, 13, 0}, {3, 29, 13, 0}, {2, 21, 12, 0}, {1, 10, 10, 0}, {1, 11, 11, 0}},
		},
		{
			"BUA",
			BottomUp{},
			[]int32{0, 1, 1, 2, 2, 3, 3, 4},
			[]Level{{1, 13, 13, 0}, {2, 22, 13, 0}, {2, 16, 9, 0}, {2, 22, 12, 0}, {1, 11, 11, 0}},
		},
	} {
		level := tt.leveler.Level(w.Graph, nil, 1)
		if !slices.Equal(level, tt.level) {
			t.Errorf("%s: levels %v, want %v", tt.name, level, tt.level)
		}
		if got := Profile(w, nil, level); !slices.Equal(got, tt.want) {
			t.Errorf("%s: profile %v, want %v", tt.name, got, tt.want)
		}
	}
	// Reference: Fig. 1b, 1c
}

// TestDelays checks the delay per level (25 s in the evaluation) and per
// workflow.
func TestDelays(t *testing.T) {
	m, err := NewLevelModel(figure1(t), TopDown{}, Overhead{Level: PaperDelay, Start: 100})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := m.Makespan(2); got != 60.5+5*25+100 {
		t.Errorf("makespan %v, want %v", got, 60.5+5*25+100)
	}
	// Reference: section IV.B, IV.C
}

// TestRelError checks Eq. 6.
func TestRelError(t *testing.T) {
	if got := RelError(200, 150); got != 0.25 {
		t.Errorf("RelError(200, 150) = %v, want 0.25", got)
	}
	if got := RelError(200, 250); got != 0.25 {
		t.Errorf("RelError(200, 250) = %v, want 0.25", got)
	}
	// Reference: section V.C, Eq. 6
}
