package workflow

import (
	"errors"
	"strings"
	"testing"
)

func TestReadOffers(t *testing.T) {
	all, err := ReadOffers("o.json", []byte(`[{"name":"x","price":"0.1/h","speed":2,"level_s":25},
		{"name":"y","machines":[{"count":2,"cores":4}]}]`), "7")
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	if x := all[0]; x.Name != "x" || x.Speed != 2 || x.Level != 25 || x.price != PerSlotSecond(0.1/3600) {
		t.Errorf("x is %+v", x)
	}
	if y := all[1]; y.price != PerSlotSecond(7) || y.Price != "" || len(y.Machines) != 1 {
		t.Errorf("y is %+v", y)
	}
	all, err = ReadPrices("p.txt", []byte("# two\n\ncheap 0.1\n  fast 3.6/h\n"))
	if err != nil || len(all) != 2 || all[0].Name != "cheap" || all[1].price != PerSlotSecond(0.001) {
		t.Errorf("%+v, %v", all, err)
	}
	all, err = OneOffer("")
	if err != nil || len(all) != 1 || all[0].price != nil {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestReadOffersErrors(t *testing.T) {
	var in *InputError
	if _, err := ReadPrices("p", []byte("a 1\nb\n")); !errors.As(err, &in) ||
		err.Error() != "p:2: want a name and a price" {
		t.Errorf("a line without a price: %v", err)
	}
	if _, err := ReadPrices("p", nil); !errors.As(err, &in) || err.Error() != "p: no sites" {
		t.Errorf("an empty file: %v", err)
	}
	if _, err := ReadOffers("o", []byte("[{]"), ""); !errors.As(err, &in) || !strings.HasPrefix(err.Error(), "o: ") {
		t.Errorf("no JSON: %v", err)
	}
	for name, f := range map[string]func() ([]Offer, error){
		"a list":   func() ([]Offer, error) { return ReadPrices("p", []byte("a x\n")) },
		"JSON":     func() ([]Offer, error) { return ReadOffers("o", []byte(`[{"price":"x"}]`), "1") },
		"the flag": func() ([]Offer, error) { return OneOffer("x") },
	} {
		if all, err := f(); err == nil || !strings.Contains(err.Error(), `price "x"`) {
			t.Errorf("a bad price in %s: %v, %v", name, all, err)
		}
	}
}

// TestOfferApplies checks the values that an offer replaces, and that the plan's own options are left as they were.
func TestOfferApplies(t *testing.T) {
	w := tasks(t, "a:10 b:20")
	opt := PlanOptions{Calibration: &Calibration{}, Overhead: Overhead{Start: 1}}
	v, got := (&Offer{}).apply(w, opt)
	if v != w || got.Calibration == nil || got.Overhead != opt.Overhead || got.Simulate || got.Price != nil {
		t.Errorf("an empty offer changes %+v", got)
	}
	o := Offer{
		Speed: 4, Overhead: Overhead{Level: 3}, Machines: []MachineGroup{{Count: 1, Cores: 1}},
		price: PerSlotSecond(2),
	}
	v, got = o.apply(w, opt)
	if v.Work() != 7.5 || w.Work() != 30 {
		t.Errorf("work %v and %v at four times the speed", v.Work(), w.Work())
	}
	if got.Calibration != nil || got.Overhead != o.Overhead || !got.Simulate || len(got.Sim.Machines) != 1 ||
		got.Price != PerSlotSecond(2) {
		t.Errorf("options %+v", got)
	}
	if opt.Calibration == nil || opt.Simulate {
		t.Error("the options of the plan were changed")
	}
}

// TestCompare checks which offer is taken: slow takes 100 s for 100, fast 50 s for
// 200.
func TestCompare(t *testing.T) {
	w := tasks(t, "a:100")
	slow, fast := Offer{Name: "slow", price: PerSlotSecond(1)}, Offer{Name: "fast", Speed: 2, price: PerSlotSecond(4)}
	for _, tt := range []struct {
		name             string
		deadline, budget float64
		want             string
	}{
		{"the cheapest", 0, 0, "slow"},
		{"the cheapest that is in time", 60, 0, "fast"},
		{"the cheapest of two in time", 100, 0, "slow"},
		{"the fastest within the budget", 0, 300, "fast"},
		{"the only one within the budget", 0, 150, "slow"},
		{"both limits", 60, 300, "fast"},
		{"the cheapest that keeps both", 100, 300, "slow"},
	} {
		for _, offers := range [][]Offer{{slow, fast}, {fast, slow}} {
			c, err := Compare(w, offers, PlanOptions{Slots: []int{1}, Deadline: tt.deadline, Budget: tt.budget})
			if err != nil {
				t.Fatal(err)
			}
			if got := offers[c.Best].Name; got != tt.want || len(c.Plans) != 2 {
				t.Errorf("%s: %s of %d, want %s", tt.name, got, len(c.Plans), tt.want)
			}
		}
	}
	same := []Offer{slow, slow}
	if c, err := Compare(w, same, PlanOptions{Slots: []int{1}}); err != nil || c.Best != 0 {
		t.Errorf("of equals %d is taken, %v", c.Best, err)
	}
	if _, err := Compare(w, same, PlanOptions{}); err == nil {
		t.Error("no number of slots, but a plan")
	}
	if !panics(func() { _, _ = Compare(w, nil, PlanOptions{}) }) {
		t.Error("no offers: no panic")
	}
}
