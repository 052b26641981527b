package result

import (
	"testing"

	"github.com/assay-run/assay"
)

func TestCountsText(t *testing.T) {
	for want, c := range map[string]Counts{
		"0":                                 {},
		"40: 22 done, 15 stopped, 3 failed": {Total: 40, Done: 22, Censored: 15, Failed: 3},
		"3: 1 done, 1 outside limits, 1 withdrawn": {Total: 3, Done: 1, Infeasible: 1, Withdrawn: 1},
		"3: 2 done, 1 unfinished":                  {Total: 3, Done: 2},
	} {
		if got := c.Text(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestValueText(t *testing.T) {
	for want, tr := range map[string]assay.Trial{
		"2 s": {State: assay.Done, Value: -2}, "> 3 s": {State: assay.Censored, Value: -3},
		"4 s": {State: assay.Infeasible, Value: -4},
	} {
		if got := valueText(assay.Goal{Unit: "s", Maximize: true}, tr); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, state := range []assay.State{assay.Running, assay.Failed, assay.Withdrawn} {
		if got := valueText(assay.Goal{}, assay.Trial{State: state, Value: 3}); got != "–" {
			t.Errorf("%v: got %q", state, got)
		}
	}
}

func TestParamText(t *testing.T) {
	many := make([]string, 13)
	for i := range many {
		many[i] = string(rune('a' + i))
	}
	for want, p := range map[string]assay.Param{
		"n: int 1..9":                                  {Name: "n", Kind: assay.Integer, Lo: 1, Hi: 9},
		"r: real 0.5..2, logarithmic":                  {Name: "r", Kind: assay.Real, Lo: 0.5, Hi: 2, Log: true},
		"c: categorical x y":                           {Name: "c", Kind: assay.Categorical, Levels: []string{"x", "y"}},
		"m: ordinal a b c d e f g h i j ... 13 in all": {Name: "m", Kind: assay.Ordinal, Levels: many},
	} {
		if got := ParamText(p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
