package workbench_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/internal/workbench"
)

// undisturbed returns the least of up to five measures of a time, for other work
// on the machine only adds to it; fewer if one is within the most.
func undisturbed(most float64, measure func() float64) float64 {
	least := measure()
	for range 4 {
		if least <= most {
			break
		}
		least = min(least, measure())
	}
	return least
}

// dataSet returns a directory with a file "in" of n bytes that are not all alike.
func dataSet(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i>>12 + i)
	}
	if err := os.WriteFile(filepath.Join(dir, "in"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sh runs a script in the data set of the bench and returns its measurement.
func sh(t testing.TB, b *workbench.Bench, dir, script string, resources map[string]float64) assay.Measurement {
	t.Helper()
	m, err := b.Run(t.Context(), assay.Job{Argv: []string{"/bin/sh", "-c", script}, Dir: dir, Resources: resources}, nil)
	if err != nil {
		t.Fatalf("%s with %v: %v", script, resources, err)
	}
	return m
}

// D is the program's own reads and writes, to the byte. Data that it reads again come from its page
// cache, and the next run starts without. A kernel that is short of memory drops pages between the
// two reads, and they pass again: that only adds, and not to every run.
func TestDataFlow(t *testing.T) {
	const n = 3<<20 + 123
	dir := dataSet(t, n)
	b := newBench(t, workbench.Options{Data: dir})
	want := map[string]float64{"read_bytes": n, "write_bytes": 1e6, "data_flow": n + 1e6}
	exact := 0
	for run := 0; exact < 2 && run < 8; run++ {
		m := sh(t, b, dir, `cat in in >/dev/null && head -c 1000000 /dev/zero >out && echo ok`, nil)
		if m.ExitCode != 0 || string(m.Stdout) != "ok\n" {
			t.Fatalf("exit code %d: %s", m.ExitCode, m.Stderr)
		}
		same := true
		for name, want := range want {
			got := m.Metrics[name]
			if got < want {
				t.Errorf("%s is %.0f, want %.0f", name, got, want)
			}
			same = same && got == want
		}
		if same {
			exact++
		} else {
			t.Logf("read again: %.0f bytes", m.Metrics["read_bytes"]-n)
		}
		for _, name := range []string{"network_time", "disk_time", "stall_time", "requests", "cpu", "elapsed"} {
			if m.Metrics[name] <= 0 {
				t.Errorf("%s is %g", name, m.Metrics[name])
			}
		}
		if stall := m.Metrics["stall_time"]; stall > m.Metrics["network_time"]+m.Metrics["disk_time"] ||
			stall > m.Elapsed.Seconds()+1 {
			t.Errorf("stall_time is %g of %v", stall, m.Metrics)
		}
	}
	if exact < 2 {
		t.Errorf("of 8 runs %d had the program's own bytes, want 2", exact)
	}
	out, err := os.ReadFile(filepath.Join(dir, "out"))
	if err != nil || len(out) != 1e6 {
		t.Errorf("the output has %d bytes, %v", len(out), err)
	}
}

// The program sees the data set where it is asked to, and only the program does.
func TestMountElsewhere(t *testing.T) {
	dir, at := dataSet(t, 10), t.TempDir()
	b := newBench(t, workbench.Options{Data: dir, Mount: at})
	m := sh(t, b, at, `wc -c <in; cp in copy; ls; stat -f -c %T .`, nil)
	if want := "10\ncopy\nin\nfuseblk\n"; string(m.Stdout) != want &&
		!strings.HasPrefix(string(m.Stdout), "10\ncopy\nin\nfuse") {
		t.Errorf("the program saw %q, %s", m.Stdout, m.Stderr)
	}
	if left, _ := os.ReadDir(at); len(left) > 0 {
		t.Errorf("we see the mount: %v", left)
	}
	if _, err := os.Stat(filepath.Join(dir, "copy")); err != nil {
		t.Error(err)
	}
}

// Every request takes the round-trip time, and little more.
func TestRoundTrips(t *testing.T) {
	dir := dataSet(t, 10)
	b := newBench(t, workbench.Options{Data: dir})
	busy := !testbed.Quiet(t)
	for _, rtt := range []float64{0, 0.005, 0.018} {
		most := rtt + 0.4e-3 + 0.3e-3 // 0.4 ms of the link, and the two ends of the file system
		best := undisturbed(most, func() float64 {
			m := sh(t, b, dir, `for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do test -e no$i; done`,
				map[string]float64{"rtt": rtt})
			each := m.Metrics["network_time"] / m.Metrics["requests"]
			t.Logf("asked %g ms: %.3g ms a request, %.0f requests", rtt*1e3, each*1e3, m.Metrics["requests"])
			if m.Metrics["requests"] < 20 || each < rtt || m.Elapsed.Seconds() < 20*rtt {
				t.Errorf("asked %g s: %g s a request, %v", rtt, each, m.Metrics)
			}
			return each
		})
		if !busy && best > most {
			t.Errorf("asked %g s: %g s a request", rtt, best)
		}
	}
}

func TestBandwidth(t *testing.T) {
	const n = 1 << 20
	dir := dataSet(t, n)
	b := newBench(t, workbench.Options{Data: dir})
	busy := !testbed.Quiet(t)
	for _, rate := range []float64{20e6, 100e6} {
		least := n * 8 / rate
		most := 1.1*least + 0.02
		disk := math.Inf(1) // its share in the run that it disturbed least
		best := undisturbed(most, func() float64 {
			m := sh(t, b, dir, `cat in >/dev/null`, map[string]float64{"bandwidth": rate})
			got := m.Metrics["stall_time"]
			t.Logf("asked %g Mbit/s: stalled %.3f s, at least %.3f", rate/1e6, got, least)
			if got < least {
				t.Errorf("asked %g bit/s: stalled for %g s, want %g", rate, got, least)
			}
			disk = min(disk, m.Metrics["disk_time"]/m.Metrics["network_time"])
			return got
		})
		if !busy && disk > 0.1 {
			t.Errorf("asked %g bit/s: the disk took %g of the network's time", rate, disk)
		}
		if !busy && best > most {
			t.Errorf("asked %g bit/s: stalled for %g s, want %g", rate, best, least)
		}
	}
}

// The kernel limits the disk if there is one, and the storage itself limits it otherwise. Written
// data reach it by the close.
func TestDisk(t *testing.T) {
	const n = 8 << 20
	busy := !testbed.Quiet(t)
	shm, err := os.MkdirTemp(testbed.Memory(), "disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(shm) })
	if testbed.Memory() == os.TempDir() {
		t.Log("missing /dev/shm: the storage's own limit is not tested")
		shm = ""
	} else {
		if err := os.WriteFile(filepath.Join(shm, "in"), make([]byte, n), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ name, dir, script string }{
		{"disk, read", dataSet(t, n), `cat in >/dev/null`},
		{"disk, write", dataSet(t, n), `head -c 8388608 /dev/zero >out`},
		{"no disk, write", shm, `head -c 8388608 /dev/zero >out`},
	} {
		if tt.dir == "" {
			continue
		}
		b := newBench(t, workbench.Options{Data: tt.dir})
		const rate = 10e6
		m := sh(t, b, tt.dir, tt.script, map[string]float64{"disk": rate})
		t.Logf("%s: %v, %.3f s at the disk", tt.name, m.Elapsed, m.Metrics["disk_time"])
		// The kernel lets a burst pass at once, mostly of 0.1 s.
		if least := n/rate - 0.3; m.Elapsed.Seconds() < least || m.Metrics["disk_time"] < least {
			t.Errorf("%s: took %v, %.3f s at the disk, want %.3f s", tt.name, m.Elapsed, m.Metrics["disk_time"], least)
		}
		if !busy && m.Metrics["disk_time"] < m.Metrics["network_time"] {
			t.Errorf("%s: the time is not the disk's: %v", tt.name, m.Metrics)
		}
	}
}

// Without delay and limits data passes at 200 MB/s at least.
func TestThroughput(t *testing.T) {
	const n = 64 << 20
	dir := dataSet(t, n)
	b := newBench(t, workbench.Options{Data: dir, Keep: true}) // not the disk's rate
	best := 0.0
	for range 3 {
		m := sh(t, b, dir, `cat in >/dev/null`, nil)
		best = max(best, n/m.Metrics["stall_time"])
	}
	t.Logf("%.0f MB/s", best/1e6)
	if testbed.Quiet(t) && best < 200e6 {
		t.Errorf("%.3g B/s, want 200e6", best)
	}
}

// spin takes longer than the ten periods at which a processor share is kept, on a fast
// machine and with half a processor too.
const spin = `i=0; while [ $i -lt 700000 ]; do i=$((i+1)); done`

func TestProcessorShare(t *testing.T) {
	var warnings []string
	b := newBench(t, workbench.Options{Warn: func(s string) {
		if !strings.Contains(s, "not as asked") { // which other work on the machine brings about
			warnings = append(warnings, s)
		}
	}})
	busy := !testbed.Quiet(t)
	// A quota holds on a busy machine too; a duty cycle stops the program late.
	quota := slices.ContainsFunc(workbench.Attributes(), func(a workbench.Attribute) bool {
		return a.Name == workbench.CPU && strings.Contains(a.How, "quota")
	})
	for _, share := range []float64{0.5, 0.25}[:testbed.Times(1, 2)] {
		best := 0.0 // the share of the run that was disturbed least
		for n := 0; n == 0 || n < 5 && best < share*0.9; n++ {
			m := sh(t, b, "", spin, map[string]float64{"cpu": share})
			got := m.Metrics["cpu"] / m.Elapsed.Seconds()
			t.Logf("asked %g: %.3f s of processor in %v: %.3f", share, m.Metrics["cpu"], m.Elapsed, got)
			// One period may be had at once.
			if most := share + workbench.Period.Seconds()*share/m.Elapsed.Seconds(); got > most*1.05 && (quota || !busy) {
				t.Errorf("asked %g, got %g", share, got)
			}
			best = max(best, got)
		}
		if !busy && best < share*0.9 {
			t.Errorf("asked %g, got only %g", share, best)
		}
	}
	if m := sh(t, b, "", `nproc`, map[string]float64{"cpu": 1}); string(m.Stdout) != "1\n" {
		t.Errorf("with one processor nproc says %q", m.Stdout)
	}
	if len(warnings) > 0 {
		t.Errorf("warned of %q", warnings)
	}
	sh(t, b, "", `:`, map[string]float64{"cpu": 0.5})
	if len(warnings) != 1 || !strings.Contains(warnings[0], "too short") {
		t.Errorf("of a short run we are told %q", warnings)
	}
}

// Memory includes the page cache: data that are read again pass again if it is small.
func TestMemory(t *testing.T) {
	needs(t, workbench.Memory)
	const n = 24 << 20
	dir := dataSet(t, n)
	b := newBench(t, workbench.Options{Data: dir})
	script := `cat in >/dev/null; cat in >/dev/null`
	enough := math.Inf(1) // the run of which the kernel dropped least
	for run := 0; run < 5 && enough != n; run++ {
		enough = min(enough, sh(t, b, dir, script, map[string]float64{"memory": 256 << 20}).Metrics["read_bytes"])
	}
	if enough != n {
		t.Errorf("with enough memory %.0f bytes were read, want %d", enough, n)
	}
	if m := sh(t, b, dir, script, map[string]float64{"memory": 8 << 20}); m.Metrics["read_bytes"] < 1.8*n {
		t.Errorf("with little memory only %.0f bytes were read, want %d", m.Metrics["read_bytes"], 2*n)
	}
}

// A program for which the memory does not suffice has failed, and its run has the reason, also if
// only a part of it has failed and the rest goes on.
func TestOutOfMemory(t *testing.T) {
	needs(t, workbench.Memory)
	b := newBench(t, workbench.Options{})
	limit := map[string]float64{"memory": 24 << 20}
	for _, script := range []string{
		`exec dd if=/dev/zero of=/dev/null bs=200M count=1`,
		`dd if=/dev/zero of=/dev/null bs=200M count=1; echo on; exit 0`,
	} {
		m := sh(t, b, "", script, limit)
		if m.ExitCode == 0 || !strings.Contains(m.Signal, "out of memory") || m.Metrics["oom_kills"] < 1 {
			t.Errorf("%s: exit code %d, signal %q, %v", script, m.ExitCode, m.Signal, m.Metrics)
		}
	}
	m := sh(t, b, "", `dd if=/dev/zero of=/dev/null bs=1M count=1`, limit)
	if m.ExitCode != 0 || m.Signal != "" || m.Metrics["oom_kills"] != 0 {
		t.Errorf("with enough: %+v", m)
	}
}

// A full storage is reported.
func TestStorageFull(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: mounting needs root")
	}
	dir := t.TempDir()
	mountSmall(t, dir)
	var warnings []string
	b := newBench(t, workbench.Options{Data: dir, Warn: func(s string) { warnings = append(warnings, s) }})
	m := sh(t, b, dir, `head -c 4000000 /dev/zero >out && sync out`, nil)
	if len(warnings) != 1 || !strings.Contains(warnings[0], "full") {
		t.Errorf("exit code %d (%s), told %q", m.ExitCode, m.Stderr, warnings)
	}
	if m.ExitCode == 0 {
		t.Error("the program was not told")
	}
}

func TestBadAssignments(t *testing.T) {
	plain := newBench(t, workbench.Options{})
	data := newBench(t, workbench.Options{Data: t.TempDir()})
	direct := newBench(t, workbench.Options{Data: t.TempDir(), Direct: true})
	for _, tt := range []struct {
		b     *workbench.Bench
		name  string
		value float64
		setup bool
		says  string
	}{
		{data, "cpu", 0, false, "cpu = 0"},
		{data, "cpu", 1e6, false, "cpu = 1e+06 processors is not between"},
		{data, "memory", 10, false, "memory = 10 B"},
		{data, "rtt", -1, false, "rtt = -1 s"},
		{data, "rtt", 100, false, "between 0 and 10"},
		{data, "bandwidth", 1, false, "bandwidth = 1 bit/s"},
		{data, "disk", 0, false, "disk = 0 B/s"},
		{data, "speed", 1, false, `"speed"`}, // the inner runner's
		{plain, "rtt", 0.01, true, "data set"},
		{plain, "disk", 1e6, true, "data set"},
		{direct, "bandwidth", 1e6, true, "network device"},
	} {
		job := assay.Job{Argv: []string{"true"}, Resources: map[string]float64{tt.name: tt.value}}
		_, err := tt.b.Run(t.Context(), job, nil)
		if err == nil || !strings.Contains(err.Error(), tt.says) || errors.Is(err, assay.ErrSetup) != tt.setup {
			t.Errorf("%s = %g: %v, want %q", tt.name, tt.value, err, tt.says)
		}
	}
}

func TestBadOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r := newBench(t, workbench.Options{})
	for _, opts := range []workbench.Options{
		{Data: file}, {Data: file + "/x"}, {Data: filepath.Dir(file), Mount: "/no/such"}, {Mount: "/no/such"},
	} {
		opts.Runner = r
		if _, err := workbench.New(opts); err == nil {
			t.Errorf("%+v: %v", opts, err)
		}
	}
}

func TestProgramsThatCannotBeStarted(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, workbench.Options{Data: dir})
	if err := os.WriteFile(filepath.Join(dir, "plain"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		argv string
		is   error
	}{{"no-such-program", fs.ErrNotExist}, {"./none", fs.ErrNotExist}, {"./plain", fs.ErrPermission}} {
		_, err := b.Run(t.Context(), assay.Job{Argv: []string{tt.argv}, Dir: dir}, nil)
		if !errors.Is(err, tt.is) || !strings.Contains(fmt.Sprint(err), tt.argv) {
			t.Errorf("%s: %v, want %v", tt.argv, err, tt.is)
		}
	}
}

// The exit code, the signal and the output are the program's, and it has no
// descriptor of ours.
func TestTransparent(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, workbench.Options{Data: dir})
	const script = `ls /proc/$$/fd; pwd; exit 7`
	m := sh(t, b, dir, script, map[string]float64{"rtt": 0.001})
	plain := sh(t, newBench(t, workbench.Options{}), dir, script, nil)
	if m.ExitCode != 7 || string(m.Stdout) != string(plain.Stdout) || len(m.Stdout) == 0 {
		t.Errorf("exit code %d, %q, else %q: %s", m.ExitCode, m.Stdout, plain.Stdout, m.Stderr)
	}
	if m := sh(t, b, dir, `kill -TERM $$`, nil); m.ExitCode != 143 || m.Signal != "SIGTERM" {
		t.Errorf("exit code %d, signal %q", m.ExitCode, m.Signal)
	}
}

// The observations of a run that goes on grow.
func TestObserve(t *testing.T) {
	dir := dataSet(t, 1<<20)
	b := newBench(t, workbench.Options{Data: dir})
	var flow []float64
	job := assay.Job{
		Argv: []string{"/bin/sh", "-c", `sleep 0.1; cat in >/dev/null; sleep 0.4`}, Dir: dir, Interval: 50 * time.Millisecond,
	}
	m, err := b.Run(t.Context(), job, func(m assay.Measurement) { flow = append(flow, m.Metrics["data_flow"]) })
	if err != nil || len(flow) == 0 || !slices.IsSorted(flow) || slices.Max(flow) > m.Metrics["data_flow"] {
		t.Errorf("%v, then %v, %v", flow, m.Metrics["data_flow"], err)
	}
}

// A run that is cut short does not wait for a slow link.
func TestCutShort(t *testing.T) {
	dir := dataSet(t, 1<<20)
	b := newBench(t, workbench.Options{Data: dir})
	job := assay.Job{
		Argv: []string{"cat", "in"}, Dir: dir, Limit: 200 * time.Millisecond,
		Resources: map[string]float64{"bandwidth": 64e3, "rtt": 0.2}, // two minutes
	}
	began := time.Now()
	m, err := b.Run(t.Context(), job, nil)
	if !errors.Is(err, assay.ErrLimit) || bytes.Contains(m.Stdout, []byte{0}) && len(m.Stdout) > 1<<19 {
		t.Errorf("%d bytes, %v", len(m.Stdout), err)
	}
	if d := time.Since(began); d > time.Minute {
		t.Errorf("it took %v", d)
	}
}

// Without limits the workbench costs little: a run that computes takes as long as
// without it.
func TestOverhead(t *testing.T) {
	testbed.System(t)
	dir := t.TempDir()
	b := newBench(t, workbench.Options{Data: dir})
	plain := newBench(t, workbench.Options{})
	var with, without []float64
	var ratio float64
	for n := 0; n < 3 || n < 10 && ratio > 1.05; n++ {
		without = append(without, sh(t, plain, dir, spin, nil).Metrics["cpu"])
		with = append(with, sh(t, b, dir, spin, nil).Metrics["cpu"])
		ratio = slices.Min(with) / slices.Min(without)
	}
	t.Logf("processor time %.3f s with, %.3f s without: %.3f", slices.Min(with), slices.Min(without), ratio)
	if testbed.Quiet(t) && ratio > 1.05 {
		t.Errorf("the workbench costs %.1f %%", 100*(ratio-1))
	}
}

// The cost of a run of true on the workbench; plain is without it.
func BenchmarkTrue(b *testing.B) {
	for name, opts := range map[string]workbench.Options{"plain": {}, "data": {Data: b.TempDir()}} {
		b.Run(name, func(b *testing.B) {
			bench := newBench(b, opts)
			for b.Loop() {
				if m, err := bench.Run(b.Context(), assay.Job{Argv: []string{"/bin/true"}}, nil); err != nil || m.ExitCode != 0 {
					b.Fatal(m, err)
				}
			}
		})
	}
}
