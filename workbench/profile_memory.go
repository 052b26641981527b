package workbench

import (
	"math/rand/v2"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// memory measures the latency of dependent loads in working sets that fit the
// caches and in one that does not, and the bandwidth in the latter, as lat_mem_rd
// and bw_mem of lmbench do (McVoy and Staelin 1996, §5.1 and §6.2).
func (m *meter) memory() error {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		m.add(Reading{
			Name: "memory_size", Resource: "memory", Unit: "B", Method: "physical memory of the machine",
		}, float64(info.Totalram)*float64(info.Unit))
	}
	for _, set := range []struct {
		name, method string
		bytes        int64
	}{
		{"latency_16K", "dependent loads in 16 KiB: the first-level cache", 16 << 10},
		{"latency_256K", "dependent loads in 256 KiB: the second-level cache", 256 << 10},
		{"latency_4M", "dependent loads in 4 MiB: the last-level cache", 4 << 20},
		{"memory_latency", "dependent loads in random order in the largest working set", m.opts.Set},
	} {
		c := newChase(set.bytes, m.opts.Seed)
		err := m.read(Reading{Name: set.name, Resource: "memory", Unit: "s", Method: set.method}, shareMemory, c.latency)
		if err != nil {
			return err
		}
	}
	b := newBand(m.opts.Set / 2)
	defer runtime.GC() // gives the working sets back before the network is measured
	err := m.read(Reading{
		Name: "memory_read", Resource: "memory", Unit: "B/s",
		Method: "sum of all words of half the largest working set, one thread",
	}, shareMemory, b.read)
	if err != nil {
		return err
	}
	return m.read(Reading{
		Name: "memory_copy", Resource: "memory", Unit: "B/s",
		Method: "copy of half the largest working set, one thread; each byte counts once",
	}, shareMemory, b.copy)
}

// lineBytes is the distance of the elements of a chase, the size of a cache
// line on the processors that Go runs on, or twice it.
const lineBytes = 64

// A line is a cache line whose first word is the index of the next line.
type line struct {
	next uint32
	_    [lineBytes - 4]byte
}

// A chase is a working set whose lines form one random cycle, so that no
// prefetcher can tell the address of the next load before the last has ended.
type chase struct {
	lines []line
	at    uint32
}

// newChase returns a cycle through a working set of that many bytes.
func newChase(bytes int64, seed uint64) *chase {
	n := int(bytes / int64(unsafe.Sizeof(line{})))
	c := &chase{lines: make([]line, n)}
	for i := range c.lines {
		c.lines[i].next = uint32(i)
	}
	// Sattolo (1986): like a shuffle, but never with itself, so that the
	// permutation is one cycle.
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	for i := n - 1; i > 0; i-- {
		j := rng.IntN(i)
		c.lines[i].next, c.lines[j].next = c.lines[j].next, c.lines[i].next
	}
	return c
}

// walk follows the cycle and returns where it ends.
func (c *chase) walk(from uint32, steps int) uint32 {
	lines := c.lines
	for range steps {
		from = lines[from].next
	}
	return from
}

// latency returns the seconds of a load: the cycle is followed once, or, where
// it is short or long, some 200,000 steps. A full number of rounds must end
// where it began.
func (c *chase) latency() (float64, error) {
	const steps = 1 << 18
	rounds := max(1, steps/len(c.lines))
	if len(c.lines) > steps { // part of a round
		began := time.Now()
		c.at = c.walk(c.at, steps)
		return time.Since(began).Seconds() / steps, nil
	}
	began := time.Now()
	end := c.walk(c.at, rounds*len(c.lines))
	took := time.Since(began).Seconds()
	if end != c.at {
		return 0, errWrongResult
	}
	return took / float64(rounds*len(c.lines)), nil
}

// A band is a working set for bandwidth: word i is i.
type band struct {
	from, to []uint64
}

func newBand(bytes int64) *band {
	b := &band{make([]uint64, bytes/8), make([]uint64, bytes/8)}
	for i := range b.from {
		b.from[i] = uint64(i)
	}
	return b
}

// sum adds all words in four chains, so that loads need not wait for additions.
func sum(x []uint64) uint64 {
	var a, b, c, d uint64
	for len(x) >= 8 {
		a += x[0] + x[4]
		b += x[1] + x[5]
		c += x[2] + x[6]
		d += x[3] + x[7]
		x = x[8:]
	}
	for _, v := range x {
		a += v
	}
	return a + b + c + d
}

// read returns the bytes a second of reading.
func (b *band) read() (float64, error) {
	n := uint64(len(b.from))
	began := time.Now()
	got := sum(b.from)
	took := time.Since(began).Seconds()
	if got != n*(n-1)/2 {
		return 0, errWrongResult
	}
	return float64(8*n) / took, nil
}

// copy returns the bytes a second of copying.
func (b *band) copy() (float64, error) {
	n := len(b.from)
	b.to[0], b.to[n-1] = 1, 0
	began := time.Now()
	copy(b.to, b.from)
	took := time.Since(began).Seconds()
	if b.to[0] != 0 || b.to[n-1] != uint64(n-1) {
		return 0, errWrongResult
	}
	return float64(8*n) / took, nil
}
