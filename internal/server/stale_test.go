package server_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/server"
	"github.com/assay-run/assay/setup"
)

// staleLease is how long a worker may be silent in these tests.
const staleLease = 2 * time.Second

// napping is a study of programs that take 0.1 to 0.6 s and print how long they took since the start of their process.
func napping(seed, trials, parallel int) string {
	const program = `sleep 0.$((1 + $1 % 6)); set -- $(cat /proc/$$/stat); read up idle </proc/uptime; shift 21; ` +
		`echo own $((($(echo $up | tr -d .) - $1) * 10))`
	return trivial("sh, -c, '"+program+"', sh, '{n}'", seed, trials, parallel) +
		"metrics: {own: 'stdout:/own ([0-9]+)/'}\n"
}

// An away has a worker be away for a while, again and again, and counts.
type away struct {
	times atomic.Int64
	wg    sync.WaitGroup
}

// begin has a worker be away for one and a half leases, for less than one and for three, in turn, until over is closed
// or it was so often.
func (a *away) begin(i, most int, over <-chan struct{}, leave, back func() error, t *testing.T) {
	rng := rand.New(rand.NewPCG(7, uint64(i)))
	a.wg.Go(func() {
		for n := i; a.times.Load() < int64(most); n++ {
			wait := time.Duration(rng.Int64N(int64(2 * time.Second))) // in the midst of a run, or before it
			select {
			case <-over:
				return
			case <-time.After(wait):
			}
			if err := leave(); err != nil {
				t.Errorf("worker %d cannot be sent away: %v", i, err)
				return
			}
			time.Sleep([]time.Duration{staleLease * 3 / 2, staleLease * 4 / 5, staleLease * 3}[n%3])
			if err := back(); err != nil {
				t.Errorf("worker %d cannot be brought back: %v", i, err)
				return
			}
			a.times.Add(1)
		}
	})
}

// A stale counts the attempts in the record of a study that were taken for lost and came back.
type stale struct {
	counted   map[assay.RunID]assay.AttemptEnd // by the run: the attempt is 0
	lost      map[assay.RunID]bool             // attempts
	back      int                              // outcomes of attempts that had been taken for lost
	overwrote int                              // of these, or of others, one that counts beside one that counted before
	wasted    int                              // outcomes that were thrown away though none of their run counted
	longer    []string                         // measurements that are much longer than the program took
}

// steady is the worker that is never away. Its measurements show how much longer than its program a run takes for
// another reason, such as a busy machine.
const steady = "w0"

// delays runs a short program, like the programs of [napping], again and again until the function that it returns is
// called. That function returns the longest time that the program took. A busy machine may delay the start and the end
// of a run by as much.
func delays(t *testing.T) (longest func() time.Duration) {
	over, worst := make(chan struct{}), make(chan time.Duration, 1)
	stop := sync.OnceFunc(func() { close(over) })
	t.Cleanup(stop)
	go func() {
		most := time.Duration(0)
		for {
			began := time.Now()
			cmd := exec.Command("sh", "-c", "echo $(cat /proc/uptime)")
			cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true} // as runs have it
			_ = cmd.Run()
			most = max(most, time.Since(began))
			select {
			case <-over:
				worst <- most
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() time.Duration { stop(); return <-worst }
}

// longer returns how much longer than its program a run took, by its booking; 0 if the program did not print it.
func longer(b *assay.AttemptEnd) time.Duration {
	own, ok := b.Measurement.Metrics["own"]
	if !ok {
		return 0
	}
	return b.Measurement.Elapsed - time.Duration(own)*time.Millisecond
}

// usual returns the most by which a run of the steady worker took longer than its program.
func usual(all []assay.Event) (most time.Duration) {
	for _, e := range all {
		if b := e.Booked; b != nil && b.Worker == steady && b.Counts() {
			most = max(most, longer(b))
		}
	}
	return most
}

// readStale reads a record. delay is how much longer than its program a run may take since the machine is busy.
func readStale(all []assay.Event, delay time.Duration) *stale {
	s := &stale{counted: map[assay.RunID]assay.AttemptEnd{}, lost: map[assay.RunID]bool{}}
	for _, e := range all {
		b := e.Booked
		if b == nil {
			continue
		}
		run := b.RunID
		run.Attempt = 0
		_, before := s.counted[run]
		if b.Why == "lost" {
			s.lost[b.RunID] = true
			continue
		}
		if s.lost[b.RunID] {
			s.back++
		}
		switch {
		case b.Counts():
			if before {
				s.overwrote++
			}
			s.counted[run] = *b
			if d := longer(b); d > staleLease*6/10+delay {
				s.longer = append(s.longer, fmt.Sprintf("%v on %s: %v of %v", b.RunID, b.Worker, d, b.Measurement.Elapsed))
			}
		case b.Why == "" && !before:
			s.wasted++
		}
	}
	return s
}

// staleRecords ends the studies, and fails if a worker that was away has changed a result that counts, or if a run was
// measured for longer than its program took by much more than the machine delays any. It logs its counts.
func staleRecords(
	t *testing.T, l lab, end func(), delayed func() time.Duration, what string, times int64, names ...string,
) {
	t.Helper()
	for i, name := range names { // they end
		d, err := l.Study(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		l.submit(t, name, napping(i, int(d.Study.Done)+4, 8))
	}
	l.ended(t, names...)
	end()
	store, err := setup.OpenStore(t.Context(), filepath.Join(l.dir, "assay.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	trials, lost, back, overwrote, wasted := 0, 0, 0, 0, 0
	records := map[string][]assay.Event{}
	delay := delayed()
	for _, name := range names {
		all, _, ledger := audited(t, store, name)
		records[name], trials, delay = all, trials+len(ledger.told), max(delay, usual(all))
	}
	for name, all := range records {
		s := readStale(all, delay)
		if s.overwrote > 0 || s.wasted > 0 || len(s.longer) > 0 {
			t.Errorf("%s: %d stale outcomes were accepted, %d thrown away though no newer one was there, longer "+
				"than the program took: %q, and the machine delayed one by %v", name, s.overwrote, s.wasted, s.longer, delay)
		}
		lost, back = lost+len(s.lost), back+s.back
		overwrote, wasted = overwrote+s.overwrote, wasted+s.wasted
		staleControl(t, all)
	}
	if lost == 0 {
		t.Errorf("no attempt was lost: nobody was away")
	}
	t.Logf("counted: %s %d times, %d trials, %d attempts taken for lost, %d of them came back; %d stale outcomes "+
		"accepted, "+
		"%d thrown away without a newer one; the control sees both; the machine delayed a program by at most %v",
		what, times, trials, lost, back, overwrote, wasted, delay)
}

// staleControl has the record falsified: an outcome that counts again, and one that was thrown away before any
// counted.
func staleControl(t *testing.T, all []assay.Event) {
	t.Helper()
	for i, e := range all {
		if e.Booked == nil || !e.Booked.Counts() {
			continue
		}
		twice := append(all[:i:i], append([]assay.Event{e}, all[i:]...)...)
		if readStale(twice, 0).overwrote == 0 {
			t.Fatalf("nobody sees that event %d counts twice", i+1)
		}
		b := *e.Booked
		b.Extra = true
		if readStale(append(all[:i:i], assay.Event{Booked: &b}), 0).wasted == 0 {
			t.Fatalf("nobody sees that event %d was thrown away", i+1)
		}
		return
	}
	t.Fatal("nothing counts")
}

// awayTimes is how often workers are to be away.
func awayTimes() int {
	if os.Getenv("ASSAY_SOAK") != "" {
		return 500
	}
	return 5
}

// Workers are stopped for longer than their leases in the midst of runs, which end meanwhile, and go on: no later
// message of theirs overwrites a measurement of another worker, nothing is lost for it, and no run seems to have
// taken longer than its program did.
func TestWorkersFrozen(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it stops processes for a quarter of a minute")
	}
	t.Setenv("ASSAY_TEST_LEASE", staleLease.String())
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	_, c, end := start(t, dir, 0)
	l := lab{c, dir}
	names := []string{"s0", "s1"}
	for i, name := range names {
		l.submit(t, name, napping(i, 1_000_000, 4))
	}
	var a away
	over := make(chan struct{})
	delayed := delays(t)
	for i := range 8 {
		p := process(t, dir, fmt.Sprint("w", i)).Process
		if i == 0 {
			continue // the steady one
		}
		send := func(s os.Signal) func() error { return func() error { return p.Signal(s) } }
		a.begin(i, awayTimes(), over, send(unix.SIGSTOP), send(unix.SIGCONT), t)
	}
	a.wg.Wait()
	close(over)
	staleRecords(t, l, end, delayed, "workers were stopped", a.times.Load(), names...)
}

// inNetns starts this test again in a network namespace of its own, and returns false there.
func inNetns(t *testing.T) (outside bool) {
	t.Helper()
	if os.Getenv("ASSAY_TEST_NETNS") != "" {
		return false
	}
	for _, program := range []string{"unshare", "nsenter", "ip"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED, NOT TESTED: no %s", program)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: a network of its own needs root")
	}
	if out, err := exec.Command("unshare", "-n", "ip", "link", "add", "v", "type", "veth").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: no link between networks can be made here: %v: %s", err, out)
	}
	cmd := exec.Command("unshare", "-n", os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v", "-test.timeout", "2h")
	cmd.Env = append(os.Environ(), "ASSAY_TEST_NETNS=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, text, found := strings.Cut(string(out), "counted: ")
	text, _, _ = strings.Cut(text, "\n")
	if !found {
		t.Fatalf("nothing was counted:\n%s", out)
	}
	t.Log("counted: " + text)
	return true
}

// tools runs commands, a line each.
func tools(t *testing.T, format string, args ...any) {
	t.Helper()
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		if f := strings.Fields(line); len(f) > 0 {
			if out, err := exec.Command(f[0], f[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", strings.TrimSpace(line), err, out)
			}
		}
	}
}

// Workers whose link is taken down for longer than their leases go on with their runs: their messages when it is up
// again overwrite nothing, and their measurements count if no newer one does. It needs root, for networks.
func TestWorkersCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes links down for a quarter of a minute")
	}
	if inNetns(t) {
		return
	}
	tools(t, "ip link set lo up")
	const machines = 6
	// The server has an address of its own, to which each worker has a link.
	tools(t, "ip addr add 10.99.0.1/32 dev lo")
	dir := filepath.Join(t.TempDir(), "d")
	if _, err := server.Init(dir, []string{"10.99.0.1"}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ASSAY_TEST_LEASE", staleLease.String())
	t.Setenv("ASSAY_TEST_LISTEN", "10.99.0.1:27431")
	_, c, end := start(t, dir, 0)
	l := lab{c, dir}
	s, err := c.AddToken(t.Context(), api.NewToken{Name: "rack", Role: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(dir, "rack.token")
	if err := os.WriteFile(token, []byte(s.Secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ASSAY_TEST_TOKEN", token)
	t.Setenv("ASSAY_TEST_AT", "tls://10.99.0.1:27432")
	names := []string{"s0", "s1"}
	for i, name := range names {
		l.submit(t, name, napping(i, 1_000_000, 3))
	}
	var a away
	over := make(chan struct{})
	delayed := delays(t)
	for i := range machines {
		link := fmt.Sprint("v", i)
		apart(t, dir, i)
		if i == 0 {
			continue // the steady one
		}
		set := func(to string) func() error {
			return func() error { return exec.Command("ip", "link", "set", link, to).Run() }
		}
		a.begin(i, awayTimes(), over, set("down"), set("up"), t)
	}
	a.wg.Wait()
	close(over)
	staleRecords(t, l, end, delayed, "links were taken down", a.times.Load(), names...)
}

// apart starts a worker in a network of its own, with a link to the server's.
func apart(t *testing.T, dir string, i int) {
	t.Helper()
	name := fmt.Sprint("w", i)
	cmd := exec.Command("unshare", "-n", "sh", "-c", `read go && exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), "ASSAY_TEST_WORKER="+dir, "ASSAY_TEST_NAME="+name)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Signal(unix.SIGTERM); _ = cmd.Wait() })
	pid := cmd.Process.Pid
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		own, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
		ours, _ := os.Readlink("/proc/self/ns/net")
		if err == nil && own != ours {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("worker %d has no network of its own: %v", i, err)
		}
	}
	tools(t, `ip link add v%[1]d type veth peer name e%[1]d
ip link set e%[1]d netns %[2]d
ip addr add 10.99.%[3]d.1/24 dev v%[1]d
ip link set v%[1]d up
nsenter -t %[2]d -n ip addr add 10.99.%[3]d.2/24 dev e%[1]d
nsenter -t %[2]d -n ip link set e%[1]d up
nsenter -t %[2]d -n ip route add default via 10.99.%[3]d.1
`, i, pid, i+1)
	if _, err := in.Write([]byte(strconv.Itoa(i) + "\n")); err != nil {
		t.Fatal(err)
	}
}
