package batch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/batch"
)

// A rig is a Slurm of three nodes of its own, with a program to run on it and commands that lie on demand.
type rig struct {
	t     *testing.T
	dir   string // of Slurm
	lies  string // the directory of the commands that lie
	spool string
	shim  string
	y     *tally
}

// slurmRig brings a Slurm up, or skips the test.
func slurmRig(t *testing.T) *rig {
	t.Helper()
	if os.Getenv("ASSAY_SOAK") == "" {
		t.Skip("SKIPPED: it takes minutes; set ASSAY_SOAK=1. TestSaid tries a stand-in")
	}
	for _, p := range []string{"slurmctld", "slurmd", "sbatch", "squeue", "ip", "nsenter"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("SKIPPED, NO REAL SLURM IS TRIED: %v (scripts/deps.sh system)", err)
		}
	}
	ns := fmt.Sprintf("assay-try-%d", os.Getpid())
	if os.Getuid() != 0 || exec.Command("ip", "netns", "add", ns).Run() != nil {
		t.Skip("SKIPPED, NO REAL SLURM IS TRIED: it needs root, and network namespaces")
	}
	if err := exec.Command("ip", "netns", "del", ns).Run(); err != nil {
		t.Error(err)
	}
	at := t.TempDir()
	g := &rig{t: t, dir: filepath.Join(at, "slurm"), lies: filepath.Join(at, "lies"), spool: filepath.Join(at, "spool")}
	g.shim = filepath.Join(at, "assay")
	if out, err := exec.Command("go", "build", "-o", g.shim, "../../cmd/assay").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("PATH", g.lies+":"+filepath.Join(g.dir, "bin")+":"+os.Getenv("PATH"))
	t.Setenv("MINAGE", "10")
	t.Cleanup(func() { g.slurm("down", g.dir) })
	for _, d := range []string{g.lies, g.spool} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	g.lie("sbatch", `%s "$@"; c=$?; if [ -e %s/unsure ]; then echo "sbatch: error: Socket timed out on send/recv `+
		`operation" >&2; exit 1; fi; exit $c`)
	g.lie("squeue", `case $(cat %[2]s/says 2>/dev/null) in empty) exit 0;; garbage) echo "slurm_load_jobs ???";; hang) `+
		`exec sleep 30;; *) exec %[1]s "$@";; esac`)
	return g
}

// lie writes a command that may lie. format has the path of the true one, and the directory.
func (g *rig) lie(name, format string) {
	text := "#!/bin/sh\n" + fmt.Sprintf(format, filepath.Join(g.dir, "bin", name), g.lies) + "\n"
	if err := os.WriteFile(filepath.Join(g.lies, name), []byte(text), 0o700); err != nil {
		g.t.Fatal(err)
	}
}

// tell has the commands lie from now on, or not.
func (g *rig) tell(what, text string) {
	path := filepath.Join(g.lies, what)
	if text == "" {
		os.Remove(path)
	} else if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		g.t.Error(err)
	}
}

// ask runs a command and returns its output.
func (g *rig) ask(argv ...string) string {
	out, _ := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	return strings.TrimSpace(string(out))
}

func (g *rig) slurm(args ...string) {
	if out, err := exec.Command("sh",
		append([]string{"../../scripts/slurm.sh"}, args...)...).CombinedOutput(); err != nil {
		g.t.Errorf("slurm.sh %v: %v\n%s", args, err, out)
	}
}

// until waits for something, and reports whether it came.
func (g *rig) until(what string, long time.Duration, is func() bool) bool {
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if is() {
			return true
		}
	}
	g.t.Errorf("never: %s", what)
	return false
}

func (g *rig) resume() {
	for _, n := range []string{"n1", "n2", "n3"} {
		g.ask("scontrol", "update", "nodename="+n, "state=resume")
	}
}

// session begins a session of the study in a directory of the spool.
func (g *rig) session(name string) *batch.Runner {
	system, err := batch.NewSlurm()
	if err != nil {
		g.t.Fatal(err)
	}
	r, err := batch.New(batch.Options{
		System: system, Dir: filepath.Join(g.spool, name), Shim: []string{g.shim, "shim"}, Poll: time.Second,
		Look:   300 * time.Millisecond,
		Unseen: 6 * time.Second, Gap: 50 * time.Millisecond, Wait: 10 * time.Second, Every: 200 * time.Millisecond,
		Request: func(job assay.Job) (batch.Request, error) {
			q := batch.Request{CPUs: 1, Walltime: 10 * time.Minute}
			for _, e := range job.Env {
				if job.ID.Attempt == 1 && e == "LATER=1" {
					q.Extra = []string{"--begin=now+600"}
				}
				if e == "SHORT=1" {
					q.Walltime = batch.Minutes(20 * time.Second)
				}
			}
			return q, nil
		},
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return r
}

// A real is a trial on the rig.
type real struct {
	id    int64
	sleep string // how long it takes
	end   string // a line of shell, "exit 7"
	code  int
	env   []string
	more  bool // it may be begun more than once
}

// lines returns how many lines a file of a trial has: how often it was begun, or ended.
func (g *rig) lines(kind string, id int64) int {
	b, _ := os.ReadFile(filepath.Join(g.spool, fmt.Sprintf("%s-%d", kind, id)))
	return strings.Count(string(b), "\n")
}

// run makes the run of a trial as the loop does, with more attempts, until it counts or the session ends.
func (g *rig) run(ctx context.Context, r *batch.Runner, k real) {
	script := fmt.Sprintf("echo x >>%[1]s/began-%[2]d; sleep %[3]s; echo x >>%[1]s/ended-%[2]d; %[4]s", g.spool, k.id,
		k.sleep, k.end)
	job := assay.Job{
		ID: assay.RunID{Study: "s", Trial: k.id}, Argv: []string{"sh", "-c", script}, Interval: 200 * time.Millisecond,
		Env: k.env,
	}
	for attempt := 1; attempt <= 12; attempt++ {
		job.ID.Attempt = attempt
		m, err := r.Run(ctx, job, func(assay.Measurement) {})
		switch {
		case errors.Is(err, assay.ErrDetached):
			return
		case errors.Is(err, assay.ErrLost):
			continue
		}
		g.y.mu.Lock()
		g.y.trials++
		g.y.mu.Unlock()
		switch began, ended := g.lines("began", k.id), g.lines("ended", k.id); {
		case k.code < 0: // its job ends it
			if !errors.Is(err, assay.ErrLimit) || m.Elapsed < 30*time.Second || m.Elapsed > 59*time.Second || ended > 0 {
				g.y.note(&g.y.wrong, "trial %d: %v after %v", k.id, err, m.Elapsed)
			}
		case err != nil || m.ExitCode != k.code || ended == 0:
			g.y.note(&g.y.wrong, "trial %d: code %d, %v, want %d; it came to its end %d times", k.id, m.ExitCode, err, k.code,
				ended)
		case ended > 1 || began > 1 && !k.more:
			g.y.note(&g.y.twice, "trial %d was begun %d times and came to its end %d times", k.id, began, ended)
		}
		return
	}
	g.y.note(&g.y.lost, "trial %d was lost every time", k.id)
}

// job returns the number and the state of a trial's latest job in Slurm.
func (g *rig) job(id int64) (number, state string) {
	for line := range strings.Lines(g.ask("squeue", "--noheader", "--states=all", "--format=%i|%j|%T")) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) == 3 && strings.Contains(f[1], fmt.Sprintf("-%d-0-", id)) {
			number, state = f[0], f[2]
		}
	}
	return number, state
}

func (g *rig) began(id int64) func() bool { return func() bool { return g.lines("began", id) > 0 } }
func (g *rig) ended(id int64) func() bool { return func() bool { return g.lines("ended", id) > 0 } }

// TestRealSlurm repeats on Debian's Slurm the cases in which it reports a wrong state: $ASSAY_ROUNDS
// times, 10 if it is not set.
func TestRealSlurm(t *testing.T) {
	g := slurmRig(t)
	rounds := 10
	if n, err := strconv.Atoi(os.Getenv("ASSAY_ROUNDS")); err == nil {
		rounds = n
	}
	all := &tally{}
	for round := range rounds {
		g.y = &tally{}
		for _, f := range []string{"began-*", "ended-*"} {
			old, _ := filepath.Glob(filepath.Join(g.spool, f))
			for _, path := range old {
				os.Remove(path)
			}
		}
		g.slurm("up", g.dir, "3")
		g.until("idle nodes", 90*time.Second, func() bool { return g.ask("sinfo", "-h", "-o", "%T") == "idle" })
		g.round(t, round)
		g.slurm("down", g.dir)
		os.RemoveAll(g.dir)
		t.Logf("round %d: %v", round+1, g.y)
		all.add(t, g.y, true)
	}
	t.Logf("counted: 15 cases on Slurm, %d times: %v", rounds, all)
}

// round makes all cases once, in one session.
func (g *rig) round(t *testing.T, round int) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Minute, errors.New("it takes too long"))
	defer cancel()
	r := g.session(fmt.Sprint("round-", round))
	for _, part := range []func(context.Context, *batch.Runner, int){g.harmless, g.controller, g.slurmd} {
		part(ctx, r, round)
	}
	// A job that a killed controller takes for running, though it has ended, is cancelled while the study goes on.
	k := real{id: 81, sleep: "12", end: "exit 1", code: 1}
	g.run(ctx, r, k)
	if err := r.Close(); err != nil {
		g.y.note(&g.y.other, "%v", err)
	}
	left := ""
	for range 30 {
		if left = g.ask("squeue", "--noheader", "--states=PENDING,RUNNING"); left == "" {
			return
		}
		time.Sleep(time.Second)
	}
	g.y.note(&g.y.other, "jobs are left: %s", left)
}

// harmless are the cases that leave the daemons alone, all at once.
func (g *rig) harmless(ctx context.Context, r *batch.Runner, round int) {
	var wg sync.WaitGroup
	run := func(k real) { wg.Go(func() { g.run(ctx, r, k) }) }
	for code := range 8 {
		run(real{id: int64(code + 1), sleep: "0.2", end: fmt.Sprint("exit ", code), code: code})
	}
	run(real{id: 11, sleep: "0.2", end: "kill -SEGV $$", code: 139})
	run(real{id: 12, sleep: "8", end: "exit 3", code: 3, more: true})                            // cancelled
	run(real{id: 13, sleep: "8 & trap 'exit 0' TERM; wait", end: "exit 4", code: 4, more: true}) // likewise, and ends well
	run(real{id: 14, sleep: "300", end: "exit 0", code: -1, env: []string{"SHORT=1"}})           // --time of 20 s
	run(real{id: 15, sleep: "6", end: "exit 5", code: 5})                                        // requeued
	// cancelled while it waits
	run(real{id: 16, sleep: "0.2", end: "exit 6", code: 6, env: []string{"LATER=1"}})
	for id, cancel := range map[int64][]string{12: {"scancel"}, 13: {"scancel", "--full", "--signal=TERM"}} {
		wg.Go(func() {
			if g.until("a job to cancel", time.Minute, g.began(id)) {
				time.Sleep(500 * time.Millisecond)
				number, _ := g.job(id)
				g.ask(append(cancel, number)...)
			}
		})
	}
	wg.Go(func() {
		if g.until("a job to requeue", time.Minute, g.began(15)) {
			number, _ := g.job(15)
			if said := g.ask("scontrol", "requeue", number); said == "" {
				g.t.Log("scontrol requeue was not refused")
			}
		}
	})
	wg.Go(func() {
		number := ""
		if g.until("a job that waits", time.Minute, func() bool { number, _ = g.job(16); return number != "" }) {
			g.ask("scancel", number)
		}
	})
	wg.Go(func() {
		g.until("a job with a time", time.Minute, g.began(14))
		number, _ := g.job(14)
		if limit := g.ask("squeue", "--noheader", "--jobs="+number, "--format=%l"); limit != "1:00" {
			g.t.Errorf("a job of 20 s has %q", limit)
		}
	})
	wg.Go(func() { g.forgotten(ctx, round) })
	wg.Wait()

	// squeue prints nothing, prints nonsense, or hangs, while jobs run whose submission returned an error.
	g.tell("unsure", "1")
	for i, says := range []string{"empty", "garbage", "hang"} {
		run(real{id: int64(21 + i), sleep: "3", end: "exit 2", code: 2})
		time.Sleep(300 * time.Millisecond)
		g.tell("says", says)
		g.until("a job that runs", time.Minute, g.ended(int64(21+i)))
		g.tell("says", "")
	}
	wg.Wait()
	g.tell("unsure", "")
}

// forgotten is a job that ends while no session is there, and whose number Slurm has forgotten since.
func (g *rig) forgotten(ctx context.Context, round int) {
	k := real{id: 31, sleep: "1", end: "exit 7", code: 7}
	for i := range 2 {
		r := g.session(fmt.Sprint("forgotten-", round))
		ctx, cancel := context.WithCancelCause(ctx)
		if i == 0 {
			time.AfterFunc(2*time.Second, func() { cancel(assay.ErrDetached) })
		}
		g.run(ctx, r, k)
		r.Close()
		cancel(nil)
		if i == 0 {
			g.until("the end of a job", time.Minute, g.ended(31))
			g.until("that Slurm forgets it", time.Minute, func() bool { number, _ := g.job(31); return number == "" })
		}
	}
}

// controller are the cases in which the controller is killed: it forgets jobs, gives their numbers to others, and
// drains the nodes that know these, which an administrator has go on.
func (g *rig) controller(ctx context.Context, r *batch.Runner, round int) {
	var wg sync.WaitGroup
	run := func(k real) { wg.Go(func() { g.run(ctx, r, k) }) }
	for i, after := range []time.Duration{2 * time.Second, 300 * time.Millisecond, []time.Duration{
		time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
	}[round%4]} {
		x, y := int64(41+10*i), int64(42+10*i)
		// It may be made more than once: a job that the controller has forgotten before it began.
		run(real{id: x, sleep: "4", end: "exit 7", code: 7, more: true})
		first := ""
		g.until("a job", time.Minute, func() bool { first, _ = g.job(x); return first != "" })
		time.Sleep(after)
		began := g.lines("began", x) > 0
		g.slurm("kill", g.dir, "ctld")
		if began {
			g.until("the end of a job without a controller", time.Minute, g.ended(x))
		} else {
			time.Sleep(3 * time.Second)
		}
		g.slurm("start", g.dir, "ctld")
		g.until("a controller", time.Minute, func() bool { return !strings.Contains(g.ask("scontrol", "ping"), "DOWN") })
		time.Sleep(2 * time.Second)
		_, said := g.job(x)
		run(real{id: y, sleep: "0.5", end: "exit 6", code: 6, more: true})
		second := ""
		g.until("the next job", time.Minute, func() bool { second, _ = g.job(y); return second != "" })
		g.t.Logf("killed %v after: of job %s Slurm says %q, %d lines of its end; the next one has the number %s",
			after, first, said, g.lines("ended", x), second)
		over := make(chan struct{})
		go func() { wg.Wait(); close(over) }()
		for waits := true; waits; {
			g.resume()
			select {
			case <-over:
				waits = false
			case <-time.After(2 * time.Second):
			}
		}
	}
}

// slurmd is the case in which the daemon of a node is killed while a job runs there.
func (g *rig) slurmd(ctx context.Context, r *batch.Runner, _ int) {
	var wg sync.WaitGroup
	wg.Go(func() { g.run(ctx, r, real{id: 71, sleep: "6", end: "exit 5", code: 5}) })
	if g.until("a job", time.Minute, g.began(71)) {
		number, _ := g.job(71)
		node := g.ask("squeue", "--noheader", "--jobs="+number, "--format=%N")
		g.slurm("kill", g.dir, node)
		g.until("its end", time.Minute, g.ended(71))
		wg.Wait()
		_, said := g.job(71)
		g.t.Logf("slurmd of %s killed: Slurm says %q of a run that has ended with code 5", node, said)
		g.slurm("start", g.dir, node)
		g.until("the end of the job", 2*time.Minute,
			func() bool { g.resume(); _, s := g.job(71); return s != "RUNNING" && s != "COMPLETING" })
	}
	wg.Wait()
}
