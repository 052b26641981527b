package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/testbed"
)

// resumeTable writes a recorded table of 18,432 configurations, and a study of it, and
// returns a command that tunes it with that searcher and number of trials.
func resumeTable(t *testing.T) func(search, store string, trials int) *exec.Cmd {
	t.Helper()
	exe, err := exec.LookPath("assay")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var table strings.Builder
	table.WriteString("a,b,c,d,t\n")
	for i := range 16 * 12 * 12 * 8 {
		a, b, c, d := i/1152, i/96%12, i/8%12, i%8
		fmt.Fprintf(&table, "%d,%d,x%d,%d,%.4f\n", a, b, c, d,
			1+float64((a-5)*(a-5)+(b-3)*(b-3))/20+float64(c*7%12)/6+float64(i*7919%97)/1000)
	}
	for name, text := range map[string]string{
		"t.csv":  table.String(),
		"s.yaml": "replay: {file: t.csv, parameters: [a, b, c, d], metrics: {elapsed: t}}\nstop: {rule: none}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(search, store string, trials int) *exec.Cmd {
		return exec.Command(exe, "tune", filepath.Join(dir, "s.yaml"), "--store", filepath.Join(dir, store), "--study", "s",
			"--search", search, "--seed", "3", "--check", "0", "--trials", fmt.Sprint(trials))
	}
}

// used runs a command and returns the processor time that it took.
func used(t *testing.T, cmd *exec.Cmd) time.Duration {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// A study that is resumed goes on with the proposals of one that was not interrupted. It does not
// search again: the searches of its first session are made once.
func TestResumeDoesNotSearchAgain(t *testing.T) {
	testbed.Outside(t)
	tune := resumeTable(t)
	whole := used(t, tune("auto", "whole.db", 60))
	first := used(t, tune("auto", "parts.db", 50))
	again := used(t, tune("auto", "parts.db", 51))
	used(t, tune("auto", "parts.db", 60))
	if again > first/4 {
		t.Errorf("50 trials took %v of processor time, to resume them and make one more %v", first, again)
	}
	stores := func(name string) string {
		exe := tune("auto", name, 1)
		return exe.Args[4]
	}
	list := func(store string) string {
		out, err := exec.Command("assay", "study", "export", "s", "--store", store, "--format", "csv").Output()
		if err != nil {
			t.Fatal(err)
		}
		var configs strings.Builder
		for line := range strings.Lines(string(out)) {
			fields := strings.Split(line, ",")
			configs.WriteString(strings.Join(fields[:min(5, len(fields))], ",") + "\n")
		}
		return configs.String()
	}
	if a, b := list(stores("whole.db")), list(stores("parts.db")); a != b || strings.Count(a, "\n") != 61 {
		t.Errorf("the study that was resumed three times has other proposals:\n%s\nand without interruption\n%s", b, a)
	}
	t.Logf("60 trials at once %v; 50 trials %v, resumed %v", whole, first, again)
}

// Resuming 1,000 trials of auto takes at most 0.3 s of processor time, 10,000 of random
// at most 1 s, the start of the program and one more trial included. It is asserted on a
// machine that is not busy, and logged on any.
func TestResumeTime(t *testing.T) {
	if os.Getenv("ASSAY_SOAK") == "" {
		t.Skip("only in make soak: making the records takes minutes")
	}
	tune := resumeTable(t)
	for _, c := range []struct {
		search string
		trials int
		most   time.Duration
	}{{"auto", 1000, 300 * time.Millisecond}, {"random", 10_000, time.Second}} {
		used(t, tune(c.search, c.search+".db", c.trials))
		best := time.Hour
		for i := range 3 {
			best = min(best, used(t, tune(c.search, c.search+".db", c.trials+1+i)))
		}
		t.Logf("resuming %d trials of %s: %v", c.trials, c.search, best)
		if best > c.most {
			t.Errorf("resuming %d trials of %s took %v, want at most %v", c.trials, c.search, best, c.most)
		}
	}
}

// A study that is killed every half second makes progress all the same. The time is longer on a machine on which the
// program takes long to start.
func TestKilledEveryHalfSecond(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	exe, err := exec.LookPath("assay")
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(t.TempDir(), "k.db")
	began := time.Now()
	if out, err := exec.Command(exe, "study", "ls", "--store", store).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	session := max(500*time.Millisecond, 5*time.Since(began))
	trials, sessions := testbed.Times(20, 60), 0
	for ; ; sessions++ {
		cmd := exec.Command(exe, "tune", "--store", store, "--study", "s", "-p", "n=1..500", "-p", "m=1..500", "--seed", "7",
			"--check", "0", "--trials", fmt.Sprint(trials), "--", "sleep", "0.0{m}", "0.00{n}")
		cmd.Dir = filepath.Dir(store)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(session, func() { cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		if err == nil {
			break
		}
		if most := 20 * trials; sessions > most {
			t.Fatalf("%d trials on record after %d sessions of %v", recordedTrials(t, exe, store), sessions, session)
		}
	}
	if got := recordedTrials(t, exe, store); got != trials || sessions == 0 {
		t.Errorf("%d trials on record after %d sessions, want %d after more than one", got, sessions, trials)
	}
	t.Logf("%d sessions of %v", sessions, session)
}
