package prior

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// mostMembers is how many studies of a family are compared each with each: a map of more cannot be
// read.
const mostMembers = 40

// A Family is studies that can be compared by their fingerprints alone: of the same parameters and the
// same objective. Its JSON is a contract.
type Family struct {
	Metric   string   `json:"metric"`
	Maximize bool     `json:"maximize,omitempty"`
	Unit     string   `json:"unit,omitempty"`
	Params   []string `json:"parameters"` // their names
	// Studies are the members with most trials, in such an order that those that are alike stand beside each
	// other; More is how many others there are.
	Studies []Member `json:"studies"`
	More    int      `json:"more,omitempty"`
	// Correlation has a row for each of Studies: the normalised cross-correlation of its fingerprint with each, null if it
	// is undefined.
	Correlation [][]*float64 `json:"correlation"`
}

// A Member is a study of a family.
type Member struct {
	Study   string `json:"study"`
	Program string `json:"program,omitempty"` // "" of a recorded table
	Trials  int    `json:"trials"`
}

// An Apart is a study that serves no other.
type Apart struct {
	Study  string `json:"study"`
	Trials int    `json:"trials"`
	Reason string `json:"reason"`
}

// Families returns the studies that sees reports true of, the largest family first, and those
// that serve no other, by their names.
func (kb *Base) Families(sees func(string) bool) (families []Family, apart []Apart) {
	type key struct {
		space        int
		metric, unit string
		maximize     bool
	}
	groups := map[key][]*entry{}
	var order []key
	for _, name := range slices.Sorted(maps.Keys(kb.studies)) {
		k := kb.studies[name]
		switch {
		case !sees(name):
		case k.Flaw != "":
			apart = append(apart, Apart{name, k.Told, k.Flaw})
		default:
			at := key{k.Space, k.Metric, k.Unit, k.Maximize}
			if groups[at] == nil {
				order = append(order, at)
			}
			groups[at] = append(groups[at], k)
		}
	}
	for _, at := range order {
		families = append(families, familyOf(groups[at]))
	}
	slices.SortStableFunc(families, func(a, b Family) int {
		return cmp.Compare(len(b.Studies)+b.More, len(a.Studies)+a.More)
	})
	return families, apart
}

// familyOf returns the family of studies that share parameters and goal.
func familyOf(all []*entry) Family {
	f := Family{
		Metric: all[0].Metric, Maximize: all[0].Maximize, Unit: all[0].Unit, Params: []string{},
		Studies: []Member{}, Correlation: [][]*float64{},
	}
	for _, p := range all[0].Params {
		f.Params = append(f.Params, p.Name)
	}
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(b.Told, a.Told) })
	f.More = max(0, len(all)-mostMembers)
	all = beside(all[:len(all)-f.More])
	for _, a := range all {
		f.Studies = append(f.Studies, Member{a.Name, a.Program, a.Told})
		row := []*float64{}
		for _, b := range all {
			row = append(row, finiteOrNil(printCorrelation(a, b)))
		}
		f.Correlation = append(f.Correlation, row)
	}
	return f
}

// beside returns studies in such an order that each is followed by the one that is most like it of
// those that are left. It begins with the first.
func beside(all []*entry) []*entry {
	left := slices.Clone(all)
	out := left[:1:1]
	left = left[1:]
	for len(left) > 0 {
		at, most := 0, math.Inf(-1)
		for i, k := range left {
			if r := printCorrelation(out[len(out)-1], k); r > most {
				at, most = i, r
			}
		}
		out, left = append(out, left[at]), slices.Delete(left, at, at+1)
	}
	return out
}
