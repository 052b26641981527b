package workbench

import (
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// cpuOf returns the processor time that the processes of a session have used.
func cpuOf(session int) time.Duration {
	var used time.Duration
	for _, p := range sessionOf(session) {
		used += p.User + p.System
	}
	return used
}

// startOnOne starts a command on one processor, as the bench does for shares of one.
func startOnOne(cmd *exec.Cmd) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // and the thread ends with its limit
		if err := limitProcessors(1); err != nil {
			started <- err
			return
		}
		started <- cmd.Start()
	}()
	return <-started
}

// A program that computes gets its share of the time, with all its children, and
// goes on when the cycle has ended. The least of a few runs counts, since we wake up late to stop
// it if the machine is busy.
func TestDutyCycle(t *testing.T) {
	for _, share := range []float64{0.25, 0.5} {
		most := share*1.1 + 0.02
		least := dutyShare(t, share)
		for n := 1; n < 8 && least > most; n++ {
			least = min(least, dutyShare(t, share))
		}
		if least > most {
			t.Errorf("asked %g, got %g", share, least)
		}
	}
}

// dutyShare returns the share of one processor that a program of two processes
// gets under a duty cycle.
func dutyShare(t *testing.T, share float64) float64 {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", `(while :; do :; done) & while :; do :; done`)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := startOnOne(cmd); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	before, began := cpuOf(cmd.Process.Pid), time.Now()
	d := startDuty(cmd.Process.Pid, share)
	time.Sleep(15 * dutyPeriod)
	used, took := cpuOf(cmd.Process.Pid)-before, time.Since(began)
	d.stop()
	d.stop() // harmless
	for _, p := range sessionOf(cmd.Process.Pid) {
		if p.State == 'T' {
			t.Errorf("process %d is left stopped", p.PID)
		}
	}
	got := used.Seconds() / took.Seconds()
	t.Logf("asked %g: %.3f", share, got)
	return got
}

// A cycle ends with the program.
func TestDutyCycleOfNothing(t *testing.T) {
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	d := startDuty(cmd.Process.Pid, 0.5)
	select {
	case <-d.done:
	case <-time.After(time.Minute):
		t.Error("it goes on")
	}
}
