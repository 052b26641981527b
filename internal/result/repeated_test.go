package result

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// The output names repeated runs that fail: of the former best, which is not recommended, and of the first.
func TestRepeatedRunsThatFail(t *testing.T) {
	broken := trial(2, assay.Failed, math.Inf(1), "exit code 7")
	var b strings.Builder
	s := story(t, "", func(r *study.Result) {
		r.Refuted = []study.Refuted{{Trial: r.Best, Broken: []assay.Trial{broken}, Runs: 3}}
		r.Found = false
	})
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"best       none: the best failed when it was run again",
		"passed over  trial 2: 1 of 3 failed: exit code 7\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	s.WriteFailures(&b)
	if !strings.Contains(b.String(), "no configuration is recommended") {
		t.Error(b.String())
	}

	b.Reset()
	s = story(t, ", default: 1", func(r *study.Result) {
		first := trial(1, assay.Failed, math.Inf(1), "exit code 9")
		r.Checks = []assay.Trial{first, r.Best, first}
		r.Short = "of the time budget 1 s was left, less than a run takes"
	})
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"passed over  the default, run again: 2 of 2 failed: exit code 9\n",
		"best       keep the default: n=1\n",
		"gain       not shown: 50 % faster in 1 + 1 runs, too few for an interval\n",
		"           fewer pairs than were wanted: of the time budget 1 s was left",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	text, err := json.Marshal(s.Outcome)
	if err != nil || !strings.Contains(string(text), `"repeated":{"best":{"runs":1,"failed":0,"infeasible":0},`+
		`"first":{"runs":2,"failed":2,"infeasible":0,"reason":"exit code 9"},"short":"of the time budget`) {
		t.Errorf("%v: %s", err, text)
	}
}

// The gain from the record is the one that the study printed at its end.
func TestShownHasTheGain(t *testing.T) {
	r := recordOf(t, "command: [sleep, '{n}']\nparameters: {n: {type: int, min: 1, max: 9, default: 1}}\n",
		slices.Values([]assay.Trial{trial(1, assay.Done, 4, ""), trial(2, assay.Done, 2, ""), trial(3, assay.Done, 1, "")}))
	var events []assay.Event
	add := func(id int64, state assay.State, value float64, race bool) {
		c := trial(id, state, value, "exit code 7")
		events = append(events, assay.Event{At: time.Unix(3, 0), Checked: &c, Race: race})
	}
	add(3, assay.Failed, math.Inf(1), true)
	for i := range 5 {
		add(2, assay.Done, 2+float64(i)/100, false)
		add(1, assay.Done, 4+float64(i)/100, false)
	}
	events = append(events, assay.Event{At: time.Unix(4, 0), Ended: &assay.End{By: "trials"}})
	mem := r.store.(*store.Mem)
	if _, err := mem.Append(t.Context(), "s", 6, events...); err != nil {
		t.Fatal(err)
	}
	out, err := r.Shown(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if out.Best == nil || out.Best.Trial != 2 || out.Best.Runs != 6 || out.Gain == nil || out.Gain.Verdict != "less" ||
		out.Gain.Runs != 5 || len(out.Refuted) != 1 || out.Refuted[0].Trial != 3 {
		t.Errorf("%+v, gain %+v, refuted %+v", out.Best, out.Gain, out.Refuted)
	}
	var b strings.Builder
	if err := r.WriteShown(&b, 0, out, nil); err != nil {
		t.Fatal(err)
	}
	again, err := Read(t.Context(), mem, "s")
	if err != nil {
		t.Fatal(err)
	}
	// The list has the value that is recommended, and not the least value of a trial.
	if l, err := again.Study(t.Context()); err != nil || l.Best == nil || *l.Best != out.Best.Value || *l.Best == 1 {
		t.Errorf("listed %+v, %v; recommended %v", l, err, out.Best.Value)
	}
	for _, want := range []string{
		"median of 6 runs (trial 2)\n", "% faster [", "], 5 pairs\n", "passed over  trial 3: 1 of 2 failed: exit code 7\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestCountsJSON(t *testing.T) {
	text, err := json.Marshal(Counts{Total: 3, Done: 1, Censored: 2})
	want := `{"total":3,"done":1,"censored":2,"failed":0,"infeasible":0}`
	if err != nil || string(text) != want {
		t.Errorf("%v: %s, want %s", err, text, want)
	}
}

// No trial is recommended, and the list has no best, if all repeated runs failed.
func TestListedHasNoBestThatFails(t *testing.T) {
	r := recordOf(t, "command: [sleep, '{n}']\nparameters: {n: 1..9}\n",
		slices.Values([]assay.Trial{trial(1, assay.Done, 4, "")}))
	c := trial(1, assay.Failed, math.Inf(1), "exit code 7")
	mem := r.store.(*store.Mem)
	if _, err := mem.Append(t.Context(), "s", 2, assay.Event{At: time.Unix(3, 0), Checked: &c, Race: true}); err != nil {
		t.Fatal(err)
	}
	again, err := Read(t.Context(), mem, "s")
	if err != nil {
		t.Fatal(err)
	}
	if l, err := again.Study(t.Context()); err != nil || l.Best != nil || l.Done != 1 {
		t.Errorf("listed %+v, %v", l, err)
	}
}
