package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// One trial with all that is on record of it, and its worker's report.
func TestTrial(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	id := func(attempt int) assay.RunID { return assay.RunID{Study: "tuned", Trial: 2, Attempt: attempt} }
	lost := &assay.AttemptEnd{
		RunID: id(1), Worker: "rack", Why: "lost", Reason: "not heard of",
		Measurement: assay.Measurement{Elapsed: 4 * time.Second},
	}
	for _, e := range []assay.Event{
		{Ordered: &assay.Order{Trial: 2, Priority: 3, By: "ada"}},
		{Ordered: &assay.Order{Trial: 2, By: "bob"}},
		{Ordered: &assay.Order{Trial: 3, Priority: 9}},
		{Started: &assay.Start{RunID: id(1), Worker: "rack", MachineClass: "9f"}},
		{Booked: lost},
		{Started: &assay.Start{RunID: id(2), Worker: "rack", MachineClass: "9f"}},
		{Withdrawn: &assay.Withdrawal{Trial: 4, By: "eve"}}, // it had ended: nothing changes
		{Given: &assay.Batch{Configs: []assay.Config{{50}, {51}}, By: "ada", Restores: []int64{7, 8}}},
	} {
		if err := r.host.append(ctx, "tuned", e); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []float64{51, 50} {
		p := &assay.Proposal{ID: int64(5 + i), Config: assay.Config{c}}
		if err := r.host.append(ctx, "tuned", assay.Event{Asked: p}); err != nil {
			t.Fatal(err)
		}
	}
	get := func(path string) (d TrialDetail) {
		t.Helper()
		got := r.do(t, Viewer, http.MethodGet, prefix+"/studies/tuned/trials/"+path, "", nil)
		if got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if err := json.Unmarshal([]byte(got.body), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := get("2")
	if d.Trial.ID != 2 || d.Trial.State != "running" || d.Command != "true 2" || d.Metric != "elapsed" ||
		d.Units[d.Metric] != "s" {
		t.Errorf("%+v", d)
	}
	if len(d.Attempts) != 2 {
		t.Fatalf("%+v", d.Attempts)
	}
	if a := d.Attempts[0]; a.State != "lost" || a.Why != "lost" || a.Elapsed != 4 || a.Ended == nil ||
		a.Worker != "rack" || a.MachineClass != "9f" {
		t.Errorf("%+v", a)
	}
	a := d.Attempts[1]
	if a.State != "placed" || a.Elapsed != 9 || a.Silent != 3 || a.Ended != nil || a.Curve == nil {
		t.Fatalf("%+v", a)
	}
	if s := a.Curve.Metrics["score"]; !reflect.DeepEqual(a.Curve.At, []float64{1, 2}) || *s[0] != 1.5 || s[1] != nil {
		t.Errorf("%+v", a.Curve)
	}
	var decided []string
	for _, m := range d.Decisions {
		decided = append(decided, m.Do+" "+m.By)
	}
	if got := strings.Join(decided, ", "); got != "first ada, last bob" {
		t.Errorf("decided: %s", got)
	}
	if d := get("5"); d.Restores != 8 || d.Restored != 0 {
		t.Errorf("trial 5 is run in place of %d", d.Restores)
	}
	if d := get("6"); d.Restores != 7 {
		t.Errorf("trial 6 is run in place of %d", d.Restores)
	}
	if d := get("1"); d.Trial.State != "done" || len(d.Attempts) != 0 || d.Trial.Decision != nil {
		t.Errorf("%+v", d)
	}
	for path, want := range map[string]int{"/99": 404, "/0": 422, "/x": 422} {
		if got := r.do(t, Viewer, http.MethodGet, prefix+"/studies/tuned/trials"+path, "", nil); got.status != want {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// The decision of a stopping rule, and a withdrawal that was undone.
func TestTrialStoppedAndRestored(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	told := &assay.Trial{
		Proposal: assay.Proposal{ID: 2, Config: assay.Config{2}}, State: assay.Censored, Value: 8,
		Decision: &assay.Decision{Stop: true, Reason: "too slow", Predicted: 40, At: 8 * time.Second},
		Started:  time.Unix(1700000000, 0), Ended: time.Unix(1700000009, 0),
	}
	for _, e := range []assay.Event{
		{Told: told},
		{Asked: &assay.Proposal{ID: 5, Config: assay.Config{5}}},
		{Withdrawn: &assay.Withdrawal{Trial: 5, By: "ada", Reason: "<b>bad</b>"}},
		{Given: &assay.Batch{Configs: []assay.Config{{5}}, By: "bob", Restores: []int64{5}}},
		{Asked: &assay.Proposal{ID: 6, Config: assay.Config{5}}},
	} {
		if err := r.host.append(ctx, "tuned", e); err != nil {
			t.Fatal(err)
		}
	}
	c := r.client(t, "viewer")
	d, err := c.Trial(ctx, "tuned", 2)
	v := d.Trial.Decision
	if err != nil || v == nil || !v.Stop || *v.Predicted != 40 || v.At != 8 || v.Reason != "too slow" {
		t.Errorf("%+v, %v", v, err)
	}
	d, err = c.Trial(ctx, "tuned", 5)
	if err != nil || d.Restored != 6 || d.Trial.State != "withdrawn" || len(d.Decisions) != 2 ||
		d.Decisions[0].Reason != "<b>bad</b>" || d.Decisions[1].Do != "restore" || d.Decisions[1].By != "bob" {
		t.Errorf("%+v, %v", d, err)
	}
}

// The queue has the trials that can be restored, of the studies that the caller may see.
func TestDiscarded(t *testing.T) {
	r := newRig(t)
	r.keys.all["some"] = Token{Name: "some", Role: Operator, Studies: []string{"tun"}}
	for token, want := range map[string]int{"viewer": 3, "some": 2} {
		q, err := r.client(t, token).Queue(t.Context(), "", 10)
		if err != nil || len(q.Discarded) != want || q.Discarded[0].Study != "tuned" || q.Discarded[0].Trial != 5 {
			t.Errorf("%s: %+v, %v", token, q.Discarded, err)
		}
	}
	q, err := r.client(t, "viewer").Queue(t.Context(), "tuned", 1)
	if err != nil || len(q.Discarded) != 1 || q.Discarded[0].Trial != 6 || q.Discarded[0].Reason != "bad" {
		t.Errorf("the latest: %+v, %v", q.Discarded, err)
	}
	st, err := r.client(t, "some").Move(t.Context(), "tuned", []int64{6}, Change{Do: "restore"})
	if err != nil || st.Study != "tuned" {
		t.Errorf("%+v, %v", st, err)
	}
	_, err = r.client(t, "some").Move(t.Context(), "other", []int64{9}, Change{Do: "restore"})
	if assay.ClassOf(err) != assay.ClassNotFound {
		t.Errorf("a study of others: %v", err)
	}
	events := 0
	for e, err := range r.store.Events(t.Context(), "tuned", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Given != nil && e.Given.By == "some" && len(e.Given.Restores) == 1 && e.Given.Restores[0] == 6 {
			events++
		}
	}
	if events != 1 {
		t.Errorf("%d events", events)
	}
}
