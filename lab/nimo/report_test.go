package nimo

import (
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/report"
)

// An experiment has a column for each time; an unknown value is a dash.
func TestWrite(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	cells := []Cell{
		{
			Experiment: "reference", Program: "blast", Method: "min", Minutes: []float64{60, 120},
			Errors: []*float64{nil, at(12.34)}, To10: at(90), Runs10: at(7), WithoutScreening: at(60),
			Final: 4.56, FinalMinutes: 300, FinalRuns: 20,
		},
		{
			Experiment: "reference", Program: "blast", Method: "max", Minutes: []float64{60, 120},
			Errors: []*float64{at(50), at(40)}, Final: 30, FinalMinutes: 400, FinalRuns: 25,
		},
	}
	var b strings.Builder
	if err := Write(cells, &b, report.Palette{}); err != nil {
		t.Fatal(err)
	}
	want := `program  reference    60   120  min to 10 %  runs  of training  final  min  runs
blast    min           -  12.3           90     7           60    4.6  300    20
blast    max        50.0  40.0            -     -            -   30.0  400    25
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestWriteData(t *testing.T) {
	var b strings.Builder
	err := WriteData([]DataCell{{
		Set: "c3o", Programs: 5, Share: 0.25, Auto: 10.04, Random: 20, Linear: 30, Ratio: 0.502, CI95: []float64{0.4, 0.6},
		AutoRuns: 12, RandRuns: 11, All: 5,
	}}, &b, report.Palette{})
	want := `data  programs  time  auto  random  random, linear  ratio  95 %         auto runs  random runs  all at once
c3o          5  25 %  10.0    20.0            30.0   0.50  0.40 – 0.60       12.0         11.0          5.0
`
	if err != nil || b.String() != want {
		t.Errorf("%v: got\n%swant\n%s", err, b.String(), want)
	}
}
