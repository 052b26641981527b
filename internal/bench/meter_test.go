package bench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/study"
)

// A thinker takes a second to propose and two to learn. It can be asked for its name.
type thinker struct{ assay.Searcher }

func (t thinker) Ask(n int) ([]assay.Proposal, error) {
	time.Sleep(time.Second)
	return t.Searcher.Ask(n)
}

func (t thinker) Tell(trials ...assay.Trial) error {
	time.Sleep(2 * time.Second)
	return t.Searcher.Tell(trials...)
}

func (t thinker) Name() string { return "thinker" }

// A doubter takes a quarter of a second to decide, and stops runs of x = 1 at 12 s.
type doubter struct{}

func (doubter) Decide(_ []assay.Trial, running assay.Trial) assay.Decision {
	time.Sleep(time.Second / 4)
	return assay.Decision{Stop: running.Config[0] == 1 && running.Measurement.Elapsed >= 12*time.Second}
}

// charged plays three runs of 20, 30 and 40 s, observed every 5 s.
func charged(t *testing.T, charge bool, budget study.Budget) (study.Result, Meter) {
	t.Helper()
	rec, err := table.Read(strings.NewReader("x,t\n0,20\n1,30\n2,40\n"), table.Spec{
		File: "t.csv", Parameters: []string{"x"}, Metrics: map[string][]string{"elapsed": {"t"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	space, err := rec.Space()
	if err != nil {
		t.Fatal(err)
	}
	clock := &table.SimClock{}
	var m Meter
	res, err := Cell{
		Space: space, Goal: assay.Goal{Metric: "elapsed", Grows: true}, Stopper: doubter{}, Charge: charge, Meter: &m,
		Searcher: thinker{search.NewGrid(space, search.GridOptions{})}, Interval: 5 * time.Second,
		Runner: table.NewReplay(rec, clock, nil), Clock: clock, Budget: budget,
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return res, m
}

// The time of a searcher and a rule is measured, and spent on the clock only if that is
// asked for. A run goes on while the rule decides, so that its end is not put off; it is
// stopped when the rule has decided.
func TestMeterCharges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const asks, tells = 4, 3 // the last ask finds the search done
		res, m := charged(t, false, study.Budget{})
		// 20 s observed at 5, 10 and 15; x = 1 at 5, 10, 15, where it is stopped; 40 s at 5 to 35.
		if m.Learning != asks*time.Second+tells*2*time.Second || m.Deciding != (3+3+7)*time.Second/4 {
			t.Errorf("measured %+v", m)
		}
		if want := (20 + 15 + 40) * time.Second; res.Spent != want {
			t.Errorf("spent %v, want %v", res.Spent, want)
		}
		res, m = charged(t, true, study.Budget{})
		// Decisions push the observations apart: the run of 20 s is observed at 5, 10.25, 15.5;
		// the second is stopped 0.25 s after the one at 15.5; the run of 40 s is observed 7 times.
		if m.Learning != asks*time.Second+tells*2*time.Second || m.Deciding != (3+3+7)*time.Second/4 {
			t.Errorf("charged %+v", m)
		}
		want := 20*time.Second + 15*time.Second + 750*time.Millisecond + 40*time.Second + m.Learning
		if res.Spent != want {
			t.Errorf("with the overhead charged, spent %v, want %v", res.Spent, want)
		}
		if x := res.Trials[1]; x.State != assay.Censored || x.Value != 15.5 {
			t.Errorf("the second run is %v at %v", x.State, x.Value)
		}
		// The search takes 1 s before the first run and 2 + 1 s after it, so that 25 s leave a
		// second of the second run.
		res, _ = charged(t, true, study.Budget{Time: 25 * time.Second})
		if n := len(res.Trials); n != 2 || res.Trials[1].Value != 1 {
			t.Errorf("a budget of 25 s: %d trials, %+v", n, res.Trials)
		}
	})
}

// A metered searcher has the abilities of its inner one and returns its errors. A
// clock on which no time can be spent is an error.
func TestMeterIsNoObstacle(t *testing.T) {
	m := &metering{Meter: new(Meter), ctx: t.Context()}
	var s assay.Searcher = meteredSearcher{thinker{}, m}
	if n, ok := assay.As[interface{ Name() string }](s); !ok || n.Name() != "thinker" {
		t.Error("a metered searcher has lost an ability")
	}
	space := line(t, 2)
	cell := Cell{
		Space: space, Goal: assay.Goal{Metric: "elapsed"}, Searcher: search.NewGrid(space, search.GridOptions{}),
		Clock: fixed{}, Charge: true,
	}
	if _, err := cell.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "charged") {
		t.Errorf("a clock that cannot be charged: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	broken := errors.New("over")
	cancel(broken)
	m = &metering{Meter: new(Meter), ctx: ctx, clock: &table.SimClock{}}
	s = meteredSearcher{search.NewGrid(space, search.GridOptions{}), m}
	if _, err := s.Ask(1); !errors.Is(err, broken) {
		t.Errorf("asked after the end: %v", err)
	}
}

type fixed struct{}

func (fixed) Now() time.Time { return time.Time{} }

// A method that thinks for three seconds a trial has a third of the runs when that is
// charged, and its result has its thinking time in both cases.
func TestRunCharges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for charge, want := range map[bool]float64{false: 10, true: 3} {
			o := Options{
				Problems: []Problem{course{truth: []float64{3, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12}}.problem(t, "p")},
				Methods: []Method{{"slow", func(p *Problem, seed uint64) (assay.Searcher, assay.Stopper, error) {
					return thinker{search.NewGrid(p.Space, search.GridOptions{})}, nil, nil
				}}},
				Budgets: []Budget{{Kind: "budget", Value: 10, Time: 10 * time.Second}}, Seeds: 2, Charge: charge,
			}
			r, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			row := r.Rows[0]
			if row.Trials != want || r.Charged != charge || row.OverheadMSPerTrial < 3000 || row.DecidingMSPerTrial != 0 {
				t.Errorf("charged %v: %+v, want %v trials", charge, row, want)
			}
		}
	})
}
