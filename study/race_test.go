package study_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stop"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// A script is a program whose runs take the times listed for their configuration, in the order in
// which they are made; the last one is repeated.
type script struct {
	fake
	takes func(x float64, n int) (seconds float64, code int) // n counts from 0
	order []float64                                          // the configurations, in the order of their runs
	n     map[float64]int
}

func (s *script) Run(ctx context.Context, job assay.Job, see func(assay.Measurement)) (assay.Measurement, error) {
	if s.n == nil {
		s.n = map[float64]int{}
	}
	x := job.Config[0]
	seconds, code := s.takes(x, s.n[x])
	s.n[x]++
	s.order = append(s.order, x)
	j := job
	j.Config = assay.Config{seconds}
	m, err := s.fake.Run(ctx, j, see)
	m.ExitCode = code
	return m, err
}

// A lucky first run ends no other: it is run again before it may.
func TestLuckyRunEndsNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for _, racing := range []bool{false, true} {
			s := newStudy(t, store.NewMem(), 12)
			s.Race, s.Stopper = racing, stop.Incumbent{Margin: 0.1}
			first := true
			s.Runner = &script{takes: func(x float64, n int) (float64, int) {
				if first {
					first = false
					return 5, 0
				}
				return 20 + x + float64(n%2), 0
			}}
			r := mustRun(t, s)
			n := 0
			for _, tr := range r.Trials {
				if tr.State == assay.Done {
					n++
				}
			}
			if racing == (n == 1) {
				t.Errorf("racing %v: %d of %d done", racing, n, len(r.Trials))
			}
			if racing && (r.Best.Value < 20 || len(r.Races) == 0) {
				t.Errorf("the best is trial %d of %v s, after %d repeated runs", r.Best.ID, r.Best.Value, len(r.Races))
			}
		}
	})
}

// Wherever a session ends, the next one makes the runs that it would have made.
func TestRaceIsResumed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		session := func(st assay.Store, runner *script, die int) (study.Result, error) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := newStudy(t, st, 10)
			s.Race, s.Check, s.Stopper, s.Runner = true, 2, stop.Incumbent{Margin: 0.1}, runner
			runs := 0
			s.Command = func(c assay.Config) (assay.Job, error) {
				if runs++; runs == die {
					cancel()
				}
				return assay.Job{Config: c, Interval: 500 * time.Millisecond}, nil
			}
			return s.Run(ctx)
		}
		noisy := func(x float64, n int) (float64, int) { return 10 + x/4 + float64((int(x)*7+n*5)%6)/2, 0 }
		whole := &script{takes: noisy}
		want, err := session(store.NewMem(), whole, 0)
		if err != nil || len(want.Races) < 3 || len(want.Checks) != 4 {
			t.Fatalf("%v, %d races, %d checks", err, len(want.Races), len(want.Checks))
		}
		for die := 1; die <= len(whole.order); die++ {
			st, runner := store.NewMem(), &script{takes: noisy}
			if _, err := session(st, runner, die); !errors.Is(err, study.ErrInterrupted) {
				t.Fatalf("killed in run %d: %v", die, err)
			}
			runner.n[whole.order[die-1]]-- // the run that was lost is made again
			got, err := session(st, runner, 0)
			if err != nil || got.Best.ID != want.Best.ID || got.Best.Value != want.Best.Value ||
				fmt.Sprint(values(got.Races)) != fmt.Sprint(values(want.Races)) ||
				fmt.Sprint(values(got.Checks)) != fmt.Sprint(values(want.Checks)) {
				t.Errorf("killed in run %d: %v, best %d of %v, races %v; want %d of %v, races %v", die, err, got.Best.ID,
					got.Best.Value, values(got.Races), want.Best.ID, want.Best.Value, values(want.Races))
			}
		}
	})
}

func values(trials []assay.Trial) (all []string) {
	for _, t := range trials {
		all = append(all, fmt.Sprintf("%d=%v", t.ID, t.Value))
	}
	return all
}

// A best that fails when it is run again gives its place to the next best that holds.
func TestBestThatFailsAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for _, tt := range []struct {
			name  string
			fails func(x, best float64) bool // in repeated runs
			found bool
		}{
			{"the best alone", func(x, best float64) bool { return x == best }, true},
			{"every one", func(float64, float64) bool { return true }, false},
		} {
			st := store.NewMem()
			s := newStudy(t, st, 8)
			s.Race, s.Check = true, 3
			least := 100.0
			runner := &script{}
			runner.takes = func(x float64, n int) (float64, int) {
				if n == 0 {
					least = min(least, x)
				}
				if n > 0 && tt.fails(x, least) {
					return x, 7
				}
				return x, 0
			}
			s.Runner = runner
			r := mustRun(t, s)
			if r.Found != tt.found || len(r.Refuted) == 0 || r.Refuted[0].Trial.Config[0] != least && tt.found {
				t.Errorf("%s: found %v %v, refuted %+v", tt.name, r.Found, r.Best.Config, r.Refuted)
			}
			if tt.found && r.Best.Config[0] == least {
				t.Errorf("%s: %v is recommended, which failed", tt.name, r.Best.Config)
			}
			if b := r.Refuted[0].Broken[0]; !strings.Contains(b.Reason, "exit code 7") {
				t.Errorf("%s: for the reason %q", tt.name, b.Reason)
			}
			again := newStudy(t, st, 8)
			again.Race, again.Check = true, 3
			if now := mustRun(t, again); now.Found != r.Found || now.Found && now.Best.ID != r.Best.ID {
				t.Errorf("%s: on record, found %v %v", tt.name, now.Found, now.Best.Config)
			}
		}
	})
}

// The time that is kept for the runs at the end has room for the steps around them, such as a service that
// starts first, and for runs that take longer than the one that was best.
func TestReserveHasRoomForTheWholeRun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 0)
		s.Race, s.Check, s.Budget.Time = true, 3, 1000*time.Second
		s.Runner = beside{s.Runner, 9 * time.Second}
		r := mustRun(t, s)
		if len(r.Checks) != 6 || r.Short != "" {
			t.Errorf("%d runs at the end, short because %q", len(r.Checks), r.Short)
		}
	})
}

// A beside is a runner whose runs take a while besides their own time.
type beside struct {
	assay.Runner
	takes time.Duration
}

func (b beside) Run(ctx context.Context, j assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	time.Sleep(b.takes)
	return b.Runner.Run(ctx, j, observe)
}

// Time is kept for the runs at the end; the result has the reason if it is not enough.
func TestShortCheckSaysWhy(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		st := store.NewMem()
		s := newStudy(t, st, 0)
		s.Race, s.Check, s.Budget.Time = true, 5, 100*time.Second
		r := mustRun(t, s)
		if len(r.Checks) == 10 || r.Short == "" {
			t.Fatalf("%d checks, short because %q", len(r.Checks), r.Short)
		}
		var ends []string
		for e, err := range st.Events(t.Context(), "s", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Ended != nil {
				ends = append(ends, e.Ended.Short)
			}
		}
		if !slices.Equal(ends, []string{r.Short}) {
			t.Errorf("on record: %q", ends)
		}
		if r.Spent > s.Budget.Time {
			t.Errorf("spent %v", r.Spent)
		}
	})
}

// Short runs are observed often enough to be stopped soon after the margin.
func TestIntervalOfShortRuns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for finest, most := range map[time.Duration]float64{0: 9, 10 * time.Millisecond: 3.5} {
			s := newStudy(t, store.NewMem(), 20)
			s.Stopper, s.Finest = stop.Incumbent{Margin: 0.1}, finest
			s.Command = func(c assay.Config) (assay.Job, error) { return assay.Job{Config: c, Interval: 3 * time.Second}, nil }
			first := true
			s.Runner = &script{takes: func(x float64, _ int) (float64, int) {
				if first {
					first = false
					return 3, 0
				}
				return 9 + x, 0
			}}
			for _, tr := range mustRun(t, s).Trials[1:] {
				if !tr.Stopped() || tr.Value > most || finest == 0 && tr.Value < 5.9 {
					t.Errorf("finest %v: %v after %v s", finest, tr.State, tr.Value)
				}
			}
		}
	})
}

// Without a time budget the race makes Check runs again, or a fifth of the trials if that is more, as
// long as it is not known which is best. The time that is left when the trials are at their number changes nothing.
func TestRaceHasAnEndOfItsOwn(t *testing.T) {
	for _, tt := range []struct{ trials, check, want int }{{10, 4, 4}, {30, 4, 6}, {34, 2, 6}} {
		for _, budget := range []time.Duration{0, 24 * time.Hour} {
			inBubble(t, func(t *testing.T) {
				s := newStudy(t, store.NewMem(), tt.trials)
				s.Race, s.Check, s.Budget.Time = true, tt.check, budget
				noise := rand.New(rand.NewPCG(1, 2))
				s.Runner = &script{takes: func(float64, int) (float64, int) { return 20 + 5*noise.NormFloat64(), 0 }}
				if r := mustRun(t, s); len(r.Races) != tt.want {
					t.Errorf("%d trials, %d pairs, %v: %d runs were made again, want %d", tt.trials, tt.check, budget, len(r.Races),
						tt.want)
				}
			})
		}
	}
}

// The rest of the time is for the race if the search has ended by its time, or has tried everything.
func TestRaceThatIsTimed(t *testing.T) {
	for budget, by := range map[time.Duration]string{10 * time.Minute: "budget", time.Hour: "search"} {
		inBubble(t, func(t *testing.T) {
			s := newStudy(t, store.NewMem(), 0)
			s.Race, s.Check, s.Budget.Time = true, 2, budget
			noise := rand.New(rand.NewPCG(1, 2))
			s.Runner = &script{takes: func(float64, int) (float64, int) { return 20 + 5*noise.NormFloat64(), 0 }}
			if r := mustRun(t, s); len(r.Races) <= max(2, len(r.Trials)/5) || r.EndedBy != by {
				t.Errorf("%v: %d runs of %d were made again; ended by %s", budget, len(r.Races), len(r.Trials), r.EndedBy)
			}
		})
	}
}

// A greedy program is the faster the more memory it takes; both are noisy.
type greedy struct{ draws *rand.Rand }

func (g *greedy) Run(_ context.Context, j assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	x := j.Config[0]
	m := assay.Measurement{
		Elapsed: time.Duration((100 - x) * (1 + 0.03*g.draws.NormFloat64()) * 1e9),
		Metrics: map[string]float64{"score": (20 + x) * (1 + 0.02*g.draws.NormFloat64())},
	}
	return m, nil
}

// A study whose limited metric is noisy keeps its distance from the limit when it chooses a run to repeat: 14 of 347
// runs that it makes again break the limit, and 25 of 393 without the distance.
func TestRaceKeepsClearOfLimits(t *testing.T) {
	runs, broke := 0, 0
	for seed := range uint64(20) {
		s := newStudy(t, store.NewMem(), 60)
		s.Race, s.Check, s.Runner = true, 8, &greedy{rand.New(rand.NewPCG(seed, 1))}
		s.Searcher = search.NewRandom(s.Space, seed)
		s.Goal.Limits = []assay.Limit{{Text: "score <= 48", Holds: func(metric func(string) (float64, bool)) (bool, error) {
			score, _ := metric("score")
			return score <= 48, nil
		}, Bounds: []assay.Bound{{Text: "score <= 48", Metric: "score", Sides: func(
			metric func(string) (float64, bool),
		) (left, right float64, err error) {
			score, _ := metric("score")
			return score, 48, nil
		}}}}}
		r := mustRun(t, s)
		for _, t := range slices.Concat(r.Races, r.Checks) {
			if runs++; t.State == assay.Infeasible {
				broke++
			}
		}
	}
	t.Logf("%d of %d runs again broke the limit", broke, runs)
	if 20*broke >= runs {
		t.Errorf("%d of %d runs again broke the limit", broke, runs)
	}
}
