package abtest

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// values draws n values around a centre.
func values(rng *rand.Rand, n int, centre, sd float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = centre * (1 + sd*rng.NormFloat64())
	}
	return out
}

func recordedOf(a, b []float64) Recorded {
	return Recorded{
		Name: "x", Metric: "elapsed", Unit: "s", Of: "processes", Among: 1,
		Sides: []Sample{{"A", []string{"before.json"}, a}, {"B", []string{"after.json"}, b}},
	}
}

// A real difference is reported, in the direction of the metric, and the numbers are the files'.
func TestRecorded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := recordedOf(values(rng, 20, 1, 0.01), values(rng, 15, 1.2, 0.01))
	r := s.Compare()[0]
	if r.Verdict != "more" || *r.Change < 0.18 || *r.Change > 0.22 || *r.CI[0] < 0.15 || *r.CI[1] > 0.25 ||
		r.Level != 0.95 {
		t.Errorf("%+v", r)
	}
	if r.Runs[0] != 20 || r.Runs[1] != 15 || r.Looks != 1 || r.A.Command[0] != "before.json" {
		t.Errorf("%+v", r)
	}
	s.Gate = gate(t, "slower > 3%")
	if r := s.Compare()[0]; r.Outcome != Failed || r.Level != 0.98 {
		t.Errorf("%+v", r)
	}
	if s.Maximize = true; s.Compare()[0].Outcome != Passed {
		t.Errorf("of a metric of which more is better: %+v", s.Compare()[0])
	}
	var b strings.Builder
	if err := NewReport(s.Compare()).Write(&b); err != nil || !strings.Contains(b.String(), "(20 and 15 processes)") {
		t.Errorf("%v\n%s", err, b.String())
	}
	text, err := json.Marshal(NewReport(s.Compare()))
	if err != nil || !strings.Contains(string(text), `"runs":[20,15],"of":"processes"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// The advice for too few values has the least number, and that many can show a difference.
func TestRecordedNeeds(t *testing.T) {
	for among, want := range map[int]int{1: 4, 20: 6} {
		s := recordedOf([]float64{1, 1.01, 1.02}, []float64{2, 2.01, 2.02})
		s.Among = among
		r := s.Compare()[0]
		if r.Verdict != "~" || r.Needs != want || len(r.Advice) != 1 || !strings.Contains(r.Advice[0], "of each are needed") {
			t.Errorf("%d comparisons: %+v, want %d", among, r, want)
		}
		rng := rand.New(rand.NewPCG(2, 2))
		s.Sides[0].Values, s.Sides[1].Values = values(rng, want, 1, 0.001), values(rng, want, 2, 0.001)
		if r := s.Compare()[0]; r.Verdict != "more" {
			t.Errorf("%d comparisons of %d values: %+v", among, want, r)
		}
	}
	// Values that vary: the number that is asked for decides, in most cases.
	told := 0
	for i := range 40 {
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		s := recordedOf(values(rng, 10, 1, 0.1), values(rng, 10, 1, 0.1))
		s.Gate = gate(t, "slower > 3%")
		r := s.Compare()[0]
		if r.Outcome != Unknown || r.Needs <= 10 {
			continue
		}
		s.Sides[0].Values, s.Sides[1].Values = values(rng, r.Needs, 1, 0.1), values(rng, r.Needs, 1, 0.1)
		if s.Compare()[0].Outcome == Passed {
			told++
		}
	}
	if told < 30 {
		t.Errorf("%d of 40 that had what they asked for could tell", told)
	}
}

// The error is the report's: few of 300 reports on 5 benchmarks that are equal show a difference anywhere.
func TestRecordedError(t *testing.T) {
	wrong := 0
	for i := range 300 {
		rng := rand.New(rand.NewPCG(uint64(i), 4))
		for range 5 {
			s := recordedOf(values(rng, 12, 1, 0.1), values(rng, 12, 1, 0.1))
			s.Among = 5
			if s.Compare()[0].Verdict != "~" {
				wrong++
				break
			}
		}
	}
	if wrong > 15+3*4 { // 5 % of 300 and three standard deviations
		t.Errorf("%d of 300 reports show a difference that is not there", wrong)
	}
}

// A warning that all comparisons have is printed once.
func TestCommonWarnings(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var all []Result
	for _, name := range []string{"x", "y"} {
		s := recordedOf(values(rng, 8, 1, 0.01), values(rng, 8, 2, 0.01))
		s.Name, s.Limits = name, []string{"one session"}
		if name == "y" {
			s.Limits = append(s.Limits, "only here")
		}
		all = append(all, s.Compare()...)
	}
	for _, write := range []func(*strings.Builder) error{
		func(b *strings.Builder) error { return NewReport(all).Write(b) },
		func(b *strings.Builder) error { return NewReport(all).WriteMarkdown(b) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil || strings.Count(b.String(), "one session") != 1 ||
			strings.Count(b.String(), "only here") != 1 {
			t.Errorf("%v\n%s", err, b.String())
		}
	}
	if all[0].Warnings[0] != "one session" {
		t.Error("the results were changed")
	}
}

// Sessions may differ by the drift: a difference of that size is not shown, a larger one is, and neither more values
// nor a gate within it can decide.
func TestDrift(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for change, want := range map[float64]string{0.95: "~", 1.08: "~", 1.3: "more", 0.7: "less"} {
		s := recordedOf(values(rng, 200, 1, 0.01), values(rng, 200, change, 0.01))
		s.Drift = 0.1
		r := s.Compare()[0]
		if r.Verdict != want || r.Drift != 0.1 || *r.CI[0] > change/1.1-1 || *r.CI[1] < change*1.1-1 {
			t.Errorf("a change to %v: %+v", change, r)
		}
		s.Gate = gate(t, "slower > 3%")
		outcome := map[float64]Outcome{0.95: Unknown, 1.08: Unknown, 1.3: Failed, 0.7: Passed}[change]
		r = s.Compare()[0]
		if r.Outcome != outcome || outcome == Unknown &&
			(len(r.Advice) != 1 || !strings.Contains(r.Advice[0], "several files")) {
			t.Errorf("a change to %v: %+v", change, r)
		}
	}
	s := recordedOf([]float64{-1, 0, 1, 2, 3, 4}, []float64{11, 12, 13, 14, 15, 16})
	s.Drift = 0.1
	if r := s.Compare()[0]; r.Verdict != "more" || *r.CI[0] >= *r.Change || r.CI[0] == nil {
		t.Errorf("values of both signs: %+v", r)
	}
}
