package result

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/report"
)

// learner returns one that has seen a program of 20/cpu + 3·rtt + 1 seconds on all of
// 25 assignments but those that are left out.
func learner(t testing.TB, without func(cpu, rtt float64) bool) (*costmodel.ActiveLearner, *assay.Space) {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{
		{Name: "cpu", Kind: assay.Integer, Lo: 1, Hi: 5}, {Name: "rtt", Kind: assay.Integer, Lo: 0, Hi: 4},
	})
	if err != nil {
		t.Fatal(err)
	}
	l := costmodel.NewActiveLearner(space, costmodel.Options{})
	var trials []assay.Trial
	for c := range space.All() {
		if without != nil && without(c[0], c[1]) {
			continue
		}
		trials = append(trials, timed(int64(len(trials)+1), c))
	}
	if err := l.Observe(trials...); err != nil {
		t.Fatal(err)
	}
	return l, space
}

// timed returns a trial of the program of [learner].
func timed(id int64, c assay.Config) assay.Trial {
	seconds := 20/c[0] + 3*c[1] + 1
	return assay.Trial{
		Proposal: assay.Proposal{ID: id, Config: c}, State: assay.Done, Value: seconds,
		Measurement: assay.Measurement{Elapsed: time.Duration(seconds * 1e9)},
	}
}

// keys returns a value as it is in JSON, by the keys.
func keys(t testing.TB, v any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]any{}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLearned(t *testing.T) {
	l, space := learner(t, func(cpu, _ float64) bool { return cpu == 3 })
	if err := l.Observe(timed(99, assay.Config{1, 0})); err != nil { // once more
		t.Fatal(err)
	}
	m, err := l.Model()
	if err != nil {
		t.Fatal(err)
	}
	o := Learned{Study: "x", Model: "x.json", Spent: 90, EndedBy: "record", Assignments: space.Size()}
	o.SetModel(m)
	if o.Runs != 21 || o.Failed != 0 || o.Error == nil || !(*o.Error < 20) {
		t.Errorf("got %+v", o)
	}
	var b strings.Builder
	if err := o.Write(&b, l); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"model      x.json\n", "runs       20 of 25 assignments in 21 runs\n", " % in leave-one-out\n",
		"time       1 min 30 s\n", "ended by   the end of the record; on record as study x\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	got := keys(t, o)
	for _, key := range []string{"study", "model", "runs", "failed", "error_percent", "spent_s", "ended_by"} {
		if _, ok := got[key]; !ok {
			t.Errorf("no key %s in %v", key, got)
		}
	}
	for by, want := range map[string]string{
		"error": "the error, which is small enough", "trials": "the number of trials", "else": "else",
	} {
		b.Reset()
		o.EndedBy = by
		if err := o.Write(&b, l); err != nil || !strings.Contains(b.String(), "ended by   "+want+";") {
			t.Errorf("%s: %v\n%s", by, err, b.String())
		}
	}
}

func TestPredict(t *testing.T) {
	l, _ := learner(t, nil)
	m, err := l.Model()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]string{"rtt": "1", "cpu": "2"}
	p, err := Predict(m, at, nil)
	if err != nil || !(math.Abs(p.Seconds-14) < 2) || !(p.Low <= p.Seconds) || p.text != "cpu=2 rtt=1" {
		t.Errorf("got %+v, %v; want about 14 s", p, err)
	}
	if _, err := Predict(m, map[string]string{"cpu": "2"}, nil); err == nil {
		t.Error("no error for an attribute that is missing")
	}
	p.Fails, p.High = 0.25, nil
	p.parts = []part{{"network", 3}, {"compute", 1}}
	var b strings.Builder
	if err := WritePredictions(&b, report.Palette{}, []Predicted{p}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"at         cpu=2 rtt=1\n", " to any time for 95 % of runs\n", "limited by network 75 %, compute 25 %\n",
		"fails      with a probability of 25 %\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	q := p
	q.parts = nil
	if err := WritePredictions(&b, report.Palette{}, []Predicted{p, q}); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(b.String(), "\n")
	if !strings.HasPrefix(rows[0], "at ") || !strings.Contains(rows[1], "network 75 %, compute 25 %") ||
		!strings.Contains(rows[2], "–") {
		t.Errorf("got\n%s", b.String())
	}
	if got := keys(t, p); got["high_s"] != nil || got["fails"] != 0.25 || got["at"].(map[string]any)["cpu"] != "2" {
		t.Errorf("got %v", got)
	}
	b.Reset()
	if err := WriteModel(&b, m); err != nil ||
		!strings.Contains(b.String(), "attributes cpu: int 1..5\n           rtt: int 0..4\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
	j := NewModel(m)
	if j.Runs != 25 || len(j.Attributes) != 2 || *j.Attributes[0].Max != 5 || j.Attributes[0].Values != nil {
		t.Errorf("got %+v", j)
	}
}

// The shares of a time are the largest first, the stalls together if they cannot be
// distinguished, and none if the model has none.
func TestShares(t *testing.T) {
	p := costmodel.Prediction{Compute: 1, Network: 3, Disk: 4}
	for split, want := range map[costmodel.Split]string{
		costmodel.SplitNone: "nothing", costmodel.SplitStall: "stall 88 %, compute 12 %",
	} {
		p.Split = split
		if got := shares(partsOf(p)); got != want {
			t.Errorf("%v: got %q, want %q", split, got, want)
		}
	}
}

// Runs on assignments that the model knows do not count; a study without others is a
// mistake of the user.
func TestAgainst(t *testing.T) {
	l, space := learner(t, func(cpu, _ float64) bool { return cpu == 2 })
	m, err := l.Model()
	if err != nil {
		t.Fatal(err)
	}
	text := "command: [p, '{cpu}', '{rtt}']\nparameters: {cpu: 1..5, rtt: 0..4}\n"
	rec := recordOf(t, text, func(yield func(assay.Trial) bool) {
		id := int64(0)
		for c := range space.All() {
			if id++; !yield(timed(id, c)) {
				return
			}
		}
	})
	got, err := rec.Against(t.Context(), m, nil)
	if err != nil || got.Trained != 20 || len(got.Runs) != 5 ||
		!(got.MAPE < 20) || !(got.Covered >= 0 && got.Covered <= 1) {
		t.Fatalf("got %+v, %v", got, err)
	}
	for _, r := range got.Runs {
		if rtt, err := strconv.Atoi(r.At["rtt"]); err != nil || r.At["cpu"] != "2" || r.Measured != float64(11+3*rtt) {
			t.Errorf("got %+v", r)
		}
	}
	var b strings.Builder
	if err := got.Write(&b, report.Palette{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"trial  at ", "cpu=2 rtt=0", " (MAPE) of 5 runs on assignments that were not learned from\n",
		"left out   20 on assignments that were\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	all, _ := learner(t, nil)
	if m, err = all.Model(); err != nil {
		t.Fatal(err)
	}
	if _, err := rec.Against(t.Context(), m, nil); assay.ClassOf(err) != assay.ClassUsage ||
		!strings.Contains(err.Error(), "does not know") {
		t.Errorf("nothing to compare: %v", err)
	}
	other := recordOf(t, "command: [p, '{x}']\nparameters: {x: 1..5}\n", func(yield func(assay.Trial) bool) {
		yield(assay.Trial{Proposal: assay.Proposal{ID: 1, Config: assay.Config{2}}, State: assay.Done})
	})
	if _, err := other.Against(t.Context(), m, nil); assay.ClassOf(err) != assay.ClassUsage ||
		!strings.HasPrefix(err.Error(), "study s: ") {
		t.Errorf("another program: %v", err)
	}
}
