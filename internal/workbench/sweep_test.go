package workbench

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/run"
	"golang.org/x/sys/unix"
)

// startOwner starts a process that owns a run, and returns it once the program
// runs, with the processes of the run by the name of their command.
func startOwner(t *testing.T) (*exec.Cmd, string) {
	t.Helper()
	for _, a := range Attributes() {
		if a.Name == RTT && !a.Available {
			t.Skipf("SKIPPED, NOT TESTED: %s: %s", a.Name, a.Why)
		}
	}
	data := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), ownerEnv+"="+data)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if _, err := run.Sweep(context.Background(), ownerName); err != nil { // the remains of the inner runner
			t.Error(err)
		}
		if _, err := Sweep(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for deadline := time.Now().Add(20 * time.Second); ; {
		if _, err := os.Stat(filepath.Join(data, "started")); err == nil {
			return cmd, data
		}
		if time.Now().After(deadline) {
			t.Fatal("the program did not start")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// groupsOfRun is how many cgroups the run of an owner has here.
func groupsOfRun() (n int) {
	for _, controller := range controllers {
		if h, err := (machine{}).hierarchy(controller); err == nil && !h.v2 && h.writable() == nil {
			n++
		}
	}
	return n
}

// remains returns the remains of the runs of an owner: cgroups and processes.
func remains(pid int) (groups, processes []string) {
	of := func(id identity) bool { return id.pid == pid }
	filepath.WalkDir("/sys/fs/cgroup", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			if id, ok := groupIdentity(e.Name()); ok && of(id) {
				groups = append(groups, path)
			}
		}
		return nil
	})
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		p, _ := strconv.Atoi(filepath.Base(name))
		if markedBy(p, of) {
			cmdline, _ := os.ReadFile(name + "/cmdline")
			processes = append(processes, fmt.Sprintf("%d %s", p, strings.ReplaceAll(string(cmdline), "\x00", " ")))
		}
	}
	return groups, processes
}

// A killed owner leaves nothing: its stage cleans up.
func TestKilledOwner(t *testing.T) {
	owner, data := startOwner(t)
	groups, processes := remains(owner.Process.Pid)
	if len(groups) < groupsOfRun() || len(processes) < 3 { // stage, sh, sleep
		t.Errorf("the run has %q and %q", groups, processes)
	}
	if swept, err := Sweep(t.Context()); err != nil {
		t.Error(err)
	} else if g, p := remains(owner.Process.Pid); len(g) != len(groups) || len(p) < 3 {
		t.Errorf("a run whose owner lives was swept: %+v, %q, %q", swept, g, p)
	}
	owner.Process.Kill()
	owner.Wait()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		groups, processes = remains(owner.Process.Pid)
		if len(groups)+len(processes) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("left: %q, %q", groups, processes)
		}
	}
	if text, err := os.ReadFile("/proc/mounts"); err != nil || strings.Contains(string(text), data) {
		t.Errorf("a mount is left on %s: %v", data, err)
	}
}

// Sweep finds the remains if the stage is killed with the owner. An assay of another test may sweep them at the same
// moment, so a stage is killed until this sweep has ended all processes itself.
func TestKilledStage(t *testing.T) {
	for n := 1; ; n++ {
		swept := killStage(t)
		if swept.Groups >= groupsOfRun() && swept.Processes >= 2 {
			return
		}
		if n == 10 {
			t.Fatalf("swept %+v", swept)
		}
	}
}

// killStage kills an owner with its stage and sweeps the remains.
func killStage(t *testing.T) Swept {
	owner, _ := startOwner(t)
	_, processes := remains(owner.Process.Pid)
	for _, p := range processes {
		if pid, rest, _ := strings.Cut(p, " "); strings.Contains(rest, stageCommand) {
			n, _ := strconv.Atoi(pid)
			owner.Process.Signal(unix.SIGSTOP)
			unix.Kill(n, unix.SIGKILL)
			owner.Process.Kill()
			owner.Wait()
		}
	}
	var groups []string
	_, processes = remains(owner.Process.Pid)
	for end := time.Now().Add(2 * time.Second); len(processes) < 2 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // a process that becomes another has no environment for a moment
		_, processes = remains(owner.Process.Pid)
	}
	swept, err := Sweep(t.Context())
	if err != nil {
		t.Error(err)
	}
	groups, processes = remains(owner.Process.Pid)
	for end := time.Now().Add(10 * time.Second); len(groups)+len(processes) > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // of another sweep
		groups, processes = remains(owner.Process.Pid)
	}
	if len(groups)+len(processes) > 0 {
		t.Errorf("left: %q, %q", groups, processes)
	}
	return swept
}

func TestGroupNames(t *testing.T) {
	id, err := newIdentity()
	if err != nil {
		t.Fatal(err)
	}
	if id.stale() {
		t.Error("we are gone")
	}
	for _, name := range []string{groupPrefix + id.String(), groupPrefix + storagePrefix + id.String()} {
		if got, ok := groupIdentity(name); !ok || got != id {
			t.Errorf("%s is of %+v, %v", name, got, ok)
		}
	}
	other := id
	other.start++
	if !other.stale() {
		t.Error("a process that started at another time is taken for the owner")
	}
	if other.space++; other.stale() {
		t.Error("we judge a process of another PID namespace")
	}
}

func FuzzGroupIdentity(f *testing.F) {
	f.Add("assay-bench-4026531836.12.345.abcdef")
	f.Add("assay-bench-s-1.2.3.x")
	f.Add("assay-bench-")
	f.Fuzz(func(t *testing.T, name string) {
		id, ok := groupIdentity(name)
		if !ok {
			return
		}
		if id.pid <= 0 || id.random == "" {
			t.Errorf("%q is of %+v", name, id)
		}
		if again, ok := groupIdentity(groupPrefix + id.String()); !ok || again != id {
			t.Errorf("%q: %+v is read as %+v", name, id, again)
		}
	})
}

// Killed at any moment, an owner leaves nothing that the next sweep does not
// remove.
func TestKilledAtAnyTime(t *testing.T) {
	n := 6
	if os.Getenv("ASSAY_SOAK") != "" {
		n = 200
	}
	random := rand.New(rand.NewPCG(1, 2))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), ownerEnv+"="+t.TempDir())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		delay := time.Duration(random.IntN(200)) * time.Millisecond
		time.Sleep(delay)
		cmd.Process.Kill()
		cmd.Wait()
		// A process that was being born when its owner died is in no group yet: the next sweep finds it.
		for try := 0; ; try++ {
			if _, err := Sweep(t.Context()); err != nil {
				t.Errorf("after %v: %v", delay, err)
			}
			if _, err := run.Sweep(t.Context(), ownerName); err != nil {
				t.Error(err)
			}
			groups, processes := remains(cmd.Process.Pid)
			if len(groups)+len(processes) == 0 {
				break
			}
			if try == 20 {
				t.Errorf("after %v there are left %q and %q", delay, groups, processes)
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}
