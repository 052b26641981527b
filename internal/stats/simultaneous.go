package stats

import (
	"math"
)

// Simultaneous measures how alike the noise of several processors is at one time, and so the value of simultaneous runs
// on them.
type Simultaneous struct {
	Ranks, Rows int // processors, and times at which all were measured
	// Correlation is the mean rank correlation of two processors (Spearman's, see
	// [Spearman]); NaN if one of them is constant.
	Correlation float64
	// Late is the geometric mean over the processors of the share p_j of rows in
	// which processor j is late, AllLate the share q of rows in which all are.
	Late, AllLate float64
	// Independent is K' = ln q / ln p: the number of independent runs whose minimum is late as rarely as the minimum of
	// one run on each processor. It is Ranks if the processors are independent and 1 if they are late together. Its
	// interval is the interval of q alone, for rows that are independent of each other. If all are never late together,
	// Value and Low are the least K' that the rule of three leaves (q < 3/Rows), at most Ranks, and High is Ranks. All are
	// NaN if some processor is late always or never.
	Independent Estimate
}

// NewSimultaneous compares columns of run times, one for each processor, whose elements i are of one time. A run is
// late if it takes more than limits[j], j its column. The reliability of a minimum of K runs is by Tabatabaee et al.
// 2005, Eq. 11, P[min > x] = P[y > x]^K, which holds for independent runs; §4.3 finds the processors of a cluster
// highly correlated. It panics without columns, or if their lengths, or the number of limits, differ. It costs ranks² ·
// rows · log rows.
func NewSimultaneous(columns [][]float64, limits []float64) Simultaneous {
	if len(columns) == 0 || len(limits) != len(columns) {
		panic("stats: slice length mismatch")
	}
	s := Simultaneous{Ranks: len(columns), Rows: len(columns[0])}
	n := float64(s.Rows)
	all := make([]bool, s.Rows)
	for i := range all {
		all[i] = true
	}
	var logLate float64
	for j, c := range columns {
		if len(c) != s.Rows {
			panic("stats: slice length mismatch")
		}
		late := 0.0
		for i, x := range c {
			if x > limits[j] {
				late++
			} else {
				all[i] = false
			}
		}
		logLate += math.Log(late/n) / float64(len(columns)) // -Inf if never
	}
	for _, a := range all {
		if a {
			s.AllLate += 1 / n
		}
	}
	s.Late = math.Exp(logLate)
	s.Correlation = meanCorrelation(columns)
	s.Independent = independentRuns(s, logLate)
	return s
}

// independentRuns returns K' and its interval at 95 %.
func independentRuns(s Simultaneous, logLate float64) Estimate {
	nan := math.NaN()
	e := Estimate{Value: nan, Low: nan, High: nan, Level: 0.95, N: s.Rows}
	n, most := float64(s.Rows), float64(s.Ranks)
	switch {
	case math.IsInf(logLate, -1) || !(logLate < 0):
		return e
	case s.AllLate == 0:
		e.Value = max(1, min(most, math.Log(3/n)/logLate))
		e.Low, e.High = e.Value, most
		return e
	}
	// The standard error of ln q is √((1-q)/(n·q)) by the delta method.
	half := NormQuantile(0.975) * math.Sqrt((1-s.AllLate)/(n*s.AllLate))
	q := math.Log(s.AllLate)
	e.Value, e.Low, e.High = q/logLate, min(0, q+half)/logLate, (q-half)/logLate
	return e
}

// meanCorrelation returns the mean of Spearman's coefficient over the pairs of
// columns, 1 for one column.
func meanCorrelation(columns [][]float64) float64 {
	if len(columns) == 1 {
		return 1
	}
	ranks := make([][]float64, len(columns))
	for j, c := range columns {
		ranks[j] = Ranks(c)
	}
	var sum, pairs float64
	for j := range ranks {
		for k := range j {
			sum += Correlation(ranks[j], ranks[k])
			pairs++
		}
	}
	return sum / pairs
}
