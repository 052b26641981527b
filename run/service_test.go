package run

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// script1 returns sh -c TEXT.
func script1(text string) []string { return []string{"/bin/sh", "-c", text} }

// lives is a service that writes its process id to the file pid, prints ready, and writes to the
// file log when it receives SIGTERM. Its child must be ended too.
const lives = `trap 'echo stopped >>log; exit 0' TERM; sleep 1000 & echo $! >child; echo $$ >pid; echo ready;
	while :; do sleep 0.02; done`

// beside returns a job with a service in a new directory. Its run is text.
func beside(t *testing.T, start, text string) assay.Job {
	t.Helper()
	return assay.Job{
		ID: assay.RunID{Study: "s", Trial: 1, Attempt: 1}, Argv: script1(text), Dir: t.TempDir(),
		Grace:   50 * time.Millisecond,
		Service: &assay.Service{Start: script1(start), Ready: assay.Ready{Output: "read[y]", Within: 30 * time.Second}},
	}
}

// pidIn returns the process whose number is in a file of a job's directory, 0 without such a file.
func pidIn(job assay.Job, name string) int {
	text, _ := os.ReadFile(filepath.Join(job.Dir, name))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// isAlive reports whether there is a process of that number.
func isAlive(pid int) bool { return pid > 0 && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// textIn returns the text of a file in a job's directory.
func textIn(job assay.Job, name string) string {
	text, _ := os.ReadFile(filepath.Join(job.Dir, name))
	return string(text)
}

// hooksOn returns hooks around a Local whose services are not given long to end.
func hooksOn(t *testing.T, l *Local) *Hooks {
	h := WithHooks(Metrics(l))
	h.stopWithin, h.grace = 300*time.Millisecond, 200*time.Millisecond
	t.Cleanup(func() { h.Close() })
	return h
}

// A service runs while the job does, and all of it is gone afterwards.
func TestServiceSurroundsTheRun(t *testing.T) {
	eachMode(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		h := hooksOn(t, newRunner(LocalOptions{}))
		h.grace = 30 * time.Second // it ends at once, but for a busy machine
		job := beside(t, lives, `kill -0 $(cat pid) && kill -0 $(cat child) && echo served >>log`)
		job.Prepare, job.Cleanup = script1("echo prepared >>log"), script1("echo cleaned >>log")
		job.Warmup = 1
		m, err := h.Run(t.Context(), job, nil)
		if err != nil || m.ExitCode != 0 || m.Failure != nil {
			t.Fatalf("got %+v, %v", m, err)
		}
		if got, want := textIn(job, "log"), "prepared\nserved\nserved\nstopped\ncleaned\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		for _, name := range []string{"pid", "child"} {
			if pid := pidIn(job, name); pid == 0 || isAlive(pid) {
				t.Errorf("%s: process %d is left", name, pid)
			}
		}
		if x, ok := m.Metric("service_start"); !ok || x <= 0 {
			t.Errorf("service_start is %v, %v", x, ok)
		}
	})
}

// The resources that a service uses do not count for the run. The run waits until the service has used half a second.
func TestServiceIsMeasuredApart(t *testing.T) {
	bothEnds(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		h := hooksOn(t, newRunner(LocalOptions{}))
		job := beside(t, `echo $$ >pid; echo ready; while :; do :; done`,
			`until set -- $(cat /proc/$(cat pid)/stat) && [ "${14}" -ge 50 ]; do sleep 0.2; done`)
		m, err := h.Run(t.Context(), job, nil)
		if err != nil || m.Failure != nil {
			t.Fatalf("got %+v, %v", m.Failure, err)
		}
		if cpu, its := m.Metrics["cpu"], m.Metrics["service_cpu"]; its < 3*cpu || its == 0 || m.Metrics["service_rss"] == 0 {
			t.Errorf("a service that burns used %v s and %v B, the run that sleeps %v s", its, m.Metrics["service_rss"], cpu)
		}
	})
}

// Each way to be ready.
func TestServiceIsReady(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	free.Close()
	serve := "import socket,time; time.sleep(0.2); s=socket.socket(); s.setsockopt(1,2,1); " +
		"s.bind(('127.0.0.1'," + port + ")); s.listen(); time.sleep(100)"
	ask := "import socket; socket.create_connection(('127.0.0.1'," + port + "))"
	for name, tt := range map[string]struct {
		start []string
		ready assay.Ready
		run   []string
	}{
		"port": {[]string{"python3", "-c", serve}, assay.Ready{Port: port}, []string{"python3", "-c", ask}},
		"host and port": {
			[]string{"python3", "-c", serve},
			assay.Ready{Port: "127.0.0.1:" + port},
			[]string{"python3", "-c", ask},
		},
		"command": {
			script1("sleep 0.2; touch up; sleep 100"),
			assay.Ready{Command: []string{"test", "-e", "up"}},
			[]string{"test", "-e", "up"},
		},
		"output in pieces": {
			script1("printf 'rea' >&2; sleep 0.1; printf 'dy\\n' >&2; touch up; sleep 100"),
			assay.Ready{Output: "^ready\n"},
			[]string{"true"},
		},
		"output and command": {
			script1("echo ready; sleep 0.2; touch up; sleep 100"),
			assay.Ready{Output: "ready", Command: []string{"test", "-e", "up"}},
			[]string{"test", "-e", "up"},
		},
		"a start that ends": {
			script1("sleep 0.1; sleep 100 >/dev/null & touch up; echo $! >pid"),
			assay.Ready{},
			script1("test -e up && kill -0 $(cat pid)"),
		},
		"a start that ends, and a command": {
			script1("(sleep 0.2; touch up; sleep 100) & true"),
			assay.Ready{Command: []string{"test", "-e", "up"}},
			[]string{"test", "-e", "up"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(tt.start[0], "python") && !hasPython() {
				t.Skip("SKIPPED, NOT TESTED: there is no python3")
			}
			h := hooksOn(t, newLocal(t, LocalOptions{}))
			job := beside(t, "", "")
			job.Service.Start, job.Service.Ready, job.Argv = tt.start, tt.ready, tt.run
			m, err := h.Run(t.Context(), job, nil)
			if err != nil || m.ExitCode != 0 || m.Failure != nil {
				t.Errorf("got %+v, %v: %s", m.Failure, err, m.Stderr)
			}
			if pid := pidIn(job, "pid"); isAlive(pid) {
				t.Errorf("process %d is left", pid)
			}
		})
	}
}

func hasPython() bool { _, err := LookPath("python3", ""); return err == nil }

// A service that cannot be used makes a run that failed, with its last words, and leaves nothing.
func TestServiceFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	short := 200 * time.Millisecond
	for name, tt := range map[string]struct {
		start  string
		change func(*assay.Job)
		says   string
		output []string
	}{
		"never ready": {
			"echo loading; exec sleep 100", func(j *assay.Job) { j.Service.Ready.Within = short },
			"service was not ready within 200ms: /read[y]/ matches nothing that it printed",
			[]string{"loading"},
		},
		"its command fails": {
			"echo $$ >pid; exec sleep 100", func(j *assay.Job) {
				j.Service.Ready = assay.Ready{Command: script1("echo no table >&2; exit 7"), Within: time.Second}
			}, "service was not ready within 1s: ready exited with code 7: no table", nil,
		},
		"its port is silent": {
			"echo $$ >pid; exec sleep 100", func(j *assay.Job) { j.Service.Ready = assay.Ready{Port: "1", Within: short} },
			"service was not ready within 200ms: port 1 does not answer", nil,
		},
		"its port is taken": {
			"touch up", func(j *assay.Job) { j.Service.Ready = assay.Ready{Port: port} },
			"service: port " + port + " is taken: another program answers there", nil,
		},
		"its start goes on": {
			"exec sleep 100", func(j *assay.Job) { j.Service.Ready = assay.Ready{Within: short} },
			"service was not ready within 200ms: its start has not ended, and there is no ready to define when it can " +
				"be used",
			nil,
		},
		"ends before": {
			"echo one; echo bad flag >&2; exit 4", func(*assay.Job) {},
			"service ended before it was ready: it exited with code 4: bad flag",
			[]string{"one", "bad flag"},
		},
		"start fails and leaves something": {
			"sleep 100 & echo $! >pid; echo half >&2; exit 4", func(*assay.Job) {},
			"service: start exited with code 4: half",
			[]string{"half"},
		},
		"is not there": {
			"", func(j *assay.Job) { j.Service.Start = []string{"./none"} },
			`service ended before it was ready: program "./none" does not exist: file does not exist`, nil,
		},
		"dies": {
			"echo ready; sleep 0.2; echo out of memory >&2; exit 9", func(*assay.Job) {},
			"service ended during the run: it exited with code 9: out of memory",
			[]string{"ready", "out of memory"},
		},
		"is killed by the run": {
			"echo $$ >pid; echo ready; exec sleep 100", func(j *assay.Job) { j.Argv = script1("kill -9 $(cat pid); exit 1") },
			"service ended during the run: it was ended by SIGKILL: ready",
			[]string{"ready"},
		},
		"its stop fails": {
			lives, func(j *assay.Job) {
				j.Argv, j.Service.Stop = []string{"true"}, script1("echo refused >&2; exit 5")
			}, "service stop exited with code 5: refused", []string{"refused"},
		},
		"its stop hangs": {
			lives, func(j *assay.Job) { j.Argv, j.Service.Stop = []string{"true"}, []string{"sleep", "100"} },
			"service stop: time limit of ", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hooksOn(t, newLocal(t, LocalOptions{}))
			job := beside(t, tt.start, "echo ran >ran; exec sleep 100")
			job.Cleanup = script1("echo cleaned >log")
			tt.change(&job)
			m, err := h.Run(t.Context(), job, nil)
			f := m.Failure
			if err != nil || f == nil || f.Step != "service" || !strings.HasPrefix(f.Reason, tt.says) {
				t.Fatalf("got %+v, %v, want %s", f, err, tt.says)
			}
			if !slices.Equal(f.Output, tt.output) {
				t.Errorf("the last lines are %q, want %q", f.Output, tt.output)
			}
			if pid := pidIn(job, "pid"); isAlive(pid) {
				t.Errorf("process %d is left", pid)
			}
			if !strings.HasSuffix(textIn(job, "log"), "cleaned\n") {
				t.Error("there was no clean-up")
			}
			if before := !strings.Contains(tt.says, "during") && !strings.Contains(tt.says, "stop"); before &&
				textIn(job, "ran") != "" {
				t.Error("the run began without its service")
			}
		})
	}
}

// A stop command ends the service; nothing is signalled then.
func TestStopCommand(t *testing.T) {
	h := hooksOn(t, newLocal(t, LocalOptions{}))
	h.grace = 30 * time.Second
	job := beside(t, `trap 'echo signalled >>log' TERM; echo ready; while ! test -e down; do sleep 0.02; done; echo `+
		`down >>log`,
		"true")
	job.Service.Stop = []string{"touch", "down"}
	if m, err := h.Run(t.Context(), job, nil); err != nil || m.Failure != nil || textIn(job, "log") != "down\n" {
		t.Errorf("got %+v, %v, log %q", m.Failure, err, textIn(job, "log"))
	}
}

// A service with a key goes on for the next job of that key, and no longer.
func TestServiceIsKept(t *testing.T) {
	bothEnds(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		h := hooksOn(t, newRunner(LocalOptions{}))
		job := beside(t, lives, "cat pid")
		seen := map[int]bool{}
		run := func(key, argv string) (pid int) {
			job.Service.Key, job.Argv = key, script1(argv)
			m, err := h.Run(t.Context(), job, nil)
			if err != nil || m.Failure != nil {
				t.Fatalf("got %+v, %v", m.Failure, err)
			}
			pid, _ = strconv.Atoi(strings.TrimSpace(string(m.Stdout)))
			if _, started := m.Metric("service_start"); started == seen[pid] {
				t.Errorf("service %d: started is %v", pid, started)
			}
			seen[pid] = true
			return pid
		}
		a, again := run("a", "cat pid"), 0
		if again = run("a", "cat pid"); a != again || !isAlive(a) {
			t.Errorf("the service was %d and is %d", a, again)
		}
		b := run("b", "cat pid")
		if isAlive(a) || b == a {
			t.Errorf("service %d of a key that is over is alive; the next is %d", a, b)
		}
		if run("b", "cat pid; exit 3"); isAlive(b) {
			t.Errorf("service %d outlived a run that failed", b)
		}
		c := run("b", "cat pid")
		syscall.Kill(c, syscall.SIGKILL)
		for kept := h.slots.service(1); !kept.over(); {
			time.Sleep(time.Millisecond)
		}
		d := run("b", "cat pid")
		if c == d || !isAlive(d) {
			t.Errorf("a service that was killed between the runs is %d, then %d", c, d)
		}
		if err := h.Close(); err != nil || isAlive(d) || isAlive(pidIn(job, "child")) {
			t.Errorf("Close: %v; service %d is alive: %v", err, d, isAlive(d))
		}
	})
}

// A process that a preparation leaves running lives until the clean-up has ended.
func TestPreparationLeavesSomethingRunning(t *testing.T) {
	eachMode(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		h := hooksOn(t, newRunner(LocalOptions{}))
		job := beside(t, "", "kill -0 $(cat pid) && echo run >>log")
		job.Service, job.Limit = nil, 30*time.Second
		job.Prepare = script1(`setsid sleep 1000 >/dev/null 2>&1 & echo $! >pid; echo said`)
		job.Cleanup = script1("kill -0 $(cat pid) && echo cleanup >>log")
		m, err := h.Run(t.Context(), job, nil)
		if err != nil || m.Failure != nil || m.ExitCode != 0 || textIn(job, "log") != "run\ncleanup\n" {
			t.Errorf("got %+v, %v, log %q", m, err, textIn(job, "log"))
		}
		if pid := pidIn(job, "pid"); pid == 0 || isAlive(pid) {
			t.Errorf("process %d is left", pid)
		}
		job.Prepare = script1(`sleep 1000 & echo $! >pid; exit 6`)
		if m, err := h.Run(t.Context(), job, nil); err != nil || m.Failure == nil || isAlive(pidIn(job, "pid")) {
			t.Errorf("a preparation that fails: %+v, %v", m.Failure, err)
		}
	})
}

// A job that is cancelled leaves nothing, at whatever step it is.
func TestCancelWithService(t *testing.T) {
	for name, change := range map[string]func(*assay.Job){
		"run":     func(*assay.Job) {},
		"service": func(j *assay.Job) { j.Service.Ready.Output = "never" },
		"prepare": func(j *assay.Job) { j.Prepare = script1("sleep 1000 & echo $! >pid; touch up; wait") },
		"prepare that leaves": func(j *assay.Job) {
			j.Prepare = script1("sleep 1000 & echo $! >child")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hooksOn(t, newLocal(t, LocalOptions{}))
			job := beside(t, lives+" ", "touch up; exec sleep 100")
			job.Service.Start = script1("touch up; " + lives)
			job.Cleanup = script1("echo cleaned >>log")
			change(&job)
			ctx, cancel := context.WithCancelCause(t.Context())
			enough := errors.New("enough")
			go func() {
				for range 1000 {
					if _, err := os.Stat(filepath.Join(job.Dir, "up")); err == nil && pidIn(job, "pid") > 0 {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				cancel(enough)
			}()
			if _, err := h.Run(ctx, job, nil); !errors.Is(err, enough) {
				t.Errorf("got %v", err)
			}
			for _, file := range []string{"pid", "child"} {
				if pid := pidIn(job, file); isAlive(pid) {
					t.Errorf("%s: process %d is left", file, pid)
				}
			}
			if !strings.HasSuffix(textIn(job, "log"), "cleaned\n") {
				t.Error("there was no clean-up")
			}
		})
	}
}

// Jobs at once have slots of their own, whose number is in their texts and their environment.
func TestSlots(t *testing.T) {
	h := hooksOn(t, newLocal(t, LocalOptions{}))
	job := beside(t, "echo $ASSAY_SLOT >slot-$ASSAY_SLOT; echo ready; exec sleep 100", "")
	job.Argv = script1("echo " + assay.SlotMark + " $ASSAY_SLOT; cat slot-" + assay.SlotMark +
		"; touch here-$ASSAY_SLOT; while ! test -e here-1 || ! test -e here-2 || ! test -e here-3; do sleep 0.02; done")
	job.Limit = time.Minute
	var mu sync.Mutex
	var got []string
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			m, err := h.Run(t.Context(), job, nil)
			if err != nil || m.Failure != nil {
				t.Errorf("got %+v, %v", m.Failure, err)
			}
			mu.Lock()
			got = append(got, string(m.Stdout))
			mu.Unlock()
		})
	}
	wg.Wait()
	slices.Sort(got)
	if want := []string{"1 1\n1\n", "2 2\n2\n", "3 3\n3\n"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A runner that cannot leave a service running reports that, whatever the configuration.
func TestServiceNeedsARunnerThatCanKeep(t *testing.T) {
	job := assay.Job{Argv: []string{"job"}, Service: &assay.Service{Start: []string{"server"}}}
	if _, err := WithHooks(&script{}).Run(t.Context(), job, nil); !errors.Is(err, assay.ErrSetup) {
		t.Errorf("got %v", err)
	}
}

// A step without a limit is reported after a while, once. A step that is known to take long is not.
func TestWaitingIsSaid(t *testing.T) {
	job := assay.Job{ID: assay.RunID{Trial: 3}, Argv: []string{"redis-benchmark", "-p", "7401"}}
	want := `trial 3: waiting for 1m0s for the prepare (process 7): "redis-benchmark -p 7401"; nothing limits it: ` +
		`--timeout would`
	if got := waitingText("prepare", job, 7, time.Minute); got != want {
		t.Errorf("got %s", got)
	}
	var w waits
	if d := w.after("run"); d != time.Minute {
		t.Errorf("got %v at first", d)
	}
	w.took("run", time.Hour)
	w.took("run", time.Second)
	if d, other := w.after("run"), w.after("prepare"); d != 10*time.Hour || other != time.Minute {
		t.Errorf("after runs of an hour: %v, %v", d, other)
	}
	said := make(chan string, 9)
	l := newLocal(t, LocalOptions{Waiting: func(text string) { said <- text }})
	l.waits.shortest = 50 * time.Millisecond
	h := WithHooks(l)
	job = assay.Job{Argv: []string{"sleep", "0.3"}}
	for _, limit := range []time.Duration{0, time.Minute} {
		job.Limit = limit
		if _, err := h.Run(t.Context(), job, nil); err != nil {
			t.Fatal(err)
		}
	}
	if text := <-said; len(said) > 0 || !strings.Contains(text, "for the run (process ") ||
		!strings.Contains(text, `"sleep 0.3"`) {
		t.Errorf("said %q and %d more", text, len(said))
	}
}
