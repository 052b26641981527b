package run

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// This file measures energy by the RAPL counters of the kernel's powercap interface. They count for the whole
// machine: the figure includes other programs.

// powercapDir is where the kernel shows energy counters (Documentation/power/powercap/powercap.rst).
const powercapDir = "/sys/class/powercap"

// A rapl is the set of energy counters of a machine that count everything once: each processor package and the memory
// beside it (zones "package-N" and "dram"); a zone "psys", which has both in it, only where there is no package. Zones
// inside a package ("core", "uncore") are parts of it.
type rapl struct{ zones []zone }

// A zone is one counter. Its file stays open, because a read at offset 0 costs less than opening it for each reading.
type zone struct {
	// name is the kernel's, such as "package-0".
	name  string
	f     *os.File // energy_uj, microjoules since some time
	limit float64  // max_energy_range_uj: the counter goes back to 0 after it
}

// openRAPL returns the counters below dir, or nil if none can be read; since Linux 5.10 that is for root only. A zone
// that cannot be read now is left out. The caller closes the result.
func openRAPL(dir string) *rapl {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var inner, whole []zone
	for _, e := range entries {
		// intel-rapl:0 is a package, intel-rapl:0:2 a part of it. intel-rapl-mmio:0 counts the same package once more.
		kind, _, ok := strings.Cut(e.Name(), ":")
		if !ok || strings.HasSuffix(kind, "-mmio") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		name := readWord(path, "name")
		var to *[]zone
		switch {
		case name == "psys":
			to = &whole
		case strings.HasPrefix(name, "package") || name == "dram":
			to = &inner
		default:
			continue
		}
		f, err := os.Open(filepath.Join(path, "energy_uj"))
		if err != nil {
			continue
		}
		limit, _ := strconv.ParseFloat(readWord(path, "max_energy_range_uj"), 64)
		z := zone{name, f, limit}
		if _, ok := z.read(); !ok {
			f.Close()
			continue
		}
		*to = append(*to, z)
	}
	if len(inner) == 0 {
		inner, whole = whole, nil
	}
	for _, z := range whole {
		z.f.Close()
	}
	if len(inner) == 0 {
		return nil
	}
	return &rapl{inner}
}

// readWord returns the content of a small file without the white space around it, or "" if the file cannot be read.
func readWord(dir, name string) string {
	b, _ := os.ReadFile(filepath.Join(dir, name))
	return string(bytes.TrimSpace(b))
}

// read returns the counter in microjoules. Several goroutines may read a zone at once, since ReadAt moves no position.
func (z zone) read() (uj float64, ok bool) {
	var buf [32]byte
	n, _ := z.f.ReadAt(buf[:], 0)
	uj, err := strconv.ParseFloat(string(bytes.TrimSpace(buf[:n])), 64)
	return uj, err == nil
}

// close works on nil too. No meter may be read after it.
func (r *rapl) close() {
	if r != nil {
		for _, z := range r.zones {
			z.f.Close()
		}
	}
}

// start begins to measure; it returns nil, which measures nothing, if there are no counters.
func (r *rapl) start() *energyMeter {
	if r == nil {
		return nil
	}
	m := &energyMeter{rapl: r, last: make([]float64, len(r.zones))}
	for i, z := range r.zones {
		m.last[i], _ = z.read()
	}
	return m
}

// An energyMeter adds up the energy that the machine takes from a start on. It must be read at least once while the
// counters go round, which is minutes. It is safe for concurrent use.
type energyMeter struct {
	rapl *rapl

	mu sync.Mutex
	// last is the counter at the previous reading.
	last []float64 // microjoules, by zone
	sum  float64   // microjoules
	// over is set by stop: from then on sum stays as it is.
	over bool
}

// read returns the energy so far in joules. A zone whose file cannot be read is skipped: its energy is added at the
// next successful reading. One wrap-around of a counter is corrected; that is why upkeep reads in between.
func (m *energyMeter) read() float64 {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, z := range m.rapl.zones {
		now, ok := z.read()
		if !ok || m.over {
			continue
		}
		d := now - m.last[i]
		if d < 0 { // the counter went round, or was reset
			d += z.limit
		}
		m.sum += max(0, d)
		m.last[i] = now
	}
	return m.sum / 1e6
}

// stop returns the energy of the run; later reads return the same.
func (m *energyMeter) stop() float64 {
	if m == nil {
		return 0
	}
	j := m.read()
	m.mu.Lock()
	m.over = true
	m.mu.Unlock()
	return j
}
