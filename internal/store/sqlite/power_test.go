package sqlite

import (
	"bufio"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/meterfs"
	"github.com/assay-run/assay/internal/testbed"
)

// An ack is a trial that was acknowledged, and an instant of the disk by which that had happened.
type ack struct {
	id int64
	at int
}

// record has a child append n trials to a study on a disk, and returns the trials that it acknowledged.
func recordAcks(t *testing.T, d *testbed.Disk, synchronous string, n int) (acks []ack) {
	t.Helper()
	cmd := child(t, "append", filepath.Join(d.Dir, "a.db"), "one", synchronous, n)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewScanner(out); in.Scan(); {
		id, err := strconv.ParseInt(in.Text(), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		acks = append(acks, ack{id, d.Len()})
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return acks
}

// lostAt cuts the power at an instant and returns how many acknowledged trials are not there
// afterwards, and how many there were.
func lostAt(t *testing.T, d *testbed.Disk, acks []ack, at int, rng *rand.Rand) (lost, of int64) {
	t.Helper()
	for _, a := range acks {
		if a.at <= at {
			of = a.id
		}
	}
	s, err := Open(t.Context(), filepath.Join(d.Cut(t, at, rng), "a.db"), Options{})
	if err != nil {
		if of == 0 { // it was being made
			return 0, 0
		}
		t.Logf("cut at %d of %d: %v", at, d.Len(), err)
		return of, of
	}
	defer s.Close()
	if of == 0 {
		return 0, 0
	}
	if _, err := s.Spec(t.Context(), "one"); err != nil {
		return of, of
	}
	n := checkPairs(t, s, "one")
	checkFsck(t, s)
	return max(0, of-n), of
}

// A finished trial is not lost by a power cut, at any instant. Nearly every cut loses some in the control, whose
// commits do not wait for the disk.
func TestPowerCut(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	cuts, trials := testbed.Times(8, 20), testbed.Times(60, 150)
	if soak() {
		cuts, trials = 300, 1500
	}
	rng := rand.New(rand.NewPCG(3, 4))
	d := testbed.NewDisk(t, nil)
	acks := recordAcks(t, d, "FULL", trials)
	if len(acks) != trials {
		t.Fatalf("%d trials acknowledged", len(acks))
	}
	var lost, all int64
	for range cuts {
		n, of := lostAt(t, d, acks, acks[0].at+rng.IntN(d.Len()-acks[0].at+1), rng)
		lost, all = lost+n, all+of
	}
	if lost > 0 {
		t.Errorf("%d of %d acknowledged trials are lost", lost, all)
	}
	control := testbed.NewDisk(t, nil)
	acks = recordAcks(t, control, "NORMAL", trials)
	losing := 0
	for range cuts {
		// The close writes the log into the file, and is no part of it.
		if n, _ := lostAt(t, control, acks, acks[0].at+rng.IntN(acks[trials-1].at-acks[0].at), rng); n > 0 {
			losing++
		}
	}
	t.Logf("counted: cuts %d, acknowledged %d, lost %d; the control lost in %d of %d", cuts, all, lost, losing, cuts)
	if losing*10 < cuts*8 {
		t.Errorf("the control lost in %d of %d cuts only: the rig sees nothing", losing, cuts)
	}
}

// Each operation on the disk fails once, in a run of its own: all acknowledged trials are there, and the
// study goes on.
func TestEachOperationFails(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	step := testbed.Times(10, 5)
	if soak() {
		step = 1
	}
	runs, acked := 0, int64(0)
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
		for n, over := 1, false; !over; n += step {
			d := testbed.NewDisk(t, func(i int, c meterfs.Change) syscall.Errno {
				if i != n || c.Op == "open" {
					return 0
				}
				return errno
			})
			path := filepath.Join(d.Dir, "a.db")
			cmd := child(t, "append", path, "one", "FULL", 3)
			lines := make(chan string, 16)
			r := start(t, cmd, lines)
			select {
			case <-r.done:
			case <-time.After(time.Minute):
				t.Fatalf("%v of operation %d, %s: it hangs", errno, n, d.Failed())
			}
			ids := r.acks(t)
			hit := d.Failed()
			if over = d.Calls() < n; !over && hit != "" {
				runs++
			}
			acked += int64(len(ids))
			s, err := Open(t.Context(), filepath.Join(d.Data, "a.db"), Options{})
			if err != nil {
				t.Errorf("%v of operation %d, %s: %v", errno, n, hit, err)
				continue
			}
			if len(ids) > 0 {
				if got := checkPairs(t, s, "one"); got < ids[len(ids)-1] {
					t.Errorf("%v of operation %d, %s: %d trials, %d acknowledged", errno, n, hit, got, ids[len(ids)-1])
				}
			}
			checkFsck(t, s)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if runs < 20 {
		t.Errorf("%d operations failed only: the rig does nothing", runs)
	}
	t.Logf("counted: faults %d, acknowledged %d, lost 0", runs, acked)
}
