package workbench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/run"
	"golang.org/x/sys/unix"
)

// If the stage is killed, the program does not hang, and its run is an error, not
// a short one.
func TestStageDies(t *testing.T) {
	if err := canStage(); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: %v", err)
	}
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "in"), make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := run.NewLocal(run.LocalOptions{Owner: "workbench-stage"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b, err := New(Options{Runner: l, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	killed := make(chan bool)
	go func() {
		defer close(killed)
		for range 1000 {
			time.Sleep(10 * time.Millisecond)
			if _, err := os.Stat(filepath.Join(data, "started")); err != nil {
				continue
			}
			names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, name := range names {
				text, _ := os.ReadFile(name)
				pid := atoi(strings.Split(name, "/")[2])
				ours := func(id identity) bool { return id.pid == os.Getpid() }
				if strings.Contains(string(text), stageCommand) && markedBy(pid, ours) {
					unix.Kill(pid, unix.SIGKILL)
				}
			}
			return
		}
	}()
	began := time.Now()
	_, err = b.Run(t.Context(), assay.Job{
		Argv: []string{"/bin/sh", "-c", "touch started; cat in; sleep 0.3; cat in"}, Dir: data,
		Resources: map[string]float64{Bandwidth: 64e3}, // two minutes
	}, nil)
	<-killed
	if err == nil || !strings.Contains(err.Error(), "stage") || time.Since(began) > time.Minute {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	if groups, processes := remains(os.Getpid()); len(groups)+len(processes) > 0 {
		t.Errorf("left: %q, %q", groups, processes)
	}
}

func atoi(s string) (n int) {
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return n
}

// A stage that cannot be made is an error of the set-up in words.
func TestStageThatCannotBeMade(t *testing.T) {
	id, err := newIdentity()
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []stageSpec{
		{Data: "/no/such/data", Mount: t.TempDir()},
		{Data: t.TempDir(), Mount: "/no/such/mount"},
		{Data: t.TempDir(), Mount: t.TempDir(), Join: []string{"/no/such/group/cgroup.procs"}},
	} {
		s, err := startStage(t.Context(), id, spec)
		if err == nil {
			s.end()
			t.Errorf("%+v was made", spec)
		} else if !strings.Contains(err.Error(), "/no/such") || !strings.Contains(err.Error(), assay.ErrSetup.Error()) {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}
