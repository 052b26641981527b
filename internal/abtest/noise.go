package abtest

// This file examines repeated runs of one configuration: how heavy the tail of their
// distribution is, how alike the noise of several processors is, and how many runs of
// which estimator put two configurations in order (Tabatabaee, Tiwari and Hollingsworth
// 2005).

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// Options set the thresholds of the report.
type Options struct {
	Difference float64 // least relative difference between configurations that matters, in (0, 1)
	Error      float64 // probability of being farther off than that, in (0, 1)
	Maximize   bool    // the metric is maximized: samples have its negative, as trials do
}

// A NoiseReport is the output of `assay study noise --json`: a contract.
type NoiseReport struct {
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
	// Workers and Classes hold the runs by their makers, if the record has these: all runs of
	// configurations that were run more than once.
	Workers []Group `json:"workers,omitempty"`
	Classes []Group `json:"classes,omitempty"`

	Values   []float64 `json:"-"` // the runs
	Maximize bool      `json:"-"` // noise is on both sides then: the greatest value is not the undisturbed one
	Unit     string    `json:"-"` // of the runs, for people
}

// A Tail is the tail of the distribution of the runs.
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

// A NoiseSample is the runs of one configuration.
type NoiseSample struct {
	Config string
	Values []float64
	Makers []Maker // of the runs; empty if unknown
}

// A Maker is the worker that made a run, and the class of its machine; "" is unknown.
type Maker struct{ Worker, Class string }

// least is the least number of runs that a configuration needs to count, enough the number from which it
// is not pooled with others.
const (
	least  = 3
	enough = 50
)

// Samples gathers the values of runs by their configurations, in the order in which
// these come first. text names a configuration.
func Samples(runs iter.Seq2[assay.Trial, error], text func(assay.Config) string) ([]NoiseSample, error) {
	var samples []NoiseSample
	at := map[string]int{}
	for t, err := range runs {
		if err != nil {
			return nil, err
		}
		i, ok := at[t.Config.Key()]
		if !ok {
			i = len(samples)
			at[t.Config.Key()] = i
			samples = append(samples, NoiseSample{Config: text(t.Config)})
		}
		s := &samples[i]
		s.Values = append(s.Values, t.Value)
		s.Makers = append(s.Makers, Maker{t.Measurement.Worker, t.Measurement.MachineClass})
	}
	return samples, nil
}

// NoiseOf returns the noise of the runs of configurations: the runs of the configuration with the most
// of them, or if these are fewer than 50 all, each divided by the median of its configuration (by Eq. 7
// of Tabatabaee et al. 2005 the noise grows with the run time). It returns assay.ErrTooFew if no
// configuration has 3 runs.
func NoiseOf(samples []NoiseSample, unit string, o Options) (*NoiseReport, error) {
	if o.Maximize {
		samples = shown(samples)
	}
	most := NoiseSample{}
	for _, s := range samples {
		if len(s.Values) > len(most.Values) {
			most = s
		}
	}
	if len(most.Values) < least {
		return nil, assay.ErrTooFew
	}
	n := &NoiseReport{Config: most.Config, Configs: 1, Values: most.Values, Unit: unit, Maximize: o.Maximize}
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

// shown returns the samples of a maximized metric with the values that the program printed.
func shown(samples []NoiseSample) []NoiseSample {
	all := slices.Clone(samples)
	for i := range all {
		values := make([]float64, len(all[i].Values))
		for k, v := range all[i].Values {
			values[k] = -v
		}
		all[i].Values = values
	}
	return all
}

// pool returns the runs of the configurations with 3 or more, each divided by the size
// of its configuration's median.
func pool(samples []NoiseSample) (all []float64, configs int) {
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

// diagnose fills in the conclusions from the values.
func (n *NoiseReport) diagnose(o Options) {
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

// adviseBothSides is advise for a maximized metric: its greatest value is luck, and not the value without disturbance,
// so that the estimator is the mean, or the median if the tail is not light.
func (n *NoiseReport) adviseBothSides(tail stats.Tail, o Options) {
	n.Estimator, n.Repeat = "median", 1
	if tail.Kind == stats.TailLight {
		n.Estimator = "mean"
	}
	if n.CV != nil {
		z := stats.NormQuantile(1 - o.Error/2)
		n.Repeat = max(1, int(math.Ceil(math.Pow(z**n.CV/o.Difference, 2))))
		n.Advice = fmt.Sprintf("--repeat %d --estimator %s: a run has a standard deviation of %.2g %%", n.Repeat,
			n.Estimator, 100**n.CV)
	}
	n.caution()
}

// advise chooses the estimator and K. For minima K is the least with P[y >
// (1+λ)·min]^K < ε (Tabatabaee et al. 2005, Eq. 11 and 22), the probability
// taken from the runs; for means the least for which the 1-ε interval of the mean
// is within ±λ.
func (n *NoiseReport) advise(tail stats.Tail, o Options) {
	if o.Maximize {
		n.adviseBothSides(tail, o)
		return
	}
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
	n.caution()
	if n.Ranks != nil {
		n.Advice += n.Ranks.advice()
	}
}

// caution adds the limits of the advice.
func (n *NoiseReport) caution() {
	if n.Runs < 20 {
		n.Advice += fmt.Sprintf("; %d runs are few to be sure", n.Runs)
	}
	if n.Repeat > 3 {
		n.Advice += "; --repeat auto spends as many only where they are needed"
	}
}
