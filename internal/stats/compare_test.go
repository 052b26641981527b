package stats

import (
	"slices"
	"strings"
	"testing"
)

func warned(warnings []error, text string) bool {
	return slices.ContainsFunc(warnings, func(w error) bool { return strings.Contains(w.Error(), text) })
}

func count(n *int, ok bool) {
	if ok {
		*n++
	}
}

func TestVerdictString(t *testing.T) {
	for v, want := range map[Verdict]string{Less: "less", Undecided: "~", More: "more"} {
		if v.String() != want {
			t.Errorf("%d prints as %q, want %q", v, v, want)
		}
	}
}
