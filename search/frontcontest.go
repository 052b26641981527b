package search

import (
	"cmp"
	"slices"

	"github.com/assay-run/assay"
)

// A contest finds the best of the candidates for one proposal of [Front].
//
// Invariant: best is open, and one of ties equals with probability 1/ties. It has no configuration as long
// as none that is open has entered.
type contest struct {
	*view
	seen    visited              // entrants so far
	out     [][]assay.Prediction // by objective
	mean    []float64            // of the present entrant, by objective
	std     []float64            // likewise
	best    entry                // of the open entrants
	ties    int                  // entrants as good as best
	leading []entry              // of those that entered as configurations
}

// An entry is a candidate.
type entry struct {
	config assay.Config // nil before the first one
	at     int          // in the pool
	score  float64      // expected improvement; the greater the better
	sum    float64      // of the means, each in units of the range of its objective: it orders equal scores
	mean   []float64    // predicted, by objective
}

func newContest(v *view) *contest {
	d := len(v.models)
	return &contest{
		view: v, seen: visited{}, out: make([][]assay.Prediction, d), mean: make([]float64, d), std: make([]float64, d),
	}
}

// predict predicts rows, for entryOf.
func (s *contest) predict(rows [][]float64) {
	for j, m := range s.models {
		if cap(s.out[j]) < len(rows) {
			s.out[j] = make([]assay.Prediction, len(rows))
		}
		s.out[j] = s.out[j][:len(rows)]
		assay.PredictAll(m, rows, s.out[j])
	}
}

// entryOf returns the k-th of the rows that were predicted, without its mean and configuration.
func (s *contest) entryOf(k int) entry {
	e := entry{}
	for j := range s.models {
		s.mean[j], s.std[j] = s.out[j][k].Mean, s.out[j][k].Std
		if w := s.rough[j]; w > 0 {
			e.sum += s.mean[j] / w
		}
	}
	e.score = s.improvement.expected(s.mean, s.std)
	return e
}

// leads orders entries; of equals neither leads.
func leads(a, b entry) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	return a.sum < b.sum
}

// offer keeps e if it is the best so far, or one of n equals with probability 1/n.
func (s *contest) offer(e entry, open func() bool) {
	first := s.best.mean == nil || leads(e, s.best)
	if !first && leads(s.best, e) || !open() {
		return
	}
	if first {
		s.ties = 1
	} else if s.ties++; s.f.bayes.rng.IntN(s.ties) != 0 {
		return
	}
	e.mean = slices.Clone(s.mean)
	s.best = e
}

// enter has configurations take part. Visited ones are passed through, but never the best.
func (s *contest) enter(cs []assay.Config) []entry {
	b := s.f.bayes
	var fresh []assay.Config
	var rows [][]float64
	for _, c := range cs {
		if s.seen.add(c) {
			fresh, rows = append(fresh, c), append(rows, b.encode(c))
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	s.predict(rows)
	all := make([]entry, len(fresh))
	for k, c := range fresh {
		e := s.entryOf(k)
		e.config = c
		all[k] = e
		s.offer(e, func() bool { return b.open(c) })
	}
	s.leading = append(s.leading, all...)
	return all
}

// climb goes from the n leading candidates to their best neighbours until that is no better.
func (s *contest) climb(n int) {
	from := slices.Clone(s.leading)
	slices.SortStableFunc(from, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.sum, b.sum))
	})
	for _, e := range from[:min(n, len(from))] {
		for range maxClimb {
			top := e
			for _, x := range s.enter(s.f.bayes.space.Neighbours(e.config)) {
				if leads(x, top) {
					top = x
				}
			}
			if !leads(top, e) {
				break
			}
			e = top
		}
	}
}

// pool enters all open configurations; with short only the shortlisted ones.
func (s *contest) pool(short bool) {
	b := s.f.bayes
	p := b.pool
	p.enter()
	var all []int
	for i := range p.visited {
		if p.open(i) {
			all = append(all, i)
		}
	}
	if short && len(all) > processShort+processRandom {
		all = p.leading(b, all, processShort, processRandom, s.roughly)
	}
	for len(all) > 0 {
		part := all[:min(poolChunk, len(all))]
		all = all[len(part):]
		for k, i := range part {
			p.expand(i, p.rows[k])
		}
		s.predict(p.rows[:len(part)])
		for k, i := range part {
			e := s.entryOf(k)
			e.at = i
			s.offer(e, func() bool { return true })
		}
	}
	if s.best.mean != nil {
		s.best.config = p.space.At(int64(s.best.at))
	}
}

// roughly ranks rows cheaply: by the means, with one deviation for all.
func (s *contest) roughly(rows [][]float64, ranks []float64) {
	means := make([][]float64, len(s.models))
	for j, m := range s.models {
		means[j] = make([]float64, len(rows))
		if q, ok := m.(meanPredictor); ok {
			q.PredictMeans(rows, means[j])
			continue
		}
		out := make([]assay.Prediction, len(rows))
		assay.PredictAll(m, rows, out)
		for k, o := range out {
			means[j][k] = o.Mean
		}
	}
	for k := range rows {
		for j := range means {
			s.mean[j] = means[j][k]
		}
		ranks[k] = -s.improvement.expected(s.mean, s.rough)
	}
}

type meanPredictor interface {
	PredictMeans(X [][]float64, out []float64)
}

// winner returns the best and its expected values; nil without one.
func (s *contest) winner() (assay.Config, []float64) {
	if s.best.mean == nil {
		return nil, nil
	}
	return s.best.config, s.best.mean
}
