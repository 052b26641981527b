package workbench

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// cpuOf returns the processor time that a waited-for command has used.
func cpuOf(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// A program that computes gets its share of the time, with all its children, and
// goes on when the cycle has ended.
func TestDutyCycle(t *testing.T) {
	for _, share := range []float64{0.25, 0.5} {
		cmd := exec.Command("/bin/sh", "-c", `(while :; do :; done) & while :; do :; done`)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		d := startDuty(cmd.Process.Pid, share)
		time.Sleep(15 * dutyPeriod)
		d.stop()
		d.stop() // harmless
		took := time.Since(began)
		for _, pid := range sessionOf(cmd.Process.Pid) {
			if f := statOf(pid); len(f) > 0 && f[statState] == "T" {
				t.Errorf("process %d is left stopped", pid)
			}
		}
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		got := cpuOf(cmd).Seconds() / took.Seconds()
		t.Logf("asked %g: %.3f", share, got)
		// On a busy machine we wake up late to stop it.
		if os.Getenv("ASSAY_SOAK") != "" && got > share*1.1+0.02 {
			t.Errorf("asked %g, got %g", share, got)
		}
	}
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
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
}
