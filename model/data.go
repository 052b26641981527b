package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// check applies the rules that every Learner has about d, in this order: rows of different lengths, or slices that do
// not match, panic; a feature or outcome that is not finite is assay.ErrBadData; fewer than least examples is
// assay.ErrTooFew, each wrapped with the offending value.
func check(d assay.Data, least int) error {
	if len(d.X) != len(d.Y) || d.Censored != nil && len(d.Censored) != len(d.Y) {
		panic("model: slice length mismatch")
	}
	for _, x := range d.X {
		if len(x) != len(d.X[0]) {
			panic("model: rows of different lengths")
		}
	}
	for i, x := range d.X {
		for j, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("example %d, feature %d is %v: %w", i, j, v, assay.ErrBadData)
			}
		}
		if y := d.Y[i]; math.IsNaN(y) || math.IsInf(y, 0) {
			return fmt.Errorf("outcome %d is %v: %w", i, y, assay.ErrBadData)
		}
	}
	if len(d.Y) < least {
		return fmt.Errorf("%d of %d examples: %w", len(d.Y), least, assay.ErrTooFew)
	}
	return nil
}

// CheckExact is check for a Learner without censored examples, of which it returns assay.ErrCensored.
func CheckExact(d assay.Data, least int) error {
	if err := check(d, least); err != nil {
		return err
	}
	for i, c := range d.Censored {
		if c {
			return fmt.Errorf("outcome %d: %w", i, assay.ErrCensored)
		}
	}
	return nil
}

// centre returns y as offset + half·u with u in [-1, 1], so that sums and squares of u are finite for any y. If all
// outcomes are equal, offset is exactly their value, and half and u are 0. y is finite and not empty.
func centre(y []float64) (u []float64, offset, half float64) {
	lo, hi := slices.Min(y), slices.Max(y)
	u, offset = make([]float64, len(y)), lo
	if lo == hi {
		return u, offset, 0
	}
	half = hi/2 - lo/2
	if half == 0 { // the difference is the least positive number
		half = hi - lo
	}
	offset += half
	for i, v := range y {
		u[i] = (v - offset) / half
	}
	return u, offset, half
}

// bound returns x, or the nearest finite number if it is infinite.
func bound(x float64) float64 { return min(max(x, -math.MaxFloat64), math.MaxFloat64) }
