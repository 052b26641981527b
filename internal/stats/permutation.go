package stats

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// shuffled is up to which length a Permutation is a shuffled slice, which is
// exactly uniform over all orders. A Feistel network on so few bits is not.
const shuffled = 1 << 12

// rounds of the Feistel network: 4 make a pseudo-random permutation of a
// pseudo-random function (Luby and Rackoff 1988); the others are for the
// small and unequal halves.
const rounds = 8

// A Permutation is a pseudo-random order of the numbers 0 .. n-1 with random
// access in constant memory: a shuffled slice up to n = 4096, and beyond that
// an unbalanced Feistel network over the least number of bits that holds n-1,
// walked along its cycles back into the range (Black and Rogaway, CT-RSA 2002,
// "cycle-walking cipher"). It is immutable and safe for concurrent use.
type Permutation struct {
	n     int64          // of the range [0, n)
	table []int32        // nil if n > shuffled
	low   uint           // bits of the low half
	high  uint           // bits of the high half
	keys  [rounds]uint64 // of the rounds
}

// NewPermutation returns the permutation of 0 .. n-1 that belongs to seed.
// It panics if n < 1.
func NewPermutation(n int64, seed uint64) *Permutation {
	if n < 1 {
		panic(fmt.Sprintf("doe: permutation of %d numbers", n))
	}
	p := &Permutation{n: n}
	rng := rand.New(rand.NewPCG(seed, 0x7065726d75746521))
	if n <= shuffled {
		p.table = make([]int32, n)
		for i := range p.table {
			p.table[i] = int32(i)
		}
		rng.Shuffle(len(p.table), func(i, j int) { p.table[i], p.table[j] = p.table[j], p.table[i] })
		return p
	}
	width := uint(bits.Len64(uint64(n - 1)))
	p.low, p.high = width/2, width-width/2
	for i := range p.keys {
		p.keys[i] = rng.Uint64()
	}
	return p
}

// Len returns n.
func (p *Permutation) Len() int64 { return p.n }

// At returns the i-th number of the order, 0 <= i < n; it panics outside.
// Cost: less than two walks through the network on average.
func (p *Permutation) At(i int64) int64 {
	if i < 0 || i >= p.n {
		panic(fmt.Sprintf("doe: position %d of a permutation of %d numbers", i, p.n))
	}
	if p.table != nil {
		return int64(p.table[i])
	}
	// The network permutes 0 .. 2^width-1, so that the cycle of i comes back
	// into the range, to i itself at the latest, and no two positions meet.
	x := p.encrypt(uint64(i))
	for x >= uint64(p.n) {
		x = p.encrypt(x)
	}
	return int64(x)
}

// encrypt is one pass of the network. Each round changes one half by a function
// of the other and is therefore its own inverse.
func (p *Permutation) encrypt(x uint64) uint64 {
	l, h := x&(1<<p.low-1), x>>p.low
	for r, key := range p.keys {
		if r%2 == 0 {
			h ^= mix(l^key) & (1<<p.high - 1)
		} else {
			l ^= mix(h^key) & (1<<p.low - 1)
		}
	}
	return h<<p.low | l
}
