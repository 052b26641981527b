package workflow

import (
	"encoding/json"
	"strings"
)

// An Offer is a priced place to run a workflow: slots of a cloud, nodes of a cluster. The zero value
// stands for the plan's own options.
type Offer struct {
	Name     string         `json:"name"`     // for people
	Price    string         `json:"price"`    // as for [ParsePrice]; "" leaves the plan's
	Speed    float64        `json:"speed"`    // run times are divided by it; 0 counts as 1
	Machines []MachineGroup `json:"machines"` // nil leaves the plan's
	Overhead                // unless it is zero, replaces the plan's overhead and calibration

	// Price as read; nil leaves the price to the plan. It is set by ReadOffers, ReadPrices and
	// OneOffer only.
	price Price
}

// ReadOffers reads offers as a JSON array. Those without a price get the price
// fallback, or none if that is "". An error of the form is an [*InputError] of
// the file name; a bad price is an error of its own.
func ReadOffers(name string, data []byte, fallback string) ([]Offer, error) {
	var out []Offer
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, &InputError{File: name, Msg: err.Error()}
	}
	return priced(name, out, fallback)
}

// ReadPrices reads offers that differ by their price only: a name and a price on
// each line. Empty lines and those that begin with # are skipped. Errors are as
// for [ReadOffers].
func ReadPrices(name string, data []byte) ([]Offer, error) {
	var out []Offer
	for i, line := range strings.Split(string(data), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 2 {
			return nil, &InputError{File: name, Pos: Pos{Line: int32(i + 1)}, Msg: "want a name and a price"}
		}
		out = append(out, Offer{Name: fields[0], Price: fields[1]})
	}
	return priced(name, out, "")
}

// OneOffer returns the only offer of a plan that compares none: its price, which
// may be "".
func OneOffer(price string) ([]Offer, error) { return priced("", []Offer{{}}, price) }

// priced reads the prices of the offers of a file. Offer.Price stays as written.
//
// It changes all in place and returns it. An offer without any price has a nil Price, which
// MakePlan takes as one unit per slot-second.
func priced(name string, all []Offer, fallback string) ([]Offer, error) {
	if len(all) == 0 {
		return nil, &InputError{File: name, Msg: "no sites"}
	}
	for i := range all {
		text := all[i].Price
		if text == "" {
			text = fallback
		}
		if text == "" {
			continue
		}
		var err error
		if all[i].price, err = ParsePrice(text); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// apply returns w and opt as they are under the offer. It changes neither.
//
// An overhead of its own replaces a calibration too, since that was fitted elsewhere. Machines can
// only be simulated, so that they ask for the simulation. The run times are divided in a copy.
func (o *Offer) apply(w *Workflow, opt PlanOptions) (*Workflow, PlanOptions) {
	opt.Price = o.price
	if o.Overhead != (Overhead{}) {
		opt.Overhead, opt.Calibration = o.Overhead, nil
	}
	if o.Machines != nil {
		opt.Sim.Machines, opt.Simulate = o.Machines, true
	}
	if o.Speed > 0 && o.Speed != 1 {
		run := w.Runs()
		for i := range run {
			run[i] /= o.Speed
		}
		w = w.WithRuns(run)
	}
	return w, opt
}

// A Comparison is the plans of one workflow under several offers.
type Comparison struct {
	Plans []*Plan // one for each offer
	Best  int     // index of the offer to take
}

// Compare plans w under each offer and recommends one. An offer whose choice keeps deadline and budget
// goes before one whose choice does not. Among offers that agree in this, it takes the fastest if there
// is a budget and no deadline, since the budget may be spent; otherwise the cheapest. It takes the
// first of equal offers. Offer prices replace opt.Price. It panics without offers.
func Compare(w *Workflow, offers []Offer, opt PlanOptions) (*Comparison, error) {
	if len(offers) == 0 {
		panic("workflow: no offers")
	}
	c := &Comparison{}
	for i := range offers {
		at, with := offers[i].apply(w, opt)
		plan, err := MakePlan(at, with)
		if err != nil {
			return nil, err
		}
		c.Plans = append(c.Plans, plan)
		if i > 0 && plan.Choice.better(c.Plans[c.Best].Choice, &opt) {
			c.Best = i
		}
	}
	return c, nil
}

// better reports whether choice c is to be taken rather than d.
func (c Choice) better(d Choice, opt *PlanOptions) bool {
	if c.Feasible != d.Feasible {
		return c.Feasible
	}
	if opt.Deadline == 0 && opt.Budget > 0 {
		return c.Makespan < d.Makespan
	}
	return c.Cost < d.Cost
}
