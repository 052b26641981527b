package proc

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/testbed"
)

// newParent returns a parent group, or skips the test loudly.
func newParent(t *testing.T) *Parent {
	t.Helper()
	p, err := New("assay-test-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36))
	if err != nil {
		t.Skipf("SKIPPED, NOT TESTED: this machine gives us no cgroup: %v", err)
	}
	t.Cleanup(func() {
		if err := p.Remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(p.Dir()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", p.Dir(), err)
		}
	})
	return p
}

func TestKillEndsTheWholeTree(t *testing.T) {
	testbed.Outside(t)
	p := newParent(t)
	g, err := p.Group("a")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `setsid sh -c 'trap "" TERM; sleep 60 & setsid sleep 60 & wait' & sleep 60`)
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if got := Cgroup(cmd.Process.Pid); got != g.Path() {
		t.Errorf("the process is in %q, want %q", got, g.Path())
	}
	deadline := time.Now().Add(10 * time.Second)
	var pids []int
	for len(pids) < 5 && time.Now().Before(deadline) {
		if pids, err = g.Procs(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	if len(pids) < 5 || !slices.Contains(pids, cmd.Process.Pid) {
		t.Fatalf("processes %v, want 5 with %d among them", pids, cmd.Process.Pid)
	}
	if full, err := g.Populated(); err != nil || !full {
		t.Errorf("populated is %v, %v, want true", full, err)
	}
	if err := g.Kill(); err != nil {
		t.Fatal(err)
	}
	// The main process is not waited for yet: a zombie does not count.
	for {
		full, err := g.Populated()
		if err != nil {
			t.Fatal(err)
		}
		if !full {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("still populated after the kill")
		}
		time.Sleep(time.Millisecond)
	}
	if got := Cgroup(cmd.Process.Pid); got != g.Path() {
		t.Errorf("the zombie is in %q, want %q", got, g.Path())
	}
	cmd.Wait()
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
}

func TestCPUCountsEveryProcess(t *testing.T) {
	testbed.Outside(t)
	p := newParent(t)
	g, err := p.Group("a")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Remove()
	// The shell ignores no SIGCHLD, but its child is not waited for by us.
	cmd := exec.Command("/bin/sh", "-c", `i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done & wait`)
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	c, err := g.CPU()
	if err != nil {
		t.Fatal(err)
	}
	want := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if c.Total < want*8/10 || c.Total > want*12/10+5*time.Millisecond {
		t.Errorf("cpu.stat says %v, wait4 says %v", c.Total, want)
	}
}

func TestGroupThatCannotBeMade(t *testing.T) {
	p := newParent(t)
	g, err := p.Group("a")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Remove()
	if _, err := p.Group("a"); !errors.Is(err, os.ErrExist) {
		t.Errorf("a group of the same name: %v, want ErrExist", err)
	}
	if err := RemoveTree(p.Dir() + "/nothing"); err != nil {
		t.Errorf("removing nothing: %v", err)
	}
}

func TestParseCPU(t *testing.T) {
	got := parseCPU([]byte("usage_usec 30\nuser_usec 20\nsystem_usec 10\nnice_usec 5\ncore_sched.force_idle_usec 0\n"))
	if want := (CPU{30 * time.Microsecond, 20 * time.Microsecond, 10 * time.Microsecond}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := v2Path([]byte("9:name=systemd:/x\n0::/assay-1/0 (deleted)\n")); got != "/assay-1/0" {
		t.Errorf("v2Path gives %q", got)
	}
}

func FuzzFiles(f *testing.F) {
	f.Add("usage_usec 30\nuser_usec 20\n")
	f.Add("9:name=systemd:/x\n0::/assay-1/0 (deleted)\n")
	f.Fuzz(func(t *testing.T, s string) {
		parseCPU([]byte(s))
		if p := v2Path([]byte(s)); strings.Contains(p, "\n") {
			t.Errorf("v2Path(%q) = %q", s, p)
		}
	})
}

// A group that was not killed can be used again and again; a killed one reports
// that it is spent.
func TestReuse(t *testing.T) {
	testbed.Outside(t)
	p := newParent(t)
	g, err := p.Group("a")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Remove()
	for range 3 {
		cmd := exec.Command("/bin/sh", "-c", "exit 3")
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
		cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != 3 {
			t.Fatalf("exit code %d, want 3", code)
		}
	}
	if g.Spent() {
		t.Error("spent without a kill")
	}
	if err := g.Kill(); err != nil || !g.Spent() {
		t.Errorf("after Kill: %v, spent %v", err, g.Spent())
	}
}
