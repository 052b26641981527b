package workflow

import (
	"math"
	"slices"
	"testing"
)

// ladder has a task that can be on two levels: x may run beside b or beside c.
const ladder = "a:4 b:10<a c:2<b x:3<a d:1<c,x"

// TestLevelsByHand checks each way to count levels where the answer is seen.
func TestLevelsByHand(t *testing.T) {
	for _, tt := range []struct {
		name, words string
		leveler     Leveler
		slots       int
		want        []int32
	}{
		{"as early as possible", ladder, TopDown{}, 1, []int32{0, 1, 2, 1, 3}},
		{"as late as possible", ladder, BottomUp{}, 1, []int32{0, 1, 2, 2, 3}},
		// Beside b (10 s) x costs nothing on two slots; beside c it costs 1 s.
		{"where it is cheapest", ladder, Slack{}, 2, []int32{0, 1, 2, 1, 3}},
		{"one task", "a:1", BottomUp{}, 1, []int32{0}},
		{"without dependencies", "a:1 b:2 c:3", BottomUp{}, 1, []int32{0, 0, 0}},
		// A short task waits for nothing and nothing waits for it: with bua it is
		// last.
		{"loose", "a:1 b:1<a l:1", TopDown{}, 1, []int32{0, 1, 0}},
		{"loose, late", "a:1 b:1<a l:1", BottomUp{}, 1, []int32{0, 1, 1}},
	} {
		w := tasks(t, tt.words)
		if got := tt.leveler.Level(w.Graph, w.Runs(), tt.slots); !slices.Equal(got, tt.want) {
			t.Errorf("%s: levels %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestSlackFollowsSlots checks that the cheapest level depends on the slots: y (6 s)
// fits beside the long task on two slots, but on one slot every place is as good.
func TestSlackFollowsSlots(t *testing.T) {
	w := tasks(t, "a:2 b:2<a c:20<b y:6<a d:1<c,y")
	level := Slack{}.Level(w.Graph, w.Runs(), 2)
	if level[3] != 2 {
		t.Errorf("y is on level %d, want 2, beside c", level[3])
	}
	if got := (Overhead{}).Makespan(Profile(w, nil, level), 2); got != 25 {
		t.Errorf("makespan %v, want the critical path, 25", got)
	}
}

// TestSlackHelps checks a graph on which neither fixed way is best: x belongs early
// and y late, both beside b, which hides them.
func TestSlackHelps(t *testing.T) {
	w := tasks(t, "a:1 b:10<a x:8<a y:8 c:1<b,y d:1<c,x")
	for _, tt := range []struct {
		leveler Leveler
		want    Seconds
	}{{TopDown{}, 20}, {BottomUp{}, 20}, {Slack{}, 13}} {
		level := tt.leveler.Level(w.Graph, w.Runs(), 3)
		if got := (Overhead{}).Makespan(Profile(w, nil, level), 3); got != tt.want {
			t.Errorf("%T: %v s on 3 slots, want %v", tt.leveler, got, tt.want)
		}
	}
}

// TestLevelerKeepsArguments checks that no Leveler changes the run times or the graph it is given,
// and that its result belongs to the caller.
func TestLevelerKeepsArguments(t *testing.T) {
	w := tasks(t, ladder)
	run := w.Runs()
	for _, l := range Levelers() {
		first := l.Level(w.Graph, run, 2)
		want := slices.Clone(first)
		for i := range first {
			first[i] = 99
		}
		if got := l.Level(w.Graph, run, 2); !slices.Equal(got, want) {
			t.Errorf("%s: %v after the first result was changed, want %v", l.Name, got, want)
		}
		if !slices.Equal(run, w.Runs()) {
			t.Fatalf("%s changed the run times", l.Name)
		}
	}
}

// TestProfile checks the four columns of a level, and run times in place of the
// workflow's own.
func TestProfile(t *testing.T) {
	w := tasks(t, ladder)
	w.Tasks[1].In, w.Tasks[1].Out, w.Tasks[3].Out = 100, 20, 3
	level := TopDown{}.Level(w.Graph, nil, 1)
	want := []Level{{1, 4, 4, 0}, {2, 13, 10, 123}, {1, 2, 2, 0}, {1, 1, 1, 0}}
	if got := Profile(w, nil, level); !slices.Equal(got, want) {
		t.Errorf("levels %v, want %v", got, want)
	}
	double := w.Runs()
	for i := range double {
		double[i] *= 2
	}
	for i, l := range Profile(w, double, level) {
		if l.Sum != 2*want[i].Sum || l.Max != 2*want[i].Max || l.Tasks != want[i].Tasks || l.Bytes != want[i].Bytes {
			t.Errorf("level %d with doubled run times: %v", i, l)
		}
	}
	for name, f := range map[string]func(){
		"too few levels":    func() { Profile(w, nil, level[1:]) },
		"too few run times": func() { Profile(w, []Seconds{1}, level) },
	} {
		if !panics(f) {
			t.Errorf("%s: no panic", name)
		}
	}
}

// TestLevelsOfUnknownRuns checks that levels by structure do not look at run times,
// which may be missing.
func TestLevelsOfUnknownRuns(t *testing.T) {
	w := tasks(t, "a:NaN b:NaN<a")
	for _, l := range []FixedLeveler{TopDown{}, BottomUp{}} {
		if got := l.Level(w.Graph, nil, 0); !slices.Equal(got, []int32{0, 1}) {
			t.Errorf("%T: %v", l, got)
		}
		l.Fixed()
	}
	if m, err := NewLevelModel(w, TopDown{}, Overhead{}); err == nil {
		t.Errorf("a model of unknown run times: %v", m)
	}
	if !math.IsNaN(w.Work()) {
		t.Errorf("work of unknown run times is %v", w.Work())
	}
}
