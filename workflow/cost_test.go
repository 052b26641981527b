package workflow

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestNodeHour checks each rule of a bill by nodes: a started unit is paid.
func TestNodeHour(t *testing.T) {
	for _, tt := range []struct {
		name     string
		price    PerNodeHour
		slots    int
		makespan Seconds
		want     float64
	}{
		{"an hour by default", PerNodeHour{Price: 2}, 1, 1, 2},
		{"an hour to the second", PerNodeHour{Price: 2}, 1, 3600, 2},
		{"a second more", PerNodeHour{Price: 2}, 1, 3601, 4},
		{"a whole number of units but for the last bit", PerNodeHour{Price: 3600, Unit: 0.1}, 1, 0.1 + 0.2, 0.3},
		{"a node of one slot by default", PerNodeHour{Price: 2}, 3, 1, 6},
		{"full nodes", PerNodeHour{Price: 2, Slots: 4}, 8, 1, 4},
		{"a node for one slot", PerNodeHour{Price: 2, Slots: 4}, 9, 1, 6},
		{"by the minute", PerNodeHour{Price: 60, Unit: 60}, 1, 90, 2},
		{"boot is paid", PerNodeHour{Price: 60, Unit: 60, StartUp: 40}, 1, 30, 2},
		{"at least", PerNodeHour{Price: 60, Unit: 60, Minimum: 600}, 1, 30, 10},
		{"boot counts for the least", PerNodeHour{Price: 60, Unit: 60, Minimum: 600, StartUp: 570}, 1, 30, 10},
		{"nothing run", PerNodeHour{Price: 60}, 4, 0, 0},
	} {
		if got := tt.price.Cost(tt.slots, tt.makespan); !(math.Abs(got-tt.want) <= 1e-9) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestSpot checks the expected time with losses: none without them, more with rarer
// saves, and never less than the makespan.
func TestSpot(t *testing.T) {
	for _, tt := range []struct {
		name     string
		spot     Spot
		makespan Seconds
		want     Seconds
	}{
		{"no losses", Spot{}, 100, 100},
		{"nothing run", Spot{LossesPerHour: 5}, 0, 0},
		{"one loss an hour", Spot{LossesPerHour: 1}, 3600, 3600 * (math.E - 1)},
		// Two stretches of an hour: the second hour begins from a save.
		{"two hours", Spot{LossesPerHour: 1}, 7200, 2 * 3600 * (math.E - 1)},
		{"shorter than a stretch", Spot{LossesPerHour: 1}, 1800, 3600 * (math.Sqrt(math.E) - 1)},
		{"saves twice an hour", Spot{LossesPerHour: 1, Save: 1800}, 3600, 2 * 3600 * (math.Sqrt(math.E) - 1)},
	} {
		if got := tt.spot.Makespan(tt.makespan); !(math.Abs(got-tt.want) <= 1e-6) { // NaN is wrong too
			t.Errorf("%s: %v s, want %v", tt.name, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		makespan := rapid.Float64Range(1, 1e5).Draw(t, "makespan")
		often := Spot{LossesPerHour: rapid.Float64Range(0, 3).Draw(t, "losses"), Save: 600}
		rarely := often
		rarely.Save = 6000
		if a, b := often.Makespan(makespan), rarely.Makespan(makespan); a < makespan*(1-1e-12) || b < a*(1-1e-12) {
			t.Fatalf("%v s take %v s saved often and %v s saved rarely", makespan, a, b)
		}
	})
}

// TestParsePriceForms checks that the written price is charged, with every option.
func TestParsePriceForms(t *testing.T) {
	p, err := ParsePrice(" 0.34/node-hour,,slots=8,start=90,unit=60,min=120,spot=0.05,save=600 ")
	want := Spot{
		Price:         PerNodeHour{Price: 0.34, Slots: 8, Unit: 60, Minimum: 120, StartUp: 90},
		LossesPerHour: 0.05, Save: 600,
	}
	if err != nil || p != want {
		t.Errorf("%+v, %v; want %+v", p, err, want)
	}
	for text, want := range map[string]Price{
		"2": PerSlotSecond(2), "2/s": PerSlotSecond(2), "2/slot-second": PerSlotSecond(2), "3600/slot-hour": PerSlotSecond(1),
		"1/s,spot=0": PerSlotSecond(1), "1/s,": PerSlotSecond(1), "0": PerSlotSecond(0),
	} {
		if p, err := ParsePrice(text); err != nil || p != want {
			t.Errorf("%s: %+v, %v; want %+v", text, p, err, want)
		}
	}
	for text, want := range map[string]string{
		"x/h":            `price "x/h": "x" is not a number of at least 0`,
		"1/day":          `unit "day" is not s, h or node-hour`,
		"1/h,save":       `"save" is not slots=`,
		"1/h,save=x":     `save: "x" is not a number`,
		"1/h,cores=2":    `"cores=2" is not slots=`,
		"1/h,save=-1":    `save: "-1" is not a number of at least 0`,
		"1e999/h,save=1": "is not a number",
	} {
		if p, err := ParsePrice(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %s", text, p, err, want)
		}
	}
}

// TestInfeasibleError checks that the reason is the text.
func TestInfeasibleError(t *testing.T) {
	if got := (&InfeasibleError{"too large"}).Error(); got != "too large" {
		t.Errorf("%q", got)
	}
}
