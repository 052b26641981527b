package assay

import (
	"math"
	"slices"
)

// A listing holds the configurations of an explicit list, which may have a million entries: as numbers of values in one
// array, so that a pass over all of them looks up the properties of each value, and found by a hash. It is made once
// and then only read.
type listing struct {
	n      int
	values [][]float64 // by parameter, each that is listed once
	codes  []uint32    // of each configuration in turn, the index in values by parameter
	slots  []uint32    // open addressing: the index of a configuration plus 1, or 0

	distinct int // values of all parameters together
}

// newListing returns an empty listing for at most n configurations of d parameters.
func newListing(n, d int) *listing {
	size := 4
	for size < 2*n {
		size *= 2
	}
	return &listing{values: make([][]float64, d), codes: make([]uint32, 0, n*d), slots: make([]uint32, size)}
}

// hash returns equal numbers for equal configurations; -0 and 0 are equal.
func (l *listing) hash(c Config) uint64 {
	h := uint64(len(c))
	for _, x := range c {
		if x == 0 {
			x = 0
		}
		h = (h ^ math.Float64bits(x)) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return h
}

// slot returns where c is, or where it would be.
func (l *listing) slot(c Config) int {
	at := int(l.hash(c)) & (len(l.slots) - 1)
	for l.slots[at] > 0 && !l.is(int(l.slots[at])-1, c) {
		at = (at + 1) & (len(l.slots) - 1)
	}
	return at
}

// is reports whether configuration k is c.
func (l *listing) is(k int, c Config) bool {
	for i, code := range l.row(k) {
		if l.values[i][code] != c[i] {
			return false
		}
	}
	return true
}

// at returns configuration k, which is the caller's.
func (l *listing) at(k int) Config {
	c := make(Config, len(l.values))
	for i, code := range l.row(k) {
		c[i] = l.values[i][code]
	}
	return c
}

// has reports whether c is listed.
func (l *listing) has(c Config) bool {
	return len(c) == len(l.values) && l.slots[l.slot(c)] > 0
}

// A lister fills a listing.
type lister struct {
	*listing
	number []map[float64]uint32 // by parameter, the code of a value
}

func newLister(n, d int) *lister {
	l := &lister{listing: newListing(n, d), number: make([]map[float64]uint32, d)}
	for i := range l.number {
		l.number[i] = map[float64]uint32{}
	}
	return l
}

// add appends c, which is not there yet.
func (l *lister) add(c Config) {
	slot := l.slot(c)
	l.n++
	l.slots[slot] = uint32(l.n)
	for i, x := range c {
		code, ok := l.number[i][x]
		if !ok {
			code = uint32(len(l.values[i]))
			l.number[i][x] = code
			l.values[i] = append(l.values[i], x)
			l.distinct++
		}
		l.codes = append(l.codes, code)
	}
}

// row returns the codes of configuration k.
func (l *listing) row(k int) []uint32 {
	d := len(l.values)
	return l.codes[k*d : (k+1)*d : (k+1)*d]
}

// distances returns a function of the index of a listed configuration: [Space.distance2] from c where that is
// below the limit, and else a number that is not. Cost: of the first call a distance for each
// value, of a later one a sum.
func (s *Space) distances(c Config) func(k int, limit float64) float64 {
	l := s.list
	if s.order != nil { // the cost of a value depends on others: see distance2
		return func(k int, _ float64) float64 { return s.distance2(l.at(k), c) }
	}
	of := make([][]float64, len(s.Params))
	for i := range s.Params {
		of[i] = make([]float64, len(l.values[i]))
		for code, x := range l.values[i] {
			of[i][code] = s.Params[i].distance2(x, c[i])
		}
	}
	return func(k int, limit float64) float64 {
		// In the order of distance2, so that the sum is the same to the last bit. It never falls.
		sum := 0.0
		for i, code := range l.row(k) {
			if sum += of[i][code]; sum >= limit {
				break
			}
		}
		return sum
	}
}

// nearestListed returns the n listed configurations other than c that are nearest to it, of equals the first.
func (s *Space) nearestListed(c Config, n int) []Config {
	type near struct {
		at   int
		dist float64
	}
	best := make([]near, 0, n+1)
	dist := s.distances(c)
	limit := math.Inf(1)
	for k := range s.list.n {
		d := dist(k, limit)
		if d >= limit || s.list.is(k, c) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, d, func(b near, d float64) int {
			if b.dist > d {
				return 1
			}
			return -1 // behind its equals, which come before it in the list
		})
		if best = slices.Insert(best, at, near{k, d}); len(best) > n {
			best = best[:n]
		}
		if len(best) == n {
			limit = best[n-1].dist
		}
	}
	out := make([]Config, len(best))
	for i, b := range best {
		out[i] = s.list.at(b.at)
	}
	return out
}

// listNeighbours returns the neighbours of c in an explicit list: for each parameter,
// of the listed configurations that differ from c in it alone, the next ones up and
// down, or all if it has no order. Cost: a look-up for each value, or a pass over the list where there are
// many; a pass if there are none.
func (s *Space) listNeighbours(c Config) []Config {
	beside := s.list.besideByLookup
	if s.list.distinct > s.list.n/4 {
		beside = s.list.besideByPass
	}
	var ns []Config
	for i, some := range beside(c) {
		if !s.Params[i].Ordered() {
			for _, k := range some {
				ns = append(ns, s.list.at(k))
			}
			continue
		}
		value := func(k int) float64 { return s.list.values[i][s.list.row(k)[i]] }
		up, down := -1, -1
		for _, k := range some {
			switch x := value(k); {
			case x > c[i] && (up < 0 || x < value(up)):
				up = k
			case x < c[i] && (down < 0 || x > value(down)):
				down = k
			}
		}
		for _, k := range []int{up, down} {
			if k >= 0 {
				ns = append(ns, s.list.at(k))
			}
		}
	}
	if len(ns) > 0 {
		return ns
	}
	return s.nearestListed(c, 2*len(s.Params))
}

// besideByLookup returns, by parameter, the indices of the listed configurations that differ from c in it alone, in
// ascending order.
func (l *listing) besideByLookup(c Config) [][]int {
	out := make([][]int, len(c))
	n := c.Clone()
	for i := range c {
		for _, x := range l.values[i] {
			if x == c[i] {
				continue
			}
			n[i] = x
			if k := l.slots[l.slot(n)]; k > 0 {
				out[i] = append(out[i], int(k)-1)
			}
		}
		n[i] = c[i]
		slices.Sort(out[i])
	}
	return out
}

// besideByPass is besideByLookup by a look at all configurations.
func (l *listing) besideByPass(c Config) [][]int {
	own := make([]uint32, len(c))
	for i, x := range c {
		// A value that is not listed has a code that no other has.
		own[i] = uint32(slices.Index(l.values[i], x))
	}
	out := make([][]int, len(c))
	for k := range l.n {
		dim, diffs := -1, 0
		for i, code := range l.row(k) {
			if code != own[i] {
				dim = i
				if diffs++; diffs > 1 {
					break
				}
			}
		}
		if diffs == 1 {
			out[dim] = append(out[dim], k)
		}
	}
	return out
}
