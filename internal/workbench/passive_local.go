package workbench

import (
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/assay-run/assay"
)

// localIO holds the kernel's counts of local storage: for our own control group and the groups of our
// runs below it, or else for all disks of the machine.
type localIO struct {
	from        string  // "group", "machine", or "" for nothing
	read, write float64 // bytes
	requests    float64
	time        float64 // s that requests took, the sum over all; NaN if it is not counted
	stall       float64 // s during which something waited for them; NaN if it is not counted
}

// localStats reads the counters of the group if it has any, and else the counters of the machine.
func (m machine) localStats() localIO {
	if s, ok := m.groupIO(); ok {
		return s
	}
	s := localIO{time: math.NaN(), stall: math.NaN()}
	text, err := m.read("/proc/diskstats")
	if err != nil {
		return s
	}
	s = m.diskIO(text)
	s.stall = m.pressure("/proc/pressure/io")
	return s
}

// groupIO reads io.stat and io.pressure of our own group (cgroup v2), in which those below
// count too. ok is false without them.
func (m machine) groupIO() (s localIO, ok bool) {
	mounts, err := m.mounts()
	if err != nil {
		return s, false
	}
	own, err := m.read("/proc/self/cgroup")
	if err != nil {
		return s, false
	}
	for _, c := range mounts {
		path, has := parseOwn(own)[""]
		dir, below := c.At(path)
		if c.Type != v2Type || !has || !below {
			continue
		}
		text, err := m.read(filepath.Join(dir, "io.stat"))
		if err != nil {
			continue
		}
		s = localIO{from: "group", time: math.NaN(), stall: m.pressure(filepath.Join(dir, "io.pressure"))}
		for word := range strings.FieldsSeq(text) {
			switch name, value, _ := strings.Cut(word, "="); name {
			case "rbytes":
				s.read += number(value)
			case "wbytes":
				s.write += number(value)
			case "rios", "wios":
				s.requests += number(value)
			}
		}
		return s, true
	}
	return s, false
}

// diskIO reads a file in the format of /proc/diskstats (kernel, admin-guide/iostats): of whole disks,
// since partitions, and devices that are made of others, count the same requests again.
func (m machine) diskIO(text string) localIO {
	s := localIO{stall: math.NaN()}
	for line := range strings.Lines(text) {
		// major, minor, name, reads, merged, sectors, ms, writes, merged, sectors, ms
		f := strings.Fields(line)
		if len(f) < 11 || !m.wholeDisk(f[2]) {
			continue
		}
		const sector = 512 // bytes, on every disk
		s.from = "machine"
		s.requests += number(f[3]) + number(f[7])
		s.read += sector * number(f[5])
		s.write += sector * number(f[9])
		s.time += (number(f[6]) + number(f[10])) / 1000
	}
	return s
}

// wholeDisk reports whether a name belongs to a whole disk, not to a partition or to a device that is
// composed of others.
func (m machine) wholeDisk(name string) bool {
	for _, made := range []string{"loop", "ram", "zram", "dm-", "md", "sr"} {
		if strings.HasPrefix(name, made) {
			return false
		}
	}
	_, err := os.Stat(filepath.Join("/", m.root, "/sys/block", name))
	return err == nil
}

// pressure reads how many seconds something has waited, from a file of pressure-stall information
// (kernel, accounting/psi). It returns NaN without such a file.
func (m machine) pressure(name string) float64 {
	text, err := m.read(name)
	if err != nil {
		return math.NaN()
	}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "some" {
			continue
		}
		for _, word := range f {
			if us, ok := strings.CutPrefix(word, "total="); ok {
				return number(us) / 1e6
			}
		}
	}
	return math.NaN()
}

// sub returns the counts since before.
func (s localIO) sub(before localIO) localIO {
	if before.from != s.from {
		return localIO{time: math.NaN(), stall: math.NaN()}
	}
	since := func(a, b float64) float64 { return math.Max(0, a-b) } // NaN stays
	return localIO{
		s.from, since(s.read, before.read), since(s.write, before.write), since(s.requests, before.requests),
		since(s.time, before.time), since(s.stall, before.stall),
	}
}

// add adds the counts to a measurement. There is no network on the way to local storage. The stall time
// takes the place of the times of requests if these are not counted.
func (s localIO) add(m *assay.Measurement) {
	if s.from == "" {
		for _, name := range []string{"data_flow", "network_time", "disk_time"} {
			missing(m, name, "there is no NFS mount on this machine, and the kernel counts no local disk")
		}
		return
	}
	m.Metrics["data_flow"] = s.read + s.write
	m.Metrics["read_bytes"] = s.read
	m.Metrics["write_bytes"] = s.write
	m.Metrics["requests"] = s.requests
	disk := s.time
	if math.IsNaN(disk) {
		disk = s.stall
	}
	if math.IsNaN(disk) {
		for _, name := range []string{"network_time", "disk_time"} {
			missing(m, name, "the kernel counts neither the time of requests nor who waits for them (PSI)")
		}
		return
	}
	m.Metrics["network_time"], m.Metrics["disk_time"] = 0, disk
	if !math.IsNaN(s.stall) {
		m.Metrics["stall_time"] = s.stall
	}
}
