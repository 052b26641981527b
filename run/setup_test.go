package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/builds"
)

// A site is a Runner whose jobs take some time, with the record of its jobs: "begin NAME" and "end NAME".
// A setup is a job whose first argument is make. It writes where it built.
type site struct {
	takes time.Duration // of each run
	mu    sync.Mutex
	log   []string
	jobs  []assay.Job
	fail  map[string]assay.Measurement // by the second argument
	err   map[string]error
}

func (s *site) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, text)
}

func (s *site) Run(ctx context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	name := strings.Join(job.Argv[:2], " ")
	s.mu.Lock()
	s.jobs = append(s.jobs, job)
	s.mu.Unlock()
	s.say("begin " + name)
	defer s.say("end " + name)
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return assay.Measurement{Elapsed: 1}, context.Cause(ctx)
	}
	return s.fail[job.Argv[1]], s.err[job.Argv[1]]
}

// built returns a job whose setup is make NAME.
func built(name, run string) assay.Job {
	return assay.Job{
		ID:   assay.RunID{Study: "s", Trial: 7, Repeat: 2, Attempt: 1},
		Argv: []string{"run", run, assay.SetupDir + "/prog"}, Env: []string{"SETUP=" + assay.SetupDir},
		Prepare: []string{"cp", assay.SetupDir + "/x"}, Resources: map[string]float64{"cpus": 1},
		Limit: time.Minute, Warmup: 1, Interval: time.Second,
		Setup: &assay.Setup{Argv: []string{"make", name, assay.SetupDir}, Env: []string{"A=1"}, Limit: 5 * time.Second},
	}
}

func TestSetupIsMadeOnce(t *testing.T) {
	s := &site{}
	r := WithSetup(s, builds.New(t.TempDir(), 0))
	for i := range 3 {
		if _, err := r.Run(t.Context(), built("a", fmt.Sprint(i)), nil); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"begin make a", "end make a", "begin run 0", "end run 0", "begin run 1", "end run 1", "begin run 2", "end run 2",
	}
	if !slices.Equal(s.log, want) {
		t.Fatalf("got %q", s.log)
	}
	made, ran := s.jobs[0], s.jobs[1]
	folder := made.Argv[2]
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		t.Errorf("the folder is %q: %v", folder, err)
	}
	if made.ID != (assay.RunID{Study: "s", Trial: 7, Repeat: 2}) || made.Limit != 5*time.Second || made.Resources != nil ||
		made.Prepare != nil || made.Warmup != 0 || made.Interval != 0 || !slices.Equal(made.Env, []string{"A=1"}) {
		t.Errorf("the setup is run as %+v", made)
	}
	if ran.Argv[2] != folder+"/prog" || ran.Env[0] != "SETUP="+folder || ran.Prepare[1] != folder+"/x" ||
		ran.Setup != nil || ran.ID.Attempt != 1 || ran.Warmup != 1 {
		t.Errorf("the job is run as %+v", ran)
	}
}

// A setup that fails is an error of the trial, and is not tried again; another Runner tries it.
func TestSetupFails(t *testing.T) {
	cache := builds.New(t.TempDir(), 0)
	bad := assay.Measurement{
		ExitCode: 2, Stderr: []byte("a.c:1: error\nmake: stop\n"), Metrics: map[string]float64{"elapsed": 3}, Elapsed: 3,
	}
	s := &site{
		fail: map[string]assay.Measurement{"bad": bad},
		err: map[string]error{
			"absent": fmt.Errorf("no make: %w", os.ErrNotExist), "slow": assay.ErrLimit, "lost": assay.ErrLost,
		},
	}
	r := WithSetup(s, cache)
	for name, want := range map[string]string{
		"bad": "setup: exited with code 2: make: stop", "absent": "setup: no make: file does not exist",
		"slow": "setup: time limit of 5s reached",
	} {
		for range 2 {
			m, err := r.Run(t.Context(), built(name, "x"), nil)
			if f := m.Failure; err != nil || f == nil || f.Step != "setup" || f.Reason != want {
				t.Errorf("%s: got %+v, %v, want %s", name, f, err, want)
			}
			if name == "bad" && (m.Failure.Output[0] != "a.c:1: error" || string(m.Stderr) != string(bad.Stderr) ||
				m.Metrics != nil || m.Elapsed != 0) {
				t.Errorf("got %+v", m)
			}
		}
		if n := count(s.log, "begin make "+name); n != 1 {
			t.Errorf("%s: tried %d times", name, n)
		}
	}
	for range 2 {
		if _, err := r.Run(t.Context(), built("lost", "x"), nil); !errors.Is(err, assay.ErrLost) {
			t.Errorf("got %v", err)
		}
	}
	if n := count(s.log, "begin make lost"); n != 2 {
		t.Errorf("a setup of unknown outcome was tried %d times", n)
	}
	if count(s.log, "begin run x") != 0 {
		t.Errorf("a job ran without its setup: %q", s.log)
	}
	delete(s.fail, "bad")
	if _, err := WithSetup(s, cache).Run(t.Context(), built("bad", "y"), nil); err != nil {
		t.Errorf("the next session: %v", err)
	}
}

func count(log []string, line string) (n int) {
	for _, l := range log {
		if l == line {
			n++
		}
	}
	return n
}

func TestSetupWithoutInputs(t *testing.T) {
	j := built("a", "x")
	j.Dir, j.Setup.Inputs = t.TempDir(), []string{"*.c"}
	m, err := WithSetup(&site{}, builds.New(t.TempDir(), 0)).Run(t.Context(), j, nil)
	if err != nil || m.Failure == nil || !strings.Contains(m.Failure.Reason, "no file fits") {
		t.Errorf("got %+v, %v", m, err)
	}
}

func TestSetupCacheThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := WithSetup(&site{}, builds.New(filepath.Join(file, "builds"), 0)).Run(t.Context(), built("a", "x"), nil)
	if !errors.Is(err, assay.ErrSetup) {
		t.Errorf("got %v", err)
	}
}

// overlaps returns the pairs of a setup and a run that went on at the same time.
func overlaps(log []string) (out []string) {
	open := map[string]bool{}
	for _, l := range log {
		what, name, _ := strings.Cut(l, " ")
		if what == "end" {
			delete(open, name)
			continue
		}
		for other := range open {
			if strings.HasPrefix(other, "make") != strings.HasPrefix(name, "make") {
				out = append(out, other+" and "+name)
			}
		}
		open[name] = true
	}
	return out
}

// No job is measured while a setup is made, unless it was asked for.
func TestSetupsAndRunsTakeTurns(t *testing.T) {
	for _, parallel := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &site{takes: time.Second}
			r := WithSetup(s, builds.New(t.TempDir(), 0))
			began := time.Now()
			var wg sync.WaitGroup
			for i, name := range []string{"a", "a", "b", "c", "a", "c"} {
				wg.Go(func() {
					time.Sleep(time.Duration(i) * 300 * time.Millisecond)
					j := built(name, fmt.Sprint(i))
					j.Setup.Parallel = parallel
					if _, err := r.Run(t.Context(), j, nil); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if got := overlaps(s.log); (len(got) > 0) != parallel {
				t.Errorf("parallel %v: at the same time %q\n%q", parallel, got, s.log)
			}
			if n := count(s.log, "begin make a") + count(s.log, "begin make b") + count(s.log, "begin make c"); n != 3 {
				t.Errorf("%d setups: %q", n, s.log)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %v: what could go on at the same time did not", took)
			}
		})
	}
}

// A setup ends with the remaining time of the study, and nothing is learned. A run that waits for a setup ends too.
func TestSetupWithoutTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{takes: time.Second}
		r := WithSetup(s, builds.New(t.TempDir(), 0))
		var wg sync.WaitGroup
		for _, name := range []string{"a", "a"} {
			wg.Go(func() {
				j := built(name, "x")
				j.Setup.Left = 500 * time.Millisecond
				if _, err := r.Run(t.Context(), j, nil); !errors.Is(err, assay.ErrUnbegun) {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		if _, err := r.Run(t.Context(), built("a", "y"), nil); err != nil {
			t.Errorf("with time: %v", err)
		}
	})
}

func TestSetupIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		s := &site{takes: time.Second}
		r := WithSetup(s, builds.New(t.TempDir(), 0))
		go func() {
			time.Sleep(500 * time.Millisecond)
			cancel(cause)
		}()
		if _, err := r.Run(ctx, built("a", "x"), nil); !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
		if _, err := r.Run(t.Context(), built("a", "y"), nil); err != nil {
			t.Errorf("later: %v", err)
		}
	})
}
