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
	largest, perByte := m.opts.Set, 0.0
	for _, set := range []struct {
		name, method string
		bytes        int64
	}{
		{"latency_16K", "dependent loads in 16 KiB: the first-level cache", 16 << 10},
		{"latency_256K", "dependent loads in 256 KiB: the second-level cache", 256 << 10},
		{"latency_4M", "dependent loads in 4 MiB: the last-level cache", 4 << 20},
		{"memory_latency", "dependent loads in random order in the largest working set", 0},
	} {
		if set.bytes == 0 {
			largest = m.largestSet(perByte)
			set.bytes = largest
		}
		began := m.opts.now()
		c := newChase(set.bytes, m.opts.Seed)
		perByte = m.opts.now().Sub(began).Seconds() / float64(set.bytes)
		c.fit(m.part(shareMemory)/(leastRuns+1), m.opts.now)
		err := m.read(Reading{Name: set.name, Resource: "memory", Unit: "s", Method: set.method}, shareMemory, c.latency)
		if err != nil {
			return err
		}
	}
	b := newBand(largest / 2)
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

// leastSet is how small the largest working set may become where the time is short.
const leastSet = 16 << 20

// largestSet returns the largest working set of memory: the size in the options, halved until making it
// takes at most twice the part of the time for its latency. perByte is the time to make the set before,
// per byte.
func (m *meter) largestSet(perByte float64) int64 {
	set, most := m.opts.Set, 2*m.part(shareMemory).Seconds()
	for set > leastSet && perByte*float64(set) > most {
		set /= 2
	}
	if set < m.opts.Set {
		m.warn("the time was too short for a working set of %d MiB: it is %d MiB, of which more may be in a cache",
			m.opts.Set>>20, set>>20)
	}
	return set
}

// lineBytes is the distance of the elements of a chase, the size of a cache
// line on the processors that Go runs on, or twice it.
const lineBytes = 64

// A line is a cache line whose first word is the index of the next line.
type line struct {
	next uint32
	_    [lineBytes - 4]byte
}

// A chase is a working set whose lines form one random cycle, so that no prefetcher can predict the
// address of the next load before the last has ended.
type chase struct {
	lines []line
	at    uint32
	steps int // of an observation, about
}

// Steps of an observation: many where there is time.
const (
	mostSteps  = 1 << 18
	leastSteps = 1 << 14
)

// fit makes the observations so small that each takes no more than within, as far as that goes.
func (c *chase) fit(within time.Duration, now func() time.Time) {
	began := now()
	c.at = c.walk(c.at, leastSteps)
	took := max(now().Sub(began), time.Nanosecond)
	c.steps = int(min(mostSteps, max(leastSteps, leastSteps*float64(within)/float64(took))))
}

// newChase returns a cycle through a working set of that many bytes.
func newChase(bytes int64, seed uint64) *chase {
	n := int(bytes / int64(unsafe.Sizeof(line{})))
	c := &chase{lines: make([]line, n), steps: mostSteps}
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

// latency returns the seconds of a load. It follows the cycle once, or a fixed number of steps if the
// cycle is short or long. A full number of rounds must end where it began.
func (c *chase) latency() (float64, error) {
	rounds := max(1, c.steps/len(c.lines))
	if len(c.lines) > c.steps { // part of a round
		began := time.Now()
		c.at = c.walk(c.at, c.steps)
		return time.Since(began).Seconds() / float64(c.steps), nil
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
