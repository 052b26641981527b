package run

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// burn is a script that uses about 0.05 s of processor time.
const burn = `i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done`

func mustRun(t *testing.T, l *Local, argv ...string) assay.Measurement {
	t.Helper()
	m, err := l.Run(t.Context(), assay.Job{Argv: argv, Dir: t.TempDir()}, nil)
	if err != nil || m.ExitCode != 0 {
		t.Fatalf("%q: code %d, %v, %s", argv, m.ExitCode, err, m.Stderr)
	}
	return m
}

// GNU time sees the same as we do, for a tree with children that were waited for.
func TestAgreesWithGNUTime(t *testing.T) {
	if _, err := os.Stat("/usr/bin/time"); err != nil {
		t.Skip("SKIPPED, NOT TESTED: there is no GNU time to compare with")
	}
	eachMode(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		l := newRunner(LocalOptions{})
		// Two of the same run may differ where the machine has more to do: a page that
		// was cached is read again between the one and the other.
		var differ []string
		for range 3 {
			if differ = differFromGNUTime(t, l); len(differ) == 0 {
				return
			}
		}
		t.Error(strings.Join(differ, "\n"))
	})
}

// differFromGNUTime returns the metrics of a measurement that differ from the measurement of GNU time.
func differFromGNUTime(t *testing.T, l *Local) (differ []string) {
	t.Helper()
	m := mustRun(t, l, "/usr/bin/time", "-f", "%U %S %M %I %O %w %c", "/bin/sh", "-c",
		burn+`; dd if=/dev/zero of=/dev/null bs=64M count=3 2>/dev/null; `+
			`dd if=/dev/zero of=file bs=1M count=8 conv=fsync 2>/dev/null`)
	var user, system, rss, in, out, wanted, forced float64
	if _, err := fmt.Sscan(string(m.Stderr), &user, &system, &rss, &in, &out, &wanted, &forced); err != nil {
		t.Fatalf("%q: %v", m.Stderr, err)
	}
	for _, c := range []struct {
		name           string
		want, slack    float64
		whyNotTheEqual string
	}{
		{"user", user, 0.03, "GNU time prints 1/100 s, and is itself in the tree"},
		{"system", system, 0.03, "the same"},
		{"cpu", user + system, 0.05, "the same"},
		{"max_rss", rss * 1024, 1 << 20, "pages of the libraries"},
		{"read_bytes", in * 512, 64 << 10, "GNU time itself is read"},
		{"write_bytes", out * 512, 64 << 10, ""},
		{"voluntary_switches", wanted, 10, "GNU time waits once"},
		{"involuntary_switches", forced, 20 + forced/4, "load, also while GNU time itself runs"},
	} {
		got, ok := m.Metric(c.name)
		if c.name == "max_rss" && !ok && !l.ExactRSS() {
			continue // below our own
		}
		if !ok || !(math.Abs(got-c.want) <= c.slack) {
			differ = append(differ, fmt.Sprintf("%s: got %v, GNU time says %v", c.name, got, c.want))
		}
	}
	if rss, ok := m.Metrics["max_rss"]; ok && rss < 64<<20 || m.Metrics["cpu"] < 0.01 {
		differ = append(differ, fmt.Sprintf("max_rss %v, cpu %v", m.Metrics["max_rss"], m.Metrics["cpu"]))
	}
	if !(math.Abs(m.Metrics["cpu"]-m.Metrics["user"]-m.Metrics["system"]) <= 1e-9) {
		differ = append(differ, fmt.Sprintf("cpu is %v of %v and %v", m.Metrics["cpu"], m.Metrics["user"],
			m.Metrics["system"]))
	}
	return differ
}

// A small program is seen to be small, however large the tool is.
func TestMaxRSSIsOfTheProgramNotOfTheTool(t *testing.T) {
	l := newLocal(t, LocalOptions{})
	if !l.ExactRSS() {
		t.Skip("SKIPPED, NOT TESTED: no launcher on this machine")
	}
	large := make([]byte, 64<<20)
	for i := 0; i < len(large); i += 512 {
		large[i] = 1
	}
	if got := mustRun(t, l, "true").Metrics["max_rss"]; got <= 0 || got > 8<<20 {
		t.Errorf("max_rss of true is %v B, want at most 8 MiB", got)
	}
	// Its value is not distinguished from our own if it is started directly.
	direct := newLocal(t, LocalOptions{Direct: true})
	if got, ok := mustRun(t, direct, "true").Metric("max_rss"); ok {
		t.Errorf("max_rss of true is %v B when it is started directly", got)
	}
	var ru syscall.Rusage
	cmd := exec.Command("true") // the control: the value of os/exec
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if ru = *cmd.ProcessState.SysUsage().(*syscall.Rusage); ru.Maxrss < 64<<10 {
		t.Errorf("control: os/exec says %d KiB, want at least the 64 MiB of this process", ru.Maxrss)
	}
	_ = large[len(large)-1]
}

// The use of orphans is counted: a process that lost its parent and ended before the run did, and
// one that was ended with it.
func TestOrphansAreMeasured(t *testing.T) {
	bothEnds(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		l := newRunner(LocalOptions{})
		alone := mustRun(t, l, "/bin/sh", "-c", burn).Metrics
		m := mustRun(t, l, "/bin/sh", "-c",
			`(setsid sh -c '`+burn+`; dd if=/dev/zero of=/dev/null bs=64M count=1 2>/dev/null; `+
				`echo >done; sleep "$1"' sh "$1" &)
			until [ -e done ]; do sleep 0.01; done`, "sh", "30").Metrics
		if m["cpu"] < 0.6*alone["cpu"] {
			t.Errorf("cpu is %v with an orphan, %v without", m["cpu"], alone["cpu"])
		}
		if m["max_rss"] < 64<<20 {
			t.Errorf("max_rss is %v, the orphan had 64 MiB", m["max_rss"])
		}
	})
}

// No process waits for the children of a parent that ignores SIGCHLD; only the cgroup has seen them.
func TestProcessesNobodyWaitsForAreInTheCgroup(t *testing.T) {
	l := newLocal(t, LocalOptions{})
	if l.Cgroup() == "" {
		t.Skip("SKIPPED, NOT TESTED: this machine gives us no cgroup")
	}
	if err := exec.Command("env", "--ignore-signal=CHLD", "true").Run(); err != nil {
		t.Skip("SKIPPED, NOT TESTED: env has no --ignore-signal")
	}
	// A busy machine makes the same work cost more, so the least of several compares with the most.
	alone, unwaited := math.Inf(1), 0.0
	for range 3 {
		alone = min(alone, mustRun(t, l, "/bin/sh", "-c", burn).Metrics["cpu"])
		m, err := l.Run(t.Context(),
			assay.Job{Argv: []string{"env", "--ignore-signal=CHLD", "/bin/sh", "-c", "sh -c '" + burn + "'; exit 0"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		unwaited = max(unwaited, m.Metrics["cpu"])
	}
	if unwaited < 0.6*alone {
		t.Errorf("cpu is %v, want about %v", unwaited, alone)
	}
}

func TestObserveSeesWhatGrows(t *testing.T) {
	bothEnds(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		l := newRunner(LocalOptions{})
		var mu sync.Mutex
		var last assay.Measurement
		job := assay.Job{
			Argv:     []string{"/bin/sh", "-c", `dd if=/dev/zero of=/dev/null bs=64M 2>/dev/null`},
			Interval: 20 * time.Millisecond, Limit: time.Minute,
		}
		ctx, enough := context.WithCancel(t.Context())
		defer enough()
		m, _ := l.Run(ctx, job, func(m assay.Measurement) {
			mu.Lock()
			defer mu.Unlock()
			if m.Metrics["cpu"] < last.Metrics["cpu"] || m.Metrics["max_rss"] < last.Metrics["max_rss"] {
				t.Errorf("%v after %v", m.Metrics, last.Metrics)
			}
			if last = m; last.Metrics["max_rss"] >= 64<<20 && last.Metrics["cpu"] >= 0.1 {
				enough()
			}
		})
		mu.Lock()
		defer mu.Unlock()
		if last.Metrics["max_rss"] < 64<<20 || last.Metrics["cpu"] < 0.005 {
			t.Errorf("the last observation is %v", last.Metrics)
		}
		if last.Metrics["cpu"] > m.Metrics["cpu"]+0.02 || last.Metrics["max_rss"] > m.Metrics["max_rss"] {
			t.Errorf("observed %v, in the end %v", last.Metrics, m.Metrics)
		}
	})
}

func TestElapsedIsToTheEndOfTheMainProcess(t *testing.T) {
	l := newLocal(t, LocalOptions{})
	job := assay.Job{Argv: []string{"/bin/sh", "-c", `trap '' TERM; sleep 30 & exit 0`}, Grace: 300 * time.Millisecond}
	began := time.Now()
	m, err := l.Run(t.Context(), job, nil)
	if took := time.Since(began); err != nil || took < m.Elapsed+job.Grace {
		t.Errorf("elapsed %v, returned after %v, %v", m.Elapsed, took, err)
	}
}

// The energy of a run is read from counters that the run itself moves here.
func TestEnergy(t *testing.T) {
	dir := t.TempDir()
	counter := func(zone, name, energy, limit string) string {
		path := filepath.Join(dir, zone)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"name": name, "energy_uj": energy, "max_energy_range_uj": limit} {
			if err := os.WriteFile(filepath.Join(path, file), []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return filepath.Join(path, "energy_uj")
	}
	a := counter("intel-rapl:0", "package-0", "1000000", "262143328850")
	b := counter("intel-rapl:1", "package-1", "262143000000", "262143328850")
	core := counter("intel-rapl:0:0", "core", "0", "262143328850")
	dram := counter("intel-rapl:0:1", "dram", "500", "65712999613")
	psys := counter("intel-rapl:2", "psys", "0", "262143328850")
	counter("intel-rapl-mmio:0", "package-0", "0", "262143328850")
	os.WriteFile(filepath.Join(dir, "dtpm"), nil, 0o644)
	l := newLocal(t, LocalOptions{Powercap: dir})
	// 2 J; 1 J around the end of the range; 0.5 J; parts and the whole do not count.
	m := mustRun(t, l, "/bin/sh", "-c", strings.Join([]string{
		"echo 3000000 >" + a, "echo 671150 >" + b, "echo 500500 >" + dram, "echo 999999 >" + core,
		"echo 9999999 >" + psys,
	}, "\n"))
	if got := m.Metrics["energy"]; !(math.Abs(got-3.5) <= 1e-9) {
		t.Errorf("energy is %v J, want 3.5", got)
	}
	if got, want := m.Metrics["power"], 3.5/m.Elapsed.Seconds(); !(math.Abs(got-want) <= 1e-6*want) {
		t.Errorf("power is %v W, want %v", got, want)
	}
	m = mustRun(t, newLocal(t, LocalOptions{Powercap: filepath.Join(dir, "none")}), "true")
	if e, ok := m.Metric("energy"); ok {
		t.Errorf("energy is %v J without counters", e)
	}
}

func TestEnergyOfTheWholeWhereThereIsNoPackage(t *testing.T) {
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "intel-rapl:0"), 0o755)
	os.WriteFile(filepath.Join(dir, "intel-rapl:0", "name"), []byte("psys\n"), 0o644)
	path := filepath.Join(dir, "intel-rapl:0", "energy_uj")
	os.WriteFile(path, []byte("5\n"), 0o644)
	l := newLocal(t, LocalOptions{Powercap: dir})
	m := mustRun(t, l, "/bin/sh", "-c", "echo 1000005 >"+path)
	if m.Metrics["energy"] != 1 {
		t.Errorf("energy is %v J, want 1", m.Metrics["energy"])
	}
}
