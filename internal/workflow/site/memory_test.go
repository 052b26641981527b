package site

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/assay-run/assay/workflow"
)

// TestSiteMemory checks that a task runs only where its memory fits: the fast site
// has 4 GB for each task, the slow one no limit.
func TestSiteMemory(t *testing.T) {
	for _, tt := range []struct {
		name   string
		memory workflow.Bytes // of the task
		fast   workflow.Bytes // of the fast site
		want   int            // site
	}{
		{"fits", 3e9, 4e9, 1},
		{"fits exactly", 4e9, 4e9, 1},
		{"does not fit", 5e9, 4e9, 0},
		{"a site without a limit", 5e9, 0, 1},
		{"a task that says nothing", 0, 1, 1},
	} {
		net, err := NewNetwork([]Site{
			{Name: "slow", Slots: 1, Speed: 1, Storage: math.Inf(1)},
			{Name: "fast", Slots: 1, Speed: 10, Memory: tt.fast, Storage: math.Inf(1)},
		}, []Link{{0, 1, 1e9, 0}})
		if err != nil {
			t.Fatal(err)
		}
		w := oneTask(t, 100, 1, 1)
		w.Tasks[0].Memory = tt.memory
		p, err := MakePlans(w, net, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Best.Decisions[0].Compute; got != tt.want {
			t.Errorf("%s: runs at %s, want %s", tt.name, net.Sites()[got].Name, net.Sites()[tt.want].Name)
		}
	}
}

// TestSiteMemoryNowhere checks that a task which is too large for every site is named with its need.
func TestSiteMemoryNowhere(t *testing.T) {
	net, err := NewNetwork([]Site{{Name: "A", Slots: 1, Memory: 1e9, Storage: math.Inf(1)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := oneTask(t, 1, 0, 0)
	w.Tasks[0].Memory = 2e9
	_, err = MakePlans(w, net, Options{})
	var e *workflow.InfeasibleError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "G needs 2 GB of memory, A has 1 GB") {
		t.Errorf("%v", err)
	}
}

// TestUsage checks the demand of a plan on each site.
func TestUsage(t *testing.T) {
	p := &Plan{
		Decisions: []Decision{
			{Compute: 0, Start: 0, End: 4},
			{Compute: 1, Start: 2, End: 3},
			{Compute: 0, Start: 4, End: 10},
		},
		Stagings: []Staging{{To: 1, Bytes: 7}, {To: 1, Bytes: 1}},
		Stored:   []workflow.Bytes{5, 6, 0},
	}
	got := p.Usage()
	want := []Usage{{2, 10, 0, 5}, {1, 1, 8, 6}, {}}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("site %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	if x := got[0].Load(&Site{Slots: 2}, 10); x != 0.5 {
		t.Errorf("load %v, want 0.5", x)
	}
	if got[0].Load(&Site{}, 10) != 0 || got[0].Load(&Site{Slots: 1}, 0) != 0 {
		t.Error("a site without slots, or a plan that takes no time, has a load")
	}
}

// TestMissingInput checks the error for an input that is at no site.
func TestMissingInput(t *testing.T) {
	net, err := NewNetwork([]Site{{Name: "A", Slots: 1, Storage: math.Inf(1)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{-1, 1} {
		_, err = MakePlans(oneTask(t, 1, 5, 0), net, Options{Data: func(string) int { return at }})
		var e *MissingInputError
		if !errors.As(err, &e) || e.Input != "G" || e.Task != "G" {
			t.Errorf("input at site %d: %v", at, err)
		}
	}
	if TellsData(oneTask(t, 1, 0, 0)) || !TellsData(oneTask(t, 1, 0, 1)) {
		t.Error("TellsData is wrong")
	}
}
