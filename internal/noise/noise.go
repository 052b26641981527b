// Package noise looks at repeated runs of one configuration: how heavy the tail of their
// distribution is, how alike the noise of several processors is, and how many runs of
// which estimator put two configurations in order (Tabatabaee, Tiwari and Hollingsworth
// 2005).
package noise

import (
	"fmt"
	"iter"
	"math"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/stats"
)

// Options say what matters.
type Options struct {
	Difference float64 // least relative difference between configurations that matters, in (0, 1)
	Error      float64 // probability of being farther off than that, in (0, 1)
}

// A Report is what `assay study noise --json` prints: a contract.
type Report struct {
	Study   string   `json:"study,omitempty"`
	Config  string   `json:"config,omitempty"`
	Runs    int      `json:"runs"`
	Configs int      `json:"configurations"` // more than 1 if their runs were pooled, each divided by its median
	Min     float64  `json:"min"`
	Median  float64  `json:"median"`
	Mean    float64  `json:"mean"`
	CV      *float64 `json:"cv"` // standard deviation / |mean|
	Tail    Tail     `json:"tail"`
	// Truncated is the tail of the runs below the threshold of Tail.
	Truncated *Tail  `json:"truncated,omitempty"`
	Verdict   string `json:"verdict"`
	Estimator string `json:"estimator"`
	Repeat    int    `json:"repeat"` // K
	// RepeatPareto is K by the Pareto model of the noise; null where that has no
	// mean or does not apply.
	RepeatPareto *int   `json:"repeat_pareto"`
	Advice       string `json:"advice"`
	// Ranks compares the ranks, if there are several.
	Ranks *Ranks `json:"ranks,omitempty"`
	// Workers and Classes are the runs by who made them, where the record says that: all runs of
	// configurations that were run more than once.
	Workers []Group `json:"workers,omitempty"`
	Classes []Group `json:"classes,omitempty"`

	Values []float64 `json:"-"` // the runs
	Unit   string    `json:"-"` // of the runs, for people
}

// A Tail is that of the distribution of the runs.
type Tail struct {
	Kind      string      `json:"kind"` // "light", "heavy", "no mean" or "unknown"
	Index     *float64    `json:"index"`
	CI95      [2]*float64 `json:"ci95"`
	From      int         `json:"from"` // number of greatest runs
	Threshold *float64    `json:"threshold"`
	Line      *float64    `json:"line_r2"`
}

func newTail(t stats.Tail) Tail {
	kind := "unknown"
	switch t.Kind {
	case stats.TailLight:
		kind = "light"
	case stats.TailHeavy:
		kind = "heavy"
	case stats.TailNoMean:
		kind = "no mean"
	}
	return Tail{
		Kind: kind, Index: assay.Finite(t.Alpha.Value),
		CI95: [2]*float64{assay.Finite(t.Alpha.Low), assay.Finite(t.Alpha.High)},
		From: t.Alpha.N, Threshold: assay.Finite(t.Threshold), Line: assay.Finite(t.Line),
	}
}

// A Sample is the runs of one configuration.
type Sample struct {
	Config string
	Values []float64
	Makers []Maker // of the runs; none where nobody knows
}

// A Maker is the worker that made a run, and the class of its machine; "" is unknown.
type Maker struct{ Worker, Class string }

// least is the least number of runs of a configuration that says something, enough the
// number that is not pooled with those of others.
const (
	least  = 3
	enough = 50
)

// Samples gathers the values of runs by their configurations, in the order in which
// these come first. text names a configuration.
func Samples(runs iter.Seq2[assay.Trial, error], text func(assay.Config) string) ([]Sample, error) {
	var samples []Sample
	at := map[string]int{}
	for t, err := range runs {
		if err != nil {
			return nil, err
		}
		i, ok := at[t.Config.Key()]
		if !ok {
			i = len(samples)
			at[t.Config.Key()] = i
			samples = append(samples, Sample{Config: text(t.Config)})
		}
		s := &samples[i]
		s.Values, s.Makers = append(s.Values, t.Value), append(s.Makers, Maker{t.Measurement.Where, t.Measurement.Class})
	}
	return samples, nil
}

// OfSamples returns the noise of the runs of configurations: those of the one with the
// most of them, or if these are fewer than 50 all, each divided by the median of its
// configuration (by Eq. 7 of Tabatabaee et al. 2005 the noise grows with the run time).
// It returns assay.ErrTooFew if no configuration has 3 runs.
func OfSamples(samples []Sample, unit string, o Options) (*Report, error) {
	most := Sample{}
	for _, s := range samples {
		if len(s.Values) > len(most.Values) {
			most = s
		}
	}
	if len(most.Values) < least {
		return nil, assay.ErrTooFew
	}
	n := &Report{Config: most.Config, Configs: 1, Values: most.Values, Unit: unit}
	if len(n.Values) < enough {
		if pooled, configs := pool(samples); configs > 1 {
			n.Values, n.Configs, n.Config, n.Unit = pooled, configs, "", ""
		}
	}
	n.Runs = len(n.Values)
	n.diagnose(o)
	n.group(samples)
	return n, nil
}

// pool returns the runs of the configurations with 3 or more, each divided by the size
// of its configuration's median.
func pool(samples []Sample) (all []float64, configs int) {
	for _, s := range samples {
		m := math.Abs(stats.Median(s.Values))
		if len(s.Values) < least || m == 0 {
			continue
		}
		configs++
		for _, x := range s.Values {
			all = append(all, x/m)
		}
	}
	return all, configs
}

// diagnose fills in what follows from the values.
func (n *Report) diagnose(o Options) {
	x := n.Values
	n.Min, n.Median, n.Mean = stats.Min(x), stats.Median(x), stats.Mean(x)
	n.CV = assay.Finite(stats.StdDev(x) / math.Abs(n.Mean))
	tail := stats.DiagnoseTail(x)
	n.Tail, n.Verdict = newTail(tail), tail.Text
	if !math.IsNaN(tail.Threshold) {
		t := newTail(stats.DiagnoseTail(stats.Truncate(x, tail.Threshold)))
		n.Truncated = &t
	}
	n.advise(tail, o)
}

// advise chooses the estimator and K. For minima K is the least with P[y >
// (1+λ)·min]^K < ε (Tabatabaee et al. 2005, Eq. 11 and 22), the probability
// taken from the runs; for means the least for which the 1-ε interval of the mean
// is within ±λ.
func (n *Report) advise(tail stats.Tail, o Options) {
	lambda := o.Difference * math.Abs(n.Min)
	far := 0
	for _, v := range n.Values {
		if v > n.Min+lambda {
			far++
		}
	}
	share := float64(far) / float64(len(n.Values))
	n.Estimator, n.Repeat = "min", 1
	why := fmt.Sprintf("a run is more than %.3g %% above the fastest with a probability of %.2g", 100*o.Difference,
		share)
	if far > 0 && far < len(n.Values) {
		n.Repeat = max(1, int(math.Floor(math.Log(o.Error)/math.Log(share)))+1)
	}
	if tail.Kind == stats.TailLight && n.CV != nil {
		z := stats.NormQuantile(1 - o.Error/2)
		if k := max(1, int(math.Ceil(math.Pow(z**n.CV/o.Difference, 2)))); k <= n.Repeat {
			n.Estimator, n.Repeat = "mean", k
			why = fmt.Sprintf("the tail is light and a run has a standard deviation of %.2g %%", 100**n.CV)
		}
	}
	if a := tail.Alpha.Value; a > 1 && n.Mean > n.Min && n.Min > 0 {
		model := stats.TwoJob{Rho: 1 - n.Min/n.Mean}.Pareto(n.Min, a)
		if k := model.Replicates(lambda, o.Error); k < math.MaxInt {
			n.RepeatPareto = &k
		}
	}
	n.Advice = fmt.Sprintf("--repeat %d --estimator %s: %s", n.Repeat, n.Estimator, why)
	if n.Runs < 20 {
		n.Advice += fmt.Sprintf("; %d runs are few to say so", n.Runs)
	}
	if n.Repeat > 3 {
		n.Advice += "; --repeat auto spends as many only where they are needed"
	}
	if n.Ranks != nil {
		n.Advice += n.Ranks.advice()
	}
}
