package workflow

import (
	"math"
	"testing"
)

// Coefficients of many standard deviations, few slots, and forgetting a kind of overhead are implausible.
func TestImplausibility(t *testing.T) {
	find := func(m ComputeModel, terms ...Term) *candidate {
		t.Helper()
		all := candidates()
		for i := range all {
			c := &all[i]
			if computeModels()[c.model] != m || !c.fixed || len(c.terms) != len(terms) {
				continue
			}
			same := true
			for k := range terms {
				same = same && c.terms[k] == terms[k]
			}
			if same {
				return c
			}
		}
		t.Fatalf("no candidate %v %v", m, terms)
		return nil
	}
	full := find(ComputeModel{Share: 1}, Start, PerTask, PerGB)
	if x := full.implausibility([]float64{0, 0, 0}); x != 0 {
		t.Errorf("nothing added on all slots costs %v", x)
	}
	if x, want := full.implausibility([]float64{600, 3, 0}), 2+0.5; !(math.Abs(x-want) <= 1e-12) {
		t.Errorf("two and one standard deviations cost %v, want %v", x, want)
	}
	if x := full.implausibility([]float64{1e9, 0, 0}); x != 20 {
		t.Errorf("a billion seconds cost %v", x)
	}
	if x := find(ComputeModel{Share: 1}, Start, PerTask).implausibility([]float64{0, 0}); x != missingPenalty {
		t.Errorf("without bytes: %v, want %v", x, missingPenalty)
	}
	if x := find(ComputeModel{Share: 0.25}, Start, PerTask, PerGB).implausibility([]float64{
		0, 0,
		0,
	}); x != 2*slotPenalty {
		t.Errorf("a quarter of the slots costs %v, want %v", x, 2*slotPenalty)
	}
	if x := find(ComputeModel{Share: 1, Link: 14, Placed: true}, Start,
		PerTask).implausibility([]float64{0, 0}); x != 0 {
		t.Errorf("a link counts as bytes: %v", x)
	}
}

// sentFarm is a manager that sends n tasks b bytes each, with sizes recorded in
// kilobytes, at s seconds per gigabyte.
func sentFarm(t *testing.T, n int, b Bytes, run, s Seconds) *Workflow {
	t.Helper()
	w := Builder{
		Name: "farm", Makespan: max(run*float64(n)/16, s*b*float64(n)/1e9) + 20,
		Machines: []Machine{{Name: "m", Cores: 16}},
	}
	for i := range n {
		id := string(rune('a'+i%26)) + string(rune('a'+i/26))
		if _, err := w.Task(Task{
			ID: id, Kind: "k", Run: run, Machine: 0, In: b / 1000, Out: 1, Read: b,
			Written: 1900,
		}, Pos{}); err != nil {
			t.Fatal(err)
		}
	}
	out, err := w.Build(FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// One small run predicts to a third the time of a large one whose data pass the manager's link
// (part of its own time could be the start of every run), and of one that computes.
func TestCalibrateSentBytes(t *testing.T) {
	small := sentFarm(t, 100, 0.4e9, 3, 14)
	if sent := sentBytes(small, make([]int32, 100), 1); sent == nil || !(math.Abs(sent[0]-100*(0.4e9+1900)) <= 1) {
		t.Fatalf("sent bytes %v", sent)
	}
	c, err := Calibrate([]Execution{{Workflow: small}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		w    *Workflow
	}{{"ten times the data", sentFarm(t, 300, 4e9, 12, 14)}, {"computes", sentFarm(t, 100, 0.4e9, 1500, 14)}} {
		p, err := c.Predict(tt.w, TopDown{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if e := RelError(tt.w.Makespan, p.Makespan); e > 0.35 {
			t.Errorf("%s: predicted %v, real %v", tt.name, p.Makespan, tt.w.Makespan)
		}
	}
	// Sizes in bytes are believed.
	b := Builder{Name: "plain"}
	if _, err := b.Task(Task{ID: "a", Run: 1, In: 100, Out: 10, Read: 120, Written: 10, Machine: -1},
		Pos{}); err != nil {
		t.Fatal(err)
	}
	plain, err := b.Build(FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if sent := sentBytes(plain, []int32{0}, 1); sent != nil {
		t.Errorf("sent bytes %v of a workflow with consistent sizes", sent)
	}
}
