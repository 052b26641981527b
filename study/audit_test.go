package study_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stop"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// at returns a trial that began so many seconds after the beginning, ended as in ended,
// and was decided on after some seconds: 0 for never.
func at(start float64, t assay.Trial, decided float64, audited bool) assay.Trial {
	sec := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	t.Started = time.Unix(0, 0).Add(sec(start))
	t.Ended = t.Started.Add(t.Measurement.Elapsed)
	t.Decision = nil
	if decided > 0 {
		t.Decision = &assay.Decision{Stop: !audited, Audited: audited, At: sec(decided), Predicted: math.NaN()}
	}
	return t
}

// The result of the audited trials is known here by hand.
func TestNewAudit(t *testing.T) {
	failed := ended(assay.Failed, 9)
	trials := []assay.Trial{
		at(0, ended(assay.Censored, 3), 3, false), // before anything had finished
		at(3, ended(assay.Done, 10), 0, false),
		at(13, ended(assay.Censored, 4), 4, false),  // stopped
		at(17, ended(assay.Done, 12), 4, true),      // rightly: 8 s more
		at(29, ended(assay.Done, 6), 4, true),       // wrongly: 2 s more, and the best from now on
		at(35, ended(assay.Censored, 4), 4, false),  // stopped
		at(39, ended(assay.Done, 7), 5, true),       // rightly, as 6 is best: 2 s more
		at(46, ended(assay.Infeasible, 5), 4, true), // rightly: 1 s more
		at(51, failed, 4, true),                     // rightly: 5 s more
		at(60, ended(assay.Censored, 5), 4, true),   // cut off before it showed anything
		at(65, ended(assay.Censored, 8), 4, true),   // cut off when it was worse: 4 s more
		at(73, ended(assay.Censored, 2), 0, false),  // by a limit of time
		at(75, ended(assay.Withdrawn, 2), 1, true),  // taken back
		at(77, ended(assay.Censored, 4), 4, false),  // stopped
	}
	a, ok := study.NewAudit(trials)
	if !ok || a.Stopped != 3 || a.Audited != 6 || a.Wrong != 1 {
		t.Fatalf("%+v, want 1 of 6 wrong and 3 stopped", a)
	}
	if want := stats.Proportion(1, 6, 0.95); a.Share.Value != want.Value || a.Share.Low != want.Low ||
		a.Share.High != want.High {
		t.Errorf("share %+v, want %+v", a.Share, want)
	}
	extra := []float64{8, 2, 2, 1, 5, 4}
	if want := time.Duration(3 * stats.Mean(extra) * 1e9); a.Saved != want {
		t.Errorf("saved %v, want %v", a.Saved, want)
	}
	if want := time.Duration(3 * stats.MeanAtLeast(extra, 0.95) * 1e9); a.Least != want || a.Least >= a.Saved ||
		want == 0 {
		t.Errorf("at least %v, want %v", a.Least, want)
	}
	if a, ok := study.NewAudit(trials[:3]); ok {
		t.Errorf("nothing was audited: %+v", a)
	}
}

// The estimate is true: on a table whose every run is known, the audit's shares of wrong
// stops and of the time saved are within its bounds, over many studies. The rule
// stops runs by a coin that knows nothing, so that some stops are wrong.
func TestAuditIsTrue(t *testing.T) {
	const n = 600
	var csv strings.Builder
	csv.WriteString("x,t\n")
	length := func(x float64) float64 { return 20 + math.Mod(x*61, 97) }
	for x := range n {
		csv.WriteString(assay.FormatNumber(float64(x)) + "," + assay.FormatNumber(length(float64(x))) + "\n")
	}
	rec, err := table.Read(strings.NewReader(csv.String()), table.Spec{
		File: "t.csv", Parameters: []string{"x"}, Metrics: map[string][]string{"elapsed": {"t"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	space, err := rec.Space()
	if err != nil {
		t.Fatal(err)
	}
	studies, missed, overrated := 40, 0, 0
	for seed := range uint64(studies) {
		clock := &table.SimClock{}
		mem := store.NewMem()
		if err := mem.Create(t.Context(), "a", nil); err != nil {
			t.Fatal(err)
		}
		s := study.Study{
			Name: "a", Space: space, Goal: assay.Goal{Metric: "elapsed", Grows: true}, Store: mem, Clock: clock,
			Searcher: search.NewRandom(space, seed), Runner: table.NewReplay(rec, clock, nil),
			Stopper: stop.Audit{Rule: hasty{}, Share: 0.2, Seed: seed}, Budget: study.Budget{Trials: 300},
			Command: func(c assay.Config) (assay.Job, error) { return assay.Job{Config: c, Interval: 10 * time.Second}, nil },
		}
		res, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wrong, stopped, saved, best := 0, 0, 0.0, math.Inf(1)
		for _, tr := range res.Trials {
			if tr.Stopped() {
				stopped++
				if length(tr.Config[0]) < best {
					wrong++
				}
				saved += length(tr.Config[0]) - tr.Measurement.Elapsed.Seconds()
			}
			if tr.State == assay.Done {
				best = min(best, tr.Value)
			}
			if d := tr.Decision; d != nil && d.Audited && (tr.State != assay.Done || d.At != 10*time.Second ||
				!strings.HasPrefix(tr.Reason, "audited")) {
				t.Fatalf("audited: %+v", tr)
			}
		}
		a, ok := study.NewAudit(res.Trials)
		if !ok || a.Stopped != stopped {
			t.Fatalf("%d stopped, the audit has %+v", stopped, a)
		}
		if !a.Share.Contains(float64(wrong) / float64(stopped)) {
			missed++
		}
		if a.Least.Seconds() > saved {
			overrated++
		}
		if r := a.Saved.Seconds() / saved; r < 0.6 || r > 1.6 || a.Least.Seconds() < 0.3*saved {
			t.Errorf("saved %.0f s, the audit says %v, at least %v", saved, a.Saved, a.Least)
		}
	}
	if missed > 5 || overrated > 5 { // binomial (40, 0.05): more than 5 once in 70
		t.Errorf("of %d studies, %d had another share of wrong stops and %d saved less than said", studies, missed, overrated)
	}
}

// hasty stops every second run of which nothing is known but that something has finished.
type hasty struct{}

func (hasty) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	_, ok := assay.Best(history)
	return assay.Decision{Stop: ok && running.ID%2 == 0, Reason: "in haste", Predicted: math.NaN()}
}

// The record has the audit: a study that is read again has the same.
func TestAuditIsRecorded(t *testing.T) {
	tr := at(1, ended(assay.Done, 5), 2, true)
	tr.ID, tr.Config = 1, assay.Config{1}
	b, err := tr.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var back assay.Trial
	if err := back.UnmarshalJSON(b); err != nil || back.Decision == nil || !back.Decision.Audited || back.Decision.Stop ||
		back.Decision.At != 2*time.Second || back.Stopped() {
		t.Errorf("%s reads %+v, %v", b, back.Decision, err)
	}
}
