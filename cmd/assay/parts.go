package main

import (
	"cmp"
	"slices"

	"github.com/assay-run/assay/costmodel"
)

// partsOf returns the shares of a predicted time by what limits the program, the
// largest first.
func partsOf(p costmodel.Prediction) []part {
	parts := []part{{"compute", p.Compute}, {"network", p.Network}, {"disk", p.Disk}}
	switch p.Split {
	case costmodel.SplitNone:
		return nil
	case costmodel.SplitStall:
		parts = []part{{"compute", p.Compute}, {"stall", p.Network + p.Disk}}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.seconds, a.seconds) })
	return parts
}

type part struct {
	name    string
	seconds float64
}
