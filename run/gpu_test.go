package run

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// fakeSMI puts a stand-in for nvidia-smi on the path, which runs a script for each call.
func fakeSMI(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script),
		0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
}

func gpuRun(t *testing.T, seconds string, env ...string) assay.Measurement {
	t.Helper()
	job := assay.Job{Argv: []string{"/bin/sleep", seconds}, Env: append(os.Environ(), env...)}
	job.Metrics = sources(t, "energy=gpu:energy", "power=gpu:power", "memory=gpu:memory", "busy=gpu:utilization")
	m, err := Metrics(newLocal(t, LocalOptions{})).Run(t.Context(), job, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const twoCards = `echo "$*" >>"$(dirname "$0")/asked"
while :; do printf '0, 100.00, 1000, 40\n1, 50.00, 500, 80\n'; sleep 0.1; done
`

// Two cards of constant power: their energy is power by time, whenever the readings come.
func TestGPU(t *testing.T) {
	fakeSMI(t, twoCards)
	m := gpuRun(t, "0.5")
	energy, power := m.Metrics["energy"], m.Metrics["power"]
	if want := 150 * m.Elapsed.Seconds(); !(math.Abs(energy/want-1) <= 0.01) || !(math.Abs(power/150-1) <= 0.01) {
		t.Errorf("%v J and %v W in %v, want %v J", energy, power, m.Elapsed, want)
	}
	if m.Metrics["memory"] != 1500<<20 || !(math.Abs(m.Metrics["busy"]-60) <= 1e-9) || len(m.Missing) > 0 {
		t.Errorf("%v, missing %v", m.Metrics, m.Missing)
	}
}

// The cards are those that the job may use.
func TestGPUVisible(t *testing.T) {
	fakeSMI(t, twoCards)
	gpuRun(t, "0.01", "CUDA_VISIBLE_DEVICES=1, GPU-a")
	dir, _, _ := strings.Cut(os.Getenv("PATH"), ":")
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	want := "--query-gpu=index,power.draw,memory.used,utilization.gpu --format=csv,noheader,nounits --id=1,GPU-a " +
		"--loop-ms=100\n"
	if err != nil || string(asked) != want {
		t.Errorf("asked %q, %v, want %q", asked, err, want)
	}
}

// A meter that fails costs the metric and not the run, and reports why.
func TestGPUMissing(t *testing.T) {
	for script, want := range map[string]string{
		"echo no driver >&2; exit 9":                             "nvidia-smi: exit status 9: no driver",
		"echo Failed to initialize NVML":                         "not a card, its power, memory and utilization",
		"while :; do echo '0, [N/A], [N/A], 5'; sleep 0.1; done": "the card does not report its energy",
		"echo '0, 10, 1, 1'; exec sleep 0.01": "the cards were not read all the time: nvidia-smi ended " +
			"by itself",
	} {
		fakeSMI(t, script)
		seconds := "0.01"
		if strings.Contains(want, "all the time") {
			seconds = "1.3"
		}
		m := gpuRun(t, seconds)
		if _, ok := m.Metrics["energy"]; ok || !strings.Contains(m.Missing["energy"], want) {
			t.Errorf("%s: %v, missing %v, want %s", script, m.Metrics, m.Missing, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if m := gpuRun(t, "0.01"); !strings.Contains(m.Missing["power"], "executable file not found") {
		t.Errorf("missing %v", m.Missing)
	}
}

// The integral, by hand: 100 W until second 1, rising to 200 W at second 2, and as much until the end.
func TestGPUEnergy(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(1000, int64(s*1e9)) }
	g := &gpuMeter{readings: []gpuReading{
		{at(0), 100, 5, 0}, {at(1), 100, 9, 100}, {at(2), 200, 7, 50}, {at(2.9), 200, 20, 50},
	}}
	for _, c := range []struct{ from, to, joules, memory float64 }{
		{0, 2, 250, 9}, {0, 3, 450, 20}, {0.5, 1, 50, 9}, {2, 3, 200, 20},
	} {
		j, err := g.value(assay.GPUEnergy, at(c.from), at(c.to))
		peak, _ := g.value(assay.GPUMemory, at(c.from), at(c.to))
		if err != nil || !(math.Abs(j-c.joules) <= 1e-6) || peak != c.memory {
			t.Errorf("from %v to %v: %v J and %v B, %v; want %v and %v", c.from, c.to, j, peak, err, c.joules, c.memory)
		}
	}
	if _, err := g.value(assay.GPUEnergy, at(0), at(20)); err == nil {
		t.Error("17 seconds without a reading were not noticed")
	}
}

// Every second reading of a run of hours goes, so that memory stays bounded.
func TestGPUKeeps(t *testing.T) {
	g := &gpuMeter{}
	for i := range 3 * gpuKept {
		g.keep(gpuReading{at: time.Unix(int64(i), 0), power: 10})
	}
	n := len(g.readings)
	j, err := g.value(assay.GPUEnergy, time.Unix(0, 0), g.readings[n-1].at)
	if want := 10 * g.readings[n-1].at.Sub(time.Unix(0, 0)).Seconds(); n > gpuKept || err != nil ||
		!(math.Abs(j/want-1) <= 1e-9) {
		t.Errorf("%d readings, %v J, %v, want %v", n, j, err, want)
	}
}
