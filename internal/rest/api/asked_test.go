package api

import (
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/study"
)

const askedFile = "parameters: {x: {type: real, min: 0, max: 1}}\nbudget: {trials: 3}\n" +
	"search: {name: random, seed: 1}\n"

// An author opens an external study, and an operator asks and tells.
func TestAskAndTell(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	author, c := r.clientOf(Author), r.clientOf(Operator)
	sub := Submission{Name: "loop", File: askedFile, Asked: true}
	if _, err := c.Submit(ctx, sub); err == nil || !strings.Contains(err.Error(), "needs the role author") {
		t.Errorf("an operator opens it: %v", err)
	}
	if checked, err := c.Check(ctx, sub); err != nil || checked.Executes != "asked" {
		t.Errorf("checked: %+v, %v", checked, err)
	}
	_, err := author.Submit(ctx, Submission{Name: "no", File: "command: [x]\n" + askedFile, Asked: true})
	if assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("with a command: %v", err)
	}
	if _, err := author.Submit(ctx, Submission{Name: "no", File: askedFile}); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("without saying so: %v", err)
	}
	if _, err := author.Submit(ctx, sub); err != nil {
		t.Fatal(err)
	}
	a, err := c.Ask(ctx, "loop", 5, -1)
	if err != nil || len(a.Trials) != 3 || a.Open != 3 || a.EndedBy != "" || len(a.Trials[0].Config) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	open, err := r.clientOf(Viewer).Asked(ctx, "loop")
	if err != nil || len(open) != 3 || open[2].ID != 3 || open[2].Attempt != 1 {
		t.Errorf("in flight: %+v, %v", open, err)
	}
	value := func(id int64, x float64) study.Report { return study.Report{ID: id, Value: &x} }
	told, err := c.Tell(ctx, "loop", []study.Report{value(1, 2.5), {ID: 2, State: "failed", Reason: "cold"}})
	if err != nil || told.Told != 2 || told.Best.Trial != 1 || told.Best.Value != 2.5 || told.Open != 1 ||
		told.Trials.Failed != 1 {
		t.Errorf("told: %+v, %v", told, err)
	}
	for name, bad := range map[string][]study.Report{
		"results[1]: trial 9 was not asked":        {value(3, 1), value(9, 1)},
		"results[0]: trial 1 was reported before":  {value(1, 7)},
		"results[0]: trial 3 has no value":         {{ID: 3}},
		"results[0]: trial 3 is of another":        {{ID: 3, Config: map[string]any{"x": 7.0}, Value: new(float64)}},
		"validation failed":                        {value(3, 1), {ID: 3, State: "good"}},
		"results[1]: trial 3 was reported before,": {value(3, 1), value(3, 2)},
	} {
		if _, err := c.Tell(ctx, "loop", bad); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	again, err := c.Ask(ctx, "loop", 1, 0)
	if err != nil || len(again.Trials) != 1 || again.Trials[0].ID != 3 || again.Trials[0].Attempt != 2 {
		t.Errorf("again: %+v, %v", again, err)
	}
	back, err := c.Recall(ctx, "loop", 0, "tired")
	if err != nil || len(back) != 1 || back[0].ID != 3 {
		t.Errorf("recalled: %+v, %v", back, err)
	}
	if _, err := c.Ask(ctx, "tuned", 1, -1); assay.ClassOf(err) != assay.ClassConflict {
		t.Errorf("of a study with a command: %v", err)
	}
	if _, err := c.Ask(ctx, "nothing", 1, -1); assay.ClassOf(err) != assay.ClassNotFound {
		t.Errorf("of no study: %v", err)
	}
	if _, err := r.clientOf(Viewer).Tell(ctx, "loop", []study.Report{value(3, 1)}); err == nil {
		t.Error("a viewer tells")
	}
	if _, err := c.Tell(ctx, "loop", []study.Report{value(3, math.NaN())}); err == nil {
		t.Error("NaN was told")
	}
}

// The same ask again, by its Idempotency-Key, is the same answer, and asks for nothing.
func TestAskOnce(t *testing.T) {
	r := newRig(t)
	send := func(key string) reply {
		header := http.Header{"Idempotency-Key": {key}}
		return r.do(t, Operator, http.MethodPost, prefix+"/studies/asked/ask", `{"n":2}`, header)
	}
	first, again, other := send("a"), send("a"), send("b")
	if first.status != http.StatusOK || again.body != first.body || other.body == first.body {
		t.Errorf("%d %s\n%d %s\n%d %s", first.status, first.body, again.status, again.body, other.status, other.body)
	}
}
