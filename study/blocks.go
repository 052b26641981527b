package study

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/block"
	"github.com/assay-run/assay/race"
)

// finalists is how many of the leading configurations a study on machines of any class runs again on
// those of the class that its answer is for.
const finalists = 5

// A Placer is a Runner that can be held to machines of one class.
type Placer interface {
	// Place has further runs begin on machines of a class alone, or on any if it is "".
	Place(class string)
}

// A purpose is what a run was made for.
type purpose uint8

const (
	searched purpose = iota // a trial
	raced                   // to find out which is best
	compared                // to compare the best with the first
	spoilt                  // whatever it was made for: it does not count any more, see setAside
)

// A known is a run on record.
type known struct {
	assay.Trial // as it is on record
	purpose
	number int // on the shelf
}

// blocked is the part of the loop that knows that several workers make the runs: see package block. All
// values that are compared are corrected, and those on record are not. When the effects of workers are
// estimated anew, every run on record is taken in anew: what the loop makes of a record depends on the
// record alone. It is guarded by the mutex of the loop.
type blocked struct {
	model    *block.Model
	version  int
	shelf    assay.Shelf // of the runs on record
	purposes []purpose   // of the runs on the shelf
	history  []int32     // those on the shelf that are trials
}

func newBlocked(s *Study) blocked { return blocked{model: block.New(s.Space, s.Class)} }

// known returns the runs on record that count, in the order in which they were taken in.
func (b *blocked) known() iter.Seq[known] {
	return func(yield func(known) bool) {
		for i, t := range b.shelf.All() {
			if b.purposes[i] != spoilt && !yield(known{t, b.purposes[i], i}) {
				return
			}
		}
	}
}

// told returns a trial of the history.
func (b *blocked) told(i int) assay.Trial { return b.shelf.At(int(b.history[i])) }

// all returns the trials of the history from one of them on, in the order in which they ended.
func (b *blocked) all(from int) iter.Seq[assay.Trial] {
	return func(yield func(assay.Trial) bool) {
		for i := from; i < len(b.history); i++ {
			if !yield(b.told(i)) {
				return
			}
		}
	}
}

// corrected returns a run with the value that it would have on the average worker of the target class.
// The mutex of the loop is held.
func (b *blocked) corrected(t assay.Trial) assay.Trial {
	t.Value = b.model.Correct(t)
	return t
}

// takeIn takes a run into account. The mutex of the loop is held.
func (l *loop) takeIn(t assay.Trial, why purpose) {
	k := known{t, why, l.shelf.Put(t)}
	l.purposes = append(l.purposes, why)
	l.model.Add(t)
	if v := l.model.Version(); v != l.version {
		l.version = v
		l.recount()
		return
	}
	l.count(k)
	if l.racing != nil && why != compared {
		l.racing.look(l, k)
	}
}

// recount takes all runs in anew. The mutex of the loop is held.
func (l *loop) recount() {
	l.best, l.frontier = nil, frontier{goal: l.Goal}
	if l.racing != nil {
		l.racing.field, l.racing.target = race.Of(&l.shelf), race.Of(&l.shelf)
	}
	for k := range l.known() {
		l.count(k)
	}
	if l.racing != nil {
		l.racing.least, l.racing.quiet = l.racing.field.Incumbent(), l.racing.field.Quiet()
		l.racing.stale = true
	}
}

// count takes a run into what is known of its configuration. The mutex of the loop is held.
func (l *loop) count(k known) {
	if l.Goal.Several() {
		l.frontier.take(k.Trial, k.purpose)
		l.balanced()
		return
	}
	t := l.corrected(k.Trial)
	if l.racing == nil {
		if k.purpose == searched && k.State == assay.Done && (l.best == nil || t.Value < l.best.Value) {
			best := t
			l.best = &best
		}
		return
	}
	fields := []*race.Field{&l.racing.field}
	if l.Anywhere && k.Measurement.Class == l.model.Target() {
		fields = append(fields, &l.racing.target)
	}
	for _, f := range fields {
		if k.purpose == compared {
			f.Refute(t)
		} else {
			f.AddFrom(k.number, t)
		}
	}
}

// answers returns what the answer is chosen from: where runs are made on machines of any class, those on
// the target class alone.
func (l *loop) answers() *race.Field {
	if l.Anywhere {
		return &l.racing.target
	}
	return &l.racing.field
}

// place has further runs begin on the target class alone, or anywhere.
func (l *loop) place(onTarget bool) {
	p, ok := l.Runner.(Placer)
	if !ok || !l.Anywhere {
		return
	}
	class := ""
	if onTarget {
		class = l.model.Target()
	}
	p.Place(class)
}

// settleOnTarget runs five of the leading configurations again on the target class, if runs were made on
// machines of any class: what is the best of all may not be on those that the answer is for. The runs are made one
// at a time, as those of the race. What is on record of an earlier session counts.
func (l *loop) settleOnTarget(ctx context.Context) error {
	if !l.Anywhere || l.racing == nil {
		return nil
	}
	l.place(true)
	for !l.interrupted(ctx) {
		next, more := l.finalist()
		if !more {
			return nil
		}
		left := l.Budget.Time - l.spent()
		if l.Budget.Time > 0 && left < next.Measurement.Elapsed {
			l.short = fmt.Sprintf("of the time budget %v was left, less than a run on the class %s takes",
				max(left, 0).Round(time.Millisecond), l.model.Target())
			return nil
		}
		o := l.again(ctx, next, max(left, 0), nil)
		if err := l.settleAgain(ctx, o); err != nil {
			return err
		}
		if o.lost || o.trial.State == assay.Censored {
			return nil
		}
	}
	return nil
}

// finalist returns the next trial that is to be run again on the target class: of those that have not run
// there, the one that comes first among the runs of its class. Ranks are compared and not values: classes
// differ by more than a factor, and what leads in one of them often leads in another (docs/results/fleet.md).
//
// Those that run again since the search has ended are counted, of this session and of earlier ones.
func (l *loop) finalist() (t assay.Trial, ok bool) {
	last := 0
	for k := range l.known() {
		if k.purpose == searched {
			last = k.number
		}
	}
	there := map[string]bool{} // that have run on the target class
	made := 0
	for k := range l.known() {
		key := k.Config.Key()
		if k.Measurement.Class != l.model.Target() || k.State == assay.Censored || there[key] {
			continue
		}
		if there[key] = true; k.number > last {
			made++
		}
	}
	if made >= finalists {
		return t, false
	}
	for _, s := range l.leading() {
		if !there[s.trial.Config.Key()] {
			return s.trial, true
		}
	}
	return t, false
}

// A standing is the place of a configuration among those of its class of machines.
type standing struct {
	trial assay.Trial
	value float64
	rank  float64 // as a share of their number
}

// leading returns the configurations that ended well and that nothing refutes, by their ranks. One that
// has run on several classes has the mean of its ranks.
func (l *loop) leading() []standing {
	broken := map[string]bool{}
	byClass := map[string]map[string]standing{}
	var classes []string
	for k := range l.known() {
		key, class := k.Config.Key(), k.Measurement.Class
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
		v := l.model.Correct(k.Trial)
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

// finalReserve returns the time kept back for the runs on the target class, as checkReserve does. What runs
// take there is not known yet: the longest of those that lead says it roughly.
func (l *loop) finalReserve() time.Duration {
	if !l.Anywhere || l.racing == nil {
		return 0
	}
	var longest time.Duration
	for i, s := range l.leading() {
		if i == finalists {
			break
		}
		longest = max(longest, l.lasted.typical(s.trial.Config))
	}
	return min(finalists*(longest+l.lasted.beside), time.Duration(checkShare*float64(l.Budget.Time)))
}

// correctedAll returns runs with their corrected values.
func (l *loop) correctedAll(runs []assay.Trial) []assay.Trial {
	all := slices.Clone(runs)
	for i := range all {
		all[i] = l.corrected(all[i])
	}
	return all
}

// seen returns a running trial as a rule that ends runs is to see it, and the factor that its value was
// divided by.
func (l *loop) asSeen(t assay.Trial) (assay.Trial, float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.racing == nil || math.IsInf(t.Value, 0) {
		return t, 1
	}
	f := l.model.Factor(t.Measurement.Where, t.Measurement.Class)
	t.Value /= f
	return t, f
}
