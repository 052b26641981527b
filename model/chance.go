package model

import (
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// chanceFloor is the least deviation of a predicted margin, as a share of the deviation of the measured margins:
// agreement of all trees of a forest is not certainty.
const chanceFloor = 0.05

// Known is how well the sides of a bound are known of a trial.
type Known uint8

// How well.
const (
	Unknown Known = iota
	AtLeast       // the left side is no more than it would have become
	Exact
)

// Sides are the observations of a bound in a trial.
type Sides struct {
	Left, Right float64 // 0 if they are unknown
	Known       Known   // whether the two are exact
}

// SidesOf returns a trial's observations of a bound. A failed trial has none. A stopped trial has a lower limit of the
// left side, if the left side only grows.
func SidesOf(t assay.Trial, b assay.Bound) Sides {
	known := Exact
	switch {
	case t.State == assay.Censored && b.Grows:
		known = AtLeast
	case t.State != assay.Done && t.State != assay.Infeasible:
		return Sides{}
	}
	left, right, err := b.Sides(t.Measurement.Metric)
	if err != nil {
		return Sides{}
	}
	return Sides{left, right, known}
}

// A MarginScale makes one number of two sides, the margin: the logarithm of their ratio if all are positive, else an
// inverse hyperbolic sine of their difference. It is 0 where the sides are equal, and above where the left one is
// greater.
type MarginScale struct {
	ratio  bool    // the margin is the logarithm of a ratio
	spread float64 // a usual difference
	// Edge is the greatest margin that keeps the bound. Whole numbers may lie on a bound: it is then in the middle
	// between those and the least that breaks it.
	Edge float64
	// Usual is the deviation of the exact margins; 0 if all are equal, or none is known.
	Usual float64
}

// Forward returns the margin of sides that are known.
func (s MarginScale) Forward(x Sides) float64 {
	if s.ratio {
		return math.Log(x.Left) - math.Log(x.Right)
	}
	return math.Asinh((x.Left/2 - x.Right/2) / (s.spread / 2))
}

// NewMarginScale returns the scale of a bound from the observations in trials.
func NewMarginScale(all []Sides) MarginScale {
	s := MarginScale{ratio: true, spread: 1}
	var away []float64
	for _, x := range all {
		if x.Known == Unknown {
			continue
		}
		s.ratio = s.ratio && x.Left > 0 && x.Right > 0
		if x.Known == Exact {
			away = append(away, min(math.Abs(x.Left-x.Right), math.MaxFloat64))
		}
	}
	if len(away) == 0 {
		return s
	}
	slices.Sort(away)
	n := len(away)
	if m := away[(n-1)/2]/2 + away[n/2]/2; m > 0 {
		s.spread = m
	} else if m := away[n-1]; m > 0 {
		s.spread = m
	}
	var margins []float64
	least, touches := math.Inf(1), false
	for _, x := range all {
		if x.Known != Exact {
			continue
		}
		m := s.Forward(x)
		margins = append(margins, m)
		touches = touches || m == 0
		if m > 0 {
			least = min(least, m)
		}
	}
	if touches && !math.IsInf(least, 1) {
		s.Edge = least / 2
	}
	s.Usual = Deviation(margins)
	return s
}

// Deviation returns the standard deviation of some numbers, 0 of fewer than two.
func Deviation(x []float64) float64 {
	var n, mean, sum float64
	for _, v := range x {
		n++
		d := v - mean
		mean += d / n
		sum += d * (v - mean)
	}
	return math.Sqrt(sum / max(1, n-1))
}

// A Chance is the probability that a bound is kept, by a model of its margin.
type Chance struct {
	Model assay.Predictor // predicts the margin
	edge  float64         // the greatest margin that keeps the bound
	floor float64         // the least deviation
}

// Chance returns the chance by a model of margins on the scale.
func (s MarginScale) Chance(m assay.Predictor) Chance {
	return Chance{m, s.Edge, chanceFloor * s.Usual}
}

// Of returns the probability that the bound is kept, given a prediction of Model.
func (c Chance) Of(o assay.Prediction) float64 { return math.Erfc(-c.Z(o)/math.Sqrt2) / 2 }

// Z returns how many deviations the prediction lies below the edge: the chance is Φ of it.
func (c Chance) Z(o assay.Prediction) float64 {
	std := c.floor
	if o.Std > 0 {
		std = math.Hypot(std, o.Std)
	}
	return (c.edge - o.Mean) / std
}
