package search

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
)

const (
	// maxPool bounds the time of a proposal, which predicts all that are open; poolChunk bounds the memory
	// of their features.
	maxPool   = 200_000 // configurations that are scored one by one
	poolChunk = 1024    // of which as many are encoded at a time
)

// A pool is a whole space in compact form: for each configuration the number of the value of each parameter, and for
// each value its features, so that rows of features are made by copying.
//
// Configuration i is space.At(i) throughout. codes, features and number never change once made. The
// buffers are overwritten by each call that predicts, so that a pool serves one goroutine, and no result
// keeps a row. rows are slices of buffer, each of the full width and capped there.
type pool struct {
	space    *assay.Space         // Indexed
	codes    []uint32             // n rows of d value numbers
	features [][][]float64        // by parameter and value number
	number   []map[float64]uint32 // by parameter, the number of a coordinate; see place
	width    int                  // features of a row
	visited  []bool               // by configuration
	late     []assay.Config       // visited, but not entered there yet
	hints    []float64            // by configuration; nil without
	outside  []bool               // of the limit of Narrow; nil without one

	buffer []float64          // poolChunk rows
	rows   [][]float64        // of features to predict
	at     []int              // which configurations the rows are
	out    []assay.Prediction // predictions of the rows
	scores []float64          // of the rows
}

// newPool returns the pool of an Indexed space. A row of features is put together from the features of the single
// values, which is exact because a feature depends only on its parameter, and on whether that is active. Cost: the
// size of the space, in time and in 4 bytes for each value.
func newPool(space *assay.Space) *pool {
	n, d := int(space.Size().N), space.Dim()
	p := &pool{
		space: space, codes: make([]uint32, 0, n*d), features: make([][][]float64, d),
		number: make([]map[float64]uint32, d), visited: make([]bool, n), width: len(space.Features()),
	}
	first := make([]int, d+1) // columns of each parameter
	for _, f := range space.Features() {
		first[f.Param+1]++
	}
	for i := range d {
		first[i+1] += first[i]
	}
	for i := range p.number {
		p.number[i] = map[float64]uint32{}
	}
	for c := range space.All() {
		var row []float64
		for i := range c {
			x := p.place(c, i)
			code, ok := p.number[i][x]
			if !ok {
				if row == nil {
					row = space.Encode(c)
				}
				code = uint32(len(p.features[i]))
				p.number[i][x] = code
				p.features[i] = append(p.features[i], row[first[i]:first[i+1]])
			}
			p.codes = append(p.codes, code)
		}
	}
	p.makeRows()
	p.at, p.out, p.scores = make([]int, poolChunk), make([]assay.Prediction, poolChunk), make([]float64, poolChunk)
	return p
}

// makeRows makes the buffer for rows of the width.
//
// It is called again when the width grows. The content of the rows is lost.
func (p *pool) makeRows() {
	p.buffer = make([]float64, poolChunk*p.width)
	p.rows = make([][]float64, poolChunk)
	for i := range p.rows {
		p.rows[i] = p.buffer[i*p.width : (i+1)*p.width : (i+1)*p.width]
	}
}

// hint gives each configuration one more feature, or that feature another value. Cost: a call of hint for each.
func (p *pool) hint(hint func(assay.Config) float64) {
	first := p.hints == nil
	p.hints = make([]float64, len(p.visited))
	for i := range p.hints {
		p.hints[i] = hint(p.space.At(int64(i)))
	}
	if first {
		p.width++
		p.makeRows()
	}
}

// visit takes c out of the pool, at the next [pool.enter].
func (p *pool) visit(c assay.Config) { p.late = append(p.late, c) }

// enter removes visited configurations from the pool. It precedes every use of the open ones. Cost: one pass over the
// pool, for any number of them.
func (p *pool) enter() {
	if len(p.late) == 0 {
		return
	}
	// Up to this number, comparisons of codes are cheaper than a hash of each configuration.
	const few = 4
	d := len(p.features)
	var want [][]uint32
	for _, c := range p.late {
		if codes, ok := p.encode(c); ok {
			want = append(want, codes)
		}
	}
	// A configuration that is not in the pool is dropped: it can never be proposed.
	p.late = p.late[:0]
	if len(want) > few {
		p.enterMany(want)
		return
	}
	for i := range p.visited {
		for _, w := range want {
			if slices.Equal(p.codes[i*d:(i+1)*d], w) {
				p.visited[i] = true
			}
		}
	}
}

// enterMany is enter by a table of hashes.
//
// Equal hashes are no proof: the codes are compared as well.
func (p *pool) enterMany(want [][]uint32) {
	d := len(p.features)
	hash := func(codes []uint32) (h uint64) {
		for _, c := range codes {
			h = (h ^ uint64(c)) * 0x9e3779b97f4a7c15
			h ^= h >> 29
		}
		return h
	}
	by := map[uint64][][]uint32{}
	for _, w := range want {
		by[hash(w)] = append(by[hash(w)], w)
	}
	for i := range p.visited {
		codes := p.codes[i*d : (i+1)*d]
		for _, w := range by[hash(codes)] {
			if slices.Equal(codes, w) {
				p.visited[i] = true
			}
		}
	}
}

// encode returns the value numbers of c; false if it is not in the pool.
func (p *pool) encode(c assay.Config) ([]uint32, bool) {
	codes := make([]uint32, len(c))
	for i := range c {
		code, ok := p.number[i][p.place(c, i)]
		if !ok {
			return nil, false
		}
		codes[i] = code
	}
	return codes, true
}

// place returns the coordinate of the i-th parameter in c, +Inf if it is inactive: its features then differ from the
// features of the coordinate at rest.
func (p *pool) place(c assay.Config, i int) float64 {
	if p.space.Active(c, i) {
		return c[i]
	}
	return math.Inf(1)
}

// narrow sets the limit. Cost: a call of keep for each configuration.
func (p *pool) narrow(keep func(assay.Config) bool) {
	// The limit of before is forgotten: a limit replaces another one.
	p.outside = nil
	if keep == nil {
		return
	}
	p.outside = make([]bool, len(p.visited))
	for i := range p.outside {
		p.outside[i] = !keep(p.space.At(int64(i)))
	}
}

// open reports whether configuration i can be proposed.
func (p *pool) open(i int) bool { return !p.visited[i] && (p.outside == nil || !p.outside[i]) }

// any reports whether there is an open configuration.
//
// Cost: a pass up to the first that is open.
func (p *pool) any() bool {
	p.enter()
	for i := range p.visited {
		if p.open(i) {
			return true
		}
	}
	return false
}

// random returns an open configuration, all with the same probability; nil without one.
func (p *pool) random(rng *rand.Rand) assay.Config {
	p.enter()
	at, n := -1, 0
	for i := range p.visited {
		if p.open(i) {
			// Reservoir sampling: the n-th open one is taken with probability 1/n, in one pass and without a list.
			if n++; rng.IntN(n) == 0 {
				at = i
			}
		}
	}
	if at < 0 {
		return nil
	}
	return p.space.At(int64(at))
}

// maximize returns the open configuration with the largest expected improvement, a random one of equals, and its
// predicted mean; nil without one.
func (p *pool) maximize(b *Bayes) (assay.Config, float64) {
	p.enter()
	// Invariant: best is one of ties configurations that are equally good, each with probability 1/ties.
	best, ties := -1, 0
	var top candidate
	fill := 0
	flush := func() {
		assay.PredictAll(b.surrogate, p.rows[:fill], p.out[:fill])
		p.score(b, fill, best >= 0, top.score)
		for k, o := range p.out[:fill] {
			c := candidate{mean: o.Mean, score: p.scores[k]}
			if best < 0 || better(c, top) {
				best, top, ties = p.at[k], c, 1
			} else if !better(top, c) {
				if ties++; b.rng.IntN(ties) == 0 {
					best = p.at[k]
				}
			}
		}
		fill = 0
	}
	for i := range p.visited {
		if !p.open(i) {
			continue
		}
		p.expand(i, p.rows[fill])
		p.at[fill] = i
		if fill++; fill == poolChunk {
			flush()
		}
	}
	flush()
	if best < 0 {
		return nil, math.NaN()
	}
	return p.space.At(int64(best)), top.mean
}

// score sets the scores of the first n rows from their predictions in p.out. With a best one so far, whose score is
// top, rows that cannot be better may have any score below it.
func (p *pool) score(b *Bayes, n int, some bool, top float64) {
	for k, o := range p.out[:n] {
		p.scores[k] = b.improvement(o)
	}
	if !some {
		top = math.Inf(-1)
	}
	b.limits.weigh(p.rows[:n], p.scores[:n], top)
}

// expand writes the features of configuration i to row.
//
// row has the width of the pool. The hint is its last feature.
func (p *pool) expand(i int, row []float64) {
	d := len(p.features)
	k := 0
	for j, code := range p.codes[i*d : (i+1)*d] {
		k += copy(row[k:], p.features[j][code])
	}
	if p.hints != nil {
		row[k] = p.hints[i]
	}
}
