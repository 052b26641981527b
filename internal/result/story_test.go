package result

import (
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/study"
)

// story returns that of a study of n in 1..9 whose first configuration is n=1 and whose
// best is n=2. change edits it.
func story(t testing.TB, change func(*Story)) *Story {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9}})
	if err != nil {
		t.Fatal(err)
	}
	first, best := trial(1, assay.Done, 4, ""), trial(2, assay.Done, 2, "")
	r := study.Result{
		Found: true, First: first, Best: best, EndedBy: "trials", Spent: 90 * time.Second, Overhead: time.Second,
		Trials: []assay.Trial{first, best, trial(3, assay.Failed, 0, "exit code 3"), trial(4, assay.Censored, 3, "")},
	}
	goal := assay.Goal{Metric: "elapsed", Unit: "s"}
	s := &Story{Outcome: NewOutcome("x", space, goal, r), Result: r, Space: space, Goal: goal}
	s.Command = func(c assay.Config) string { return "run " + space.Text(c) }
	s.Saved = 0
	if change != nil {
		change(s)
	}
	return s
}

// What is said of the first configuration depends on how the comparison at the end came
// out; one that is worse than the first is not to be kept.
func TestStory(t *testing.T) {
	gain := func(change float64, verdict string) *Gain {
		lo, hi := change-0.1, change+0.1
		return &Gain{Change: change, CI95: [2]*float64{&lo, &hi}, Runs: 5, Verdict: verdict}
	}
	for name, c := range map[string]struct {
		change func(*Story)
		want   []string
		not    string
	}{
		"not compared": {nil, []string{
			"best       n=2\n", "elapsed    2 s (trial 2 of 4)\n", "command    run n=2\n",
			"trials     4: 2 done, 1 stopped, 1 failed\n", "time       1 min 30 s spent, 1 s own overhead\n",
			"ended by   the number of trials; on record as study x\n",
		}, "gain"},
		"better": {func(s *Story) { s.Gain = gain(-0.5, "less") }, []string{
			"gain       50 % [40, 60] less than the first configuration (5 + 5 more runs)\n", "command    run n=2\n",
		}, "keep"},
		"lucky": {func(s *Story) { s.Gain, s.Default = gain(0.5, "more"), true }, []string{
			"gain       none: run again, the best has 50 % [40, 60] more than the default (5 + 5 more runs)\n",
			"keep       run n=1\n",
		}, "command"},
		"lucky, maximized": {func(s *Story) { s.Gain, s.Goal.Maximize = gain(-0.5, "less"), true }, []string{
			"gain       none: run again, the best has 50 % [40, 60] less than", "keep       run n=1\n",
		}, "command"},
		"no difference": {func(s *Story) { s.Gain = gain(0, "~") }, []string{
			"gain       ~ no difference from the first configuration is shown: 0 % [10 % worse, 10 % better] (5 + 5 more runs)\n",
		}, "keep"},
		"the first": {func(s *Story) { s.Result.First = s.Result.Best }, []string{
			"gain       none: the first configuration is the best\n",
		}, ""},
		"a failed first": {func(s *Story) {
			s.Result.First.State, s.Result.First.Reason, s.Default = assay.Failed, "exit code 1", true
		}, []string{"gain       the default failed: exit code 1\n"}, ""},
		"a table": {func(s *Story) { s.Command, s.Simulated, s.Saved = nil, true, 60 }, []string{
			"time       1 min 30 s spent in simulated time, about 1 min saved by early stopping, 1 s own overhead\n",
		}, "command"},
		"lost": {func(s *Story) { s.Lost, s.Saved = 30, 60 }, []string{
			"time       1 min 30 s spent, 30 s lost with attempts that do not count, about 1 min saved by early stopping",
		}, ""},
		"nothing": {func(s *Story) { s.Best = nil }, []string{
			"best       none: no trial ran to its end within the limits\ntrials",
		}, "elapsed"},
	} {
		var b strings.Builder
		if err := story(t, c.change).Write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, b.String())
			}
		}
		if c.not != "" && strings.Contains(b.String(), c.not) {
			t.Errorf("%s: %q in\n%s", name, c.not, b.String())
		}
	}
}

// Every end of a study has words.
func TestEndings(t *testing.T) {
	for _, by := range []string{"budget", "trials", "target", "search", "failures", "interrupt", "error"} {
		if endings[by] == "" {
			t.Errorf("no words for %q", by)
		}
	}
}

// The first three reasons are told, each once.
func TestWriteFailures(t *testing.T) {
	s := story(t, func(s *Story) {
		s.Result.Trials = nil
		for i, reason := range []string{"a", "", "a", "b", "c", "d"} {
			s.Result.Trials = append(s.Result.Trials, trial(int64(i+1), assay.Failed, 0, reason))
		}
	})
	var b strings.Builder
	s.WriteFailures(&b)
	want := "assay: no trial ran to its end within the limits. The first reasons:\n" +
		"  trial 1 (n=1): a\n  trial 4 (n=4): b\n  trial 5 (n=5): c\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// A study that ended because its first trials all failed says so, with the last that the first of
// them printed, and how to see all of it.
func TestWriteFailuresOfAHopelessStudy(t *testing.T) {
	s := story(t, func(s *Story) {
		s.EndedBy, s.Study = "failures", "my study"
		s.Result.Trials = nil
		for i := range 5 {
			f := trial(int64(i+1), assay.Failed, 0, "no rps")
			f.Measurement.Failure = assay.NewFailure("run", "no rps", []byte("a\nb\n"), []byte("c\n"))
			s.Result.Trials = append(s.Result.Trials, f)
		}
	})
	var b strings.Builder
	s.WriteFailures(&b)
	_, text, _ := strings.Cut(b.String(), "\n")
	want := "  trial 1 (n=1): no rps\n    it printed last:\n    | a\n    | b\n    | c\n" +
		"    all of it: assay study output 'my study' 1, and with --stderr\n"
	if text != want || !strings.HasPrefix(b.String(), "assay: the first trials all failed for the same reason") {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
