package result

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
)

// A Contrast has studies side by side: their results, and the differences between their best configurations. Its JSON
// is a contract.
type Contrast struct {
	Alike   bool      `json:"alike"` // they have one objective, so that their values are on one scale
	Studies []Side    `json:"studies"`
	Params  []Setting `json:"parameters"`
	Versus  []Versus  `json:"differences"` // of each study from the first, if they have one objective
}

// A Side is one of the studies.
type Side struct {
	Study     string    `json:"study"`
	Objective Objective `json:"objective"`
	Best      int64     `json:"best_trial"` // 0 without a best
	Value     *float64  `json:"best"`       // of the metric: the median of the runs of the best configuration
	Runs      int       `json:"best_runs"`  // of the best configuration
	Config    string    `json:"config"`     // the best one as text
	Gain      *Gain     `json:"gain,omitempty"`
	Trials    Counts    `json:"trials"`
	Spent     float64   `json:"spent_s"`
	Saved     float64   `json:"saved_s"`
	Lost      float64   `json:"lost_s"`
}

// A Setting is one parameter at the best configuration of each study, "" for a study without such a parameter or
// without a best configuration.
type Setting struct {
	Name    string   `json:"name"`
	Values  []string `json:"values"` // one for each study
	Differs bool     `json:"differs"`
}

// A Versus compares the best configurations of two studies of one objective, by their runs at the ends of the studies.
type Versus struct {
	A       string      `json:"a"`
	B       string      `json:"b"`
	Change  *float64    `json:"change"`  // (b - a) / |a|, of the metric; null if nothing was compared
	CI95    [2]*float64 `json:"ci95"`    // null on a side without a bound
	Verdict string      `json:"verdict"` // empty if nothing was compared
	Runs    [2]int      `json:"runs"`
	Text    string      `json:"text"` // the same as text
}

// leastVersus is how many runs of each best configuration are compared at least.
const leastVersus = 3

// NewVersus compares the best configurations of two studies with one objective.
func NewVersus(a, b *Whole) Versus {
	if a.Simulated && b.Simulated && a.Best > 0 && b.Best > 0 {
		return newExact(a, b)
	}
	x, y := a.atEnd(), b.atEnd()
	v := Versus{A: a.Study, B: b.Study, Runs: [2]int{len(x), len(y)}}
	if len(x) < leastVersus || len(y) < leastVersus {
		v.Text = "not compared: the best of each has to be run again at least 3 times at the end (tune --check)"
		return v
	}
	c := stats.CompareShift(x, y, stats.CompareOptions{})
	v.Change, v.Verdict = assay.Finite(c.Change), c.Verdict.String()
	v.CI95 = [2]*float64{assay.Finite(c.Low), assay.Finite(c.High)}
	n := fmt.Sprintf("%d and %d runs, made at different times", len(x), len(y))
	sign, word := c.Change, "more"
	low, high := c.Low, c.High
	if c.Verdict == stats.Less {
		sign, word, low, high = -c.Change, "less", -c.High, -c.Low
	}
	plain := func(x float64) string { return strings.TrimPrefix(report.Percent(x), "+") }
	interval := fmt.Sprintf("95 %% interval %s to %s", plain(low), plain(high))
	if c.Verdict != stats.Less && c.Verdict != stats.More {
		v.Text = fmt.Sprintf("no difference is shown: %s, %s (%s)", report.Percent(c.Change), interval, n)
		return v
	}
	v.Text = fmt.Sprintf("%s %% %s %s than %s, %s (%s)", report.Number(100*sign, 3), word, b.Objective.Metric, a.Study,
		interval, n)
	return v
}

// newExact compares the best of two studies of recorded values, which have no noise.
func newExact(a, b *Whole) Versus {
	v := Versus{A: a.Study, B: b.Study, Runs: [2]int{1, 1}, Verdict: stats.Undecided.String()}
	v.Change = assay.Finite(float64(b.Value-a.Value) / math.Abs(float64(a.Value)))
	switch {
	case b.Value == a.Value || v.Change == nil:
		v.Text = "the same value, " + report.Metric(float64(b.Value), b.Objective.Unit) + " on record"
		return v
	case b.Value < a.Value:
		v.Verdict = stats.Less.String()
	default:
		v.Verdict = stats.More.String()
	}
	v.Text = fmt.Sprintf("%s than %s, by the recorded values, which have no noise",
		changeText(b.Objective.Unit, *v.Change, 3), a.Study)
	return v
}

// atEnd returns the values of the best configuration in the runs at the end.
func (w *Whole) atEnd() (x []float64) {
	for _, a := range w.Again {
		if a.Trial == w.Best && a.State == assay.Done && !a.Race {
			x = append(x, float64(a.Value))
		}
	}
	return x
}

// best returns the texts of the active values of the best configuration, by the names of the parameters. It returns nil
// without a best.
func (w *Whole) best() map[string]string {
	if w.Line(w.Best).ID == 0 {
		return nil
	}
	params, c := w.Table.Params, w.Line(w.Best).Config
	texts := map[string]string{}
	for i, p := range params {
		if assay.Active(params, c, i) {
			texts[p.Name] = p.Text(c[i])
		}
	}
	return texts
}

// NewContrast returns studies side by side.
func NewContrast(studies []*Whole) Contrast {
	out := Contrast{Alike: true, Studies: []Side{}, Params: []Setting{}, Versus: []Versus{}}
	var best []map[string]string
	for i, w := range studies {
		first := studies[0]
		if w.Objective != first.Objective {
			out.Alike = false
		} else if i > 0 {
			out.Versus = append(out.Versus, NewVersus(first, w))
		}
		texts := w.best()
		s := Side{
			Study: w.Study, Objective: w.Objective, Best: w.Best, Runs: w.Runs, Gain: w.Gain, Trials: w.Counts,
			Spent: float64(w.Spent), Saved: float64(w.Saved), Lost: float64(w.Lost),
		}
		if w.Best > 0 {
			s.Value = assay.Finite(float64(w.Value))
		}
		var words []string
		for _, p := range w.Params {
			if text, ok := texts[p.Name]; ok {
				words = append(words, p.Name+"="+text)
			}
			if !slices.ContainsFunc(out.Params, func(s Setting) bool { return s.Name == p.Name }) {
				out.Params = append(out.Params, Setting{Name: p.Name, Values: []string{}})
			}
		}
		s.Config = strings.Join(words, " ")
		out.Studies, best = append(out.Studies, s), append(best, texts)
	}
	for i := range out.Params {
		p := &out.Params[i]
		for _, texts := range best {
			p.Values = append(p.Values, texts[p.Name])
			p.Differs = p.Differs || texts[p.Name] != p.Values[0]
		}
	}
	return out
}
