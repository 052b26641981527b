package study

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// finalist returns the next trial to run again on the target class: among trials without a run there, the best ranked
// within its own class. Ranks are compared and not values: classes differ by more than a factor, and the leader of
// one class often leads in another (lab/notes/fleet.md).
//
// Trials that were run again after the end of the search are counted, in this session and in earlier ones.
func (b *blocked) finalist() (t assay.Trial, ok bool) {
	last := 0
	for k := range b.known() {
		if k.purpose == searched {
			last = k.number
		}
	}
	there := map[string]bool{} // that have run on the target class
	made := 0
	for k := range b.known() {
		key := k.Config.Key()
		if k.Measurement.MachineClass != b.model.Target() || k.State == assay.Censored || there[key] {
			continue
		}
		if there[key] = true; k.number > last {
			made++
		}
	}
	if made >= finalists {
		return t, false
	}
	for _, s := range b.leading() {
		if !there[s.trial.Config.Key()] {
			return s.trial, true
		}
	}
	return t, false
}

// leading returns the configurations that ended well and that nothing refutes, by their ranks. One that
// has run on several classes has the mean of its ranks.
func (b *blocked) leading() []standing {
	broken := map[string]bool{}
	byClass := map[string]map[string]standing{}
	var classes []string
	for k := range b.known() {
		key, class := k.Config.Key(), k.Measurement.MachineClass
		if k.State == assay.Failed || k.State == assay.Infeasible {
			broken[key] = true
		}
		if k.State != assay.Done {
			continue
		}
		if byClass[class] == nil {
			byClass[class] = map[string]standing{}
			classes = append(classes, class)
		}
		v := b.model.Correct(k.Trial)
		if old, known := byClass[class][key]; !known {
			byClass[class][key] = standing{trial: k.Trial, value: v}
		} else if old.value = min(old.value, v); true {
			byClass[class][key] = old
		}
	}
	sums, counts := map[string]standing{}, map[string]float64{}
	for _, class := range classes {
		all := slices.SortedFunc(maps.Values(byClass[class]), func(a, b standing) int {
			return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.trial.ID, b.trial.ID))
		})
		for i, s := range all {
			key := s.trial.Config.Key()
			sum, known := sums[key]
			if !known {
				sum = s
			}
			sum.rank += (float64(i) + 0.5) / float64(len(all))
			sum.value = min(sum.value, s.value)
			sums[key] = sum
			counts[key]++
		}
	}
	leading := make([]standing, 0, len(sums))
	for key, s := range sums {
		if s.rank /= counts[key]; !broken[key] {
			leading = append(leading, s)
		}
	}
	slices.SortFunc(leading, func(a, b standing) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.value, b.value), cmp.Compare(a.trial.ID, b.trial.ID))
	})
	return leading
}

// longestOfFinalists returns how long the longest run of those that lead is likely to take.
func (j *judge) longestOfFinalists() (longest time.Duration) {
	for i, s := range j.leading() {
		if i == finalists {
			break
		}
		longest = max(longest, j.lasted.typical(s.trial.Config))
	}
	return longest
}
