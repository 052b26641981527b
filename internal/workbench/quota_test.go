package workbench

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// The least quota of a group and of those above it counts, in both versions of cgroups.
func TestCPUQuota(t *testing.T) {
	write := func(root, name, text string) {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v1 := "30 20 0:1 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
	v2 := "30 20 0:1 / /cg rw - cgroup2 cgroup2 rw\n"
	for name, c := range map[string]struct {
		mounts, own string
		files       map[string]string
		want        float64
		period      time.Duration
	}{
		"v1": {v1, "3:cpu,cpuacct:/a/b\n", map[string]string{
			"cg/cpu/a/b/cpu.cfs_quota_us": "-1\n", "cg/cpu/a/b/cpu.cfs_period_us": "100000\n",
			"cg/cpu/a/cpu.cfs_quota_us": "12500\n", "cg/cpu/a/cpu.cfs_period_us": "50000\n",
		}, 0.25, 50 * time.Millisecond},
		"v2": {v2, "0::/a/b\n", map[string]string{
			"cg/a/b/cpu.max": "150000 100000\n", "cg/a/cpu.max": "max 100000\n",
		}, 1.5, 100 * time.Millisecond},
		"none":      {v2, "0::/a\n", map[string]string{"cg/a/cpu.max": "max 100000\n"}, math.Inf(1), 0},
		"not there": {"", "0::/a\n", nil, math.Inf(1), 0},
	} {
		root := t.TempDir()
		write(root, "proc/self/mountinfo", c.mounts)
		write(root, "proc/self/cgroup", c.own)
		for file, text := range c.files {
			write(root, file, text)
		}
		if got := (machine{root}).cpuQuota(); got.share != c.want || got.period != c.period {
			t.Errorf("%s: %+v, want %g over %v", name, got, c.want, c.period)
		}
	}
}

// An observation of a rate under a quota lasts several periods, and is the work over all of them.
func TestQuotaOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		// It works for one millisecond, and waits for two.
		observe := func() (float64, error) {
			calls++
			if calls%2 == 0 {
				time.Sleep(2 * time.Millisecond)
				return 0, nil
			}
			time.Sleep(time.Millisecond)
			return 99, nil
		}
		q := quota{0.5, 3 * time.Millisecond}
		if x, err := q.over(1, observe)(); err != nil || !(math.Abs(x-33) < 1e-9) || calls != 2*quotaPeriods {
			t.Errorf("%g after %d calls, %v", x, calls, err)
		}
		calls = 0
		if x, err := (quota{1, time.Second}).over(1, observe)(); err != nil || x != 99 || calls != 1 {
			t.Errorf("without a limit: %g after %d calls, %v", x, calls, err)
		}
	})
}
