package result

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/study"
)

// Little is the share below which a gain counts for nothing: the pairs of a study end when a gain is shown to be
// smaller.
const Little = study.Little

// A Gain compares the best configuration with the first one by runs that the choice of the best did not depend on. Its
// JSON is a contract.
type Gain struct {
	First   int64       `json:"first_trial"`
	Change  float64     `json:"change"`  // (best - first) / |first|, of the metric
	CI95    [2]*float64 `json:"ci95"`    // null on a side without a bound
	Runs    int         `json:"runs"`    // pairs: runs of each; 1 also if the first ran in the search alone
	Verdict string      `json:"verdict"` // "less", "more" or "~"
	Shown   bool        `json:"shown"`   // the best is shown to be better
	Text    string      `json:"text"`    // in words, as in [view.Answer]

	of [2]int // runs of the first and of the best, in the comparison
}

// NewGain compares the repeated runs of a study. It returns nil if the repeated runs compare nothing.
func NewGain(goal assay.Goal, r study.Result) *Gain {
	v, ok := r.Verdict(goal)
	if !ok || v.B.N < 2 && v.Pairs == 0 || math.IsNaN(v.Change) || math.IsInf(v.Change, 0) {
		return nil
	}
	g := &Gain{
		First: r.First.ID, Change: v.Change, CI95: [2]*float64{assay.Finite(v.Low), assay.Finite(v.High)},
		Runs: max(1, v.Pairs), Verdict: v.Verdict.String(), of: [2]int{v.A.N, v.B.N},
	}
	if v.Low <= -1 { // a ratio has no bound but 0
		g.CI95[0] = nil
	}
	better := "less"
	if goal.Maximize {
		better = "more"
	}
	g.Shown = g.Verdict == better
	g.Text = g.words(goal)
	return g
}

// least returns the lower bound of the gain, as a share of the value of the first; 0 if no gain is shown. lower is true
// if less is better.
func (g *Gain) least(lower bool) float64 {
	bound := g.CI95[0]
	if lower {
		bound = g.CI95[1]
	}
	if !g.Shown || bound == nil {
		return 0
	}
	return math.Abs(*bound)
}

// words describes the gain: "22.9 % faster [15.1, 29.0], 9 pairs".
func (g *Gain) words(goal assay.Goal) string {
	unit, low, high := goal.Unit, g.CI95[0], g.CI95[1]
	text := changeText(unit, g.Change, 3)
	if g.Verdict == "~" {
		text = changeText(unit, g.Change, 2)
	}
	pairs := fmt.Sprintf("%d pairs", g.Runs)
	if g.Runs == 1 {
		pairs = fmt.Sprintf("%d + %d runs", g.of[0], g.of[1])
	}
	if g.First > 1 { // else it is the first configuration, or the default
		pairs += fmt.Sprintf(" with trial %d", g.First)
	}
	switch {
	case low == nil || high == nil:
		return fmt.Sprintf("not shown: %s in %s, too few for an interval", text, pairs)
	case g.Verdict == "~":
		near, far := *low, *high // the bound that is better for the user is the second
		if !goal.Maximize {
			near, far = far, near
		}
		interval := fmt.Sprintf("[%s, %s], %s", changeText(unit, near, 2), changeText(unit, far, 2), pairs)
		if math.Abs(far) < Little {
			return fmt.Sprintf("none above %s %%: %s %s", report.Number(100*Little, 2), text, interval)
		}
		return fmt.Sprintf("not shown: %s %s", text, interval)
	}
	near, far := *low, *high
	if math.Abs(near) > math.Abs(far) {
		near, far = far, near
	}
	text += fmt.Sprintf(" [%s, %s], %s", sizeText(g.Change, near, 3), sizeText(g.Change, far, 3), pairs)
	if !g.Shown {
		return "none: " + text
	}
	return text
}

// shortGain returns a gain in words without its interval and its reason: "22.9 % faster", "not shown".
func shortGain(text string) string {
	text, _, _ = strings.Cut(text, " [")
	text, _, _ = strings.Cut(text, ": ")
	return text
}

// GainSize returns the size of a gain in words, in percent, for the order of a list; 0 if the gain is not shown.
func GainSize(text string) (percent float64) {
	if _, err := fmt.Sscanf(text, "%f %%", &percent); err == nil {
		return percent
	}
	if _, err := fmt.Sscanf(text, "%f times", &percent); err == nil {
		return 100 * percent
	}
	return 0
}

// factor returns how many times as much the greater of two values is whose relative difference is change.
func factor(change float64) float64 { return max(1+change, 1/(1+change)) }

// changeText describes in words the relative difference of a value from another one:
// "22.9 % faster" to three digits, "25 times higher".
func changeText(unit string, change float64, digits int) string {
	down, up := "lower", "higher"
	switch unit {
	case "s":
		down, up = "faster", "slower"
	case "B":
		down, up = "smaller", "larger"
	}
	word := up
	if change < 0 {
		word = down
	}
	if change == 0 {
		return "0 %"
	}
	if change > -1 && factor(change) > report.ManyTimes {
		return sizeText(change, change, digits) + " times " + word
	}
	return sizeText(change, change, digits) + " % " + word
}

// sizeText formats the size of a change, in the form and with the decimals of another change that has digits digits.
func sizeText(form, change float64, digits int) string {
	if form > -1 && change > -1 && factor(form) > report.ManyTimes {
		return report.Number(factor(change), 2)
	}
	places := 2
	if size := 100 * math.Abs(form); size >= 1 {
		places = max(0, digits-1-int(math.Log10(size*(1+1e-9))))
	}
	return strconv.FormatFloat(100*math.Abs(change), 'f', places, 64)
}
