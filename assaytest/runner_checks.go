package assaytest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// id returns an ID in a study that is the rule's own.
func (b *runnerBench) id(trial int64, repeat, attempt int) assay.RunID {
	return assay.RunID{Study: b.dir, Trial: trial, Repeat: repeat, Attempt: attempt}
}

// exits runs a job of that ID that exits with a code, and checks that it did.
func (b *runnerBench) exits(id assay.RunID, code int) error {
	job := sh(`echo $1; exit $1`, strconv.Itoa(code))
	job.ID = id
	m, err := b.run(job)
	if err != nil {
		return fmt.Errorf("ID %+v: %w", id, err)
	}
	if m.ExitCode != code || !b.NoOutput && string(m.Stdout) != fmt.Sprintln(code) {
		return fmt.Errorf("a job of ID %+v that exits with %d gives code %d, output %q", id, code, m.ExitCode, m.Stdout)
	}
	return nil
}

// checkIdentity runs jobs whose IDs differ in one part each.
func checkIdentity(b *runnerBench) error {
	other := b.id(1, 0, 1)
	other.Study += "/other"
	for i, id := range []assay.RunID{{}, b.id(1, 0, 1), b.id(1, 0, 2), b.id(1, 1, 1), b.id(2, 0, 1), other} {
		if id.Attempt > 1 && b.Once {
			continue
		}
		if err := b.exits(id, i); err != nil {
			return err
		}
	}
	return nil
}

// checkOnce asks for a further attempt at a run that has ended.
func checkOnce(b *runnerBench) error {
	if !b.Once {
		return nil
	}
	first, err := b.runner.Run(b.ctx, runOf(b.id(1, 0, 1), 3), nil)
	if err != nil {
		return err
	}
	again, err := b.runner.Run(b.ctx, runOf(b.id(1, 0, 2), 4), nil)
	if err != nil || again.ExitCode != 3 || again.Elapsed != first.Elapsed {
		return fmt.Errorf("the first attempt gives code %d after %v, the second %d after %v, error %v, and not the same",
			first.ExitCode, first.Elapsed, again.ExitCode, again.Elapsed, err)
	}
	return nil
}

// runOf returns a job of an ID that exits with a code.
func runOf(id assay.RunID, code int) assay.Job {
	job := sh("exit " + strconv.Itoa(code))
	job.ID = id
	return job
}

// checkNoAttempt runs different jobs of one ID that names no run.
func checkNoAttempt(b *runnerBench) error {
	for i, id := range []assay.RunID{b.id(1, 0, 0), b.id(1, 0, 0), {}, {}} {
		if err := b.exits(id, i+1); err != nil {
			return err
		}
	}
	return nil
}

// checkUnchanged runs a job whose lists have room for more.
func checkUnchanged(b *runnerBench) error {
	list := func(all ...string) []string { return append(make([]string, 0, len(all)+8), all...) }
	room := func(l []string) []string { return l[:cap(l)] }
	job := assay.Job{
		ID: b.id(1, 0, 1), Config: assay.Config{1, 2}, Argv: list("/bin/sh", "-c", `printf "$A"`),
		Env: list("B=2", "A=1"), Dir: b.dir,
	}
	argv, env := slices.Clone(room(job.Argv)), slices.Clone(room(job.Env))
	if _, err := b.run(job); err != nil {
		return err
	}
	if !slices.Equal(room(job.Argv), argv) || !slices.Equal(room(job.Env), env) ||
		!job.Config.Equal(assay.Config{1, 2}) {
		return fmt.Errorf("the lists of the job, and the room behind them, are %q, %q, %v", room(job.Argv),
			room(job.Env), job.Config)
	}
	return nil
}

// waiter returns a job that counts its runs in out, writes its process id to pid, and exits with code 5 once there is a
// file go. It ends with the directory of the test, so that a runner which lets go of it leaves no process.
func (b *runnerBench) waiter() assay.Job {
	job := sh(`echo run >>out; echo $$ >pid; while [ -e out ] && ! [ -e go ]; do sleep 0.01; done; exit 5`)
	job.ID, job.Dir = b.id(1, 0, 1), b.dir
	return job
}

// goOn makes a waiter end.
func (b *runnerBench) goOn() error { return os.WriteFile(b.path("go"), nil, 0o644) }

// once returns an error unless a waiter's measurement is right and it ran once.
func (b *runnerBench) once(m assay.Measurement, err error) error {
	if err != nil {
		return err
	}
	if m.ExitCode != 5 || m.Elapsed <= 0 {
		return fmt.Errorf("the run gives code %d after %v, want 5", m.ExitCode, m.Elapsed)
	}
	return sameFile(b.path("out"), "run\n")
}

// checkDetached cancels a run with ErrDetached.
func checkDetached(b *runnerBench) error {
	ctx, cancel := context.WithCancelCause(b.ctx)
	defer cancel(nil)
	go func() {
		b.await(b.path("pid"))
		cancel(assay.ErrDetached)
	}()
	began := time.Now()
	_, err := b.runner.Run(ctx, b.waiter(), nil)
	if took := time.Since(began); !errors.Is(err, assay.ErrDetached) || took > 3*b.Slow {
		return fmt.Errorf("returned %v after %v, want the cause %v", err, took, assay.ErrDetached)
	}
	if !b.Detaches {
		return b.gone(b.path("pid"))
	}
	if err := b.goOn(); err != nil {
		return err
	}
	return b.once(b.runner.Run(b.ctx, b.waiter(), nil))
}

// checkAttached runs a job that is running.
func checkAttached(b *runnerBench) error {
	if !b.Detaches {
		return nil
	}
	type result struct {
		m   assay.Measurement
		err error
	}
	results := make(chan result, 2)
	begin := func() {
		m, err := b.runner.Run(b.ctx, b.waiter(), nil)
		results <- result{m, err}
	}
	go begin()
	b.await(b.path("pid"))
	go begin()
	time.Sleep(50 * time.Millisecond) // for a second run to begin, if it does
	if err := b.goOn(); err != nil {
		return err
	}
	for range 2 {
		r := <-results
		if err := b.once(r.m, r.err); err != nil {
			return err
		}
	}
	return nil
}

// checkAttachedStop lets go of a run, attaches to it, and ends it when it is observed.
func checkAttachedStop(b *runnerBench) error {
	if !b.Detaches {
		return nil
	}
	job := b.waiter()
	job.Interval = 20 * time.Millisecond
	ctx, letGo := context.WithCancelCause(b.ctx)
	defer letGo(nil)
	go func() {
		b.await(b.path("pid"))
		letGo(assay.ErrDetached)
	}()
	if _, err := b.runner.Run(ctx, job, nil); !errors.Is(err, assay.ErrDetached) {
		return fmt.Errorf("let go of the run, and Run returned %v", err)
	}
	cause := errors.New("seen enough")
	ctx, stop := context.WithCancelCause(b.ctx)
	defer stop(nil)
	seen := time.Duration(0)
	m, err := b.runner.Run(ctx, job, func(m assay.Measurement) {
		seen = m.Elapsed
		stop(cause)
	})
	if !errors.Is(err, cause) || seen == 0 || m.Elapsed < seen {
		return fmt.Errorf("a run that was stopped when observed after %v gives %v, error %w", seen, m.Elapsed, err)
	}
	if err := b.gone(b.path("pid")); err != nil {
		return err
	}
	again, _ := b.runner.Run(b.ctx, job, nil)
	if again.Elapsed != m.Elapsed {
		return fmt.Errorf("the run was stopped after %v, and later %v", m.Elapsed, again.Elapsed)
	}
	return sameFile(b.path("out"), "run\n")
}

// checkEnded runs a job that has ended.
func checkEnded(b *runnerBench) error {
	if !b.Detaches {
		return nil
	}
	if err := b.goOn(); err != nil {
		return err
	}
	first, err := b.runner.Run(b.ctx, b.waiter(), nil)
	if err := b.once(first, err); err != nil {
		return err
	}
	again, err := b.runner.Run(b.ctx, b.waiter(), nil)
	if again.Elapsed != first.Elapsed {
		return fmt.Errorf("the measurement of the run is %v, and later %v", first.Elapsed, again.Elapsed)
	}
	return b.once(again, err)
}

func checkObserve(b *runnerBench) error {
	const interval = 50 * time.Millisecond
	var mu sync.Mutex
	var seen []time.Duration
	var over, late bool
	job := assay.Job{Argv: []string{"sleep", "0.6"}, Interval: interval}
	m, err := b.runner.Run(b.ctx, job, func(m assay.Measurement) {
		mu.Lock()
		defer mu.Unlock()
		seen, late = append(seen, m.Elapsed), late || over
	})
	mu.Lock()
	over = true
	mu.Unlock()
	if err != nil {
		return err
	}
	time.Sleep(4 * interval)
	mu.Lock()
	defer mu.Unlock()
	if late {
		return errors.New("observe was called after Run had returned")
	}
	// A loaded machine may skip some, but no more than one call fits an interval.
	if n, most := len(seen), int(m.Elapsed/interval)+1; n < 2 || n > most {
		return fmt.Errorf("observe was called %d times in %v, want 2 to %d", n, m.Elapsed, most)
	}
	last := time.Duration(0)
	for _, e := range seen {
		if e <= last || e > m.Elapsed {
			return fmt.Errorf("the elapsed times %v are not between 0 and the last, %v, and growing", seen, m.Elapsed)
		}
		last = e
	}
	return nil
}

func checkConcurrency(b *runnerBench) error {
	const n = 8
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			job := sh(`echo $1; echo $1 >&2; sleep 0.1; exit $1`, strconv.Itoa(i))
			job.Interval = 20 * time.Millisecond
			m, err := b.runner.Run(b.ctx, job, func(assay.Measurement) {})
			switch want := fmt.Sprintln(i); {
			case err != nil:
				errs[i] = err
			case m.ExitCode != i:
				errs[i] = fmt.Errorf("run %d exits with %d", i, m.ExitCode)
			case !b.NoOutput && (string(m.Stdout) != want || string(m.Stderr) != want):
				errs[i] = fmt.Errorf("run %d has the output %q, %q", i, m.Stdout, m.Stderr)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
