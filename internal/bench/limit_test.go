package bench

import (
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

func TestPercentileLimits(t *testing.T) {
	got, err := percentileLimits("power@10, 50,,99.5")
	want := []percentileLimit{{"power", 10}, {"power", 50}, {"power", 99.5}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if got := want[2].suffix(); got != "/power@99.5" {
		t.Errorf("suffix %q", got)
	}
	for _, text := range []string{
		"", "power", "@10", "power@", "power@,", "power@0", "power@100.1", "power@x", "power@NaN",
	} {
		got, err := percentileLimits(text)
		if err == nil || assay.ClassOf(err) != assay.ClassUsage || !strings.Contains(err.Error(), "--limit "+text+":") {
			t.Errorf("%q: %+v, %v; want a mistake that names it", text, got, err)
		}
	}
}

func TestLimitCombinations(t *testing.T) {
	got, err := limitCombinations("power@10,50+load@20,30")
	want := [][]percentileLimit{
		{{"power", 10}, {"load", 20}},
		{{"power", 10}, {"load", 30}},
		{{"power", 50}, {"load", 20}},
		{{"power", 50}, {"load", 30}},
	}
	if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for _, text := range []string{"power@10+", "+power@10", "power@10+load", "power@10++load@20"} {
		if got, err := limitCombinations(text); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%q: %+v, %v; want a mistake", text, got, err)
		}
	}
}

func TestNumbers(t *testing.T) {
	positive := func(x float64) bool { return x > 0 }
	got, err := Numbers("f", " 1, 2.5,,1e3 ", "positive", positive)
	if err != nil || !slices.Equal(got, []float64{1, 2.5, 1000}) {
		t.Errorf("got %v, %v", got, err)
	}
	for text, bad := range map[string]string{"1,0": "0", "1,x,2": "x", "NaN": "NaN"} {
		got, err := Numbers("f", text, "positive", positive)
		if err == nil || err.Error() != "--f "+bad+": not positive" || assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
