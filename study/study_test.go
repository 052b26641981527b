package study_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stop"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

var (
	elapsed = assay.Goal{Metric: "elapsed", Grows: true}
	errBoom = errors.New("connection reset")
)

func newSpace(t testing.TB) *assay.Space {
	t.Helper()
	s, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Lo: 1, Hi: 40}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fake runs a configuration x for x seconds of the test's time. Its fields make
// it misbehave.
type fake struct {
	mu    sync.Mutex
	ran   []float64
	lose  int  // the first attempts whose outcome is unknown
	fail  bool // every run exits with code 3
	err   error
	quiet bool // the objective is not measured
}

func (f *fake) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	f.mu.Lock()
	x := job.Config[0]
	f.ran = append(f.ran, x)
	n := len(f.ran)
	f.mu.Unlock()
	if f.err != nil {
		return assay.Measurement{}, f.err
	}
	if n <= f.lose {
		return assay.Measurement{}, errBoom
	}
	start := time.Now()
	now := func() assay.Measurement {
		m := assay.Measurement{Elapsed: time.Since(start), Metrics: map[string]float64{"score": x}}
		if f.quiet {
			delete(m.Metrics, "score")
		}
		return m
	}
	end := time.After(time.Duration(x) * time.Second)
	var limit, tick <-chan time.Time
	if job.Limit > 0 {
		limit = time.After(job.Limit)
	}
	if job.Interval > 0 {
		t := time.NewTicker(job.Interval)
		defer t.Stop()
		tick = t.C
	}
	for {
		select {
		case <-ctx.Done():
			return now(), context.Cause(ctx)
		case <-end:
			m := now()
			if f.fail {
				m.ExitCode, m.Stderr = 3, []byte("reading input\nno such table: t1\n")
			}
			return m, nil
		case <-limit:
			return now(), assay.ErrLimit
		case <-tick:
			if observe != nil {
				observe(now())
			}
		}
	}
}

func newStudy(t testing.TB, st assay.Store, trials int) *study.Study {
	t.Helper()
	sp := newSpace(t)
	if err := st.Create(context.Background(), "s", nil); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	return &study.Study{
		Name: "s", Space: sp, Goal: elapsed, Store: st, Runner: &fake{},
		Searcher: search.NewRandom(sp, 1),
		Budget:   study.Budget{Trials: trials},
		Command: func(c assay.Config) (assay.Job, error) {
			return assay.Job{Config: c, Interval: 500 * time.Millisecond}, nil
		},
	}
}

// mustRun runs s, which must end without an error.
func mustRun(t testing.TB, s *study.Study) study.Result {
	t.Helper()
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func inBubble(t *testing.T, f func(t *testing.T)) { t.Helper(); synctest.Test(t, f) }

func TestTrialsInFlight(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 12)
		s.Parallel = 3
		most := 0
		s.Notify = func(p study.Progress) { most = max(most, len(p.Running)) }
		r := mustRun(t, s)
		if len(r.Trials) != 12 || most != 3 || r.EndedBy != "trials" {
			t.Errorf("%d trials, %d at once, ended by %s", len(r.Trials), most, r.EndedBy)
		}
		var sum, least float64 = 0, math.Inf(1)
		for _, tr := range r.Trials {
			sum += tr.Value
			least = min(least, tr.Value)
		}
		if r.Best.Value != least || !r.Found {
			t.Errorf("best %v, want %v", r.Best.Value, least)
		}
		if r.Spent.Seconds() >= sum || r.Spent.Seconds() < sum/3 {
			t.Errorf("spent %v for %v s of trials, 3 at once", r.Spent, sum)
		}
	})
}

func TestEarlyStopIsRecorded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 20)
		s.Stopper = stop.Incumbent{}
		r := mustRun(t, s)
		censored := 0
		for _, tr := range r.Trials {
			if tr.State != assay.Censored {
				continue
			}
			censored++
			if tr.Decision == nil || !tr.Decision.Stop || tr.Reason == "" || tr.Decision.At != tr.Measurement.Elapsed {
				t.Errorf("trial %d: decision %+v, reason %q", tr.ID, tr.Decision, tr.Reason)
			}
			if tr.Value > tr.Config[0] {
				t.Errorf("trial %d: stopped at %v, after its end", tr.ID, tr.Value)
			}
		}
		if censored == 0 {
			t.Error("no trial was stopped")
		}
		if saved := study.Saved(r.Trials); saved <= 0 {
			t.Errorf("saved %v", saved)
		}
	})
}

func TestStopperIsNotAskedOfAMetricThatMayFall(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 5)
		s.Goal = assay.Goal{Metric: "score", Maximize: true}
		s.Stopper = always{}
		for _, tr := range mustRun(t, s).Trials {
			if tr.State != assay.Done || tr.Value != -tr.Config[0] {
				t.Errorf("trial %d: %v, value %v", tr.ID, tr.State, tr.Value)
			}
		}
	})
}

type always struct{}

func (always) Decide([]assay.Trial, assay.Trial) assay.Decision {
	return assay.Decision{Stop: true, Reason: "always"}
}

func TestBudgets(t *testing.T) {
	target := 3.0
	for _, tt := range []struct {
		name   string
		budget study.Budget
		ended  string
	}{
		{"time", study.Budget{Time: 90 * time.Second}, "budget"},
		{"trials", study.Budget{Trials: 4}, "trials"},
		{"target", study.Budget{Target: &target}, "target"},
		{"space", study.Budget{}, "search"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newStudy(t, store.NewMem(), 0)
				s.Budget, s.Parallel = tt.budget, 2
				r := mustRun(t, s)
				if r.EndedBy != tt.ended {
					t.Errorf("ended by %q, want %q", r.EndedBy, tt.ended)
				}
				switch tt.name {
				case "time":
					if r.Spent != tt.budget.Time {
						t.Errorf("spent %v, want %v: runs in flight are ended", r.Spent, tt.budget.Time)
					}
					last := r.Trials[len(r.Trials)-1]
					if last.State != assay.Censored || !strings.Contains(last.Reason, "time budget") {
						t.Errorf("last trial is %v: %s", last.State, last.Reason)
					}
				case "target":
					if r.Best.Value > 3 {
						t.Errorf("best %v", r.Best.Value)
					}
				case "space":
					if len(r.Trials) != 40 {
						t.Errorf("%d trials of 40 points", len(r.Trials))
					}
				}
			})
		})
	}
}

// A run cut off by the budget whose metric does not grow has taught nothing: it
// is no trial, and the next session runs it again.
func TestBudgetLosesARunThatTaughtNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		st := store.NewMem()
		s := newStudy(t, st, 0)
		s.Goal = assay.Goal{Metric: "score"}
		s.Budget.Time = 30 * time.Second
		r := mustRun(t, s)
		for _, tr := range r.Trials {
			if tr.State != assay.Done {
				t.Errorf("trial %d is %v: %s", tr.ID, tr.State, tr.Reason)
			}
		}
		s = newStudy(t, st, 0)
		s.Goal = assay.Goal{Metric: "score"}
		s.Budget.Time = 300 * time.Second
		again := mustRun(t, s)
		if got, want := again.Trials[len(r.Trials)].ID, int64(len(r.Trials)+1); got != want {
			t.Errorf("the next session began with trial %d, want %d", got, want)
		}
	})
}

func TestTimeLimitOfARun(t *testing.T) {
	for _, tt := range []struct {
		goal assay.Goal
		want assay.State
	}{
		{elapsed, assay.Censored},
		{assay.Goal{Metric: "score", Maximize: true}, assay.Failed},
	} {
		inBubble(t, func(t *testing.T) {
			s := newStudy(t, store.NewMem(), 10)
			s.Goal = tt.goal
			cmd := s.Command
			s.Command = func(c assay.Config) (assay.Job, error) {
				j, err := cmd(c)
				j.Limit = 5 * time.Second
				return j, err
			}
			for _, tr := range mustRun(t, s).Trials {
				if long := tr.Config[0] > 5; long && tr.State != tt.want || !long && tr.State != assay.Done &&
					tr.Config[0] != 5 {
					t.Errorf("x=%v: %v (%s)", tr.Config[0], tr.State, tr.Reason)
				}
			}
		})
	}
}

func TestUnknownOutcomeIsRetried(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 1)
		f := &fake{lose: 2}
		s.Runner = f
		tr := mustRun(t, s).Trials[0]
		if tr.State != assay.Done || tr.Attempts != 3 || len(f.ran) != 3 {
			t.Errorf("%v after %d attempts, %d runs", tr.State, tr.Attempts, len(f.ran))
		}
		s = newStudy(t, store.NewMem(), 1)
		s.Runner = &fake{lose: 99}
		tr = mustRun(t, s).Trials[0]
		if tr.State != assay.Failed || tr.Attempts != 3 || !strings.Contains(tr.Reason,
			"unknown after 3 attempts: connection reset") {
			t.Errorf("%v after %d attempts: %s", tr.State, tr.Attempts, tr.Reason)
		}
	})
}

func TestFailureIsNotRetried(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 2)
		f := &fake{fail: true}
		s.Runner = f
		r := mustRun(t, s)
		tr := r.Trials[0]
		if tr.State != assay.Failed || tr.Attempts != 1 || len(f.ran) != 2 || !math.IsInf(tr.Value, 1) {
			t.Errorf("%v after %d attempts, value %v", tr.State, tr.Attempts, tr.Value)
		}
		if want := "exit code 3: no such table: t1"; tr.Reason != want {
			t.Errorf("reason %q, want %q", tr.Reason, want)
		}
		if r.Found {
			t.Error("there is a best trial though all failed")
		}
	})
}

func TestMissingProgramFailsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 1)
		f := &fake{err: fmt.Errorf("start: %w", os.ErrNotExist)}
		s.Runner = f
		tr := mustRun(t, s).Trials[0]
		if tr.State != assay.Failed || len(f.ran) != 1 || tr.Reason != f.err.Error() {
			t.Errorf("%v after %d runs: %s", tr.State, len(f.ran), tr.Reason)
		}
	})
}

func TestSetupErrorEndsTheStudy(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 5)
		f := &fake{err: fmt.Errorf("%w: prepare", assay.ErrSetup)}
		s.Runner = f
		r, err := s.Run(t.Context())
		if !errors.Is(err, assay.ErrSetup) || len(f.ran) != 1 || len(r.Trials) != 0 || r.EndedBy != "error" {
			t.Errorf("%v after %d runs, %d trials, ended by %s", err, len(f.ran), len(r.Trials), r.EndedBy)
		}
	})
}

// A shortage of the machine is no property of a configuration: the study ends, and the trial runs when it
// goes on.
func TestExhaustedMachineEndsTheStudy(t *testing.T) {
	for _, lacks := range []error{syscall.EMFILE, syscall.EAGAIN, syscall.ENOMEM, syscall.ENOSPC} {
		inBubble(t, func(t *testing.T) {
			st := store.NewMem()
			s := newStudy(t, st, 3)
			s.Runner = &fake{err: fmt.Errorf("fork/exec: %w", lacks)}
			r, err := s.Run(t.Context())
			if assay.ClassOf(err) != assay.ClassUnavailable || assay.HintOf(err) == "" || len(r.Trials) != 0 {
				t.Errorf("%v: %v of class %v, %d trials", lacks, err, assay.ClassOf(err), len(r.Trials))
			}
			again := newStudy(t, st, 3)
			if r := mustRun(t, again); len(r.Trials) != 3 || r.Trials[0].State != assay.Done {
				t.Errorf("%v: %d trials after going on", lacks, len(r.Trials))
			}
		})
	}
}

func TestMissingMetricFailsTheTrial(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 1)
		s.Goal = assay.Goal{Metric: "score"}
		s.Runner = &fake{quiet: true}
		if tr := mustRun(t, s).Trials[0]; tr.State != assay.Failed ||
			!strings.Contains(tr.Reason, `"score" was not measured`) {
			t.Errorf("%v: %s", tr.State, tr.Reason)
		}
	})
}

// A run that ends with another code than 0 has failed, whatever it has measured.
func TestExitCodeFailsTheTrial(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 1)
		s.Goal = assay.Goal{Metric: "score"}
		s.Runner = &fake{fail: true}
		r := mustRun(t, s)
		if tr := r.Trials[0]; tr.State != assay.Failed || !strings.Contains(tr.Reason, "exit code 3") || r.Found {
			t.Errorf("%v: %s; found %v", tr.State, tr.Reason, r.Found)
		}
	})
}

func TestBrokenLimitIsInfeasible(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 40)
		s.Goal.Limits = []assay.Limit{{Text: "score >= 20", Holds: func(metric func(string) (float64, bool)) (bool,
			error,
		) {
			x, _ := metric("score")
			return x >= 20, nil
		}}}
		r := mustRun(t, s)
		if r.Best.Value != 20 {
			t.Errorf("best is %v, want 20", r.Best.Value)
		}
		for _, tr := range r.Trials {
			if (tr.State == assay.Infeasible) != (tr.Config[0] < 20) {
				t.Errorf("x=%v is %v", tr.Config[0], tr.State)
			}
		}
	})
}

func TestDrainFinishesWhatRuns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		drain := make(chan struct{})
		s := newStudy(t, store.NewMem(), 0)
		s.Parallel, s.Drain = 2, drain
		started := 0
		s.Notify = func(p study.Progress) { started = max(started, len(p.Trials)+len(p.Running)) }
		time.AfterFunc(100*time.Second, func() { close(drain) })
		r, err := s.Run(t.Context())
		if !errors.Is(err, study.ErrInterrupted) || r.EndedBy != "interrupt" {
			t.Errorf("%v, ended by %s", err, r.EndedBy)
		}
		if r.Spent < 100*time.Second || len(r.Trials) != started {
			t.Errorf("spent %v, %d trials of %d started", r.Spent, len(r.Trials), started)
		}
		for _, tr := range r.Trials {
			if tr.State != assay.Done {
				t.Errorf("trial %d is %v", tr.ID, tr.State)
			}
		}
	})
}

func TestChecksAreOutsideTheSearch(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		st := store.NewMem()
		s := newStudy(t, st, 8)
		s.Check, s.Stopper = 3, stop.Incumbent{}
		r := mustRun(t, s)
		if len(r.Trials) != 8 || len(r.Checks) != 6 {
			t.Fatalf("%d trials, %d checks", len(r.Trials), len(r.Checks))
		}
		for i, c := range r.Checks {
			want := r.Best
			if i%2 == 1 {
				want = r.First
			}
			if c.ID != want.ID || c.State != assay.Done || c.Value != want.Value {
				t.Errorf("check %d repeats trial %d (%v, value %v), want %d", i, c.ID, c.State, c.Value, want.ID)
			}
		}
		s = newStudy(t, st, 8)
		s.Check, s.Stopper = 3, stop.Incumbent{}
		f := s.Runner.(*fake)
		if r := mustRun(t, s); len(r.Checks) != 6 || len(f.ran) != 0 {
			t.Errorf("the study, ended, ran %v again", f.ran)
		}
	})
}

func TestChecksFitTheTimeBudget(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStudy(t, store.NewMem(), 0)
		s.Check, s.Budget.Time = 5, 200*time.Second
		if r := mustRun(t, s); r.Spent > s.Budget.Time {
			t.Errorf("spent %v of %v", r.Spent, s.Budget.Time)
		} else if len(r.Checks) < 2 {
			t.Errorf("%d checks", len(r.Checks))
		}
	})
}

func configs(trials []assay.Trial) (s []string) {
	for _, t := range trials {
		s = append(s, fmt.Sprintf("%d=%v", t.ID, t.Config))
	}
	slices.Sort(s)
	return s
}

// No run is made again if there is nothing to compare: the first failed or broke a limit, or is the best.
func TestNothingToCompare(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first func(*assay.Measurement)
		want  int
	}{
		{"two that differ", func(*assay.Measurement) {}, 6},
		{"the first failed", func(m *assay.Measurement) { m.ExitCode = 1 }, 0},
		{"the first breaks a limit", func(m *assay.Measurement) { m.Metrics["score"] = 99 }, 0},
		{"the first is the best", func(m *assay.Measurement) { m.Elapsed = time.Millisecond }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newStudy(t, store.NewMem(), 5)
				s.Check, s.Goal.Limits = 3,
					[]assay.Limit{{Text: "score <= 50", Holds: func(metric func(string) (float64, bool)) (bool, error) {
						score, _ := metric("score")
						return score <= 50, nil
					}}}
				s.Runner = &spoiled{Runner: s.Runner, spoil: tt.first}
				if r := mustRun(t, s); len(r.Checks) != tt.want || r.Short != "" {
					t.Errorf("%d runs at the end, want %d; short because %q", len(r.Checks), tt.want, r.Short)
				}
			})
		})
	}
}

// A spoiled is a runner that changes the measurement of its first run.
type spoiled struct {
	assay.Runner
	spoil func(*assay.Measurement)
	runs  int
}

func (s *spoiled) Run(ctx context.Context, j assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	m, err := s.Runner.Run(ctx, j, observe)
	if s.runs++; s.runs == 1 {
		s.spoil(&m)
	}
	return m, err
}
