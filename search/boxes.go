package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-run/assay/internal/stats"
)

// A box is a part of the region that no point of a front dominates: all points above lo and at most hi in every
// coordinate. lo may be -Inf.
type box struct{ lo, hi []float64 }

// boxes cuts the region that no point dominates, and that ref bounds, into disjoint boxes: for n points at most n+1 in
// two dimensions, and n² of them in three (slabs at right angles to the last coordinate, each cut like a front of one
// dimension less; Lacour, Klamroth and Fonseca 2017 have fewer). Points that are not below ref cut nothing off.
func boxes(points [][]float64, ref []float64) []box {
	d := len(ref)
	inside := slices.DeleteFunc(slices.Clone(points), func(p []float64) bool {
		for i, x := range p[:d] {
			if !(x < ref[i]) {
				return true
			}
		}
		return false
	})
	if d == 1 {
		hi := ref[0]
		for _, p := range inside {
			hi = min(hi, p[0])
		}
		return []box{{[]float64{math.Inf(-1)}, []float64{hi}}}
	}
	slices.SortStableFunc(inside, func(a, b []float64) int { return cmp.Compare(a[d-1], b[d-1]) })
	var all []box
	lo := math.Inf(-1)
	for k := 0; k <= len(inside); k++ {
		hi := ref[d-1]
		if k < len(inside) {
			hi = inside[k][d-1]
		}
		if hi > lo {
			for _, b := range boxes(inside[:k], ref[:d-1]) {
				all = append(all, box{append(b.lo, lo), append(b.hi, hi)})
			}
		}
		lo = hi
	}
	return all
}

// A volume is the expected hypervolume improvement over a front: by how much the region that is
// dominated grows, for a point whose coordinates are independent and normal (Emmerich, Deutz and Klinkenberg
// 2011). The part of a box that a point at y dominates is the product over its sides of (hi-y)⁺ - (lo-y)⁺, so
// that the expectation is a sum of products, and exact.
type volume struct {
	boxes  []box       // that no point of the front dominates
	levels [][]float64 // the different ends of the boxes, by coordinate, in order
	lo, hi [][]int     // of each box, by coordinate: its ends in levels
	loss   [][]float64 // of the levels, for one point
	scales []scaleKind // of the coordinates
	ref    []float64   // the unit of an objective is its value there, so that none overflows
}

// newVolume returns the improvement over points within ref, all of them on some scales. The volume is the
// volume of the objectives themselves also if a scale is logarithmic: with logarithms more was lacking of the
// fronts of recorded tables (lab/notes/front.md).
func newVolume(points [][]float64, ref []float64, scales []scaleKind) *volume {
	v := &volume{
		boxes: boxes(points, ref), levels: make([][]float64, len(ref)), loss: make([][]float64, len(ref)), scales: scales,
		ref: ref,
	}
	for i := range ref {
		for _, b := range v.boxes {
			v.levels[i] = append(v.levels[i], b.lo[i], b.hi[i])
		}
		slices.Sort(v.levels[i])
		v.levels[i] = slices.Compact(v.levels[i])
		v.loss[i] = make([]float64, len(v.levels[i]))
	}
	for _, b := range v.boxes {
		lo, hi := make([]int, len(ref)), make([]int, len(ref))
		for i := range ref {
			lo[i], _ = slices.BinarySearch(v.levels[i], b.lo[i])
			hi[i], _ = slices.BinarySearch(v.levels[i], b.hi[i])
		}
		v.lo, v.hi = append(v.lo, lo), append(v.hi, hi)
	}
	return v
}

// expected returns the expected improvement by a point with these means and deviations. A deviation that
// is 0 or NaN makes the coordinate certain.
func (v *volume) expected(mean, std []float64) float64 {
	for i, levels := range v.levels {
		for k, t := range levels {
			shift := 0.0
			if k := v.scales[i]; k == logScale || k == mirrorScale {
				shift = v.ref[i]
			}
			v.loss[i][k] = shortfall(v.scales[i], t-shift, mean[i]-shift, std[i])
		}
	}
	sum := 0.0
	for b := range v.boxes {
		product := 1.0
		for i := range v.levels {
			product *= v.loss[i][v.hi[b][i]] - v.loss[i][v.lo[b][i]]
			if product <= 0 {
				break
			}
		}
		sum += max(product, 0)
	}
	return sum
}

// shortfall returns E[(T-X)⁺] for a Y that is normal on the scale, and t the value of T there: T and X are the
// objective itself on a logarithmic scale, and t and Y on any other.
func shortfall(s scaleKind, t, mean, std float64) float64 {
	if math.IsInf(t, -1) {
		return 0
	}
	if !(std > 0) {
		switch s {
		case logScale:
			return max(math.Exp(t)-math.Exp(mean), 0)
		case mirrorScale:
			return max(math.Exp(-mean)-math.Exp(-t), 0)
		}
		return max(t-mean, 0)
	}
	z := (t - mean) / std
	switch s {
	case logScale: // X is log-normal
		return max(math.Exp(t)*stats.NormCDF(z)-math.Exp(mean+std*std/2)*stats.NormCDF(z-std), 0)
	case mirrorScale: // -X is
		return max(math.Exp(-mean+std*std/2)*stats.NormCDF(z+std)-math.Exp(-t)*stats.NormCDF(z), 0)
	}
	return std * (z*stats.NormCDF(z) + stats.NormPDF(z))
}
