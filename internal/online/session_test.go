package online_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/online"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
	"pgregory.net/rapid"
)

// onlineSpace has 64 configurations; the time of one is tileTime.
func onlineSpace(t testing.TB) *assay.Space {
	t.Helper()
	s, err := assay.NewSpace([]assay.Param{
		{Name: "x", Kind: assay.Integer, Lo: 0, Hi: 7}, {Name: "y", Kind: assay.Integer, Lo: 0, Hi: 7},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tileTime(c assay.Config) float64 {
	return 0.01 * (1 + (c[0]-5)*(c[0]-5) + (c[1]-2)*(c[1]-2))
}

// online returns a session description on a new study of st.
func options(t testing.TB, st assay.Store) online.Options {
	t.Helper()
	space := onlineSpace(t)
	if err := st.Create(t.Context(), "o", []byte("spec")); err != nil {
		t.Fatal(err)
	}
	return online.Options{
		Name: "o", Space: space, Store: st, Default: assay.Config{0, 0},
		Searcher: func(epoch int) (assay.Searcher, error) { return search.NewRandom(space, uint64(epoch)), nil },
	}
}

func open(t testing.TB, o online.Options) *online.Session {
	t.Helper()
	s, err := online.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func join(t testing.TB, s *online.Session, ranks ...int) {
	t.Helper()
	for _, r := range ranks {
		if err := s.Join(r, fmt.Sprint("p", r)); err != nil {
			t.Fatal(err)
		}
	}
}

func fetch(t testing.TB, s *online.Session, rank int) online.Turn {
	t.Helper()
	turn, err := s.Fetch(fmt.Sprint("p", rank))
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func report(t testing.TB, s *online.Session, rank int, turn online.Turn, seconds float64) bool {
	t.Helper()
	used, err := s.Report(fmt.Sprint("p", rank), turn.ID, seconds, "")
	if err != nil {
		t.Fatal(err)
	}
	return used
}

func shut(t testing.TB, s *online.Session) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func eventsOf(t testing.TB, st assay.Store) (events []assay.Event) {
	t.Helper()
	for e, err := range st.Events(t.Context(), "o", 0) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// Sixteen ranks find the best of 64 configurations in four iterations and then
// run it.
func TestOnlineRanksShareTheSearch(t *testing.T) {
	for _, mode := range []online.Mode{online.Free, online.Steps} {
		t.Run(mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := store.NewMem()
				o := options(t, st)
				o.Mode = mode
				s := open(t, o)
				const ranks = 16
				for r := range ranks {
					join(t, s, r)
				}
				synctest.Wait()
				seen := map[string]int{}
				want := 0.0
				for k := range 6 {
					turns := make([]online.Turn, ranks)
					slowest := 0.0
					for r := range ranks {
						turns[r] = fetch(t, s, r)
						if turns[r].Trial > 0 {
							seen[turns[r].Config.Key()]++
						}
						slowest = max(slowest, tileTime(turns[r].Config))
					}
					want += slowest
					for r := range ranks {
						time.Sleep(time.Millisecond)
						report(t, s, r, turns[r], tileTime(turns[r].Config))
					}
					synctest.Wait()
					if k >= 4 && !turns[0].Config.Equal(assay.Config{5, 2}) {
						t.Errorf("iteration %d runs %v, want the best", k, turns[0].Config)
					}
				}
				if len(seen) != 64 {
					t.Errorf("%d configurations were tried, want 64", len(seen))
				}
				got := s.Status()
				if got.Trials != 64 || got.State != "done" || !got.Best.Equal(assay.Config{5, 2}) {
					t.Errorf("status %+v", got)
				}
				if mode == online.Steps && (got.Steps != 6 || !(math.Abs(got.Total-want) <= 1e-9)) {
					t.Errorf("%d steps of %v s in all, want 6 of %v: the sum of the maxima over ranks", got.Steps,
						got.Total, want)
				}
				shut(t, s)
			})
		})
	}
}

// Tabatabaee et al. 2005, §5.2: with n points and P ranks each point gets ⌊P/n⌋
// samples in one step, of which the minimum counts; ranks beyond that run the
// best so far.
func TestOnlineParallelSampling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMem()
		o := options(t, st)
		o.Mode = online.Steps
		list, err := assay.NewList(o.Space.Params, []assay.Config{{1, 1}, {2, 2}, {3, 3}})
		if err != nil {
			t.Fatal(err)
		}
		o.Space, o.Default = list, assay.Config{1, 1}
		o.Searcher = func(int) (assay.Searcher, error) { return search.NewGrid(list, search.GridOptions{}), nil }
		s := open(t, o)
		for r := range 11 { // 3 points, 3 samples each, 2 spare ranks
			if err := s.Join(r, fmt.Sprint("p", r)); err != nil {
				t.Fatal(err)
			}
			if r == 0 {
				s.Pause() // all ranks shall be there when the search begins
			}
		}
		s.Resume()
		synctest.Wait()
		s.Restart() // rank 0 may have been alone when the first point was asked
		synctest.Wait()
		runs := map[int64]int{}
		for r := range 11 {
			turn := fetch(t, s, r)
			runs[turn.Trial]++
			defer func() { _ = turn }()
			report(t, s, r, turn, 1+float64(10-r))
		}
		synctest.Wait()
		if runs[0] != 2 || len(runs) != 4 {
			t.Fatalf("ranks by trial %v, want 3 trials with 3 ranks each and 2 ranks without", runs)
		}
		for id, n := range runs {
			if id != 0 && n != 3 {
				t.Errorf("trial %d has %d samples, want 3", id, n)
			}
		}
		shut(t, s)
		values := map[float64]bool{}
		for _, e := range eventsOf(t, st) {
			if e.Told != nil {
				values[e.Told.Value] = true
				if e.Told.Attempts != 3 || e.Told.Measurement.Metrics["samples"] != 3 {
					t.Errorf("trial %+v, want 3 samples", e.Told)
				}
			}
		}
		// Samples of three points are dealt in turn: rank r has point r mod 3, and
		// took 11-r; the least are the times of ranks 8, 7 and 6.
		if len(values) != 3 || !values[3] || !values[4] || !values[5] {
			t.Errorf("told values %v, want the minima 3, 4 and 5", values)
		}
	})
}

// Eq. 1: where ranks must agree, an iteration is one sample, the slowest rank's.
func TestOnlineSameModeTakesTheMaximum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMem()
		o := options(t, st)
		o.Mode = online.Same
		s := open(t, o)
		join(t, s, 0, 1, 2)
		synctest.Wait()
		for range 5 {
			turns := [3]online.Turn{}
			for r := range 3 {
				turns[r] = fetch(t, s, r)
				if !turns[r].Config.Equal(turns[0].Config) {
					t.Fatalf("rank %d runs %v, rank 0 %v", r, turns[r].Config, turns[0].Config)
				}
			}
			if turns[0].ID == turns[1].ID {
				t.Error("two turns have one ID")
			}
			for r := range 3 {
				report(t, s, r, turns[r], float64(turns[0].Trial)+float64(r))
			}
			synctest.Wait()
		}
		shut(t, s)
		n := 0
		for _, e := range eventsOf(t, st) {
			if e.Told != nil {
				n++
				if e.Told.Value != float64(e.Told.ID)+2 {
					t.Errorf("trial %d is told %v, want the slowest rank's %v", e.Told.ID, e.Told.Value,
						float64(e.Told.ID)+2)
				}
			}
		}
		if n != 5 {
			t.Errorf("%d trials of 5 iterations", n)
		}
	})
}

// blocked is a searcher that thinks until it is let go.
type blocked struct {
	assay.Searcher
	gate chan struct{}
}

func (b blocked) Ask(n int) ([]assay.Proposal, error) {
	<-b.gate
	return b.Searcher.Ask(n)
}

func TestOnlineFetchNeverWaitsForTheSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, store.NewMem())
		gate := make(chan struct{})
		o.Searcher = func(int) (assay.Searcher, error) {
			return blocked{search.NewRandom(o.Space, 1), gate}, nil
		}
		s := open(t, o)
		join(t, s, 0)
		for range 3 {
			if turn := fetch(t, s, 0); turn.Trial != 0 || !turn.Config.Equal(o.Default) {
				t.Errorf("got %+v, want the default", turn)
			}
		}
		close(gate)
		synctest.Wait()
		if turn := fetch(t, s, 0); turn.Trial != 1 {
			t.Errorf("got %+v, want trial 1", turn)
		}
		shut(t, s)
	})
}

// A store that hangs, or fails, holds up no rank.
type badStore struct {
	assay.Store
	gate chan struct{}
	err  error
}

func (b badStore) Append(ctx context.Context, name string, at assay.Position, es ...assay.Event) (assay.Position,
	error,
) {
	<-b.gate
	if b.err != nil {
		return 0, b.err
	}
	return b.Store.Append(ctx, name, at, es...)
}

func TestOnlineStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		full := errors.New("disk is full")
		o := options(t, store.NewMem())
		o.Store = badStore{o.Store, gate, full}
		s := open(t, o)
		join(t, s, 0)
		for range 10 {
			synctest.Wait()
			turn := fetch(t, s, 0)
			report(t, s, 0, turn, tileTime(turn.Config))
		}
		best := s.Status().Best
		close(gate)
		time.Sleep(time.Second)
		turn := fetch(t, s, 0)
		if turn.Trial != 0 || !turn.Config.Equal(best) {
			t.Errorf("after the store failed a rank runs %+v, want the best so far %v", turn, best)
		}
		if err := s.Status().Fault; !errors.Is(err, full) {
			t.Errorf("fault %v", err)
		}
		if err := s.Close(); !errors.Is(err, full) {
			t.Errorf("Close returns %v", err)
		}
	})
}

// A rank that dies holds no other up: its point is taken by another after the
// deadline, in every mode.
func TestOnlineDeadRank(t *testing.T) {
	for _, mode := range []online.Mode{online.Free, online.Steps, online.Same} {
		t.Run(mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := options(t, store.NewMem())
				o.Mode, o.Deadline = mode, 10*time.Second
				s := open(t, o)
				join(t, s, 0, 1)
				synctest.Wait()
				mine, dead := fetch(t, s, 0), fetch(t, s, 1)
				report(t, s, 0, mine, 1)
				seen := map[int64]bool{}
				for range 4 { // rank 0 goes on alone
					time.Sleep(3 * time.Second)
					turn := fetch(t, s, 0)
					seen[turn.Trial] = true
					report(t, s, 0, turn, 1)
				}
				if !seen[dead.Trial] {
					t.Errorf("trial %d of the dead rank is not taken over in 12 s: rank 0 ran %v", dead.Trial, seen)
				}
				if n := s.Status().Ranks; n != 1 {
					t.Errorf("%d ranks alive, want 1", n)
				}
				// It was only slow: its report no longer counts, but is no error.
				if report(t, s, 1, dead, 5) {
					t.Error("a sample that was taken over counts twice")
				}
				if n := s.Status().Ranks; n != 2 {
					t.Errorf("%d ranks alive, want 2", n)
				}
				shut(t, s)
			})
		})
	}
}

func TestOnlineRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMem()
		o := options(t, st)
		o.Deadline = time.Second
		s := open(t, o)
		join(t, s, 0)
		synctest.Wait()
		turn := fetch(t, s, 0)
		before := s.Status()
		refused := func(what string, err, want error) {
			t.Helper()
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
			if got := s.Status(); fmt.Sprint(got) != fmt.Sprint(before) {
				t.Errorf("%s changed %+v to %+v", what, before, got)
			}
		}
		try := func(who string, id int64, x float64) error {
			_, err := s.Report(who, id, x, "")
			return err
		}
		refused("another turn", try("p0", turn.ID+1, 1), online.ErrNotFetched)
		refused("turn 0", try("p0", 0, 1), online.ErrNotFetched)
		refused("another process's", try("p9", turn.ID, 1), online.ErrNotJoined)
		for _, x := range []float64{math.NaN(), -1, math.Inf(1), math.Inf(-1)} {
			refused(fmt.Sprint(x), try("p0", turn.ID, x), online.ErrBadReport)
		}
		refused("a rank in use", s.Join(0, "other"), online.ErrRankTaken)
		refused("another rank of one process", s.Join(1, "p0"), online.ErrRankTaken)
		refused("rank -1", s.Join(-1, "other"), online.ErrBadReport)
		refused("no instance", s.Join(1, ""), online.ErrBadReport)
		if _, err := s.Fetch("p9"); !errors.Is(err, online.ErrNotJoined) {
			t.Errorf("a fetch without join: %v", err)
		}
		report(t, s, 0, turn, 1)
		synctest.Wait()
		before = s.Status()
		refused("twice", try("p0", turn.ID, 1), online.ErrReported)
		if err := s.End(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		before = s.Status()
		refused("after the end", try("p0", turn.ID, 1), online.ErrOver)
		refused("restart after the end", s.Restart(), online.ErrOver)
		shut(t, s)

		one, err := assay.NewSpace([]assay.Param{{Name: "n", Kind: assay.Integer, Lo: 3, Hi: 3}})
		if err != nil {
			t.Fatal(err)
		}
		o.Space, o.Default = one, assay.Config{3}
		if _, err := online.Open(t.Context(), o); !errors.Is(err, online.ErrOnePoint) {
			t.Errorf("a space of one point: %v", err)
		}
	})
}

// A rank whose connection ended may be replaced after a second; one that is
// silent, after the deadline.
func TestOnlineRankChangesHands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, store.NewMem())
		o.Deadline = 2 * time.Second
		s := open(t, o)
		join(t, s, 0, 1)
		synctest.Wait()
		turn := fetch(t, s, 0)
		s.Lost("p0")
		if err := s.Join(0, "new"); !errors.Is(err, online.ErrRankTaken) {
			t.Errorf("a rank without a connection is taken at once: %v", err)
		}
		time.Sleep(time.Second)
		if err := s.Join(0, "new"); err != nil {
			t.Fatal(err)
		}
		again, err := s.Fetch("new")
		if err != nil || again.Trial != turn.Trial {
			t.Errorf("the new process runs trial %d (%v), want %d of the lost one", again.Trial, err, turn.Trial)
		}
		if _, err := s.Fetch("p0"); !errors.Is(err, online.ErrNotJoined) {
			t.Errorf("the old process: %v", err)
		}
		time.Sleep(2 * time.Second)
		if err := s.Join(1, "newer"); err != nil {
			t.Error(err)
		}
		if err := s.Leave("newer"); err != nil {
			t.Error(err)
		}
		if err := s.Join(1, "newest"); err != nil {
			t.Error(err)
		}
		shut(t, s)
	})
}

func TestOnlinePauseResumeRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMem()
		o := options(t, st)
		s := open(t, o)
		join(t, s, 0)
		synctest.Wait()
		first := fetch(t, s, 0)
		report(t, s, 0, first, 1)
		synctest.Wait()
		s.Pause()
		for range 3 {
			if turn := fetch(t, s, 0); turn.Trial != 0 || !turn.Config.Equal(first.Config) {
				t.Errorf("paused: %+v, want the best so far", turn)
			}
		}
		s.Resume()
		synctest.Wait()
		if turn := fetch(t, s, 0); turn.Trial != 2 {
			t.Errorf("resumed: %+v, want trial 2", turn)
		}
		s.Restart()
		s.Restart()
		synctest.Wait()
		if got := s.Status(); got.Epoch != 2 || !math.IsInf(got.Value, 1) || !got.Best.Equal(first.Config) {
			t.Errorf("restarted: %+v, want the old best configuration without a value", got)
		}
		turn := fetch(t, s, 0)
		if turn.Trial < 3 {
			t.Errorf("restarted: trial %d, IDs must go on", turn.Trial)
		}
		want, _ := search.NewRandom(o.Space, 2).Ask(1)
		if !turn.Config.Equal(want[0].Config) {
			t.Errorf("restarted: %v, want the first proposal of epoch 2, %v", turn.Config, want[0].Config)
		}
		report(t, s, 0, turn, 9)
		synctest.Wait()
		if got := s.Status(); got.Value != 9 {
			t.Errorf("best value %v after the restart, want 9", got.Value)
		}
		shut(t, s)
		// And a later server reaches the same state.
		s = open(t, o)
		if got := s.Status(); got.Epoch != 2 || got.Value != 9 || !got.Best.Equal(turn.Config) {
			t.Errorf("resumed: %+v", got)
		}
		shut(t, s)
	})
}

// A searcher that no longer repeats its proposals is found out.
func TestOnlineReplayError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, store.NewMem())
		s := open(t, o)
		join(t, s, 0)
		synctest.Wait()
		shut(t, s)
		o.Searcher = func(int) (assay.Searcher, error) { return search.NewRandom(o.Space, 99), nil }
		_, err := online.Open(t.Context(), o)
		if _, ok := errors.AsType[*study.ReplayError](err); !ok {
			t.Errorf("got %v, want a ReplayError", err)
		}
	})
}

func TestOnlineFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMem()
		o := options(t, st)
		s := open(t, o)
		join(t, s, 0)
		synctest.Wait()
		turn := fetch(t, s, 0)
		if _, err := s.Report("p0", turn.ID, 0, "does not fit"); err != nil {
			t.Fatal(err)
		}
		shut(t, s)
		for _, e := range eventsOf(t, st) {
			if e.Told != nil && (e.Told.State != assay.Failed || e.Told.Reason != "does not fit") {
				t.Errorf("told %+v", e.Told)
			}
		}
		if best := s.Status().Best; !best.Equal(o.Default) {
			t.Errorf("best %v, want the default", best)
		}
	})
}

// Whatever ranks do in whatever order, and whenever the server is replaced:
// every configuration is told at most once, nothing is lost but the iterations in
// flight, and the record can be replayed.
func TestOnlineAnyHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			st := store.NewMem()
			o := options(t, st)
			o.Mode = rapid.SampledFrom([]online.Mode{online.Free, online.Steps, online.Same}).Draw(rt, "mode")
			o.Samples = rapid.IntRange(1, 3).Draw(rt, "samples")
			o.Deadline = 5 * time.Second
			s := open(t, o)
			turns := map[int]online.Turn{}
			for range rapid.IntRange(1, 120).Draw(rt, "length") {
				r := rapid.IntRange(0, 4).Draw(rt, "rank")
				who := fmt.Sprint("p", r)
				switch rapid.IntRange(0, 11).Draw(rt, "what") {
				case 0, 1:
					_ = s.Join(r, who)
				case 2, 3, 4, 5:
					if turn, err := s.Fetch(who); err == nil {
						if !o.Space.Contains(turn.Config) {
							rt.Fatalf("turn %+v is outside the space", turn)
						}
						turns[r] = turn
					}
				case 6, 7, 8:
					_, _ = s.Report(who, turns[r].ID, tileTime(append(turns[r].Config, 0, 0)), "")
				case 9:
					time.Sleep(time.Duration(rapid.IntRange(1, 4).Draw(rt, "seconds")) * time.Second)
				case 10:
					[]func() error{s.Restart, s.Pause, s.Resume, func() error { return s.Leave(who) }}[r%4]()
				case 11:
					if err := s.Close(); err != nil {
						rt.Fatal(err)
					}
					was := s.Status()
					var err error
					if s, err = online.Open(t.Context(), o); err != nil {
						rt.Fatal(err)
					}
					if now := s.Status(); now.Value != was.Value || was.Value < math.Inf(1) &&
						!now.Best.Equal(was.Best) || now.Epoch != was.Epoch {
						rt.Fatalf("resumed as %+v, was %+v", now, was)
					}
				}
				synctest.Wait()
			}
			if err := s.Close(); err != nil {
				rt.Fatal(err)
			}
			asked, told := map[int64]assay.Proposal{}, map[int64]bool{}
			for _, e := range eventsOf(t, st) {
				switch {
				case e.Asked != nil:
					if e.Asked.ID != int64(len(asked))+1 {
						rt.Fatalf("asked %d after %d", e.Asked.ID, len(asked))
					}
					asked[e.Asked.ID] = *e.Asked
				case e.Told != nil:
					if told[e.Told.ID] || !asked[e.Told.ID].Config.Equal(e.Told.Config) || e.Told.Attempts < o.Samples {
						rt.Fatalf("told %+v (before: %v)", e.Told, told[e.Told.ID])
					}
					told[e.Told.ID] = true
				}
			}
		})
	})
}
