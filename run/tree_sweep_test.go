package run

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/proc"
	"pgregory.net/rapid"
)

// toolEnv makes the test binary a tool that runs a hostile tree until it is
// killed: "OWNER TOKEN MODE". The owner is the study of the job, unless mode is "owner": then it is
// the owner of the runner.
const toolEnv = "ASSAY_TEST_TOOL"

// tool is the main function of that tool.
func tool(args string) {
	f := strings.Fields(args)
	opts, id := LocalOptions{Owner: "somebody", NoCgroup: f[2] == "scan"},
		assay.RunID{Study: f[0], Trial: 1, Attempt: 1}
	if f[2] == "owner" {
		opts.Owner, id = f[0], assay.RunID{}
	}
	l, err := NewLocal(opts)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	time.AfterFunc(30*time.Second, func() { os.Exit(1) }) // lest it outlive its test
	l.Run(context.Background(), assay.Job{ID: id, Argv: []string{"/bin/sh", "-c", hostile, "sh", f[1], "stay"}}, nil)
}

// The next sweep ends the processes that a killed tool has left, in 5 s at most, however hostile they are. It finds a
// process that has cleared its environment only by cgroups.
func TestSweepEndsWhatAKilledToolHasLeft(t *testing.T) {
	tools := 1
	if os.Getenv("ASSAY_SOAK") == "1" {
		tools = 50
	}
	for _, mode := range []string{"cgroup", "owner", "scan", "any"} {
		t.Run(mode, func(t *testing.T) {
			for range tools {
				sweepHostile(t, mode)
			}
		})
	}
	t.Logf("counted: %d tools killed in each of 4 ways, with %d processes each", tools, hostileSize)
}

// sleeping returns how many of the processes with token in their command line have become sleep.
func sleeping(token string) (n int) {
	for _, pid := range withArg(token) {
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && string(name) == "sleep\n" {
			n++
		}
	}
	return n
}

func sweepHostile(t *testing.T, mode string) {
	if mode != "scan" && newLocal(t, LocalOptions{}).Cgroup() == "" {
		t.Skip("SKIPPED, NOT TESTED: this machine gives us no cgroup")
	}
	owner := fmt.Sprintf("study-%d", time.Now().UnixNano())
	token := fmt.Sprintf("1000.%d", time.Now().UnixNano())
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), toolEnv+"="+owner+" "+token+" "+mode)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Eight processes have no marker: they have cleared their environment.
	all := func() int { return len(withArg(token)) }
	deadline := time.Now().Add(10 * time.Second)
	// On the way there, shells that are about to end count in place of processes that have not started yet.
	there := func() bool { return all() == hostileSize && sleeping(token) == hostileSize-9 }
	for !there() && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if !there() {
		t.Fatalf("%d processes, %d of them asleep; want %d", all(), sleeping(token), hostileSize)
	}
	if s, err := Sweep(t.Context(), owner); err != nil || s != (Swept{}) || all() != hostileSize {
		t.Errorf("while the tool lives: %+v, %v, %d processes", s, err, all())
	}
	cmd.Process.Kill()
	cmd.Wait()
	for _, other := range []string{owner + "x", "somebody", ""} {
		// Tests beside this one may leave groups of these owners; our group is counted below.
		if s, err := Sweep(t.Context(), other); err != nil || s.Processes != 0 || all() != hostileSize {
			t.Errorf("another owner: %+v, %v, %d processes", s, err, all())
		}
	}
	began := time.Now()
	sweep := func() (Swept, error) { return Sweep(t.Context(), owner) }
	if mode == "any" {
		sweep = func() (Swept, error) { return SweepAll(t.Context()) }
	}
	s, err := sweep()
	if d := time.Since(began); err != nil || d > time.Minute {
		t.Errorf("%v after %v", err, d)
	}
	left := withArg(token)
	want, groups := 0, 1
	if mode == "scan" {
		want, groups = 8, 0
	}
	if len(left) != want || s.Groups != groups && (mode != "any" || s.Groups < groups) {
		t.Errorf("%d processes are left, want %d; %+v", len(left), want, s)
	}
	for _, pid := range left { // those that no sweep can know
		if st, ok := proc.Of(pid); ok {
			signalProcess(st, syscall.SIGKILL)
		}
	}
	// The killed tool was our child, so that we adopted its orphans, and not init.
	for wait := firstWait; len(withArg(token)) > 0; backoff(&wait) {
	}
	for _, z := range zombieChildren() {
		wait4(z.PID, 0, nil)
	}
}

// A marker that does not name a dead tool of this owner is no reason to end a
// process, whatever its process id.
func TestSweepSparesOthers(t *testing.T) {
	id, err := newRunnerID("me")
	if err != nil {
		t.Fatal(err)
	}
	alive, other, foreign, dead := id, id, id, id
	other.owner, other.start = hashOwner("other"), id.start+1
	foreign.space, foreign.start = id.space+1, id.start+1
	dead.start++
	n := 3
	if os.Getenv("ASSAY_SOAK") == "1" {
		n = 300
	}
	forged, wrong := 0, 0
	for range n {
		for _, mark := range []string{
			alive.marker(1), other.marker(1), foreign.marker(1), "", "x", "a.b.c.d.e-1",
			dead.marker(1)[1:],
		} {
			cmd := exec.Command("sleep", "30")
			cmd.Env = []string{markerName + "=" + mark}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if s, err := Sweep(t.Context(), "me"); err != nil || s.Processes != 0 {
				t.Errorf("marker %q: %+v, %v", mark, s, err)
			}
			if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
				t.Errorf("marker %q: the process is gone: %v", mark, err)
				wrong++
			}
			forged++
			cmd.Process.Kill()
			cmd.Wait()
		}
	}
	// The control: a dead tool's is ended.
	cmd := exec.Command("sleep", "30")
	cmd.Env = []string{markerName + "=" + dead.marker(1)}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go cmd.Wait()
	if s, err := Sweep(t.Context(), "me"); err != nil || s.Processes != 1 {
		t.Errorf("control: %+v, %v", s, err)
	}
	t.Logf("counted: %d forged or stale records, %d wrong kills; the control is ended", forged, wrong)
}

func TestRunnerIDRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := runnerID{
			hashOwner(rapid.String().Draw(t, "owner")), rapid.Uint64().Draw(t, "space"),
			rapid.IntRange(1, 1<<22).Draw(t, "pid"), rapid.Uint64().Draw(t, "start"), "0a1b2c3d",
		}
		for _, s := range []string{id.String(), id.marker(7), strings.TrimPrefix(id.group(), groupPrefix)} {
			if got, ok := parseRunnerID(s); !ok || got != id {
				t.Fatalf("%q is read as %+v, %v", s, got, ok)
			}
		}
	})
}

func FuzzParseRunnerID(f *testing.F) {
	f.Add("a.1.2") // cut off
	f.Add("cbf29ce484222325.4026531836.18555.267281.b959833f-1")
	f.Add("....-")
	f.Fuzz(func(t *testing.T, s string) {
		if id, ok := parseRunnerID(s); ok && (id.pid <= 0 || id.owner == "" || id.random == "") {
			t.Errorf("%q is read as %+v", s, id)
		}
	})
}

func TestDescendants(t *testing.T) {
	all := []proc.Process{
		{PID: 9, PPID: 8, Group: 9, Session: 9},
		{PID: 8, PPID: 2, Group: 8, Session: 8}, // listed before their parents
		{PID: 1, PPID: 0, Group: 1, Session: 1},
		{PID: 2, PPID: 1, Group: 2, Session: 2},
		{PID: 3, PPID: 1, Group: 2, Session: 2},
		{PID: 4, PPID: 1, Group: 4, Session: 4},
		{PID: 5, PPID: 3, Group: 4, Session: 4},
	}
	got := map[int]bool{}
	for _, s := range descendants(all, []int{2}) {
		got[s.PID] = true
	}
	if want := map[int]bool{2: true, 3: true, 5: true, 8: true, 9: true}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if d := descendants(all, nil); len(d) != 0 {
		t.Errorf("of nothing: %v", d)
	}
}

// The remains of a dead tool of another user are no reason not to run.
func TestSweepSparesAnotherUsersGroup(t *testing.T) {
	const again = "ASSAY_TEST_SWEEP_AS_NOBODY"
	if os.Getenv(again) != "" {
		if _, err := Sweep(t.Context(), "some"); err != nil {
			t.Fatal(err)
		}
		return
	}
	dir, _, err := proc.Self()
	if err != nil || os.Getuid() != 0 {
		t.Skipf("SKIPPED: it takes root and a cgroup: %v", err)
	}
	id := runnerID{owner: hashOwner("some"), space: pidSpace(), pid: 1 << 22, start: 1, random: "00000000"}
	group := filepath.Join(dir, id.group())
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("SKIPPED: no cgroup can be made: %v", err)
	}
	defer os.Remove(group)
	if err := os.Chmod("/proc/self/exe", 0o755); err != nil { //nolint:gosec // the umask may keep it from others
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "^TestSweepSparesAnotherUsersGroup$")
	cmd.Env, cmd.Dir = append(os.Environ(), again+"=1"), "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(group); err != nil {
		t.Error(err)
	}
}
