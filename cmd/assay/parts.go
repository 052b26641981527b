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
	if p.Other > 0 {
		parts = append(parts, part{"other", p.Other})
	}
	switch p.Split {
	case costmodel.SplitNone:
		return nil
	case costmodel.SplitStall:
		parts = []part{{"compute", p.Compute}, {"stall", p.Network + p.Disk}}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.seconds, a.seconds) })
	return parts
}

// addDataFlow says that a model has runs without a data flow, where it does.
func addDataFlow(l *lines, m *costmodel.Model) {
	if n := withoutIO(m); n > 0 {
		l.add("data flow", "none in %d of %d runs: the unit that theirs is counted in is one run", n, len(m.Runs()))
	}
}

// withoutIO returns how many runs of a model were seen to read and write nothing.
func withoutIO(m *costmodel.Model) int {
	n := 0
	for _, r := range m.Runs() {
		if r.NoIO {
			n++
		}
	}
	return n
}

type part struct {
	name    string
	seconds float64
}
