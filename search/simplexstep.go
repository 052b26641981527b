package search

import (
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// A vertex is a point of a direct search with its value, +Inf if the point
// failed, broke a limit or was stopped early.
type vertex struct {
	at    assay.Config // nil if there is no point yet
	value float64      // minimized; NaN while the point is not measured
}

// A stepper makes the proposals of the direct searches: it hands out the points of one step of the algorithm and
// goes on when all of them have a value. All of its work happens in Tell, so that an Ask that returns nothing changes
// nothing.
//
// Invariant: a point has a value, or is in queue, or stands in same for one that is in queue or outstanding, or the
// step was cut. then is nil between the end of a step and the beginning of the next.
type stepper struct {
	ledger
	points []vertex           // of the step, in the algorithm's order
	queue  []int              // points to be asked, one for each different configuration
	same   map[int][]int      // point in queue: all points of that configuration
	of     map[int64]int      // outstanding proposal: its point in queue
	short  *shortcut          // ends the step early; nil if all points must have a value
	then   func([]vertex)     // the rest of the algorithm, called with the points that have a value
	best   vertex             // the least so far
	seen   visited            // all that were proposed or observed
	memory map[string]float64 // values by Key that stand; nil for none
	done   bool               // the search has ended
}

// A shortcut is how a step may end before all of its points were run.
//
// later has one entry for each point of the step, in the order of the algorithm.
type shortcut struct {
	// enough reports whether the points that have a value are enough.
	enough func([]vertex) bool
	// later reports by point whether others come first, unless all that are left are
	// asked for at once.
	later []bool
}

// newStepper returns a stepper before its first step. With remember, the value of a trial that ran to its end
// stands in all later steps.
func newStepper(remember bool) stepper {
	s := stepper{of: map[int64]int{}, seen: visited{}, best: vertex{nil, math.Inf(1)}}
	if remember {
		s.memory = map[string]float64{}
	}
	return s
}

// remember keeps the value of a trial that ran to its end, if there is a memory.
func (s *stepper) remember(c assay.Config, t assay.Trial) {
	if s.memory != nil && (t.State == assay.Done || t.State == assay.Infeasible) {
		s.memory[c.Key()] = directValue(t)
	}
}

// begin makes points the step that is handed out. Among equal points one is run; a point that is in known, or
// remembered, has its value from there. When all have a value, then is called with them, in the order of points: at
// once if nothing is to be run.
//
// If short is not nil, the step is over as soon as it has enough and nothing is outstanding; then sees the points
// that have a value.
func (s *stepper) begin(points []assay.Config, known []vertex, short *shortcut, then func([]vertex)) {
	s.points, s.queue, s.same = make([]vertex, len(points)), nil, map[int][]int{}
	s.short, s.then = short, then
	value := map[string]float64{}
	for _, v := range known {
		value[v.at.Key()] = v.value
	}
	first := map[string]int{}
	for i, c := range points {
		k := c.Key()
		// NaN is the mark of a point without a value: values are finite or infinite, never NaN.
		s.points[i] = vertex{c, math.NaN()}
		v, ok := value[k]
		if !ok {
			v, ok = s.memory[k]
		}
		if ok {
			s.points[i].value = v
			continue
		}
		j, ok := first[k]
		if !ok {
			j = i
			first[k] = i
			s.queue = append(s.queue, i)
		}
		s.same[j] = append(s.same[j], i)
	}
	s.cut()
	s.advance()
}

// cut leaves out the rest of the step if there is enough of it.
func (s *stepper) cut() {
	if s.short != nil && s.short.enough(s.valued()) {
		s.queue = nil
	}
}

// valued returns the points of the step that have a value.
func (s *stepper) valued() []vertex {
	return slices.DeleteFunc(slices.Clone(s.points), func(v vertex) bool { return math.IsNaN(v.value) })
}

// advance calls then if the step is over.
func (s *stepper) advance() {
	if len(s.queue) > 0 || len(s.of) > 0 || s.then == nil {
		return
	}
	// then may begin the next step, which sets s.then: it is cleared before.
	then := s.then
	s.then = nil
	then(s.valued())
}

// end ends the search.
func (s *stepper) end() { s.done = true }

// Ask implements [assay.Searcher].
func (s *stepper) Ask(n int) ([]assay.Proposal, error) {
	checkAsk(n)
	if s.done {
		return nil, assay.ErrDone
	}
	// Asked for all at once, the order would make no difference.
	if s.short != nil && n < len(s.queue) {
		later := func(i int) int {
			if s.short.later[i] {
				return 1
			}
			return 0
		}
		slices.SortStableFunc(s.queue, func(i, j int) int { return later(i) - later(j) })
	}
	var ps []assay.Proposal
	for len(ps) < n && len(s.queue) > 0 {
		i := s.queue[0]
		s.queue = s.queue[1:]
		p := s.propose(s.points[i].at)
		s.seen.add(p.Config)
		s.of[p.ID] = i
		ps = append(ps, p)
	}
	return ps, nil
}

// Tell implements [assay.Searcher].
func (s *stepper) Tell(trials ...assay.Trial) error {
	if err := s.settle(trials); err != nil {
		return err
	}
	for _, t := range trials {
		i := s.of[t.ID]
		delete(s.of, t.ID)
		v := vertex{s.points[i].at, directValue(t)}
		s.remember(v.at, t)
		for _, j := range s.same[i] {
			s.points[j].value = v.value
		}
		if v.value < s.best.value {
			s.best = v
		}
	}
	// All trials are filed before the algorithm goes on, so that it sees them together.
	if len(trials) > 0 {
		s.cut()
		s.advance()
	}
	return nil
}

// directValue returns the value that orders trials in a direct search: +Inf for trials without an exact value within
// the limits.
func directValue(t assay.Trial) float64 {
	if t.State != assay.Done || math.IsNaN(t.Value) {
		return math.Inf(1)
	}
	return t.Value
}
