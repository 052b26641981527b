package spec

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a span of time >= 0: Go's syntax (90s, 1h30m, 250ms) with days in front (2d, 1d12h), each day
// 24 h. A bare number has no unit and is an error, except 0.
func ParseDuration(text string) (time.Duration, error) {
	rest, days := text, time.Duration(0)
	if before, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(before, 10, 15)
		if err != nil {
			return 0, fmt.Errorf("%q is not a duration such as 90s, 10m or 2d", clip(text))
		}
		days, rest = time.Duration(n)*24*time.Hour, after
		if rest == "" {
			return days, nil
		}
	}
	x, err := time.ParseDuration(rest)
	if err != nil {
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return 0, fmt.Errorf("%q has no unit: write %ss, %sm or %sh", clip(text), clip(text), clip(text),
				clip(text))
		}
		return 0, fmt.Errorf("%q is not a duration such as 90s, 10m or 2d", clip(text))
	}
	if x < 0 || days+x < 0 { // days+x may overflow
		return 0, fmt.Errorf("%q is not a duration from 0 to 292 years", clip(text))
	}
	return days + x, nil
}

// ParseTarget reads a value of the objective that is good enough: a finite number in the unit of the
// metric, or a span of time, which stands for its seconds.
func ParseTarget(text string) (float64, error) {
	if x, err := strconv.ParseFloat(text, 64); err == nil && x-x == 0 {
		return x, nil
	}
	switch strings.ToLower(strings.TrimLeft(text, "+-.")) {
	case "inf", "infinity", "nan":
		return 0, fmt.Errorf("%s is not a finite number", text)
	}
	d, err := ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is neither a number nor a duration such as 50ms or 2m", clip(text))
	}
	return d.Seconds(), nil
}
