package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/testbed"
)

// TestKill9 kills the tool with SIGKILL at random instants of a study of fast
// trials, and starts it again each time. A trial that was reported as done is
// never lost and never counted twice, and the study ends with the same ids and
// configurations as one that nothing has happened to. 0 failures in n kills bound
// the rate of failures at 3/n: make system kills it 500 times.
func TestKill9(t *testing.T) {
	t.Parallel()
	testbed.Outside(t)
	kills, length := 25, 200
	if testbed.IsSystem() {
		kills, length = 500, 1000
	}
	exe, err := exec.LookPath("assay")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store := filepath.Join(dir, "kill.db")
	tune := func(store string, trials int) *exec.Cmd {
		cmd := exec.Command(exe, "tune", "--store", store, "--study", "s", "-p", "n=1..1000000",
			"--search", "random", "--seed", "7", "--stop", "none", "--check", "0",
			"--trials", strconv.Itoa(trials), "--", "true", "{n}")
		cmd.Dir = dir
		return cmd
	}
	rng := rand.New(rand.NewPCG(1, 2))
	acked := map[int]string{}                       // id: configuration
	for n := 0; n < kills || len(acked) < 20; n++ { // a busy machine reports its first trial late
		// A short study keeps the kills on its trials, not on reading it back.
		cmd := tune(store, len(acked)+length)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		delay := 5*time.Millisecond + time.Duration(rng.Int64N(int64(120*time.Millisecond)*int64(1+n/kills)))
		timer := time.AfterFunc(delay, func() { cmd.Process.Kill() })
		readAcks(t, bufio.NewScanner(stderr), acked)
		cmd.Wait() // killed, as a rule
		timer.Stop()
	}
	// More than are on record: the last ones may have been recorded, or begun, but
	// not reported.
	total := recordedTrials(t, exe, store) + 20
	if out, err := tune(store, total).CombinedOutput(); err != nil {
		t.Fatalf("after %d kills: %v\n%s", kills, err, out)
	}
	got := trialsOf(t, exe, store)
	for id, config := range acked {
		if got[id] != config {
			t.Errorf("trial %d was reported done as %s, on record is %q", id, config, got[id])
		}
	}
	fresh := filepath.Join(dir, "fresh.db")
	if out, err := tune(fresh, total).CombinedOutput(); err != nil {
		t.Fatalf("uninterrupted: %v\n%s", err, out)
	}
	want := trialsOf(t, exe, fresh)
	if len(got) != len(want) || len(want) != total {
		t.Errorf("%d trials, %d in the uninterrupted study, want %d", len(got), len(want), total)
	}
	for id, config := range want {
		if got[id] != config {
			t.Errorf("trial %d is %s, %s in the uninterrupted study", id, got[id], config)
		}
	}
	if out, err := exec.Command(exe, "study", "fsck", "--store", store).CombinedOutput(); err != nil {
		t.Errorf("fsck: %v\n%s", err, out)
	}
	t.Logf("%d kills, %d trials reported done", kills, len(acked))
}

// readAcks adds the trials that the tool reports as done.
func readAcks(t *testing.T, lines *bufio.Scanner, acked map[int]string) {
	t.Helper()
	for lines.Scan() {
		f := strings.Fields(strings.TrimPrefix(lines.Text(), "*"))
		if len(f) < 5 || f[1] != "done" || !strings.HasPrefix(f[4], "n=") { // the last line may be cut
			continue
		}
		id, err := strconv.Atoi(f[0])
		if err != nil {
			continue
		}
		if old, twice := acked[id]; twice {
			t.Errorf("trial %d was reported twice: %s, %s", id, old, f[4])
		}
		acked[id] = f[4]
	}
}

// recordedTrials returns the number of trials on record in any state.
func recordedTrials(t *testing.T, exe, store string) int {
	t.Helper()
	out, err := exec.Command(exe, "study", "trials", "s", "--json", "--store", store).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(out), "\n")
}

// trialsOf returns the configurations on record by id, each of which is done.
func trialsOf(t *testing.T, exe, store string) map[int]string {
	t.Helper()
	out, err := exec.Command(exe, "study", "trials", "s", "--json", "--store", store).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[int]string{}
	for line := range strings.Lines(string(out)) {
		var tr struct {
			ID     int
			State  string
			Config map[string]int
		}
		if err := json.Unmarshal([]byte(line), &tr); err != nil {
			t.Fatal(err)
		}
		if _, twice := all[tr.ID]; twice || tr.State != "done" {
			t.Errorf("trial %d is %s (on record twice: %v)", tr.ID, tr.State, twice)
		}
		all[tr.ID] = fmt.Sprintf("n=%d", tr.Config["n"])
	}
	return all
}
