package stats

import (
	"fmt"
	"math/bits"
)

// MaxSobol is the number of dimensions in which a [Sobol] sequence is one.
const MaxSobol = len(joeKuo) + 1

const sobolBits = 32

// Sobol is a Sobol' sequence: points of the unit cube of d dimensions of which
// every 2^k first ones, and every aligned block of 2^k later ones, are spread
// evenly (I. M. Sobol', 1967; direction numbers of Joe and Kuo 2008; Gray-code
// order of Antonov and Saleev 1979). Coordinates past [MaxSobol] are padded
// with pseudo-random numbers, which leaves the even spread of the others.
//
// It is immutable and safe for concurrent use.
type Sobol struct {
	dirs     [][sobolBits]uint32 // dirs[j][k] is the direction number v_{k+1} of dimension j
	pad      int                 // dimensions beyond len(dirs)
	seed     uint64              // of the scrambling and the padding
	scramble bool                // digits are permuted at random
}

// NewSobol returns the sequence in d dimensions, whose first point is the
// origin. It panics if d < 1.
func NewSobol(d int) *Sobol {
	if d < 1 {
		panic(fmt.Sprintf("doe: Sobol' sequence in %d dimensions", d))
	}
	s := &Sobol{dirs: make([][sobolBits]uint32, min(d, MaxSobol)), pad: max(0, d-MaxSobol)}
	for k := range sobolBits {
		s.dirs[0][k] = 1 << (sobolBits - 1 - k) // van der Corput
	}
	for j := 1; j < len(s.dirs); j++ {
		s.dirs[j] = directions(joeKuo[j-1][0], joeKuo[j-1][1:])
	}
	return s
}

// directions extends the initial numbers m_1..m_s by the recurrence of the
// polynomial x^s + a_1 x^(s-1) + ... + 1 (Joe and Kuo 2008, eq. 2),
//
//	m_k = 2 a_1 m_{k-1} ^ ... ^ 2^(s-1) a_{s-1} m_{k-s+1} ^ 2^s m_{k-s} ^ m_{k-s},
//
// and returns v_k = m_k / 2^k as 32-bit fractions.
func directions(poly uint32, m []uint32) (v [sobolBits]uint32) {
	s := len(m)
	for k := range v {
		if k < s {
			v[k] = m[k] << (sobolBits - 1 - k)
			continue
		}
		// In terms of v the factor 2^i of m_{k-i} cancels, but for the last.
		v[k] = v[k-s] ^ v[k-s]>>s
		for i := 1; i < s; i++ {
			if poly>>(s-i)&1 == 1 {
				v[k] ^= v[k-i]
			}
		}
	}
	return v
}

// Scrambled returns the sequence with the digits of each coordinate scrambled
// by Owen's nested uniform scrambling (A. B. Owen, 1995): every point becomes
// uniform on the cube, and the even spread of the blocks remains. The digit
// flips are a hash of seed, dimension and the digits before.
func (s *Sobol) Scrambled(seed uint64) *Sobol {
	t := *s
	t.seed, t.scramble = seed, true
	return &t
}

// Dim returns the number of dimensions.
func (s *Sobol) Dim() int { return len(s.dirs) + s.pad }

// At sets x, of Dim coordinates, to the i-th point, 0 <= i < 2^32. The coordinates of a scrambled sequence lie strictly
// inside (0, 1), the coordinates of a plain one in [0, 1). It panics if i is outside or x has another length. Cost: the
// number of set bits of i times Dim, and 32 hashes for each scrambled coordinate.
func (s *Sobol) At(i int64, x []float64) {
	if i < 0 || i >= 1<<sobolBits {
		panic(fmt.Sprintf("doe: point %d of a Sobol' sequence of 2^%d", i, sobolBits))
	}
	if len(x) != s.Dim() {
		panic("doe: slice length mismatch")
	}
	gray := uint32(i) ^ uint32(i)>>1
	for j := range s.dirs {
		var v uint32
		for g := gray; g != 0; g &= g - 1 {
			v ^= s.dirs[j][bits.TrailingZeros32(g)]
		}
		x[j] = s.fraction(v, j)
	}
	for j := len(s.dirs); j < len(x); j++ {
		key := mix(s.seed^mix(uint64(j))) ^ uint64(i)
		x[j] = (float64(mix(key)>>11) + 0.5) / (1 << 53)
	}
}

// fraction returns the 32-bit fraction v of dimension j, scrambled if need be.
func (s *Sobol) fraction(v uint32, j int) float64 {
	if !s.scramble {
		return float64(v) / (1 << sobolBits)
	}
	key := mix(s.seed ^ mix(uint64(j)))
	var flips uint32
	for k := range sobolBits {
		// The flip of a digit depends on the digits before it and on its place,
		// which the leading 1 marks.
		prefix := uint64(1)<<k | uint64(v)>>(sobolBits-k)
		flips |= uint32(mix(key^prefix)>>63) << (sobolBits - 1 - k)
	}
	return (float64(v^flips) + 0.5) / (1 << sobolBits)
}
