package server_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/setup"
)

// lines returns how many lines a file has.
func lines(path string) int {
	b, _ := os.ReadFile(path) // it is made by the first
	return bytes.Count(b, []byte("\n"))
}

// The server is killed under fifty runs, which all end while it is away, and for longer than their leases: when it
// is there again each has its result, none was made again, and none took longer than its program did. A worker
// reports within 5 s, so that a lease is to be longer. With ASSAY_SOAK the server is away for ten minutes, and
// leases are as long as a server's without any flag.
func TestServerAway(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it starts and kills processes for half a minute")
	}
	const trials, machines = 50, 2
	away := 12 * time.Second
	if os.Getenv("ASSAY_SOAK") != "" {
		away = 10 * time.Minute
	} else {
		t.Setenv("ASSAY_TEST_LEASE", "9s")
	}
	t.Setenv("ASSAY_TEST_SLOTS", fmt.Sprint(trials/machines))
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	gate, begun, over := filepath.Join(dir, "gate"), filepath.Join(dir, "begun"), filepath.Join(dir, "over")
	if err := unix.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	wait := func(what string, ok func() bool) {
		t.Helper()
		for began := time.Now(); !ok(); time.Sleep(20 * time.Millisecond) {
			if time.Since(began) > 3*time.Minute {
				t.Fatal(what)
			}
		}
	}
	_, c, end := start(t, dir, 0)
	command := fmt.Sprintf("sh, -c, 'echo $1 >> %s; cat %s; echo $1 >> %s', sh, '{n}'", begun, gate, over)
	lab{c, dir}.submit(t, "s", trivial(command, 1, trials, trials))
	first := time.Now()
	for i := range machines {
		process(t, dir, fmt.Sprint("w", i))
	}
	wait("not all programs began", func() bool { return lines(begun) == trials })
	end()
	wait("not all programs ended", func() bool {
		// All who wait to read go on. A program that has begun may not have opened the gate yet, so it opens again.
		if open, err := os.OpenFile(gate, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
			_ = open.Close()
		}
		return lines(over) == trials
	})
	longest := time.Since(first)
	if err := os.Remove(gate); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil { // of the runs that compare the best with the first
		t.Fatal(err)
	}
	time.Sleep(away)
	again := time.Now()
	_, c, end = start(t, dir, 1)
	wait("not all trials ended", func() bool {
		d, err := c.Study(t.Context(), "s")
		return err == nil && d.Study.Done >= trials
	})
	t.Logf("away for %v; %d trials had their results %v after the server was started again", away, trials,
		time.Since(again).Round(time.Millisecond))
	lab{c, dir}.ended(t, "s")
	end()
	store, err := setup.OpenStore(t.Context(), filepath.Join(dir, "assay.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var all []assay.Event
	for e, err := range store.Events(t.Context(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
		if e.Told != nil && (e.Told.State != assay.Done || e.Told.Attempts > 1 || e.Told.Measurement.Elapsed > longest) {
			t.Errorf("trial %d is %v after %d attempts of %v; the programs took %v at most", e.Told.ID, e.Told.State,
				e.Told.Attempts, e.Told.Measurement.Elapsed, longest)
		}
	}
	sum, err := store.Summary(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	l := readLedger(all)
	if l.wrong = append(l.wrong, l.close(sum)...); len(l.wrong) > 0 {
		t.Error(strings.Join(l.wrong, "; "))
	}
	if len(l.told) != trials || l.lost > 0 || lines(begun) != len(l.counts) {
		t.Errorf("%d trials ended, %d attempts were lost, and programs began %d times for %d runs; want %d, 0, and as often",
			len(l.told), l.lost, lines(begun), len(l.counts), trials)
	}
}
