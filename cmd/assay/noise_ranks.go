package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/assay-run/assay/stats"
)

// ranksJSON is what `assay study noise --json` says of run times of several
// processors at the same times: a contract.
type ranksJSON struct {
	Ranks       int      `json:"ranks"`
	Rows        int      `json:"rows"`
	Correlation *float64 `json:"correlation"` // mean rank correlation of two of them
	// Late is what a run counts as late: "difference", more than --difference above
	// the rank's least, or "median", above the rank's median, where that is never
	// or always so.
	Late string `json:"late"`
	// LateShare is how often one is late, AllLateShare how often all are.
	LateShare    float64 `json:"late_share"`
	AllLateShare float64 `json:"all_late_share"`
	// IndependentRuns is how many independent runs have a minimum as good as that of
	// one simultaneous run on every rank; the lower end of what is possible if
	// all were never late together.
	IndependentRuns *float64    `json:"independent_runs"`
	CI95            [2]*float64 `json:"ci95"`
}

// maxRanks is how many numbers a line may have.
const maxRanks = 4096

// readColumns reads lines of numbers, separated by blanks, commas or semicolons,
// as many on each line as on the first. Empty lines and those that begin with #
// do not count.
func readColumns(r io.Reader) ([][]float64, error) {
	var columns [][]float64
	total := 0
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for line := 1; sc.Scan(); line++ {
		text := strings.TrimSpace(sc.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		fields := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t,;", r) })
		switch {
		case len(fields) == 0:
			return nil, usagef("standard input:%d: %q is not a number", line, clipped(text))
		case len(fields) > maxRanks:
			return nil, usagef("standard input:%d: %d numbers, more than %d", line, len(fields), maxRanks)
		case columns == nil:
			columns = make([][]float64, len(fields))
		case len(fields) != len(columns):
			return nil, usagef("standard input:%d: %d numbers, the first line has %d", line, len(fields), len(columns))
		}
		for j, field := range fields {
			x, err := strconv.ParseFloat(field, 64)
			if err != nil || math.IsNaN(x) || math.Abs(x) > 1e300 {
				return nil, usagef("standard input:%d: %q is not a number", line, clipped(field))
			}
			columns[j] = append(columns[j], x)
		}
		if total += len(fields); total > maxColumn {
			return nil, usagef("standard input: more than %d numbers", maxColumn)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, usagef("standard input: %v", err)
	}
	if len(columns) == 0 {
		return nil, usagef("standard input has no numbers")
	}
	return columns, nil
}

// clipped returns the first 40 bytes of text.
func clipped(text string) string {
	if len(text) > 40 {
		return text[:40] + "..."
	}
	return text
}

// readColumn reads one number a line, see [readColumns].
func readColumn(r io.Reader) ([]float64, error) {
	columns, err := readColumns(r)
	if err != nil {
		return nil, err
	}
	if len(columns) > 1 {
		return nil, usagef("standard input: %d numbers a line, want one", len(columns))
	}
	return columns[0], nil
}

// columnNoise returns the noise of run times by time and rank. Those of several
// ranks are pooled, each divided by the size of its rank's median.
func columnNoise(columns [][]float64, f *noiseFlags) (*noise, error) {
	n := &noise{Runs: len(columns[0]), Configs: 1, values: columns[0]}
	if len(columns) == 1 {
		return n, nil
	}
	n.values = nil
	for j, c := range columns {
		m := math.Abs(stats.Median(c))
		if m == 0 {
			return nil, usagef("standard input: the median of rank %d is 0", j+1)
		}
		for _, x := range c {
			n.values = append(n.values, x/m)
		}
	}
	n.Runs = len(n.values)
	n.Ranks = f.compareRanks(columns)
	return n, nil
}

// compareRanks says how alike the ranks' times are.
func (f *noiseFlags) compareRanks(columns [][]float64) *ranksJSON {
	limits, medians := make([]float64, len(columns)), make([]float64, len(columns))
	for j, c := range columns {
		least := stats.Min(c)
		limits[j], medians[j] = least+f.difference*math.Abs(least), stats.Median(c)
	}
	late := "difference"
	s := stats.NewSimultaneous(columns, limits)
	if math.IsNaN(s.Independent.Value) {
		late = "median"
		s = stats.NewSimultaneous(columns, medians)
	}
	k := s.Independent
	return &ranksJSON{s.Ranks, s.Rows, finite(s.Correlation), late, s.Late, s.AllLate, finite(k.Value), [2]*float64{finite(k.Low), finite(k.High)}}
}

// text says it for people.
func (r *ranksJSON) text(f *noiseFlags) string {
	if r.Correlation == nil || r.IndependentRuns == nil {
		return fmt.Sprintf("%d at %d times: some are constant", r.Ranks, r.Rows)
	}
	late := fmt.Sprintf("more than %.3g %% above their fastest", 100*f.difference)
	if r.Late == "median" {
		late = "above their median"
	}
	bound := ""
	if r.AllLateShare == 0 {
		bound = "at least "
	}
	return fmt.Sprintf("%d at %d times: rank correlation %.2f; all are %s at once in %.2g of the times, one in %.2g: "+
		"the minimum of one run on each is worth %s%.2g independent runs [%.2g, %.2g]",
		r.Ranks, r.Rows, *r.Correlation, late, r.AllLateShare, r.LateShare, bound, *r.IndependentRuns, orNaN(r.CI95[0]), orNaN(r.CI95[1]))
}

// advice says what follows from it, if anything.
func (r *ranksJSON) advice() string {
	if r.CI95[1] != nil && *r.CI95[1] < 0.75*float64(r.Ranks) {
		return "; repeat at different times rather than on several ranks at once, whose noise is alike"
	}
	return ""
}
