package sqlite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
)

var sameEvent = assaytest.SameEvent

// soak reports whether there is time for the long form of a test.
func soak() bool { return os.Getenv("ASSAY_SOAK") == "1" }

// A finished trial is never lost: kill -9 at any instant.
func TestKill(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	cycles := testbed.Times(10, 50)
	if soak() {
		cycles = 500
	}
	killAppends(t, cycles, "append")
}

// A process that acknowledges a trial before it is on record loses some.
func TestKillControl(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	testbed.Fails(t, "trials that are acknowledged first", func(t testing.TB) { killAppends(t, 5, "boast") })
}

// killAppends kills children of a mode again and again, and looks for the acknowledged events.
func killAppends(t testing.TB, cycles int, mode string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var path string
	var acked map[string]int64 // last acknowledged trial by study
	acks := 0
	for cycle := range cycles {
		if cycle%5 == 0 { // or reading takes most of the time
			path, acked = filepath.Join(t.TempDir(), "a.db"), map[string]int64{}
		}
		var killed []*running
		for _, study := range []string{"one", "two"} {
			lines := make(chan string, 1<<16)
			r := start(t, child(t, mode, path, study, "FULL", -1), lines)
			killed = append(killed, r)
			// In every fifth cycle it may not have opened the file yet.
			if cycle%5 != 0 {
				select {
				case <-lines:
				case <-r.done:
				}
			}
			time.AfterFunc(time.Duration(5+rng.IntN(60))*time.Millisecond, func() { r.cmd.Process.Kill() })
		}
		for i, r := range killed {
			ids := r.acks(t)
			if r.err == nil || !strings.Contains(r.err.Error(), "signal: killed") {
				t.Fatalf("cycle %d: the child ended by itself: %v", cycle, r.err)
			}
			acks += len(ids)
			if len(ids) > 0 {
				acked[[]string{"one", "two"}[i]] = ids[len(ids)-1]
			}
		}
		s := openTest(t, path)
		for sum, err := range s.Summaries(t.Context(), "", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if n := checkPairs(t, s, sum.Study); n < acked[sum.Study] {
				t.Errorf("cycle %d: study %q: got %d trials, %d were acknowledged", cycle, sum.Study, n, acked[sum.Study])
			}
		}
		checkFsck(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if acks < cycles {
		t.Errorf("only %d trials were acknowledged", acks)
	}
	if !t.Failed() {
		t.Logf("%d kills, %d trials acknowledged, none lost or doubled", 2*cycles, acks)
	}
}

// checkFsck fails unless the file is as it was written.
func checkFsck(t testing.TB, s *Store) Report {
	t.Helper()
	r, err := s.Fsck(t.Context(), FsckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		t.Errorf("fsck: %v", p)
	}
	return r
}

// Many at once is fine: no process sees an error, and nothing is lost or there twice.
func TestProcesses(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	const processes = 32
	cycles, each := 2, 10
	if soak() {
		cycles = 100
	}
	trials, failed := 0, 0
	for cycle := range cycles {
		path := filepath.Join(t.TempDir(), "a.db")
		var all []*running
		for p := range processes {
			all = append(all, start(t, child(t, "share", path, fmt.Sprint("p", p), each), nil))
		}
		for p, r := range all {
			if <-r.done; r.err != nil {
				t.Errorf("cycle %d, process %d: %v", cycle, p, r.err)
				failed++
			}
		}
		s := openTest(t, path)
		for p := range processes {
			n := checkPairs(t, s, fmt.Sprint("p", p))
			if n != int64(each) {
				t.Errorf("cycle %d, process %d: got %d trials, want %d", cycle, p, n, each)
			}
			trials += int(n)
		}
		checkFsck(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d times %d processes on one file, %d failed; %d trials, none missing or twice", cycles, processes, failed,
		trials)
}

// Processes that want one study get it one after the other, or an error that names the holder: no number is given
// twice, none is left out. The control, which goes on from a position before another's write, must be refused.
func TestProcessesOfOneStudy(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	const processes, each = 32, 3
	cycles := 1
	if soak() {
		cycles = 100
	}
	refused := 0
	for cycle := range cycles {
		path := filepath.Join(t.TempDir(), "a.db")
		var all []*running
		for range processes {
			all = append(all, start(t, child(t, "turns", path, "a", each), nil))
		}
		for p, r := range all {
			if <-r.done; r.err != nil {
				t.Errorf("cycle %d, process %d: %v", cycle, p, r.err)
			}
		}
		s := openTest(t, path)
		if n := checkPairs(t, s, "a"); n != processes*each {
			t.Errorf("cycle %d: %d trials, want %d", cycle, n, processes*each)
		}
		checkFsck(t, s)
		// A control that knows no position but the one it has read before another wrote is refused.
		sum, err := s.Summary(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		grow(t, s, "a", processes*each+1, 1)
		_, err = s.Append(t.Context(), "a", assay.Position(sum.Events), pair(processes*each + 2)[0])
		if errors.Is(err, assay.ErrConflict) {
			refused++
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if refused != cycles {
		t.Errorf("the control was refused %d times of %d", refused, cycles)
	}
	t.Logf("%d times %d processes of one study, %d trials each time, no gap, none twice; the control was refused %d times",
		cycles, processes, processes*each, refused)
}

// A full disk stops the store cleanly and costs nothing that was acknowledged.
func TestStarved(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	for _, limit := range []int{100_000, 300_001, 1_000_000} {
		path := filepath.Join(fastDir(t), "a.db")
		r := start(t, child(t, "starve", path, limit), nil)
		acks := r.acks(t)
		if r.err != nil {
			t.Fatal(r.err)
		}
		s := openTest(t, path)
		n := checkPairs(t, s, "a")
		if len(acks) == 0 || n < acks[len(acks)-1] {
			t.Errorf("limit %d: got %d trials, %d were acknowledged", limit, n, len(acks))
		}
		grow(t, s, "a", n+1, 10) // there is space again
		checkFsck(t, s)
	}
}

// needStrace skips the test where system calls cannot be watched.
func needStrace(t *testing.T) {
	t.Helper()
	if err := exec.Command("strace", "-e", "trace=fsync", "true").Run(); err != nil {
		t.Skipf("SKIPPED: nothing checks the system calls of the store here: strace: %v", err)
	}
}

// strace returns the command c under strace with the options, and where its
// trace will be.
func strace(t *testing.T, c *exec.Cmd, opts ...string) (*exec.Cmd, string) {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	traced := exec.Command("strace", append(append([]string{"-f", "-o", trace}, opts...), c.Args...)...)
	traced.Env = c.Env
	return traced, trace
}

// A power cut loses nothing that was acknowledged: each Append waits for the
// disk. The control, synchronous=NORMAL, does not, so the count can fail.
func TestSyncs(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	needStrace(t)
	const appends = 30
	syncs := func(synchronous string) int {
		path := filepath.Join(t.TempDir(), "a.db")
		c, trace := strace(t, child(t, "append", path, "a", synchronous, appends), "-e", "trace=fsync,fdatasync")
		r := start(t, c, nil)
		if n := len(r.acks(t)); r.err != nil || n != appends {
			t.Fatalf("%s: %d of %d appends, %v", synchronous, n, appends, r.err)
		}
		b, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		return len(regexp.MustCompile(`f(data)?sync\(`).FindAll(b, -1))
	}
	full, normal := syncs("FULL"), syncs("NORMAL")
	t.Logf("%d appends: %d syncs with FULL, %d with NORMAL", appends, full, normal)
	if full-normal < appends {
		t.Errorf("got %d syncs more than the control, want one per append: %d", full-normal, appends)
	}
}

// A failed fsync means unknown, not failed: the store stops at once, asks for
// no second, and goes on where it was when it is opened again.
func TestFailedSync(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	needStrace(t)
	for _, when := range []int{18, 19, 25} {
		path := filepath.Join(t.TempDir(), "a.db")
		c, trace := strace(t, child(t, "append", path, "a", "FULL", -1),
			"-e", "trace=fsync,fdatasync", "-e", fmt.Sprintf("inject=fsync,fdatasync:error=EIO:when=%d", when))
		r := start(t, c, nil)
		acks := r.acks(t)
		if r.err == nil || !strings.Contains(r.err.Error(), ErrIO.Error()) {
			t.Fatalf("fsync %d fails: got %v, want %v", when, r.err, ErrIO)
		}
		b, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		if _, after, ok := strings.Cut(string(b), "INJECTED"); !ok || strings.Contains(after, "sync(") {
			t.Errorf("fsync %d fails: it was asked again: %s", when, after)
		}
		s := openTest(t, path)
		n := checkPairs(t, s, "a")
		if len(acks) == 0 || n < int64(len(acks)) {
			t.Errorf("fsync %d fails: got %d trials, %d were acknowledged", when, n, len(acks))
		}
		checkFsck(t, s)
	}
}

// fastDir returns a directory for tests that do not depend on a disk: in memory
// where there is one.
func fastDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(testbed.Memory(), "store-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
