package model

import (
	"slices"

	"github.com/assay-run/assay"
)

// An Axis is the domain of one parameter as a model sees it: either one feature that is uniform on [Lo, Hi], or equally
// likely Points, each with a value for every one of Features (several for a one-hot coded parameter).
type Axis struct {
	Features []int       // indices into the rows of the model
	Lo, Hi   float64     // if Points is nil
	Points   [][]float64 // each as long as Features
}

// maxPoints is the number of values from which a parameter is taken for continuous.
const maxPoints = 256

// SpaceAxes returns one Axis for each parameter of s, on the features of
// [assay.Space.Encode]: the whole unit interval for a continuous parameter and
// for one of more than 256 values, else the values. Relations and lists are
// ignored, as the parameters of an analysis of variance are independent.
func SpaceAxes(s *assay.Space) []Axis {
	axes := make([]Axis, s.Dim())
	for j, f := range s.Features() {
		axes[f.Param].Features = append(axes[f.Param].Features, j)
	}
	for i, p := range s.Params {
		a := &axes[i]
		n := p.Count()
		switch {
		case len(a.Features) > 1: // one 0/1 feature per level
			for l := range a.Features {
				point := make([]float64, len(a.Features))
				point[l] = 1
				a.Points = append(a.Points, point)
			}
		case n == 0 || n > maxPoints:
			a.Hi = 1
		default:
			for k := range n {
				a.Points = append(a.Points, []float64{p.ToUnit(p.At(k))})
			}
		}
	}
	return axes
}

// MainEffects returns, for each axis, the share of the variance of the predictions over the whole domain that this axis
// explains alone: the functional analysis of variance of Hutter, Hoos and Leyton-Brown, "An efficient approach for
// assessing hyperparameter importance", 2014, algorithm 2 with |U| = 1. As there, shares are of each tree and averaged
// over the trees, so the ensemble is a forest; a tree without variance does not count. Shares are >= 0 and their sum is
// at most 1, the rest being interactions; they are all 0 if no tree varies.
//
// Every feature that a tree tests belongs to exactly one axis, or MainEffects
// panics. Cost: leaves · (depth · points + axes) for each tree.
func (e Ensemble) MainEffects(axes []Axis) []float64 {
	a := newVarianceAnalysis(axes)
	shares := make([]float64, len(axes))
	trees := 0
	for _, t := range e.Trees {
		effects, total := a.analyse(t)
		if !(total > 0) {
			continue
		}
		trees++
		for i, v := range effects {
			shares[i] += v / total
		}
	}
	for i := range shares {
		shares[i] /= float64(max(trees, 1))
	}
	return shares
}

// place is where a feature is: in a column of the points of an axis.
type place struct{ axis, column int }

type varianceAnalysis struct {
	axes  []Axis        // the domain, one for each parameter
	where map[int]place // by feature
}

func newVarianceAnalysis(axes []Axis) *varianceAnalysis {
	a := &varianceAnalysis{axes, map[int]place{}}
	for i, x := range axes {
		if x.Points == nil && (len(x.Features) != 1 || !(x.Lo < x.Hi)) {
			panic("model: an axis without points needs one feature and lo < hi")
		}
		for c, f := range x.Features {
			if _, twice := a.where[f]; twice {
				panic("model: a feature belongs to two axes")
			}
			a.where[f] = place{i, c}
		}
	}
	return a
}

// A region is the part of an axis that leads to a node.
type region struct {
	lo, hi float64 // without points
	in     []bool  // with points: those that are inside
	share  float64 // of the axis, by measure
	cut    bool    // less than the whole axis was asked for on the way
}

// A box is a leaf with its region on each axis.
type box struct {
	regions []region // one for each axis
	volume  float64  // product of the shares of the axes
	value   float64  // of the leaf
}

// analyse returns the variance of the marginal of each axis, and the variance of the tree.
func (a *varianceAnalysis) analyse(t Tree) (effects []float64, total float64) {
	boxes := a.boxes(t)
	var mean float64
	for _, b := range boxes {
		mean += b.volume * b.value
	}
	for i := range boxes {
		boxes[i].value -= mean
		total += boxes[i].volume * boxes[i].value * boxes[i].value
	}
	effects = make([]float64, len(a.axes))
	for i, x := range a.axes {
		if x.Points != nil {
			effects[i] = a.pointsEffect(boxes, i)
		} else {
			effects[i] = a.intervalEffect(boxes, i)
		}
	}
	return effects, total
}

// boxes returns the leaves of t that have a volume.
func (a *varianceAnalysis) boxes(t Tree) []box {
	var out []box
	whole := make([]region, len(a.axes))
	for i, x := range a.axes {
		whole[i] = region{lo: x.Lo, hi: x.Hi, share: 1}
	}
	var walk func(i int32, at []region)
	walk = func(i int32, at []region) {
		n := t[i]
		if n.Leaf() {
			volume := 1.0
			for _, r := range at {
				volume *= r.share
			}
			if volume > 0 {
				out = append(out, box{at, volume, n.Value})
			}
			return
		}
		p, ok := a.where[int(n.Feature)]
		if !ok {
			panic("model: a tree tests a feature that belongs to no axis")
		}
		for side, child := range [...]int32{n.Left, n.Right} {
			part := slices.Clone(at)
			part[p.axis] = a.axes[p.axis].cut(at[p.axis], p.column, n.Threshold, side == 0)
			if part[p.axis].share > 0 {
				walk(child, part)
			}
		}
	}
	walk(0, whole)
	return out
}

// cut returns the part of r on one side of a threshold.
func (x Axis) cut(r region, column int, threshold float64, left bool) region {
	r.cut = true
	if x.Points == nil {
		if left {
			r.hi = min(r.hi, threshold)
		} else {
			r.lo = max(r.lo, threshold)
		}
		r.share = max(r.hi-r.lo, 0) / (x.Hi - x.Lo)
		return r
	}
	in := make([]bool, len(x.Points))
	count := 0
	for k, p := range x.Points {
		in[k] = (r.in == nil || r.in[k]) && (p[column] <= threshold) == left
		if in[k] {
			count++
		}
	}
	r.in, r.share = in, float64(count)/float64(len(in))
	return r
}

// The marginal of axis i at a point of it, less the mean, is
//
//	Σ_b (1[b holds the point]/share_b - 1) · volume_b · value_b
//
// over the boxes b that are cut on the axis: the others add nothing.

func (a *varianceAnalysis) pointsEffect(boxes []box, i int) float64 {
	marginal := make([]float64, len(a.axes[i].Points))
	for _, b := range boxes {
		r := b.regions[i]
		if !r.cut {
			continue
		}
		for k := range marginal {
			marginal[k] -= b.volume * b.value
			if r.in[k] {
				marginal[k] += b.volume / r.share * b.value
			}
		}
	}
	var v float64
	for _, m := range marginal {
		v += m * m / float64(len(marginal))
	}
	return v
}

func (a *varianceAnalysis) intervalEffect(boxes []box, i int) float64 {
	x := a.axes[i]
	ends := []float64{x.Lo, x.Hi}
	for _, b := range boxes {
		ends = append(ends, b.regions[i].lo, b.regions[i].hi)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	// rise[k] is the difference between the marginals of [ends[k], ends[k+1]] and the interval before.
	rise := make([]float64, len(ends))
	for _, b := range boxes {
		r := b.regions[i]
		if !r.cut {
			continue
		}
		from, _ := slices.BinarySearch(ends, r.lo)
		to, _ := slices.BinarySearch(ends, r.hi)
		rise[0] -= b.volume * b.value
		rise[from] += b.volume / r.share * b.value
		rise[to] -= b.volume / r.share * b.value
	}
	var v, marginal float64
	for k := range len(ends) - 1 {
		marginal += rise[k]
		v += marginal * marginal * (ends[k+1] - ends[k]) / (x.Hi - x.Lo)
	}
	return v
}
