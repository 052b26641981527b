package proc_test

import (
	"bytes"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/proc"
)

func TestParse(t *testing.T) {
	f := "12 (a) b (c\n) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21\n"
	p, ok := proc.Parse([]byte(f))
	want := proc.Process{
		PID: 12, PPID: 1, Group: 2, Session: 3, State: 'R', Start: 4242,
		User: 110 * time.Millisecond, System: 120 * time.Millisecond,
		WaitedUser: 130 * time.Millisecond, WaitedSystem: 140 * time.Millisecond,
	}
	if !ok || p != want {
		t.Errorf("got %+v, %v, want %+v", p, ok, want)
	}
}

func TestOf(t *testing.T) {
	self, ok := proc.Of(os.Getpid())
	if !ok || self.PPID != os.Getppid() || self.Group != syscall.Getpgrp() || self.Dead() || self.Start == 0 {
		t.Errorf("of this process: %+v, %v", self, ok)
	}
	if !proc.Alive(self.PID, self.Start) || proc.Alive(self.PID, self.Start+1) || proc.Alive(0, 0) {
		t.Error("who is alive is not told apart")
	}
	if p, ok := proc.Of(0); ok {
		t.Errorf("of no process: %+v", p)
	}
	if !slices.ContainsFunc(proc.All(), func(p proc.Process) bool { return p.PID == self.PID && p.Start == self.Start }) {
		t.Error("this process is not among all")
	}
	if proc.Namespace() == 0 {
		t.Error("this process is in no namespace")
	}
}

func FuzzParse(f *testing.F) {
	self, _ := os.ReadFile("/proc/self/stat")
	f.Add(self)
	f.Add([]byte("1 ("))
	f.Add([]byte(") 1 ("))
	f.Add([]byte("1 () R 1 1 1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, ok := proc.Parse(b)
		if ok && (!bytes.Contains(b, []byte{p.State}) || len(bytes.Fields(b)) < 20) {
			t.Errorf("%q is read as %+v", b, p)
		}
	})
}
