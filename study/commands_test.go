package study_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// A farm makes runs that outlive their callers: each takes as many seconds as its configuration
// has. It counts the runs that have begun, and lose names the attempts that never end well.
type farm struct {
	mu    sync.Mutex
	runs  map[assay.RunID]*farmed
	begun []assay.RunID
	order []int64 // trials, as they began
	lose  func(assay.RunID) bool
	rooms int
}

type farmed struct {
	done chan struct{}
	stop chan struct{}
	m    assay.Measurement
	err  error
}

func newFarm(rooms int) *farm { return &farm{runs: map[assay.RunID]*farmed{}, rooms: rooms} }

func (f *farm) Capacity() int { return f.rooms }

func (f *farm) Run(ctx context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	f.mu.Lock()
	r := f.runs[job.ID]
	if r == nil {
		r = &farmed{done: make(chan struct{}), stop: make(chan struct{})}
		f.runs[job.ID] = r
		f.begun = append(f.begun, job.ID)
		f.order = append(f.order, job.ID.Trial)
		lost := f.lose != nil && f.lose(job.ID)
		x := time.Duration(job.Config[0] * float64(time.Second))
		go func() {
			defer close(r.done)
			select {
			case <-time.After(x):
			case <-r.stop:
				return
			}
			if lost {
				r.err = assay.ErrLost
				return
			}
			r.m = assay.Measurement{Elapsed: x, Metrics: map[string]float64{"score": x.Seconds()}}
		}()
	}
	f.mu.Unlock()
	select {
	case <-r.done:
		return r.m, r.err
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), assay.ErrDetached) {
		return assay.Measurement{}, assay.ErrDetached
	}
	select {
	case <-r.done: // it was quicker
		return r.m, r.err
	default:
		close(r.stop)
		<-r.done
		return r.m, context.Cause(ctx)
	}
}

// farmStudy returns a study on a farm with a searcher that takes given configurations.
func farmStudy(t testing.TB, st assay.Store, f *farm, trials int) *study.Study {
	s := newStudy(t, st, trials)
	s.Runner, s.Control = f, study.NewControl()
	s.Searcher = search.Cache(search.Given(search.NewRandom(s.Space, 1)))
	return s
}

// A session is one that goes on in a bubble.
type session struct {
	*study.Study
	cancel context.CancelCauseFunc
	done   chan struct{}
	result study.Result
	err    error
}

func begin(t *testing.T, s *study.Study) *session {
	ctx, cancel := context.WithCancelCause(t.Context())
	g := &session{Study: s, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(g.done)
		g.result, g.err = s.Run(ctx)
	}()
	return g
}

func (g *session) detach(t *testing.T) {
	t.Helper()
	began := time.Now()
	g.cancel(assay.ErrDetached)
	<-g.done
	if !errors.Is(g.err, assay.ErrDetached) || g.result.EndedBy != "detached" || time.Since(began) > 0 {
		t.Fatalf("detached: %v, ended by %q after %v", g.err, g.result.EndedBy, time.Since(began))
	}
}

func (g *session) wait(t *testing.T) study.Result {
	t.Helper()
	if <-g.done; g.err != nil {
		t.Fatal(g.err)
	}
	return g.result
}

// story returns the record in words: commands too, without times and who asked.
func story(t testing.TB, st assay.Store) (lines []string) {
	t.Helper()
	for e, err := range st.Events(context.Background(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Asked != nil:
			lines = append(lines, fmt.Sprint("asked ", e.Asked.ID, e.Asked.Config))
		case e.Told != nil:
			lines = append(lines, fmt.Sprint("told ", e.Told.ID, " ", e.Told.State, " ", e.Told.Value))
		case e.Withdrawn != nil:
			lines = append(lines, fmt.Sprint("withdrawn ", e.Withdrawn.Trial))
		case e.Given != nil:
			line := fmt.Sprint("given ", e.Given.Configs)
			if len(e.Given.Restores) > 0 {
				line += fmt.Sprint(" for ", e.Given.Restores)
			}
			lines = append(lines, line)
		case e.Ordered != nil:
			lines = append(lines, fmt.Sprint("ordered ", e.Ordered.Trial, " ", e.Ordered.Priority))
		case e.Steered != nil:
			lines = append(lines, "steered "+e.Steered.Do)
		case e.Checked != nil:
			lines = append(lines, fmt.Sprint("checked ", e.Checked.ID))
		case e.Ended != nil:
			lines = append(lines, "ended "+e.Ended.By)
		}
	}
	return lines
}

// A session that lets go of its runs ends at once and records nothing; the next one attaches to
// them, whenever that is, and no run is made twice. The record equals the one of a session that stayed.
func TestDetach(t *testing.T) {
	var want []string
	inBubble(t, func(t *testing.T) {
		mem := store.NewMem()
		s := farmStudy(t, mem, newFarm(3), 12)
		s.Check = 1
		begin(t, s).wait(t)
		want = story(t, mem)
	})
	sorted := func(lines []string) []string { return slices.Sorted(slices.Values(lines)) }
	asked := func(lines []string) (some []string) {
		for _, l := range lines {
			if !strings.HasPrefix(l, "ended") {
				some = append(some, l)
			}
		}
		return some
	}
	for _, every := range []time.Duration{1370 * time.Millisecond, 7310 * time.Millisecond, 31130 * time.Millisecond} {
		for _, away := range []time.Duration{0, 5290 * time.Millisecond} {
			inBubble(t, func(t *testing.T) {
				mem, f := store.NewMem(), newFarm(3)
				sessions := 0
				for over := false; !over; sessions++ {
					s := farmStudy(t, mem, f, 12)
					s.Check = 1
					g := begin(t, s)
					select {
					case <-g.done:
						g.wait(t)
						over = true
					case <-time.After(every):
						before := len(story(t, mem))
						g.detach(t)
						if after := story(t, mem); len(after) != before {
							t.Fatalf("detaching has recorded %v", after[before:])
						}
						time.Sleep(away)
					}
				}
				seen := map[assay.RunID]bool{}
				for _, id := range f.begun {
					if id.Attempt != 1 || seen[id] {
						t.Errorf("%v was begun", id)
					}
					seen[id] = true
				}
				// Runs that end between sessions, or at the same moment, are told in another order.
				got := asked(story(t, mem))
				if !slices.Equal(sorted(got), sorted(asked(want))) {
					t.Errorf("every %v: after %d sessions\n%s\nwant\n%s", every, sessions,
						strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if sessions < 2 || len(f.begun) != 14 {
					t.Errorf("every %v: %d sessions, %d runs", every, sessions, len(f.begun))
				}
			})
		}
	}
}

// After a restart attempts begin with the first again, and the Runner answers for those that were
// lost: the next is made, and no more than there are.
func TestDetachAndLostAttempts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		mem, f := store.NewMem(), newFarm(1)
		f.lose = func(id assay.RunID) bool { return id.Trial == 1 && id.Attempt < 3 || id.Trial == 2 }
		for range 50 {
			g := begin(t, farmStudy(t, mem, f, 3))
			select {
			case <-g.done:
				if r := g.wait(t); r.Trials[0].Attempts != 3 || r.Trials[0].State != assay.Done ||
					r.Trials[1].State != assay.Failed {
					t.Errorf("%+v", r.Trials)
				}
				if len(f.begun) != 3+3+1 {
					t.Errorf("begun %v", f.begun)
				}
				return
			case <-time.After(9500 * time.Millisecond):
				g.detach(t)
			}
		}
		t.Error("it does not end")
	})
}

func TestWithdraw(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		mem, f := store.NewMem(), newFarm(2)
		s := farmStudy(t, mem, f, 6)
		g := begin(t, s)
		synctest.Wait()
		ctx := t.Context()
		if err := s.Control.Withdraw(ctx, "ada", "known bad", 1, 2, 1); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(story(t, mem), "; "); strings.Count(got, "withdrawn") != 2 {
			t.Errorf("acknowledged, and on record is %s", got)
		}
		for id, class := range map[int64]assay.Class{1: assay.ClassConflict, 99: assay.ClassNotFound} {
			if err := s.Control.Withdraw(ctx, "ada", "", id); assay.ClassOf(err) != class {
				t.Errorf("trial %d again: %v", id, err)
			}
		}
		r := g.wait(t)
		if len(r.Trials) != 6 || slices.Contains(ids(r.Trials), 1) || slices.Contains(ids(r.Trials), 2) {
			t.Errorf("trials %v: 6 count, and the two that were taken back do not", ids(r.Trials))
		}
		if err := s.Control.Withdraw(ctx, "ada", "", 3); !errors.Is(err, study.ErrOver) {
			t.Errorf("after the end: %v", err)
		}
		for e := range mem.Events(ctx, "s", 0) {
			if w := e.Withdrawn; w != nil && (w.By != "ada" || w.Reason != "known bad") {
				t.Errorf("on record: %+v", w)
			}
		}
	})
}

func ids(trials []assay.Trial) (all []int64) {
	for _, t := range trials {
		all = append(all, t.ID)
	}
	return all
}

// Configurations from people come before the proposals of the search, and run after its end too.
func TestGive(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		mem := store.NewMem()
		s := farmStudy(t, mem, newFarm(1), 5)
		g := begin(t, s)
		synctest.Wait()
		ctx := t.Context()
		for _, bad := range []assay.Config{{1e9}, {1, 2}} {
			err := s.Control.Enqueue(ctx, "ada", assay.Config{3}, bad)
			if assay.ClassOf(err) != assay.ClassUsage || !strings.Contains(err.Error(), "configuration 2 of 2 ") {
				t.Errorf("given %v: %v", bad, err)
			}
		}
		if err := s.Control.Enqueue(ctx, "ada"); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("given nothing: %v", err)
		}
		if err := s.Control.Enqueue(ctx, "ada", assay.Config{7}, assay.Config{4}); err != nil {
			t.Fatal(err)
		}
		r := g.wait(t)
		var got []float64
		for _, tr := range r.Trials[:3] {
			got = append(got, tr.Config[0])
		}
		if got[1] != 7 && got[0] != 7 || !slices.Contains(got, 4) {
			t.Errorf("the first trials are %v: 7 and 4 were given during the first", got)
		}
	})
}

// All that people give is run, however small the budget of trials is, across sessions; the search keeps
// to the budget.
func TestGiveBeyondTheBudget(t *testing.T) {
	for _, after := range []int{-1, 2, 4, 6} { // so many trials the session is let go of
		inBubble(t, func(t *testing.T) {
			mem, f := store.NewMem(), newFarm(2)
			s := farmStudy(t, mem, f, 3)
			g := begin(t, s)
			synctest.Wait()
			given := []assay.Config{{3}, {5}, {7}, {9}, {11}, {13}}
			if err := s.Control.Enqueue(t.Context(), "ada", given...); err != nil {
				t.Fatal(err)
			}
			if after >= 0 {
				for ends := 0; ends < after; {
					time.Sleep(time.Second)
					synctest.Wait()
					ends = len(told(t, mem))
				}
				g.detach(t)
				s = farmStudy(t, mem, f, 3)
				g = begin(t, s)
			}
			r := g.wait(t)
			for _, c := range given {
				if !slices.ContainsFunc(r.Trials, func(tr assay.Trial) bool { return tr.Config.Equal(c) }) {
					t.Errorf("let go of after %d: %v was given and is not among %d trials", after, c, len(r.Trials))
				}
			}
			// The search had begun two when they were given.
			if len(r.Trials) > len(given)+2 || r.EndedBy != "trials" {
				t.Errorf("let go of after %d: %d trials, ended by %s", after, len(r.Trials), r.EndedBy)
			}
		})
	}
}

// told returns the trials of the study that have ended.
func told(t testing.TB, st assay.Store) (all []assay.Trial) {
	t.Helper()
	for e, err := range st.Events(t.Context(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Told != nil {
			all = append(all, *e.Told)
		}
	}
	return all
}

// The waiting trial of greater priority is launched first, also in a later session.
func TestOrder(t *testing.T) {
	for _, again := range []bool{false, true} {
		inBubble(t, func(t *testing.T) {
			mem, f := store.NewMem(), newFarm(5)
			s := farmStudy(t, mem, f, 5)
			g := begin(t, s)
			synctest.Wait()
			g.detach(t)
			f.runs, f.order, f.begun, f.rooms = map[assay.RunID]*farmed{}, nil, nil, 1 // they are gone
			s = farmStudy(t, mem, f, 5)
			g = begin(t, s)
			synctest.Wait()
			if err := s.Control.Order(t.Context(), 5, "ada", 4); err != nil {
				t.Fatal(err)
			}
			if err := s.Control.Order(t.Context(), 7, "ada", 5); err != nil {
				t.Fatal(err)
			}
			if err := s.Control.Order(t.Context(), 7, "ada", 9); assay.ClassOf(err) != assay.ClassNotFound {
				t.Errorf("a trial that is not there: %v", err)
			}
			want := []int64{1, 5, 4, 2, 3}
			if again {
				g.detach(t)
				f.runs, f.order = map[assay.RunID]*farmed{}, nil
				s = farmStudy(t, mem, f, 5)
				g = begin(t, s)
				want = []int64{5, 4, 1, 2, 3}
			}
			g.wait(t)
			if !slices.Equal(f.order, want) {
				t.Errorf("run in the order %v, want %v", f.order, want)
			}
		})
	}
}

// In a pause no run begins, the running ones end, and no time is spent: in a later session
// too, which attaches to the running ones.
func TestPause(t *testing.T) {
	for _, again := range []bool{false, true} {
		inBubble(t, func(t *testing.T) {
			mem, f := store.NewMem(), newFarm(2)
			ctx := t.Context()
			if err := mem.Create(ctx, "s", nil); err != nil {
				t.Fatal(err)
			}
			s := farmStudy(t, mem, f, 0)
			s.Budget.Time = 100 * time.Second
			j := journalOf(t, s)
			g := begin(t, s)
			synctest.Wait()
			for i := range int64(2) { // as a fleet does
				start := &assay.Start{RunID: f.begun[i]}
				if err := j.Append(ctx, assay.Event{Started: start}); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := s.Control.Pause(ctx, "ada", "lunch"); err != nil {
					t.Fatal(err)
				}
			}
			if again {
				g.detach(t)
				s = farmStudy(t, mem, f, 0)
				s.Budget.Time = 100 * time.Second
				g = begin(t, s)
			}
			time.Sleep(time.Hour)
			lines := strings.Join(story(t, mem), "; ")
			if len(f.begun) != 2 || strings.Count(lines, "told") != 2 || strings.Count(lines, "steered") != 1 {
				t.Errorf("%d begun; %s", len(f.begun), lines)
			}
			if err := s.Control.Resume(ctx, "ada", ""); err != nil {
				t.Fatal(err)
			}
			r := g.wait(t)
			if r.EndedBy != "budget" || len(r.Trials) < 5 || r.Spent > 150*time.Second {
				t.Errorf("ended by %s with %d trials, %v spent", r.EndedBy, len(r.Trials), r.Spent)
			}
		})
	}
}

// A budget can be raised while the last runs of the old one go on, and while the best is compared;
// the next session knows of it.
func TestSetBudget(t *testing.T) {
	for _, late := range []bool{false, true} {
		inBubble(t, func(t *testing.T) {
			mem, f := store.NewMem(), newFarm(1)
			s := farmStudy(t, mem, f, 3)
			s.Check = 2
			g := begin(t, s)
			ctx := t.Context()
			for _, bad := range []int{-1, 0} {
				if err := s.Control.SetBudget(ctx, bad, 0, "ada", ""); assay.ClassOf(err) != assay.ClassUsage {
					t.Errorf("%d trials: %v", bad, err)
				}
			}
			for late && !strings.Contains(strings.Join(story(t, mem), ";"), "checked") {
				time.Sleep(100 * time.Millisecond)
			}
			if err := s.Control.SetBudget(ctx, 5, 0, "ada", ""); err != nil {
				t.Fatal(err)
			}
			if r := g.wait(t); len(r.Trials) != 5 || r.EndedBy != "trials" {
				t.Errorf("late %v: %d trials, ended by %s", late, len(r.Trials), r.EndedBy)
			}
			s = farmStudy(t, mem, f, 3)
			if r := begin(t, s).wait(t); len(r.Trials) != 5 {
				t.Errorf("the next session: %d trials", len(r.Trials))
			}
			s = farmStudy(t, mem, f, 7)
			s.Control = nil // as a session from a terminal
			if r := begin(t, s).wait(t); len(r.Trials) != 7 {
				t.Errorf("a session without a control: %d trials", len(r.Trials))
			}
		})
	}
}

// Commands in any order at any time, sessions that end at any time: each acknowledged command is on
// record, the next session proposes the same as the last one would have, and each trial ends once.
func TestCommandsAtRandom(t *testing.T) {
	for seed := range uint64(40) {
		inBubble(t, func(t *testing.T) { randomCommands(t, seed) })
	}
}

func randomCommands(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	mem, f := store.NewMem(), newFarm(1+r.IntN(4))
	f.lose = func(id assay.RunID) bool { return id.Trial%5 == 0 && id.Attempt == 1 }
	var acks []string // commands that have to be on record
	for sessions := 0; ; sessions++ {
		s := farmStudy(t, mem, f, 30)
		g := begin(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var mu sync.Mutex
		for range 3 {
			from := rand.New(rand.NewPCG(r.Uint64(), 0))
			wg.Go(func() {
				for ctx.Err() == nil {
					time.Sleep(time.Duration(from.IntN(9000)) * time.Millisecond)
					if ack := randomCommand(ctx, s.Control, from); ack != "" {
						mu.Lock()
						acks = append(acks, ack)
						mu.Unlock()
					}
				}
			})
		}
		over := false
		select {
		case <-g.done:
			over = true
		case <-time.After(time.Duration(1+r.IntN(60000)) * time.Millisecond):
			g.cancel(assay.ErrDetached)
			<-g.done
		}
		cancel()
		wg.Wait()
		if over && g.err != nil {
			t.Fatalf("seed %d: %v", seed, g.err)
		}
		if over || sessions > 200 {
			break
		}
	}
	lines := story(t, mem)
	count := map[string]int{}
	for _, l := range lines {
		count[l]++
		if f := strings.Fields(l); f[0] == "told" || f[0] == "withdrawn" {
			count["end "+f[1]]++
		}
	}
	need := map[string]int{}
	for _, a := range acks {
		need[a]++
	}
	for a, n := range need {
		if count[a] < n {
			t.Errorf("seed %d: acknowledged %d times, %d times on record: %s", seed, n, count[a], a)
		}
	}
	for l, n := range count {
		if strings.HasPrefix(l, "end ") && n != 1 {
			t.Errorf("seed %d: trial %s ended %d times", seed, l, n)
		}
	}
	if t.Failed() {
		t.Log(strings.Join(lines, "\n"))
	}
	// The record replays: a searcher that departs from it would be an error of this session.
	s := farmStudy(t, mem, f, 1)
	s.Control = nil
	if _, err := s.Run(t.Context()); err != nil {
		t.Errorf("seed %d: the record does not replay: %v", seed, err)
	}
	if len(need) < 5 && !t.Failed() {
		t.Logf("seed %d: only %v", seed, slices.Sorted(maps.Keys(need)))
	}
}

// A process that dies behind any event leaves a record with which the next session goes on: it
// repeats the recorded proposals, ends the open trials, and has the budget that was steered.
func TestKilledBehindEachEvent(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		mem, f := store.NewMem(), newFarm(3)
		s := farmStudy(t, mem, f, 14)
		s.Check = 1
		j := journalOf(t, s)
		g := begin(t, s)
		ctx := t.Context()
		synctest.Wait()
		for _, id := range f.begun { // as a fleet does
			if err := j.Append(ctx, assay.Event{Started: &assay.Start{RunID: id}}); err != nil {
				t.Fatal(err)
			}
		}
		for i, do := range []func() error{
			func() error { return s.Control.Enqueue(ctx, "x", assay.Config{3}, assay.Config{5}) },
			func() error { return s.Control.Withdraw(ctx, "x", "", 2) },
			func() error { return s.Control.Pause(ctx, "x", "") },
			func() error { return s.Control.SetBudget(ctx, 16, 0, "x", "") },
			func() error { return s.Control.Resume(ctx, "x", "") },
			func() error { return s.Control.Enqueue(ctx, "x", assay.Config{5}, assay.Config{9}) },
			func() error { return s.Control.Order(ctx, 3, "x", last(t, mem)) },
			func() error { return s.Control.Withdraw(ctx, "x", "", last(t, mem)) },
			func() error { return s.Control.Restore(ctx, "x", s.Control.Discarded()[0].ID) },
		} {
			if err := do(); err != nil {
				t.Fatalf("command %d: %v", i, err)
			}
			time.Sleep(7 * time.Second)
		}
		g.wait(t)
		var all []assay.Event
		for e, err := range mem.Events(ctx, "s", 0) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, e)
		}
		for k := range all {
			if all[k].Batch < 0 {
				continue // the answer to one Ask is on record as a whole
			}
			again := store.NewMem()
			if err := again.Create(ctx, "s", nil); err != nil {
				t.Fatal(err)
			}
			if _, err := again.Append(ctx, "s", 0, all[:k]...); err != nil {
				t.Fatal(err)
			}
			want, paused := 14, false
			for _, e := range all[:k] {
				if e.Steered != nil {
					want = max(want, e.Steered.Trials)
					paused = e.Steered.Do == "pause" || paused && e.Steered.Do != "run"
				}
			}
			s := farmStudy(t, again, newFarm(3), 14)
			g := begin(t, s)
			if paused {
				time.Sleep(time.Hour)
				if err := s.Control.Resume(ctx, "x", ""); err != nil {
					t.Fatal(err)
				}
			}
			if r := g.wait(t); len(r.Trials) != want || r.EndedBy != "trials" {
				t.Errorf("killed behind event %d of %d: %d trials, want %d, ended by %s", k, len(all), len(r.Trials), want,
					r.EndedBy)
			}
			ends := map[string]int{}
			for _, l := range story(t, again) {
				if f := strings.Fields(l); f[0] == "told" || f[0] == "withdrawn" {
					if ends[f[1]]++; ends[f[1]] > 1 {
						t.Errorf("killed behind event %d: trial %s ended twice", k, f[1])
					}
				}
			}
		}
		if len(all) < 44 {
			t.Errorf("only %d events", len(all))
		}
	})
}

// randomCommand gives one, and returns the text that has to be on record if it was acknowledged.
func randomCommand(ctx context.Context, h *study.Control, r *rand.Rand) string {
	switch id := 1 + r.Int64N(40); r.IntN(10) {
	case 0, 1:
		if h.Withdraw(ctx, "x", "", id) == nil {
			return fmt.Sprint("withdrawn ", id)
		}
	case 2, 3:
		cs := []assay.Config{{float64(1 + r.IntN(9))}, {float64(1 + r.IntN(9))}}
		if h.Enqueue(ctx, "x", cs...) == nil {
			return fmt.Sprint("given ", cs)
		}
	case 4:
		p := r.IntN(9)
		if h.Order(ctx, p, "x", id) == nil {
			return fmt.Sprint("ordered ", id, " ", p)
		}
	case 5:
		_ = h.Pause(ctx, "x", "")
	case 6, 7:
		if all := h.Discarded(); len(all) > 0 {
			if d := all[r.IntN(len(all))]; h.Restore(ctx, "x", d.ID) == nil {
				return fmt.Sprint("given ", []assay.Config{d.Config}, " for ", []int64{d.ID})
			}
		} else {
			_ = h.Restore(ctx, "x", id)
		}
	default:
		_ = h.Resume(ctx, "x", "")
	}
	return ""
}

// A few is a searcher that proposes so many configurations and is done.
type few struct {
	assay.Searcher
	left int
}

func (f *few) Ask(n int) ([]assay.Proposal, error) {
	if f.left == 0 {
		return nil, assay.ErrDone
	}
	ps, err := f.Searcher.Ask(min(n, f.left))
	f.left -= len(ps)
	return ps, err
}

// A configuration that is given while the best is compared with the first runs if the search had ended, and not if
// the budget was spent.
func TestGiveAfterTheSearch(t *testing.T) {
	for _, tt := range []struct {
		by    string
		left  int
		given bool
		want  int // trials in the end
	}{
		{"search", 2, false, 2},
		{"search", 2, true, 3},
		{"trials", 9, false, 2},
		{"trials", 9, true, 3}, // the search keeps to the budget, a person need not
	} {
		inBubble(t, func(t *testing.T) {
			s := farmStudy(t, store.NewMem(), newFarm(1), 0)
			s.Check = 50
			if tt.by == "trials" {
				s.Budget.Trials = 2
			}
			s.Searcher = search.Given(&few{search.NewRandom(s.Space, 1), tt.left})
			var checks atomic.Int64
			s.Notify = func(p study.Progress) { checks.Store(int64(p.Checks)) }
			g := begin(t, s)
			time.Sleep(300 * time.Second)
			synctest.Wait()
			if n := checks.Load(); n == 0 || n == 100 {
				t.Fatalf("given after %d checks", n)
			}
			at := assay.Config{33}
			if tt.given {
				if err := s.Control.Enqueue(t.Context(), "ada", at); err != nil {
					t.Fatal(err)
				}
			}
			r := g.wait(t)
			ran := slices.ContainsFunc(r.Trials, func(tr assay.Trial) bool { return tr.Config.Equal(at) })
			if len(r.Trials) != tt.want || ran != (tt.want > 2) || r.EndedBy != tt.by {
				t.Errorf("%s, given %v: %d trials, want %d; ended by %s", tt.by, tt.given, len(r.Trials), tt.want, r.EndedBy)
			}
		})
	}
}

// Trials that wait are taken back at once, several in one step, and the others wait on in their order.
func TestWithdrawWhatWaits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		mem, f := store.NewMem(), newFarm(5)
		g := begin(t, farmStudy(t, mem, f, 5))
		synctest.Wait()
		g.detach(t)
		f.runs, f.order, f.rooms = map[assay.RunID]*farmed{}, nil, 1 // they are gone
		s := farmStudy(t, mem, f, 5)
		g = begin(t, s)
		synctest.Wait()
		began := time.Now()
		if err := s.Control.Withdraw(t.Context(), "ada", "", 2, 4); err != nil || time.Since(began) > 0 {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		if got := strings.Count(strings.Join(story(t, mem), "; "), "withdrawn"); got != 2 {
			t.Errorf("acknowledged, and %d are on record", got)
		}
		r := g.wait(t)
		if !slices.Equal(f.order[:3], []int64{1, 3, 5}) || slices.Contains(f.order, 2) || slices.Contains(f.order, 4) {
			t.Errorf("run in the order %v", f.order)
		}
		if len(r.Trials) != 5 {
			t.Errorf("%d trials count, want 5", len(r.Trials))
		}
	})
}
