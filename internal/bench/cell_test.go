package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// line is the space x = 0, 1, ..., n-1.
func line(t *testing.T, n int) *assay.Space {
	t.Helper()
	s, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Hi: float64(n - 1)}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// countdown takes 5 s at x = 0, 4 s at x = 1 and so on, and fails at x = 3.
func countdown(c assay.Config) assay.Measurement {
	m := assay.Measurement{Elapsed: time.Duration(5-c[0]) * time.Second}
	if c[0] == 3 {
		m.ExitCode = 1
	}
	return m
}

// A cell plays the searcher by the loop of package study, in simulated time: trials
// begin when the ones before have ended, and the budgets are a study's.
func TestCell(t *testing.T) {
	for _, tt := range []struct {
		name    string
		budget  study.Budget
		endedBy string
		seconds []int // of the trials
		spent   time.Duration
	}{
		{"all", study.Budget{}, "search", []int{5, 4, 3, 2, 1}, 15 * time.Second},
		{"trials", study.Budget{Trials: 2}, "trials", []int{5, 4}, 9 * time.Second},
		{"time", study.Budget{Time: 12 * time.Second}, "budget", []int{5, 4, 3}, 12 * time.Second},
		{"time that cuts a run", study.Budget{Time: 11 * time.Second}, "budget", []int{5, 4}, 11 * time.Second},
	} {
		clock := &table.SimClock{}
		space := line(t, 5)
		begin := clock.Now()
		res, err := Cell{
			Space: space, Goal: assay.Goal{Metric: "elapsed"}, Searcher: search.NewGrid(space, search.GridOptions{}),
			Runner: Simulate(clock, countdown), Clock: clock, Budget: tt.budget,
		}.Run(t.Context())
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var seconds []int
		now := begin
		for _, trial := range res.Trials {
			seconds = append(seconds, int(trial.Measurement.Elapsed/time.Second))
			if !trial.Started.Equal(now) {
				t.Errorf("%s: trial %d began after %v, want %v", tt.name, trial.ID, trial.Started.Sub(begin),
					now.Sub(begin))
			}
			now = trial.Ended
			if failed := trial.Config[0] == 3; failed != (trial.State == assay.Failed) {
				t.Errorf("%s: x = %v is %v", tt.name, trial.Config[0], trial.State)
			}
		}
		if res.EndedBy != tt.endedBy || !slices.Equal(seconds, tt.seconds) || res.Spent != tt.spent {
			t.Errorf("%s: runs of %v s, %v in all, ended by %q; want %v, %v, %q",
				tt.name, seconds, res.Spent, res.EndedBy, tt.seconds, tt.spent, tt.endedBy)
		}
	}
}

// spoiled is a searcher that fails when it is told.
type spoiled struct{ assay.Searcher }

func (spoiled) Tell(...assay.Trial) error { return errors.New("I forgot") }

func TestCellReturnsErrors(t *testing.T) {
	clock := &table.SimClock{}
	space := line(t, 5)
	_, err := Cell{
		Space: space, Goal: assay.Goal{Metric: "elapsed"}, Searcher: spoiled{search.NewRandom(space, 1)},
		Runner: Simulate(clock, countdown), Clock: clock,
	}.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "I forgot") {
		t.Errorf("got %v", err)
	}
}

// newStore returns a store in memory with a study.
func newStore(t *testing.T, name string) assay.Store {
	t.Helper()
	s := store.NewMem()
	if err := s.Create(t.Context(), name, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// Runs that begin at one moment are measured in the order of their trials, one at a time, so that a
// random source gives each the same draw every time; a measurement does not change
// on the way.
func TestSimulateIsDeterministic(t *testing.T) {
	space := line(t, 40)
	play := func() string {
		clock := &table.SimClock{}
		n := 0
		s := &study.Study{
			Name: "s", Space: space, Goal: assay.Goal{Metric: "cost"}, Searcher: search.NewRandom(space, 3),
			Parallel: 4, Clock: clock, Store: newStore(t, "s"), Budget: study.Budget{Trials: 30},
			Command: func(c assay.Config) (assay.Job, error) { return assay.Job{Config: c}, nil },
			Runner: Simulate(clock, func(assay.Config) assay.Measurement {
				n++
				return assay.Measurement{
					Elapsed: time.Duration(n%3) * time.Second, Metrics: map[string]float64{"cost": float64(n)},
				}
			}),
		}
		res, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, trial := range res.Trials {
			fmt.Fprintln(&b, trial.ID, trial.Value, trial.Ended.Sub(trial.Started))
		}
		return b.String()
	}
	want := play()
	for range 10 {
		if got := play(); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// The run of the first trial is measured first of runs that begin at one moment, whichever
// asked first.
func TestSimulateOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &table.SimClock{}
		var order []float64
		r := Simulate(clock, func(c assay.Config) assay.Measurement {
			order = append(order, c[0])
			return assay.Measurement{Elapsed: time.Second}
		})
		clock.Enter() // this actor, while it starts the others
		for _, n := range []int64{3, 1, 2} {
			clock.Enter()
			go func() {
				defer clock.Leave()
				job := assay.Job{ID: assay.RunID{Trial: n}, Config: assay.Config{float64(n)}}
				if _, err := r.Run(t.Context(), job, nil); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		clock.Leave()
		synctest.Wait()
		if !slices.Equal(order, []float64{1, 2, 3}) {
			t.Errorf("measured in the order %v", order)
		}
	})
}

// above stops a run that takes longer than so many seconds.
type above float64

func (a above) Decide(_ []assay.Trial, running assay.Trial) assay.Decision {
	return assay.Decision{Stop: running.Value > float64(a), Reason: "long"}
}

// A stopper sees a replayed run at every interval.
func TestCellStops(t *testing.T) {
	tab, err := table.Read(strings.NewReader("x,t\n0,10\n1,2\n"), table.Spec{
		File: "t.csv", Parameters: []string{"x"}, Metrics: map[string][]string{"elapsed": {"t"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	space, err := tab.Space()
	if err != nil {
		t.Fatal(err)
	}
	clock := &table.SimClock{}
	res, err := Cell{
		Space: space, Goal: assay.Goal{Metric: "elapsed", Grows: true},
		Searcher: search.NewGrid(space, search.GridOptions{}), Stopper: above(3), Interval: time.Second,
		Runner: table.NewReplay(tab, clock, nil), Clock: clock,
	}.Run(t.Context())
	if err != nil || len(res.Trials) != 2 || res.Spent != 6*time.Second {
		t.Fatalf("%+v, %v", res, err)
	}
	if long := res.Trials[0]; long.State != assay.Censored || long.Value != 4 || res.Trials[1].State != assay.Done {
		t.Errorf("got %+v, want the first run stopped after 4 s", res.Trials)
	}
}

// A run that reaches its limit has its time alone.
func TestSimulateLimit(t *testing.T) {
	clock := &table.SimClock{}
	begin := clock.Now()
	r := Simulate(clock, func(assay.Config) assay.Measurement {
		return assay.Measurement{Elapsed: 5 * time.Second, Metrics: map[string]float64{"cost": 3}}
	})
	m, err := r.Run(t.Context(), assay.Job{Limit: 2 * time.Second}, nil)
	if !errors.Is(err, assay.ErrLimit) || m.Elapsed != 2*time.Second || len(m.Metrics) > 0 {
		t.Errorf("above the limit: %+v, %v", m, err)
	}
	m, err = r.Run(t.Context(), assay.Job{Limit: 5 * time.Second}, nil)
	if err != nil || m.Elapsed != 5*time.Second || m.Metrics["cost"] != 3 {
		t.Errorf("at the limit: %+v, %v", m, err)
	}
	if got := clock.Now().Sub(begin); got != 7*time.Second {
		t.Errorf("the clock went on by %v, want 7 s", got)
	}
}

// The true value is the mean of the good runs. A configuration is feasible only if it ended
// well, has the metrics and keeps the limits.
func TestTruth(t *testing.T) {
	const text = "x,t,p,ok\n0,1,5,yes\n0,3,7,yes\n1,2,9,yes\n2,4,1,no\n3,5,,yes\n"
	tab, err := table.Read(strings.NewReader(text), table.Spec{
		File: "t.csv", Parameters: []string{"x"}, Metrics: map[string][]string{"elapsed": {"t"}, "power": {"p"}},
		OKColumn: "ok", OKEquals: "yes",
	})
	if err != nil {
		t.Fatal(err)
	}
	below := func(watts float64) assay.Goal {
		return assay.Goal{Metric: "elapsed", Limits: []assay.Limit{{
			Text: "power <= " + fmt.Sprint(watts),
			Holds: func(metric func(string) (float64, bool)) (bool, error) {
				x, ok := metric("power")
				if !ok {
					return false, errors.New("no power")
				}
				return x <= watts, nil
			},
		}}}
	}
	for _, tt := range []struct {
		goal     assay.Goal
		x, value float64
		feasible bool
	}{
		{assay.Goal{Metric: "elapsed"}, 0, 2, true},
		{assay.Goal{Metric: "power", Maximize: true}, 0, -6, true},
		{assay.Goal{Metric: "elapsed"}, 2, 0, false}, // failed
		{assay.Goal{Metric: "power"}, 3, 0, false},   // was not measured
		{assay.Goal{Metric: "elapsed"}, 9, 0, false}, // was not recorded
		{below(6), 0, 2, true},
		{below(6), 1, 2, false},
		{below(6), 3, 5, false},
	} {
		if v, ok := Truth(tab, tt.goal)(assay.Config{tt.x}); v != tt.value || ok != tt.feasible {
			t.Errorf("%+v at %v: %v, %v; want %v, %v", tt.goal, tt.x, v, ok, tt.value, tt.feasible)
		}
	}
}
