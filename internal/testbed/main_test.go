package testbed

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) { Main(m) }

// leaveEnv has TestLeaves leave something behind.
const leaveEnv = "TESTBED_LEAVES"

// TestLeaves is the test that [TestNothingIsLeftBehind] runs in processes of its own.
func TestLeaves(t *testing.T) {
	start := func(command string) { // its process is a child, or an orphan after "&"
		if err := exec.Command("setsid", "sh", "-c", command).Start(); err != nil {
			t.Fatal(err)
		}
	}
	switch os.Getenv(leaveEnv) {
	case "process":
		start("exec sleep 600")
	case "daemon":
		start("sleep 600 & exit")
	case "short lived":
		start("sleep 0.2 & exit")
	case "file":
		if err := os.WriteFile(filepath.Join(os.TempDir(), "forgotten"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	case "failure":
		start("exec sleep 600")
		t.Error("it fails")
	case "panic":
		start("exec sleep 600")
		panic("it panics")
	case "hangup":
		if err := exec.Command("sh", "-c", "kill -HUP $$; echo not killed").Run(); err == nil {
			t.Error("SIGHUP is ignored in a program that a test started")
		}
	case "wait":
		if err := exec.Command("setsid", "sh", "-c", "sleep 600 & exit").Run(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(os.TempDir(), "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		println("ready")
		time.Sleep(10 * time.Minute)
	}
}

// leaving returns the command of a package whose test leaves what, and the TMPDIR of its supervisor.
func leaving(t *testing.T, what string, wrapper ...string) (*exec.Cmd, string) {
	t.Helper()
	dir := t.TempDir()
	argv := append(wrapper, os.Args[0], "-test.run=^TestLeaves$")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), leaveEnv+"="+what, "TMPDIR="+dir)
	if what == "process" || what == "daemon" {
		cmd.Env = append(cmd.Env, lingerEnv+"=1s")
	}
	return cmd, dir
}

// empty fails the test if a folder is not empty.
func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("TMPDIR has %v, %v", left, err)
	}
}

// Main finds a child, a daemon and a file that a test left, and removes them. It accepts a process that ends soon.
func TestNothingIsLeftBehind(t *testing.T) {
	Program(t, "setsid")
	for what, want := range map[string]string{
		"": "", "short lived": "", "process": "a process is left behind", "daemon": "a process is left behind",
		"file": "a file is left behind in TMPDIR: forgotten", "failure": "it fails", "panic": "it panics",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			cmd, dir := leaving(t, what)
			out, err := cmd.CombinedOutput()
			if (err == nil) != (want == "") || !strings.Contains(string(out), want) {
				t.Errorf("%v: %s", err, out)
			}
			empty(t, dir)
			for _, pid := range Descendants(os.Getpid()) {
				if env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); strings.Contains(string(env), "TMPDIR="+dir) {
					t.Errorf("process %d is alive", pid)
				}
			}
		})
	}
}

// A supervisor that is ended by a signal leaves nothing, whichever signal it is.
func TestInterruptLeavesNothing(t *testing.T) {
	Program(t, "setsid")
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			cmd, dir := leaving(t, "wait")
			r, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(r).ReadString('\n'); line != "ready\n" {
				t.Fatalf("%q, %v", line, err)
			}
			below := Descendants(cmd.Process.Pid)
			if len(below) < 2 { // the tests and their daemon
				t.Fatalf("below the supervisor: %v", below)
			}
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 128+int(s) {
				t.Errorf("it ended with %v", err)
			}
			for _, pid := range below {
				// A zombie is reaped by the supervisor of this test at once.
				for end := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil; time.Sleep(time.Millisecond) {
					if stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); !strings.Contains(string(stat), ") Z ") {
						t.Fatalf("process %d is alive: %s", pid, stat)
					} else if time.Now().After(end) {
						t.Fatalf("process %d is a zombie for a minute", pid)
					}
				}
			}
			empty(t, dir)
		})
	}
}

// A process that a test starts has the default action of SIGHUP, also below nohup.
func TestSignalsAreNotInherited(t *testing.T) {
	Program(t, "setsid")
	cmd, _ := leaving(t, "hangup", "sh", "-c", `trap '' HUP; exec "$@"`, "sh")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// go test -short fails for a package that starts a process.
func TestShortStartsNoProcess(t *testing.T) {
	Program(t, "setsid")
	cmd, _ := leaving(t, "short lived")
	cmd.Args = append(cmd.Args, "-test.short")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "testbed.Outside") {
		t.Errorf("%v: %s", err, out)
	}
}
