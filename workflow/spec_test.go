package workflow

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParseSlots(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []int
	}{
		{"", nil},
		{"4", []int{4}},
		{"8, 2,4", []int{2, 4, 8}},
		{"2,2,2", []int{2}},
		{"4..32", []int{4, 8, 16, 32}},
		{"3..20", []int{3, 6, 12, 20}},
		{"5..5", []int{5}},
		{"1..4,3", []int{1, 2, 3, 4}},
	} {
		if got, err := ParseSlots(tt.text); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q: %v, %v; want %v", tt.text, got, err, tt.want)
		}
	}
	for _, bad := range []string{"0", "-1", "x", "4..", "..4", "8..4", "1,,2", "2e3", "99999999999"} {
		if got, err := ParseSlots(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

// TestDefaultSlots checks that the widest level fits the most slots, and not the
// half of them.
func TestDefaultSlots(t *testing.T) {
	for _, tt := range []struct {
		width int
		want  []int
	}{
		{1, []int{1}},
		{2, []int{1, 2}},
		{3, []int{1, 2, 4}},
		{4, []int{1, 2, 4}},
		{5, []int{1, 2, 4, 8}},
		{1000, []int{1, 2, 4, 8, 16, 32, 64, 128, 256}},
	} {
		var words strings.Builder
		for i := range tt.width {
			fmt.Fprintf(&words, "a%d:1 ", i)
		}
		if got := DefaultSlots(tasks(t, words.String())); !slices.Equal(got, tt.want) {
			t.Errorf("%d tasks side by side: %v, want %v", tt.width, got, tt.want)
		}
	}
}

func TestParseLevelers(t *testing.T) {
	got, err := ParseLevelers("slack, tda")
	if err != nil || len(got) != 2 || got[0].Name != "slack" || got[1].Leveler != (TopDown{}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "foo", "tda,", "TDA"} {
		if got, err := ParseLevelers(bad); err == nil || !strings.Contains(err.Error(), "tda, bua or slack") {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
	}
}

func TestParseMachines(t *testing.T) {
	got, err := ParseMachines([]string{"4x8:32GB", "1x0.5", "2x1:1KiB", "3x2:100"})
	want := []MachineGroup{
		{Name: "4x8:32GB", Count: 4, Cores: 8, Memory: 32e9},
		{Name: "1x0.5", Count: 1, Cores: 0.5},
		{Name: "2x1:1KiB", Count: 2, Cores: 1, Memory: 1024},
		{Name: "3x2:100", Count: 3, Cores: 2, Memory: 100},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{
		"", "4", "4x", "x8", "0x8", "-1x8", "4x0", "4x-1", "4xNaN", "4x8:", "4x8:lots", "4x8:-1GB",
		"1.5x2", "2000000x1", "1x1e9",
	} {
		if got, err := ParseMachines([]string{bad}); err == nil || !strings.Contains(err.Error(), "COUNTxCORES") {
			t.Errorf("%q: %+v, %v", bad, got, err)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, " 1.5 ": 1.5, "2e3": 2000} {
		if got, err := ParseNumber(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "-1", "NaN", "Inf", "1 s"} {
		if got, err := ParseNumber(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}
