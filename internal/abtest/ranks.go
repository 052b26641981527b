package abtest

import (
	"bufio"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// A Ranks is the output of `assay study noise --json` for run times of several processors at the same
// times: a contract.
type Ranks struct {
	Ranks       int      `json:"ranks"`
	Rows        int      `json:"rows"`
	Correlation *float64 `json:"correlation"` // mean rank correlation of two of them
	// Late is the criterion of a late run: "difference", more than --difference above the rank's least, or
	// "median", above the rank's median, if the first holds never or always.
	Late string `json:"late"`
	// LateShare is how often one is late, AllLateShare how often all are.
	LateShare    float64 `json:"late_share"`
	AllLateShare float64 `json:"all_late_share"`
	// IndependentRuns is the number of independent runs that have a minimum as good as one
	// simultaneous run on every rank; the lower end of the possible range if all were never late together.
	IndependentRuns *float64    `json:"independent_runs"`
	CI95            [2]*float64 `json:"ci95"`
}

// maxColumn is how many numbers are read: they are sorted in memory.
const maxColumn = 10_000_000

// maxRanks is how many numbers a line may have.
const maxRanks = 4096

// ReadColumns reads lines of numbers, separated by blanks, commas or semicolons,
// as many on each line as on the first. Empty lines and those that begin with #
// do not count. Errors begin with the name, and are of the class usage.
func ReadColumns(name string, r io.Reader) ([][]float64, error) {
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
			return nil, assay.Errorf(assay.ClassUsage, "%s:%d: %q is not a number", name, line, clipped(text))
		case len(fields) > maxRanks:
			return nil, assay.Errorf(assay.ClassUsage, "%s:%d: %d numbers, more than %d", name, line, len(fields),
				maxRanks)
		case columns == nil:
			columns = make([][]float64, len(fields))
		case len(fields) != len(columns):
			return nil, assay.Errorf(assay.ClassUsage, "%s:%d: %d numbers, the first line has %d", name, line,
				len(fields), len(columns))
		}
		for j, field := range fields {
			x, err := strconv.ParseFloat(field, 64)
			if err != nil || math.IsNaN(x) || math.Abs(x) > 1e300 {
				return nil, assay.Errorf(assay.ClassUsage, "%s:%d: %q is not a number", name, line, clipped(field))
			}
			columns[j] = append(columns[j], x)
		}
		if total += len(fields); total > maxColumn {
			return nil, assay.Errorf(assay.ClassUsage, "%s: more than %d numbers", name, maxColumn)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, assay.Errorf(assay.ClassUsage, "%s: %w", name, err)
	}
	if len(columns) == 0 {
		return nil, assay.Errorf(assay.ClassUsage, "%s has no numbers", name)
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

// NoiseOfColumns returns the noise of run times by time and rank. The times of several ranks are pooled, each
// divided by the size of its rank's median.
func NoiseOfColumns(columns [][]float64, o Options) (*NoiseReport, error) {
	n := &NoiseReport{Runs: len(columns[0]), Configs: 1, Values: columns[0]}
	if len(columns) == 1 {
		n.diagnose(o)
		return n, nil
	}
	n.Values = nil
	for j, c := range columns {
		m := math.Abs(stats.Median(c))
		if m == 0 {
			return nil, assay.Errorf(assay.ClassUsage, "the median of rank %d is 0", j+1)
		}
		for _, x := range c {
			n.Values = append(n.Values, x/m)
		}
	}
	n.Runs = len(n.Values)
	n.Ranks = compareRanks(columns, o)
	n.diagnose(o)
	return n, nil
}

// compareRanks measures how alike the ranks' times are.
func compareRanks(columns [][]float64, o Options) *Ranks {
	limits, medians := make([]float64, len(columns)), make([]float64, len(columns))
	for j, c := range columns {
		least := stats.Min(c)
		limits[j], medians[j] = least+o.Difference*math.Abs(least), stats.Median(c)
	}
	late := "difference"
	s := stats.NewSimultaneous(columns, limits)
	if math.IsNaN(s.Independent.Value) {
		late = "median"
		s = stats.NewSimultaneous(columns, medians)
	}
	k := s.Independent
	return &Ranks{
		Ranks: s.Ranks, Rows: s.Rows, Correlation: assay.Finite(s.Correlation),
		Late: late, LateShare: s.Late, AllLateShare: s.AllLate,
		IndependentRuns: assay.Finite(k.Value), CI95: [2]*float64{assay.Finite(k.Low), assay.Finite(k.High)},
	}
}

// advice returns the advice that follows, if any.
func (r *Ranks) advice() string {
	if r.CI95[1] != nil && *r.CI95[1] < 0.75*float64(r.Ranks) {
		return "; repeat at different times rather than on several ranks at once, whose noise is alike"
	}
	return ""
}
