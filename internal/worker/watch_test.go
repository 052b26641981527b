package worker

import (
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay/internal/proc"
)

// A watch finds when its worker did not run, and when the machine slept; small delays are none.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slept := time.Hour // before the worker was started
		w := newWatch(func() time.Duration { return slept })
		const lease = 30 * time.Second
		tick := func(d time.Duration) time.Duration { time.Sleep(d); return w.look() }
		for range 100 {
			tick(lookEvery + 900*time.Millisecond)
			slept += 5 * time.Millisecond // the clocks are not read at once
		}
		if gap, why := w.take(), w.tainted(time.Minute, 0, lease); gap != 0 || why != "" {
			t.Errorf("a busy machine: gap %v, %q", gap, why)
		}
		last := tick(20 * time.Second)
		if gap := w.take(); gap != 19*time.Second {
			t.Errorf("gap %v", gap)
		}
		if gap := w.take(); gap != 0 {
			t.Errorf("the same gap again: %v", gap)
		}
		// The end of a run during the gap was noticed too late; the end of one that goes on was not.
		if why := w.tainted(time.Minute, last, lease); !strings.Contains(why, "19s when the run ended") {
			t.Errorf("%q", why)
		}
		if why := w.tainted(time.Minute, tick(lookEvery), lease); why != "" {
			t.Errorf("%q", why)
		}
		if why := w.tainted(time.Hour, 20*time.Second, lease); why != "" {
			t.Errorf("less than a hundredth: %q", why)
		}
		tick(32 * time.Second)
		if why := w.tainted(time.Hour, 0, lease); !strings.Contains(why, "did not run for 31s") {
			t.Errorf("longer than a lease: %q", why)
		}
		w = newWatch(func() time.Duration { return slept })
		slept += 8 * time.Hour // no clock of the process shows it
		tick(lookEvery)
		if gap, why := w.take(), w.tainted(time.Hour, 0, lease); gap != 8*time.Hour || !strings.Contains(why,
			"suspended for 8h0m0s") {
			t.Errorf("gap %v, %q", gap, why)
		}
	})
	if d := proc.Slept(); d < 0 || d > 100*365*24*time.Hour {
		t.Errorf("this machine slept %v", d)
	}
}

// Machines of one class are those whose runs are comparable.
func TestMachine(t *testing.T) {
	cpu := strings.Repeat("processor : 0\nmodel name : Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz\n"+
		"physical id : 0\ncpu cores : 32\n"+
		"processor : 1\nmodel name : Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz\nphysical id : 1\ncpu cores : 32\n", 1)
	files := func(mem string) fstest.MapFS {
		return fstest.MapFS{
			"proc/cpuinfo":                            {Data: []byte(cpu)},
			"proc/meminfo":                            {Data: []byte("MemTotal:       " + mem + " kB\nMemFree: 1 kB\n")},
			"proc/sys/kernel/random/boot_id":          {Data: []byte("b-1\n")},
			"sys/bus/pci/devices/0000:01:00.0/class":  {Data: []byte("0x030200\n")},
			"sys/bus/pci/devices/0000:01:00.0/vendor": {Data: []byte("0x10de\n")},
			"sys/bus/pci/devices/0000:01:00.0/device": {Data: []byte("0x20b0\n")},
			"sys/bus/pci/devices/0000:02:00.0/class":  {Data: []byte("0x030000\n")}, // of the board
			"sys/bus/pci/devices/0000:02:00.0/vendor": {Data: []byte("0x1a03\n")},
			"sys/bus/pci/devices/0000:02:00.0/device": {Data: []byte("0x2000\n")},
		}
	}
	m := readMachine(files("263800000"))
	m.Release, m.Usable = "6.1.0-31-amd64", 64
	if got, want := m.String(), "Xeon Gold 6338, 2x32, 256 GB, 10de:20b0, linux 6.1"; got != want || m.Boot != "b-1" {
		t.Errorf("%s, not %s", got, want)
	}
	same := readMachine(files("264100000")) // the firmware keeps a little less
	same.Release, same.Usable = "6.12.5", 64
	if same.Class() != m.Class() || len(m.Class()) != 8 {
		t.Errorf("%s and %s", same.Class(), m.Class())
	}
	for what, change := range map[string]func(*Machine){
		"processor": func(m *Machine) { m.CPU += "Y" }, "cores": func(m *Machine) { m.Cores = 16 },
		"memory": func(m *Machine) { m.Memory /= 2 }, "GPU": func(m *Machine) { m.GPUs = nil },
		"kernel": func(m *Machine) { m.Release = "5.10.1" }, "limit": func(m *Machine) { m.Usable = 4 },
	} {
		other := m
		change(&other)
		if other.Class() == m.Class() {
			t.Errorf("another %s is the same class", what)
		}
	}
	if none := readMachine(fstest.MapFS{}); none.Class() == "" || !strings.Contains(none.String(), "unknown") {
		t.Errorf("of nothing: %s", none)
	}
	if this := ThisMachine(); this.Memory <= 0 || this.Usable <= 0 || this.Release == "" {
		t.Errorf("this machine: %+v", this)
	}
}
