package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHostSaysWhatThereIsAndHowToGetTheRest(t *testing.T) {
	seen := map[string]Fact{}
	for _, f := range Host(t.Context()) {
		if _, twice := seen[f.Name]; twice || f.Name == "" || f.Detail == "" || f.Available == (f.Hint != "") {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = f
	}
	for _, name := range []string{
		"kernel", "cpus", "memory", "cgroup v2", "subreaper", "energy (RAPL)", "fuse",
		"tun", "sbatch",
	} {
		if _, ok := seen[name]; !ok {
			t.Errorf("nothing is said of %s", name)
		}
	}
	l := newLocal(t, LocalOptions{})
	if got, want := seen["cgroup v2"].Available, l.Cgroup() != ""; got != want {
		t.Errorf("cgroup v2: %v, but a runner has them: %v", got, want)
	}
	if got, want := seen["exact max_rss"].Available, l.ExactRSS(); got != want {
		t.Errorf("exact max_rss: %v, but a runner has it: %v", got, want)
	}
	if left, _ := filepath.Glob("/sys/fs/cgroup/unified/assay-" + hashOwner("doctor") + "*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRAPLFact(t *testing.T) {
	dir := t.TempDir()
	if f := raplFact(dir); f.Available || !strings.Contains(f.Hint, "--metric") {
		t.Errorf("without counters: %+v", f)
	}
	zone := filepath.Join(dir, "intel-rapl:0")
	os.Mkdir(zone, 0o755)
	os.WriteFile(filepath.Join(zone, "name"), []byte("package-0\n"), 0o644)
	os.WriteFile(filepath.Join(zone, "energy_uj"), []byte("1\n"), 0o644)
	if f := raplFact(dir); !f.Available || f.Detail != "package-0" {
		t.Errorf("with a counter: %+v", f)
	}
}

func TestRanges(t *testing.T) {
	for want, ns := range map[string][]int{"": nil, "3": {3}, "0-3,8": {0, 1, 2, 3, 8}, "0,2,4-5": {0, 2, 4, 5}} {
		if got := ranges(ns); got != want {
			t.Errorf("%v: got %q, want %q", ns, got, want)
		}
	}
}
