package workflow

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Price computes the cost of slots. It is safe for concurrent use.
type Price interface {
	// Cost returns the money for a number of slots during a makespan. The
	// unit of money is the price's own.
	Cost(slots int, makespan Seconds) float64
}

// PerSlotSecond is a price for one slot during one second. The cost of one slot is p·makespan (Eq. 4),
// the cost of all is the sum (Eq. 5), an upper bound if slots are given back early.
type PerSlotSecond float64

// Cost implements [Price].
func (p PerSlotSecond) Cost(slots int, makespan Seconds) float64 {
	return float64(p) * makespan * float64(slots)
}

// PerNodeHour is the price of whole nodes, charged in started units of time.
type PerNodeHour struct {
	Price   float64 // of one node during one hour
	Slots   int     // of one node; 0 counts as 1
	Unit    Seconds // the time that is charged in full once started; 0 counts as an hour
	Minimum Seconds // the least time that is charged
	StartUp Seconds // charged before the workflow begins, as nodes boot
}

// Cost implements [Price].
func (p PerNodeHour) Cost(slots int, makespan Seconds) float64 {
	unit := p.Unit
	if unit == 0 {
		unit = 3600
	}
	per := max(p.Slots, 1)
	nodes := (slots + per - 1) / per
	// A makespan of whole units must not be rounded up for the last bit.
	units := math.Ceil(max(makespan+p.StartUp, p.Minimum)/unit - 1e-9)
	return p.Price * float64(nodes) * units * unit / 3600
}

// Spot is the price of slots that can be taken away. A node that is lost loses
// the work since its last save, so that the expected time to get a length T
// done is (exp(λ·min(T,S)) - 1)/λ for each stretch of S seconds between saves,
// with λ losses per second of one node (Daly 2006, Eq. 13 without restart).
type Spot struct {
	Price                 // the price of the longer run
	LossesPerHour float64 // of one slot
	Save          Seconds // time between saves: the length of a task; 0 counts as an hour
}

// Cost implements [Price].
func (p Spot) Cost(slots int, makespan Seconds) float64 {
	return p.Price.Cost(slots, p.Makespan(makespan))
}

// Makespan returns the expected makespan with losses.
func (p Spot) Makespan(makespan Seconds) Seconds {
	rate := p.LossesPerHour / 3600
	if rate == 0 || makespan == 0 {
		return makespan
	}
	s := p.Save
	if s == 0 {
		s = 3600
	}
	s = min(s, makespan)
	return makespan / s * math.Expm1(rate*s) / rate
}

// ParsePrice reads a price as people write it:
//
//	0.1              money per slot-second
//	0.40/h           money per slot-hour
//	0.34/node-hour   money per started hour of a node
//	0.34/node-hour,slots=8,start=90,unit=60,min=60,spot=0.05,save=600
//
// start, unit, min and save are seconds, spot is losses per slot-hour.
func ParsePrice(s string) (Price, error) {
	head, rest, _ := strings.Cut(strings.TrimSpace(s), ",")
	amount, unit, _ := strings.Cut(head, "/")
	money, err := ParseNumber(amount)
	if err != nil {
		return nil, fmt.Errorf("price %q: %w", s, err)
	}
	opt := map[string]float64{}
	for field := range strings.SplitSeq(rest, ",") {
		if field == "" {
			continue
		}
		k, v, ok := strings.Cut(field, "=")
		if !ok || !slices.Contains([]string{"slots", "start", "unit", "min", "spot", "save"}, k) {
			return nil, fmt.Errorf("price %q: %q is not slots=, start=, unit=, min=, spot= or save=", s, field)
		}
		if opt[k], err = ParseNumber(v); err != nil {
			return nil, fmt.Errorf("price %q: %s: %w", s, k, err)
		}
	}
	var p Price
	switch unit {
	case "", "s", "slot-second":
		p = PerSlotSecond(money)
	case "h", "slot-hour":
		p = PerSlotSecond(money / 3600)
	case "node-hour":
		p = PerNodeHour{
			Price: money, Slots: int(opt["slots"]), Unit: opt["unit"], Minimum: opt["min"],
			StartUp: opt["start"],
		}
	default:
		return nil, fmt.Errorf("price %q: unit %q is not s, h or node-hour", s, unit)
	}
	if opt["spot"] > 0 {
		p = Spot{Price: p, LossesPerHour: opt["spot"], Save: opt["save"]}
	}
	return p, nil
}

// ParseNumber reads a finite number that is not negative, such as a price, a size or a run time.
func ParseNumber(s string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(x >= 0) || math.IsInf(x, 1) {
		return 0, fmt.Errorf("%q is not a number of at least 0", s)
	}
	return x, nil
}

// An InfeasibleError gives the reason why a workflow cannot run on the given resources.
type InfeasibleError struct{ Why string }

// Error returns the reason alone.
func (e *InfeasibleError) Error() string { return e.Why }
