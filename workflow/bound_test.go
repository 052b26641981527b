package workflow

import "testing"

// TestBoundsCountDelays checks the part of the delays in each bound, for a chain of two tasks beside two
// others: 10 and 20 s, 5 and 1 s. The start is in both. The path begins after one dispatch and has the task's
// own delay for each of its tasks; the slots share the run times and these delays; and no schedule ends before
// all tasks are dispatched one after the other.
func TestBoundsCountDelays(t *testing.T) {
	w := tasks(t, "a:10 b:20<a c:5 d:1")
	for _, tt := range []struct {
		name     string
		overhead Overhead
		want     Bound
	}{
		{"none", Overhead{}, Bound{Path: 30, Area: 18}},
		{"start", Overhead{Start: 100}, Bound{Path: 130, Area: 118}},
		{"task", Overhead{Task: 3}, Bound{Path: 36, Area: 24}},
		{"dispatch", Overhead{Dispatch: 2}, Bound{Path: 32, Area: 18}},
		{"dispatch alone takes longer", Overhead{Dispatch: 7}, Bound{Path: 37, Area: 28}},
		{"all", Overhead{Start: 100, Task: 3, Dispatch: 7}, Bound{Path: 143, Area: 128}},
		{"scale", Overhead{Scale: 2, Task: 3}, Bound{Path: 66, Area: 42}},
		{"half of the slots", Overhead{Share: 0.5}, Bound{Path: 30, Area: 36}},
	} {
		if got := Bounds(w, tt.overhead, 2); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if got := (Bound{Path: 3, Area: 2}).Makespan(); got != 3 {
		t.Errorf("the larger of 3 and 2 is %v", got)
	}
}

// TestEmptyLevels checks that levels without tasks cost nothing, wherever they are, and that the longest task
// of a level has its own delay.
func TestEmptyLevels(t *testing.T) {
	levels := []Level{{}, {Tasks: 2, Sum: 30, Max: 20}, {}, {Tasks: 1, Sum: 5, Max: 5}}
	if got := (Overhead{Level: 25, Start: 1}).Makespan(levels, 2); got != 1+20+25+5+25 {
		t.Errorf("%v s, want 76", got)
	}
	if got := (Overhead{Task: 4, Scale: 2}).Makespan(levels[1:2], 2); got != 44 {
		t.Errorf("%v s, want twice 20 and 4", got)
	}
}

// TestSlackStartsFromTheBetter checks both starts: the result is as good as the better of top down and bottom
// up, also where no single move leads from the one to the other.
func TestSlackStartsFromTheBetter(t *testing.T) {
	cost := func(words string, l Leveler, slots int) Seconds {
		w := tasks(t, words)
		return Overhead{}.Makespan(Profile(w, nil, l.Level(w.Graph, w.Runs(), slots)), slots)
	}
	for _, words := range []string{
		ladder, barrier, "a:10 b:20<a c:30<a d:40<b e:35 f:36", "a:5 b:40<a c:40 d:5<c e:1<b,d",
	} {
		for _, slots := range []int{0, 1, 2, 3} {
			n := max(slots, 1)
			s, a, b := cost(words, Slack{}, n), cost(words, TopDown{}, n), cost(words, BottomUp{}, n)
			if s > min(a, b)+1e-9 {
				t.Errorf("%s on %d slots: %v, top down %v, bottom up %v", words, n, s, a, b)
			}
		}
	}
	// With fewer slots than one there is one: levels do not matter then, and nothing divides by 0.
	w := tasks(t, ladder)
	if got, want := (Slack{}).Level(w.Graph, w.Runs(), 0), (Slack{}).Level(w.Graph, w.Runs(), 1); len(got) != len(want) {
		t.Errorf("%v on no slots, %v on one", got, want)
	}
}
