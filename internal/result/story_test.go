package result

import (
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// story returns the story of a study of n in 1..9 whose first configuration is n=1 and whose best is n=2. with is
// appended to the definition of n, and change edits the result.
func story(t testing.TB, with string, change func(*study.Result)) *Story {
	t.Helper()
	return storyOf(t, "command: [run, '{n}']\nparameters: {n: {type: int, min: 1, max: 9"+with+"}}\n", change)
}

func storyOf(t testing.TB, definition string, change func(*study.Result)) *Story {
	t.Helper()
	def, _, err := spec.Parse("x.yaml", []byte(definition), nil)
	if err != nil {
		t.Fatal(err)
	}
	space, err := def.Space()
	if err != nil {
		t.Fatal(err)
	}
	goal, err := def.Goal()
	if err != nil {
		t.Fatal(err)
	}
	first, best := trial(1, assay.Done, 4, ""), trial(2, assay.Done, 2, "")
	stopped := trial(4, assay.Censored, 3, "")
	r := study.Result{
		Found: true, First: first, Best: best, EndedBy: "trials", Spent: 90 * time.Second, Overhead: time.Second,
		Trials: []assay.Trial{first, best, trial(3, assay.Failed, 0, "exit code 3"), stopped},
	}
	if change != nil {
		change(&r)
	}
	s, err := NewStory("x", def, space, goal, r, Place{})
	if err != nil {
		t.Fatal(err)
	}
	s.Saved = 0
	return s
}

// otherBaseline is a study whose first trial was stopped, so that its best is compared with trial 5, which takes so
// long.
func otherBaseline(seconds float64) func(*study.Result) {
	return func(r *study.Result) {
		r.First = trial(5, assay.Done, seconds, "")
		for range 8 {
			r.Checks = append(r.Checks, trial(2, assay.Done, 2, ""), trial(5, assay.Done, seconds, ""))
		}
	}
}

// pairs adds n pairs of runs in which the first configuration takes about a, and the best b.
func pairs(n int, a, b float64) func(*study.Result) {
	return func(r *study.Result) {
		for i := range n {
			noise := 1 + float64(i%4)/100
			r.Checks = append(r.Checks, trial(2, assay.Done, b*noise, ""), trial(1, assay.Done, a*noise, ""))
		}
	}
}

// The lines of the answer, in their order: of a gain that is shown, and of one that is not, where the default is kept.
func TestStory(t *testing.T) {
	for name, c := range map[string]struct {
		with   string
		change func(*study.Result)
		want   string
	}{
		"not compared": {"", nil, `best       n=2
elapsed    2 s (trial 2)
gain       not shown: 50 % faster in 1 + 1 runs, too few for an interval
run        run 2
trials     4: 2 done, 1 stopped, 1 failed
spent      1 min 30 s, 1 s own overhead
ended by   the number of trials; on record as study x
`},
		"shown": {", default: 1", pairs(8, 4, 2), `best       n=2
elapsed    2 s (trial 2)
gain       50.0 % faster [50.0, 50.0], 8 pairs
run        run 2
`},
		"a factor": {"", pairs(3, 4, 0.2), `best       n=2
elapsed    2 s (trial 2)
gain       20 times faster [20, 20], 3 pairs
run        run 2
`},
		"lucky": {", default: 1", pairs(8, 4, 6), `best       keep the default: n=1
elapsed    4.04 s, median of 9 runs (trial 1)
gain       none: 50.0 % slower [50.0, 50.0], 8 pairs
candidate  n=2: 2 s (trial 2)
run        run 1
`},
		"lucky, without a default": {"", pairs(8, 4, 6), `best       keep the first configuration: n=1
`},
		"one pair": {", default: 1", pairs(1, 4, 2), `best       keep the default: n=1
elapsed    4 s, median of 2 runs (trial 1)
gain       not shown: 50 % faster in 2 + 1 runs, too few for an interval
candidate  n=2: 2 s (trial 2)
run        run 1
`},
		"nothing above 1 %": {", default: 1", pairs(8, 4, 4), `best       keep the default: n=1
elapsed    4.04 s, median of 9 runs (trial 1)
gain       none above 1 %: 0 % [0 %, 0 %], 8 pairs
`},
		"without a default, not shown": {"", pairs(2, 4, 3.95), `best       n=2
elapsed    2 s (trial 2)
gain       not shown: 1.1 % faster [1.1 % slower, 3.2 % faster], 2 pairs
`},
		"the first": {", default: 2", func(r *study.Result) { r.First = r.Best }, `best       keep the default: n=2
elapsed    2 s (trial 2)
gain       none: the default is the best
`},
		"a failed first": {", default: 1", func(r *study.Result) {
			r.First.State, r.First.Reason = assay.Failed, "exit code 1"
		}, `best       n=2
elapsed    2 s (trial 2)
gain       not known: the default failed: exit code 1
`},
		"later first": {"", otherBaseline(5), `best       n=2
elapsed    2 s (trial 2)
gain       60.0 % faster [60.0, 60.0], 8 pairs with trial 5
`},
		"later first, better": {"", otherBaseline(1.5), `best       keep the first configuration that finished (trial 5): n=5
`},
		"nothing": {"", func(r *study.Result) { r.Found = false }, `best       none: no trial ran to its end within the limits
trials`},
	} {
		var b strings.Builder
		s := story(t, c.with, c.change)
		if err := s.Write(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(b.String(), c.want) {
			t.Errorf("%s: got\n%swant\n%s", name, b.String(), c.want)
		}
	}
}

// Times are faster or slower, sizes smaller or larger, and all else higher or lower; above three times it is a factor.
func TestChangeText(t *testing.T) {
	for _, c := range []struct {
		unit   string
		change float64
		want   string
	}{
		{"s", -0.2294, "22.9 % faster"},
		{"s", 0.05, "5.00 % slower"},
		{"B", -0.5, "50.0 % smaller"},
		{"B", 1.5, "150 % larger"},
		{"", 24.3, "25 times higher"},
		{"1/s", -0.9, "10 times lower"},
		{"s", -0.722, "3.6 times faster"},
		{"", 0, "0 %"},
		{"s", -0.0008, "0.08 % faster"},
		{"", 1.99, "199 % higher"},
	} {
		if got := changeText(c.unit, c.change, 3); got != c.want {
			t.Errorf("%v of %q: got %q, want %q", c.change, c.unit, got, c.want)
		}
	}
}

// A list shows a gain without its interval, and is ordered by gains that are shown.
func TestGainOfAList(t *testing.T) {
	for text, want := range map[string]struct {
		short string
		size  float64
	}{
		changeText("s", -0.2294, 3) + " [15.1, 29.0], 9 pairs":               {"22.9 % faster", 22.9},
		changeText("", 24.3, 3) + " [20, 30], 3 pairs":                       {"25 times higher", 2500},
		changeText("B", -0.05, 3) + " than the default":                      {"5.00 % smaller than the default", 5},
		"not shown: " + changeText("s", -0.5, 2) + " in 1 + 1 runs, too few": {"not shown", 0},
		"none: " + changeText("s", 0.5, 3) + " [50.0, 50.0], 8 pairs":        {"none", 0},
		"none above 1 %: " + changeText("s", 0, 2) + " [0 %, 0 %], 8 pairs":  {"none above 1 %", 0},
		"not known: the default failed: exit code 1":                         {"not known", 0},
	} {
		if short, size := shortGain(text), GainSize(text); short != want.short || size != want.size {
			t.Errorf("%s: %q and %v, want %q and %v", text, short, size, want.short, want.size)
		}
	}
}

// The metric of a limit is shown beside it, and a limit that repeated runs broke with their values, in one line.
func TestLimitsInAnswer(t *testing.T) {
	with := func(t assay.Trial, rss, fps float64) assay.Trial {
		t.Measurement.Metrics = map[string]float64{"max_rss": rss, "fps": fps}
		return t
	}
	s := storyOf(t, "command: [run, '{n}']\nparameters: {n: {type: int, min: 1, max: 9, default: 1}}\n"+
		"metrics: {fps: 'stdout:/([0-9]+)/'}\nsubject_to: [max_rss <= 48e6, fps >= 20, 'max_rss + fps < 1e9']\n",
		func(r *study.Result) {
			r.First, r.Best = with(r.First, 20e6, 30), with(r.Best, 30e6, 25)
			r.Trials[0], r.Trials[1] = r.First, r.Best
			again := with(trial(2, assay.Done, 2.1, ""), 31.4e6, 24)
			r.Races = []assay.Trial{again}
			lost, broken := with(trial(3, assay.Done, 1, ""), 47.1e6, 30),
				with(trial(3, assay.Infeasible, 1, "breaks"), 51.3e6, 30)
			r.Trials[2] = lost
			r.Races = append(r.Races, broken)
			r.Refuted = []study.Refuted{{Trial: lost, Broken: []assay.Trial{broken}, Runs: 1}}
		})
	var b strings.Builder
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"limit      max_rss 31.4 MB of 48 MB\nlimit      fps 24, at least 20\nrun        run 2\n" +
			"passed over  trial 3: max_rss 47.1 to 51.3 MB in 2 runs, limit 48 MB\ntrials ",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
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

// The first three reasons are printed, each once.
func TestWriteFailures(t *testing.T) {
	s := story(t, "", func(r *study.Result) {
		r.Trials = nil
		for i, reason := range []string{"a", "", "a", "b", "c", "d"} {
			r.Trials = append(r.Trials, trial(int64(i+1), assay.Failed, 0, reason))
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

// The output names the reason of a study that ended because its first trials all failed, with the last
// output of the first of them, and how to see all of it.
func TestWriteFailuresOfAHopelessStudy(t *testing.T) {
	s := story(t, "", func(r *study.Result) {
		r.Trials = nil
		for i := range 5 {
			f := trial(int64(i+1), assay.Failed, 0, "no rps")
			f.Measurement.Failure = assay.NewFailure("run", "no rps", []byte("a\nb\n"), []byte("c\n"))
			r.Trials = append(r.Trials, f)
		}
	})
	s.EndedBy, s.Study = "failures", "my study"
	var b strings.Builder
	s.WriteFailures(&b)
	_, text, _ := strings.Cut(b.String(), "\n")
	want := "  trial 1 (n=1): no rps\n    it printed last:\n    | a\n    | b\n    | c\n" +
		"    all of it: assay study output 'my study' 1, and with --stderr\n"
	if text != want || !strings.HasPrefix(b.String(), "assay: the first trials all failed for the same reason") {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// Time of the budget that no run fitted into is shown, if it is more than a hundredth.
func TestTimeLeft(t *testing.T) {
	for spent, want := range map[time.Duration]string{
		90 * time.Second:         "1 min 30 s, 1 s own overhead, 10 s left, in which no further run would have ended\n",
		99500 * time.Millisecond: "1 min 40 s, 1 s own overhead\n",
	} {
		s := storyOf(t, "command: [run, '{n}']\nparameters: {n: 1..9}\nbudget: 100s\n", func(r *study.Result) {
			r.EndedBy, r.Spent = "budget", spent
		})
		var b strings.Builder
		if err := s.Write(&b); err != nil || !strings.Contains(b.String(), "spent      "+want) {
			t.Errorf("%v, no %q in\n%s", err, want, &b)
		}
	}
}
