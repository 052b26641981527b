package service_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/service"
	"github.com/assay-run/assay/setup"
)

// Studies of several kinds run side by side to their ends, each once, and then are at rest.
func TestManyStudies(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 16)
		defer s.end()
		for i := range 10 {
			s.submit(t, fortyOf(t, i, 12, 1+i%3), fmt.Sprint("s", i))
		}
		if i := s.state(t, "s3"); i.State != service.Running || i.App != "command" {
			t.Errorf("%+v", i)
		}
		for i := range 10 {
			r, err := s.Wait(t.Context(), fmt.Sprint("s", i))
			if err != nil || len(r.Trials) != 12 || r.EndedBy != "trials" || !r.Found {
				t.Errorf("s%d: %d trials, ended by %s, %v", i, len(r.Trials), r.EndedBy, err)
			}
			if err := once(events(t, store, fmt.Sprint("s", i))); err != nil {
				t.Error(err)
			}
		}
		all, err := s.Infos(t.Context())
		if err != nil || len(all) != 10 {
			t.Fatal(all, err)
		}
		for _, i := range all {
			if i.State != service.Ended || i.Running != 0 || i.Why != "" || i.Counts[assay.Done] != 12 {
				t.Errorf("%+v", i)
			}
		}
		if err := h.twice(); err != nil || len(h.begun) != 120 {
			t.Error(len(h.begun), err)
		}
	})
}

// The same study again is the study; another one of its name is a conflict; a wrong definition
// starts and writes nothing.
func TestSubmit(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 2)
		defer s.end()
		ctx := t.Context()
		s.submit(t, fortyOf(t, 1, 3, 2), "a")
		s.submit(t, fortyOf(t, 1, 3, 2), "a")
		if _, err := s.Submit(ctx, fortyOf(t, 2, 3, 2), "a", ""); assay.ClassOf(err) != assay.ClassConflict {
			t.Errorf("another study of that name: %v", err)
		}
		bad := fortyOf(t, 1, 3, 2)
		bad.Search.Name = "nonsense"
		if _, err := s.Submit(ctx, bad, "c", ""); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("a searcher that is not: %v", err)
		}
		if all, _ := s.Infos(ctx); len(all) != 1 {
			t.Errorf("%d studies", len(all))
		}
		for _, name := range []string{"prog", "prog-2"} { // two without a name
			i, err := s.Submit(ctx, fortyOf(t, len(name), 2, 1), "", "")
			if err != nil || i.Study != name {
				t.Errorf("%s: %v, %v", name, i.Study, err)
			}
		}
		if r, err := s.Wait(ctx, "a"); err != nil || len(r.Trials) != 3 {
			t.Error(len(r.Trials), err)
		}
		s.submit(t, fortyOf(t, 1, 5, 2), "a") // with more of a budget it goes on
		if r, err := s.Wait(ctx, "a"); err != nil || len(r.Trials) != 5 {
			t.Error(len(r.Trials), err)
		}
		if _, err := s.Wait(ctx, "nobody"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("waiting for nobody: %v", err)
		}
		if _, err := s.Info(ctx, "nobody"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("asking for nobody: %v", err)
		}
	})
}

// A server that ends lets go at once, its runs go on, and the next one goes on with all of them:
// no run is begun twice, and the record is as if there had been one server.
func TestRestart(t *testing.T) {
	var want []string
	record := func(t *testing.T, store *setup.Store) (lines []string) {
		for i := range 4 {
			for _, e := range events(t, store, fmt.Sprint("s", i)) {
				switch {
				case e.Asked != nil:
					lines = append(lines, fmt.Sprint("s", i, " asked ", e.Asked.ID, e.Asked.Config))
				case e.Told != nil:
					lines = append(lines, fmt.Sprint("s", i, " told ", e.Told.ID, e.Told.State))
				}
			}
		}
		slices.Sort(lines)
		return lines
	}
	for _, every := range []time.Duration{0, 3170 * time.Millisecond, 17310 * time.Millisecond} {
		inBubble(t, func(t *testing.T) {
			store, h := memory(t), newHall(t)
			s := serve(t, store, h, 8)
			for i := range 4 {
				s.submit(t, fortyOf(t, i, 10, 2), fmt.Sprint("s", i))
			}
			servers := 1
			for every > 0 && servers < 200 {
				ctx, cancel := context.WithTimeout(t.Context(), every)
				running := 0
				for i := range 4 {
					if _, err := s.Wait(ctx, fmt.Sprint("s", i)); err != nil {
						running++
					}
				}
				cancel()
				if running == 0 {
					break
				}
				began := time.Now()
				if s.end(); time.Since(began) > 100*time.Millisecond {
					t.Errorf("letting go took %v", time.Since(began))
				}
				time.Sleep(time.Duration(servers%3) * 1130 * time.Millisecond)
				s = serve(t, store, h, 8)
				servers++
			}
			for i := range 4 {
				if r, err := s.Wait(t.Context(), fmt.Sprint("s", i)); err != nil || len(r.Trials) != 10 {
					t.Errorf("s%d: %d trials, %v", i, len(r.Trials), err)
				}
				if err := once(events(t, store, fmt.Sprint("s", i))); err != nil {
					t.Error(err)
				}
			}
			s.end()
			if err := h.twice(); err != nil || len(h.begun) != 40 {
				t.Errorf("%d runs, %v", len(h.begun), err)
			}
			got := record(t, store)
			if every == 0 {
				want = got
			} else if servers < 3 || len(got) != len(want) {
				t.Errorf("%d servers; %d events, want %d", servers, len(got), len(want))
			}
		})
	}
}

func TestPauseStopResume(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 4)
		ctx := t.Context()
		s.submit(t, fortyOf(t, 1, 8, 2), "a")
		synctest.Wait()
		s.steer(t, "a", assay.StudyCommand{Do: "pause"})
		time.Sleep(time.Hour)
		i := s.state(t, "a")
		if len(h.begun) != 2 || i.State != service.Paused || i.Counts[assay.Done] != 2 || i.Running != 0 {
			t.Errorf("in the pause: %d begun, %+v", len(h.begun), i)
		}
		s.end()
		s = serve(t, store, h, 4) // and it is still paused
		time.Sleep(time.Hour)
		if i := s.state(t, "a"); len(h.begun) != 2 || i.State != service.Paused {
			t.Errorf("after a restart: %d begun, %+v", len(h.begun), i)
		}
		s.steer(t, "a", assay.StudyCommand{Do: "run"})
		time.Sleep(time.Second)
		s.steer(t, "a", assay.StudyCommand{Do: "stop", Reason: "enough"})
		if _, err := s.Wait(ctx, "a"); err == nil {
			t.Error("a study that is stopped says nothing")
		}
		if i := s.state(t, "a"); i.State != service.Stopped || i.Running != 0 || i.Why != "" {
			t.Errorf("stopped: %+v", i)
		}
		for _, d := range []string{"pause", "stop"} {
			if err := s.Steer(ctx, "a", assay.StudyCommand{Do: d}); assay.ClassOf(err) != assay.ClassConflict {
				t.Errorf("%s of one that is stopped: %v", d, err)
			}
		}
		if err := s.Enqueue(ctx, "a", []assay.Config{{3}}, ""); assay.ClassOf(err) != assay.ClassConflict {
			t.Errorf("given to one that is stopped: %v", err)
		}
		s.end()
		s = serve(t, store, h, 4)
		time.Sleep(time.Hour)
		if i := s.state(t, "a"); i.State != service.Stopped {
			t.Errorf("after a restart: %+v", i)
		}
		s.steer(t, "a", assay.StudyCommand{Do: "run"})
		if r, err := s.Wait(ctx, "a"); err != nil || len(r.Trials) != 8 {
			t.Errorf("%d trials, %v", len(r.Trials), err)
		}
		if i := s.state(t, "a"); i.State != service.Ended || i.Lost == 0 {
			t.Errorf("in the end: %+v", i)
		}
		if err := s.Steer(ctx, "a", assay.StudyCommand{Do: "dance"}); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("dance: %v", err)
		}
		s.end()
		if err := once(events(t, store, "a")); err != nil {
			t.Error(err)
		}
	})
}

// A run that waits for a worker when the pause begins waits until it ends, also in the next server.
func TestPauseHoldsTheQueue(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 1)
		s.submit(t, fortyOf(t, 1, 8, 6), "a")
		s.submit(t, fortyOf(t, 2, 3, 1), "b")
		synctest.Wait()
		s.steer(t, "a", assay.StudyCommand{Do: "pause"})
		if _, err := s.Wait(t.Context(), "b"); err != nil { // it has the machine to itself
			t.Error(err)
		}
		time.Sleep(time.Hour)
		s.end()
		s = serve(t, store, h, 1)
		defer s.end()
		time.Sleep(time.Hour)
		if n := len(h.begun) - 3; n > 1 {
			t.Errorf("%d runs of a have begun, at most the first was before the pause", n)
		}
		s.steer(t, "a", assay.StudyCommand{Do: "run"})
		began := time.Now()
		if r, err := s.Wait(t.Context(), "a"); err != nil || len(r.Trials) != 8 {
			t.Errorf("%d trials, %v", len(r.Trials), err)
		}
		var sum time.Duration
		for _, e := range events(t, store, "a") {
			if e.Booked != nil {
				sum += e.Booked.Measurement.Elapsed
			}
		}
		if took := time.Since(began); took > sum+5*time.Second {
			t.Errorf("it took %v after the pause, of %v in all: the worker was idle", took, sum)
		}
	})
}

// The study of greater priority is first, now and after a restart.
func TestPriority(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 0)
		for _, name := range []string{"a", "b"} {
			s.submit(t, fortyOf(t, 1, 4, 4), name)
		}
		s.steer(t, "b", assay.StudyCommand{Do: "priority", Priority: 3})
		synctest.Wait()
		s.end()
		s = serve(t, store, h, 0)
		defer s.end()
		synctest.Wait()
		s.work(1)
		for _, name := range []string{"a", "b"} {
			if _, err := s.Wait(t.Context(), name); err != nil {
				t.Error(err)
			}
		}
		for i, id := range h.begun {
			if want := []string{"b", "a"}[i/4]; id.Study != want {
				t.Errorf("run %d is of %s", i, id.Study)
			}
		}
		s.steer(t, "a", assay.StudyCommand{Do: "priority", Priority: -2}) // it has ended, and will have it
		if i := s.state(t, "a"); i.Priority != -2 || i.State != service.Ended {
			t.Errorf("%+v", i)
		}
	})
}

// A user's own batch, trials that go first and trials that are taken back.
func TestQueueCommands(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 0)
		ctx := t.Context()
		s.submit(t, fortyOf(t, 1, 12, 6), "a")
		synctest.Wait()
		if err := s.Enqueue(ctx, "a", []assay.Config{{7}, {9}}, "ada"); err != nil {
			t.Fatal(err)
		}
		if err := s.Enqueue(ctx, "a", []assay.Config{{77}}, "ada"); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("given 77: %v", err)
		}
		if err := s.Order(ctx, "a", []int64{4, 5}, "ada"); err != nil {
			t.Fatal(err)
		}
		if err := s.Order(ctx, "a", []int64{6}, "ada"); err != nil {
			t.Fatal(err)
		}
		if err := s.Withdraw(ctx, "a", []int64{1, 5}, "ada", "known bad"); err != nil {
			t.Fatal(err)
		}
		if err := s.Withdraw(ctx, "a", []int64{1}, "ada", ""); assay.ClassOf(err) != assay.ClassConflict {
			t.Errorf("taken back twice: %v", err)
		}
		s.end()
		s = serve(t, store, h, 0)
		defer s.end()
		synctest.Wait()
		s.work(1)
		r, err := s.Wait(ctx, "a")
		if err != nil || len(r.Trials) != 12 {
			t.Errorf("%d trials, %v", len(r.Trials), err)
		}
		var order []int64
		given := map[float64]bool{}
		for _, id := range h.begun {
			order = append(order, id.Trial)
		}
		for _, tr := range r.Trials {
			given[tr.Config[0]] = true
		}
		if !slices.Equal(order[:2], []int64{6, 4}) || slices.Contains(order, 1) || slices.Contains(order, 5) {
			t.Errorf("run in the order %v", order)
		}
		if !given[7] || !given[9] {
			t.Errorf("what was given was not run: %v", given)
		}
		if err := s.Order(ctx, "a", []int64{3}, ""); assay.ClassOf(err) != assay.ClassConflict {
			t.Errorf("ordering in a study that has ended: %v", err)
		}
	})
}

// configsOf returns the configurations that were proposed in a study.
func configsOf(t testing.TB, store *setup.Store, study string) (all []assay.Config) {
	t.Helper()
	for _, e := range events(t, store, study) {
		if e.Asked != nil {
			all = append(all, e.Asked.Config)
		}
	}
	return all
}

// A study that has spent its budget goes on with a larger one, and a search that has ended goes on with
// configurations from people.
func TestEndedStudiesGoOn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h := memory(t), newHall(t)
		s := serve(t, store, h, 4)
		ctx := t.Context()
		s.submit(t, fortyOf(t, 1, 3, 2), "a")
		if _, err := s.Wait(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		known := configsOf(t, store, "a")[0]
		var news []assay.Config // that the search has not proposed
		for x := 1.0; len(news) < 2; x++ {
			if c := (assay.Config{x}); !slices.ContainsFunc(configsOf(t, store, "a"), c.Equal) {
				news = append(news, c)
			}
		}
		// A configuration from a person runs though the budget is used up, once, and no other does.
		for range 2 {
			if err := s.Enqueue(ctx, "a", []assay.Config{known, news[0], news[1]}, "ada"); err != nil {
				t.Errorf("given to one without a budget: %v", err)
			}
			if r, err := s.Wait(ctx, "a"); err != nil || len(r.Trials) != 5 || r.EndedBy != "trials" {
				t.Errorf("%d trials, ended by %s, %v", len(r.Trials), r.EndedBy, err)
			}
		}
		if all := configsOf(t, store, "a"); !slices.ContainsFunc(all, news[0].Equal) ||
			!slices.ContainsFunc(all, news[1].Equal) {
			t.Errorf("%v of %v was not run", news, all)
		}
		s.steer(t, "a", assay.StudyCommand{Do: "budget", Trials: 8})
		s.end()
		s = serve(t, store, h, 4)
		defer s.end()
		if r, err := s.Wait(ctx, "a"); err != nil || len(r.Trials) != 8 {
			t.Errorf("%d trials, %v", len(r.Trials), err)
		}
		s.submit(t, define(t, "", "command: [prog, '{n}']\nparameters: {n: 20..40}\nprior: {use: none}\n"+
			"search: {name: random}\nbudget: 30s\n"), "spent")
		if r, err := s.Wait(ctx, "spent"); err != nil || r.EndedBy != "budget" {
			t.Errorf("ended by %s, %v", r.EndedBy, err)
		}
		if err := s.Enqueue(ctx, "spent", []assay.Config{{21}}, ""); assay.ClassOf(err) != assay.ClassConflict ||
			!strings.Contains(err.Error(), "has spent its time") {
			t.Errorf("given to one without time: %v", err)
		}
		s.submit(t, define(t, "", "command: [prog, '{n}']\nparameters: {n: 1..3}\nprior: {use: none}\n"+
			"search: {name: grid}\nbudget: {trials: 9}\n"), "b")
		if r, err := s.Wait(ctx, "b"); err != nil || r.EndedBy != "search" {
			t.Errorf("ended by %s, %v", r.EndedBy, err)
		}
		if err := s.Enqueue(ctx, "b", []assay.Config{{2}}, "ada"); err != nil {
			t.Error(err)
		}
		if r, err := s.Wait(ctx, "b"); err != nil || len(r.Trials) != 3 {
			t.Errorf("%d trials, %v: what is known is not run again", len(r.Trials), err)
		}
	})
}

// Two servers both take a study for theirs, since the store has no locks. One writes the record, without a
// gap and with nothing twice, and the other returns a conflict.
func TestTwoOwners(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h, g := memory(t), newHall(t), newHall(t)
		store.Store = struct{ assay.Store }{store.Store}
		one := serve(t, store, h, 4)
		defer one.end()
		one.submit(t, fortyOf(t, 1, 10, 2), "a")
		time.Sleep(10 * time.Second)
		two := serve(t, store, g, 4)
		defer two.end()
		_, err1 := one.Wait(t.Context(), "a")
		_, err2 := two.Wait(t.Context(), "a")
		if errors.Is(err1, assay.ErrConflict) == errors.Is(err2, assay.ErrConflict) {
			t.Errorf("%v; %v: one of them has lost its study", err1, err2)
		}
		if i := two.state(t, "a"); i.Counts[assay.Done] != 10 {
			t.Errorf("%+v", i)
		}
		all := events(t, store, "a")
		if err := once(all); err != nil {
			t.Error(err)
		}
		counted := map[assay.RunID]bool{}
		for _, e := range all {
			if e.Booked != nil && e.Booked.Counts() {
				id := e.Booked.RunID
				if id.Attempt = 0; counted[id] {
					t.Errorf("%+v counts twice", id)
				}
				counted[id] = true
			}
		}
	})
}

// A server that restarts keeps its studies, at whichever moment the other server on its store looks for released ones.
func TestTwoHostsRestart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for _, after := range []time.Duration{7, 8, 14, 15, 16} {
			store, h, g := memory(t), newHall(t), newHall(t)
			one := serve(t, store, h, 4)
			one.submit(t, fortyOf(t, 1, 1000, 2), "a")
			two := serve(t, store, g, 4)
			time.Sleep(after*time.Second - 500*time.Millisecond)
			one.end()
			time.Sleep(time.Second)
			one = serve(t, store, h, 4)
			time.Sleep(time.Minute)
			if i := one.state(t, "a"); i.State != service.Running {
				t.Errorf("after %d s the study is %s at the server that restarted", after, i.State)
			}
			one.end()
			two.end()
		}
	})
}

// Two servers on one store: each study has one owner. The other server reports so, and takes the study over
// when the owner lets go of it.
func TestTwoHosts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, h, g := memory(t), newHall(t), newHall(t)
		one := serve(t, store, h, 4)
		one.submit(t, fortyOf(t, 1, 10, 2), "a")
		two := serve(t, store, g, 4)
		defer two.end()
		ctx := t.Context()
		if i := two.state(t, "a"); i.State != service.Idle {
			t.Errorf("%+v", i)
		}
		if len(*two.warned) != 1 || !strings.Contains((*two.warned)[0], "another process") {
			t.Errorf("warned of %q", *two.warned)
		}
		_, err := two.Submit(ctx, fortyOf(t, 1, 10, 2), "a", "")
		for what, err := range map[string]error{
			"submit": err,
			"pause":  two.Steer(ctx, "a", assay.StudyCommand{Do: "pause"}),
			"give":   two.Enqueue(ctx, "a", []assay.Config{{1}}, ""),
			"first":  two.Order(ctx, "a", []int64{1}, ""),
		} {
			if assay.ClassOf(err) != assay.ClassConflict || !strings.Contains(err.Error(), "another process") {
				t.Errorf("%s: %v", what, err)
			}
		}
		time.Sleep(20 * time.Second)
		one.end()
		var wg sync.WaitGroup
		wg.Go(func() { time.Sleep(20 * time.Second) }) // it is seen after a while
		wg.Wait()
		if r, err := two.Wait(ctx, "a"); err != nil || len(r.Trials) != 10 {
			t.Errorf("%d trials, %v", len(r.Trials), err)
		}
		if err := once(events(t, store, "a")); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
	})
}
