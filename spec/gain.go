package spec

import (
	"fmt"
	"strconv"
	"strings"
)

// Bounds of stop.gain in per cent: no measurement can show a gain below the least one.
const (
	minGain = 0.01
	maxGain = 100
)

// ParseGain reads the least gain that is worth going on for, such as 1%, and returns it in per cent;
// none is 0, which never ends a study.
func ParseGain(text string) (float64, error) {
	if text == "none" {
		return 0, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !percent || err != nil || !(x >= minGain && x <= maxGain) {
		return 0, fmt.Errorf("%q is no gain: write per cent from %v%% to %v%%, such as 1%%, or none",
			clip(text), minGain, maxGain)
	}
	return x, nil
}

// GainText writes a gain as [ParseGain] reads it.
func GainText(percent float64) string { return strconv.FormatFloat(percent, 'g', -1, 64) + "%" }
