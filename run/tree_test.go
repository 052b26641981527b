package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/proc"
)

// hostile is a script that becomes a tree of hostileSize processes, which ignore
// SIGTERM: sessions of their own, double forks, cleared environments. $1 is a
// number that the command line of each of them has in it, for ever a sleeping
// time; $2 decides how the main process goes on.
const hostile = `
trap '' TERM INT HUP QUIT
for i in 1 2 3 4 5 6 7 8; do
	setsid sh -c 'trap "" TERM INT HUP
		(sleep $1 & sleep $1 &)
		(setsid sleep $1 &)
		(env -i setsid sleep $1 &)
		sleep $1; :' sh $1 &
done
if [ "$2" = stay ]; then sleep 1000; fi
until [ -e "$2" ]; do sleep 0.01; done
exit 0
`

// hostileSize counts 8 shells with 5 sleeping processes each, and the main one.
const hostileSize = 8*6 + 1

// withArg returns the live processes that have token in their command line.
func withArg(token string) []int {
	var pids []int
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		line, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(line, []byte(token)) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if s, ok := proc.Of(pid); ok && !s.Dead() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// zombieChildren returns the children of this process in other sessions that have ended and have not been waited for.
func zombieChildren() (z []proc.Process) {
	for _, s := range proc.All() {
		if s.PPID == os.Getpid() && s.Dead() && s.Session != ownSession() {
			z = append(z, s)
		}
	}
	return z
}

// cycles is how often a tree is ended in one way.
func cycles() int {
	if os.Getenv("ASSAY_SOAK") == "1" {
		return 100
	}
	return 10
}

func TestHostileTreeLeavesNothing(t *testing.T) {
	ways := []struct {
		name  string
		grace time.Duration
	}{{"cancel", 0}, {"limit", 0}, {"exit", 0}, {"cancel after grace", 50 * time.Millisecond}}
	bothEnds(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		l := newRunner(LocalOptions{})
		n := cycles()
		var worst time.Duration
		for i := range n {
			way := ways[i%len(ways)]
			took, complete := time.Duration(0), false
			for limit := time.Second; !complete; limit *= 2 { // a busy machine takes seconds to start a tree
				took, complete = endHostile(t, l, way.name, way.grace, limit)
				if !complete && (way.name != "limit" || limit > time.Minute) {
					t.Fatalf("%s: the tree had fewer than %d processes", way.name, hostileSize)
				}
			}
			worst = max(worst, took-way.grace)
		}
		t.Logf("%d trees of %d processes, slowest end %v", n, hostileSize, worst)
		if worst > 20*time.Second { // the tree would go on for longer
			t.Errorf("the slowest end took %v", worst)
		}
	})
}

// endHostile runs a hostile tree and has it ended in the given way once it is complete, or after limit if the way is
// "limit". It checks that nothing is left. It returns how long the end took, and whether the tree was complete.
func endHostile(
	t *testing.T, l *Local, way string, grace, limit time.Duration,
) (took time.Duration, complete bool) {
	t.Helper()
	token := fmt.Sprintf("1000.%d", time.Now().UnixNano())
	flag := filepath.Join(t.TempDir(), "end")
	mode := "stay"
	if way == "exit" {
		mode = flag
	}
	job := assay.Job{Argv: []string{"/bin/sh", "-c", hostile, "sh", token, mode}, Grace: grace}
	cause := errors.New("early stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	began, returned := make(chan time.Time, 1), make(chan struct{})
	go func() {
		n, deadline := 0, time.Now().Add(time.Minute)
		for n < hostileSize && time.Now().Before(deadline) {
			select {
			case <-returned:
				deadline = time.Time{}
			case <-time.After(10 * time.Millisecond):
				n = max(n, len(withArg(token)))
			}
		}
		complete = n >= hostileSize
		began <- time.Now()
		switch way {
		case "exit":
			os.WriteFile(flag, nil, 0o644)
		case "limit": // passes by itself
		default:
			cancel(cause)
		}
	}()
	if way == "limit" {
		job.Limit = limit
		cause = assay.ErrLimit
	}
	start := time.Now()
	m, err := l.Run(ctx, job, nil)
	end := time.Now()
	close(returned)
	if left := withArg(token); len(left) > 0 {
		t.Errorf("%s: %d processes are left", way, len(left))
	}
	if z := zombieChildren(); len(z) > 0 {
		t.Errorf("%s: %d zombies are left, %+v is the first", way, len(z), z[0])
	}
	if way == "exit" {
		if err != nil || m.ExitCode != 0 {
			t.Errorf("exit: %v, code %d", err, m.ExitCode)
		}
	} else if !errors.Is(err, cause) {
		t.Errorf("%s: got %v, want %v", way, err, cause)
	}
	at := <-began
	if way == "limit" {
		at = start.Add(job.Limit)
	}
	return end.Sub(at), complete
}

// bomb is a script that doubles its processes every $2 s, each in a session of
// its own, $1 times, and then goes on forking one after the other for a while. It
// is bounded, lest it be a danger where it is not ended: 2^$1 processes at most
// live at once, none for more than 3 s.
const bomb = `
next=$(($1 - 1))
if [ $1 -gt 0 ]; then
	sleep $2
	(setsid sh -c "$0" "$0" $next $2 $3 >/dev/null 2>&1 &)
	(setsid sh -c "$0" "$0" $next $2 $3 >/dev/null 2>&1 &)
	exit
fi
for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 0.05 &); sleep 0.01; done
sleep 1
`

// Processes that fork on and on are ended too.
func TestForkBombEnds(t *testing.T) {
	bothEnds(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		l := newRunner(LocalOptions{})
		for _, after := range []time.Duration{60, 130, 250} {
			token := fmt.Sprintf("%d", time.Now().UnixNano())
			ctx, cancel := context.WithTimeout(t.Context(), after*time.Millisecond)
			defer cancel()
			job := assay.Job{Argv: []string{
				"/bin/sh", "-c", `sh -c "$0" "$@"; sleep 30`, bomb, bomb, "6", "0.02",
				token,
			}}
			began := time.Now()
			_, err := l.Run(ctx, job, nil)
			took := time.Since(began) - after*time.Millisecond
			t.Logf("ended in %v", took)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			if left := withArg(token); len(left) > 0 {
				t.Errorf("%d processes are left", len(left))
			}
			if z := zombieChildren(); len(z) > 0 {
				t.Errorf("%d zombies are left", len(z))
			}
			if took > 20*time.Second { // the run would go on for 30 s
				t.Errorf("took %v to end", took)
			}
		}
	})
}

// Children that other parts of the program have started are neither ended nor
// waited for.
func TestForeignChildrenAreLeftAlone(t *testing.T) {
	bothEnds(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		l := newRunner(LocalOptions{})
		long := exec.Command("sleep", "100")
		if err := long.Start(); err != nil {
			t.Fatal(err)
		}
		ended := exec.Command("sh", "-c", "exit 5")
		if err := ended.Start(); err != nil {
			t.Fatal(err)
		}
		if _, complete := endHostile(t, l, "cancel", 0, 0); !complete {
			t.Errorf("the tree had fewer than %d processes", hostileSize)
		}
		var exit *exec.ExitError
		if err := ended.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 5 {
			t.Errorf("a child of os/exec that has ended: %v", err)
		}
		if err := long.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("a child of os/exec was ended: %v", err)
		}
		long.Process.Kill()
		if err := long.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("waiting for it: %v", err)
		}
	})
}

// Orphans that end while the run goes on are waited for before its end. The run ends when the test has seen it.
func TestOrphansAreWaitedForWhileTheRunGoesOn(t *testing.T) {
	bothEnds(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		l := newRunner(LocalOptions{})
		l.upkeep = 50 * time.Millisecond
		dir := t.TempDir()
		token := fmt.Sprintf("orphan.%d", time.Now().UnixNano())
		waited := make(chan bool, 1)
		go func() {
			until := time.Now().Add(30 * time.Second)
			for ; time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
				_, err := os.Stat(filepath.Join(dir, "made"))
				if err == nil && len(withArg(token)) == 1 && len(zombieChildren()) == 0 { // the shell of the run
					break
				}
			}
			waited <- time.Now().Before(until)
			_ = os.WriteFile(filepath.Join(dir, "end"), nil, 0o600)
		}()
		m, err := l.Run(t.Context(), assay.Job{Dir: dir, Argv: []string{
			"/bin/sh", "-c",
			`for i in 1 2 3 4 5; do (setsid sh -c : "$0" &); done; : >made; until [ -e end ]; do sleep 0.02; done`, token,
		}}, nil)
		if err != nil || m.ExitCode != 0 {
			t.Fatal(m, err)
		}
		if !<-waited {
			t.Error("orphans were not waited for while the run went on")
		}
		if n := len(zombieChildren()); n > 0 {
			t.Errorf("%d zombies at the end", n)
		}
	})
}

// The end of one of two trees that run at once ends that tree alone.
func TestTreesDoNotEndEachOther(t *testing.T) {
	bothEnds(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		l := newRunner(LocalOptions{})
		token := fmt.Sprintf("1000.%d", time.Now().UnixNano())
		ctx, cancel := context.WithCancel(t.Context())
		other := make(chan error, 1)
		go func() {
			_, err := l.Run(ctx, assay.Job{Argv: []string{"/bin/sh", "-c", hostile, "sh", token, "stay"}}, nil)
			other <- err
		}()
		deadline := time.Now().Add(10 * time.Second)
		for len(withArg(token)) < hostileSize && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
		if _, complete := endHostile(t, l, "cancel", 0, 0); !complete {
			t.Errorf("the tree had fewer than %d processes", hostileSize)
		}
		if n := len(withArg(token)); n != hostileSize {
			t.Errorf("the other tree has %d processes, want %d", n, hostileSize)
		}
		cancel()
		if err := <-other; !errors.Is(err, context.Canceled) {
			t.Errorf("the other run: %v", err)
		}
		if n := len(withArg(token)); n != 0 {
			t.Errorf("%d processes of the other tree are left", n)
		}
	})
}
