package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// onRecord puts a study with a trial in every state on record.
func onRecord(t testing.TB, more string) *Record {
	t.Helper()
	text := "command: [p, '{n}', '{elapsed}', '{r}']\nparameters: {n: 1..9, elapsed: [a, b], r: 0.5..2.5}\n" + more
	def, _, err := spec.Parse("f.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(def)
	if err != nil {
		t.Fatal(err)
	}
	mem := store.NewMem()
	if err := mem.Create(t.Context(), "s", stored); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	var events []assay.Event
	for i, state := range []assay.State{
		assay.Done, assay.Censored, assay.Failed, assay.Infeasible, assay.Withdrawn, assay.Done, assay.Running,
	} {
		p := assay.Proposal{ID: int64(i + 1), Config: assay.Config{float64(i + 1), float64(i % 2), 1.5}}
		events = append(events, assay.Event{At: at, Asked: &p})
		if state == assay.Running {
			break
		}
		trial := assay.Trial{
			Proposal: p, State: state, Value: 10 - float64(i),
			Started: at, Ended: at.Add(time.Minute), Reason: "why",
		}
		trial.Measurement = assay.Measurement{Elapsed: 3 * time.Second, Metrics: map[string]float64{"max_rss": 5e6}}
		if state == assay.Failed || state == assay.Withdrawn {
			trial.Value = math.Inf(1)
		}
		events = append(events, assay.Event{At: at, Spent: time.Duration(i+1) * time.Second, Told: &trial})
	}
	events = append(events, assay.Event{At: at, Pruned: &assay.Pruned{Param: "n"}})
	if _, err := mem.Append(t.Context(), "s", 0, events...); err != nil {
		t.Fatal(err)
	}
	r, err := Read(t.Context(), mem, "s")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRecord(t *testing.T) {
	r := onRecord(t, "")
	l, err := r.Study(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if l.Trials != 7 || l.Done != 2 || l.Censored != 1 || l.Failed != 1 || l.Infeasible != 1 || l.Withdrawn != 1 ||
		*l.Best != 5 || l.Objective != "minimize elapsed" {
		t.Errorf("listed %+v", l)
	}
	s, err := r.Shown(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Trials != (Counts{7, 2, 1, 1, 1, 1, 0}) || s.Found.ID != 6 || s.Best.Value != 5 ||
		s.Best.Metrics["elapsed"] != 3 || s.Best.Config["n"] != 6.0 && s.Best.Config["n"] != int64(6) {
		t.Errorf("shown %+v, best %+v", s, s.Best)
	}
	if want := []float64{10, 10, 10, 10, 10, 5, 5}; !reflect.DeepEqual(s.Curve, want) {
		t.Errorf("the best so far %v, want %v", s.Curve, want)
	}
	if s.Cuts != nil {
		t.Errorf("cuts of a study that nobody helped: %v", s.Cuts)
	}
	r.Definition.Prior.Resolved = []spec.PriorStudy{{Name: "other"}}
	if cuts, err := r.Cuts(t.Context()); err != nil || len(cuts) != 1 {
		t.Errorf("cuts %v, %v", cuts, err)
	}
	if _, err := Read(t.Context(), store.NewMem(), "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no study: %v", err)
	}
}

// Every trial can be written as JSON, whatever its state; only those have a value that
// were measured.
func TestTrials(t *testing.T) {
	r := onRecord(t, "objective: {maximize: elapsed}\n")
	valued := 0
	for trial, err := range r.Trials(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		j := r.Trial(trial)
		if _, err := json.Marshal(j); err != nil {
			t.Errorf("trial %d, %v: %v", j.ID, j.State, err)
		}
		if j.Value != nil {
			valued++
			if *j.Value != -trial.Value {
				t.Errorf("trial %d has %v, which is %v to the search", j.ID, *j.Value, trial.Value)
			}
		}
		if (j.Ended != nil) != trial.State.Final() {
			t.Errorf("trial %d, %v, ended %v", j.ID, j.State, j.Ended)
		}
	}
	if valued != 4 {
		t.Errorf("%d trials have a value, want 4", valued)
	}
	for _, bad := range []assay.Config{{1, 0}, {1, 5, 1.5}} {
		if err := r.Fits(assay.Trial{Proposal: assay.Proposal{ID: 3, Config: bad}}); err == nil ||
			!strings.Contains(err.Error(), "assay study fsck") {
			t.Errorf("a trial of %v: %v", bad, err)
		}
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := onRecord(t, "").WriteCSV(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	want := []string{
		"id,state,n,elapsed,r,metric.elapsed,max_rss,reason,started,ended",
		"1,done,1,a,1.5,3,5000000,why,2024-05-01T12:00:00Z,2024-05-01T12:01:00Z",
	}
	if len(lines) != 7 || lines[0] != want[0] || lines[1] != want[1] {
		t.Errorf("got\n%s\nwant\n%s\n... in 7 lines", b.String(), strings.Join(want, "\n"))
	}
}

// The journal has a study, and for each trial that ended its parameters and its state;
// a trial that was withdrawn is left out.
func TestOptuna(t *testing.T) {
	var b bytes.Buffer
	if err := onRecord(t, "").WriteOptuna(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	codes := map[float64]int{}
	var states []float64
	for line := range strings.Lines(b.String()) {
		var op map[string]any
		if err := json.Unmarshal([]byte(line), &op); err != nil {
			t.Fatal(err)
		}
		code := op["op_code"].(float64)
		codes[code]++
		if code == optunaState {
			states = append(states, op["state"].(float64))
		}
	}
	wantCodes := map[float64]int{
		optunaCreateStudy: 1, optunaStudySystem: 1, optunaStudyUser: 1, optunaCreateTrial: 5,
		optunaParam: 15, optunaUserAttr: 25, optunaState: 5,
	}
	if !reflect.DeepEqual(codes, wantCodes) {
		t.Errorf("operations %v, want %v", codes, wantCodes)
	}
	for _, want := range []string{`{"study:metric_names":["elapsed"]}`, `{"assay_units":{"elapsed":"s"}}`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the journal lacks %s", want)
		}
	}
	for state, n := range map[string]int{"done": 2, "censored": 1, "failed": 1, "infeasible": 1} {
		if got := strings.Count(b.String(), `{"assay_state":"`+state+`"}`); got != n {
			t.Errorf("%d trials are %q, want %d", got, state, n)
		}
	}
	wantStates := []float64{optunaComplete, optunaPruned, optunaFail, optunaComplete, optunaComplete}
	if !reflect.DeepEqual(states, wantStates) {
		t.Errorf("states %v, want %v", states, wantStates)
	}
	for want, p := range map[string]assay.Param{
		`"name":"IntDistribution"`: {Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9},
		`"step":4`:                 {Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9, Step: 4},
		`"log":true`:               {Name: "r", Kind: assay.Real, Lo: 1, Hi: 9, Log: true},
		`"step":0.5`:               {Name: "r", Kind: assay.Real, Lo: 1, Hi: 9, Step: 0.5},
		`"choices":["a","b"]`:      {Name: "c", Kind: assay.Categorical, Levels: []string{"a", "b"}},
	} {
		if got, err := optunaDistribution(p); err != nil || !strings.Contains(got, want) {
			t.Errorf("%+v: %s, %v, want %s", p, got, err, want)
		}
	}
}

// A trial outside the limits is complete, with its value and the limits it broke.
func TestOptunaConstraints(t *testing.T) {
	var b bytes.Buffer
	r := onRecord(t, "subject_to: [max_rss <= 4e6, elapsed < 100]\n")
	if err := r.WriteOptuna(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	got := map[float64][]any{}
	for line := range strings.Lines(b.String()) {
		var op struct {
			ID     float64          `json:"trial_id"`
			System map[string][]any `json:"system_attr"`
		}
		if err := json.Unmarshal([]byte(line), &op); err != nil {
			t.Fatal(err)
		}
		if c := op.System["constraints"]; c != nil {
			got[op.ID] = c
		}
	}
	broken := []any{1.0, 0.0}
	if want := map[float64][]any{0: broken, 3: broken, 4: broken}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOutcome(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9}})
	if err != nil {
		t.Fatal(err)
	}
	goal := assay.Goal{Metric: "speed", Maximize: true, Unit: "B/s"}
	trial := func(id int64, value float64) assay.Trial {
		p := assay.Proposal{ID: id, Config: assay.Config{float64(id)}}
		return assay.Trial{Proposal: p, State: assay.Done, Value: value}
	}
	r := study.Result{
		Found: true, First: trial(1, -10), Best: trial(2, -20), Spent: time.Minute, EndedBy: "trials", Lost: 90 * time.Second,
		Trials: []assay.Trial{trial(1, -10), trial(2, -20), {State: assay.Failed}},
	}
	o := NewOutcome("s", space, goal, r)
	if o.Objective != (Objective{Metric: "speed", Goal: "maximize", Unit: "B/s"}) || o.Best.Value != 20 ||
		o.Best.Trial != 2 ||
		o.Gain != nil || o.Trials.Total != 3 || o.Trials.Failed != 1 || o.Spent != 60 || o.Lost != 90 {
		t.Errorf("%+v, best %+v", o, o.Best)
	}
	// Five runs of each, twice as fast.
	for i := range 5 {
		noise := float64(i) / 100
		r.Checks = append(r.Checks, trial(1, -10-noise), trial(2, -20-noise))
	}
	r.Checks = append(r.Checks, assay.Trial{Proposal: assay.Proposal{ID: 2}, State: assay.Failed})
	g := NewOutcome("s", space, goal, r).Gain
	if g == nil || !(math.Abs(g.Change-1) <= 0.01) || g.Verdict != "more" || g.Runs != 5 || g.First != 1 {
		t.Errorf("gain %+v", g)
	}
	r.Found = false
	if o := NewOutcome("s", space, goal, r); o.Best != nil || o.Gain != nil {
		t.Errorf("nothing was found: %+v", o)
	}
}
