package assay

// A Bound is one comparison of a limit: Left must be at most Right. Their values determine by how much a run keeps or
// breaks the limit.
type Bound struct {
	Text string // of the comparison, as people read it
	// Metric is the metric that Left is, if it is one alone and Right is a number of the limit itself; "" otherwise.
	Metric string
	// Least is the metric that is Right, if Right is one alone and Left is a number: fps >= 30. "" otherwise.
	Least string
	Unit  string // of Metric or Least, for people; "" if it has none
	// Grows reports that Left can only grow during a run and that Right is constant: the Left of a stopped run is a lower
	// bound of its final value.
	Grows bool
	// Sides returns both sides for the metrics of a run. It is pure. It returns an error if a metric that it needs
	// was not measured, or a side is not finite. A condition that is no comparison of numbers has 0 on its left
	// where it holds and 1 where it does not, and 1/2 on its right.
	Sides func(metric func(name string) (float64, bool)) (left, right float64, err error)
}

// Bounds returns the bounds of all limits, in order. All of them must hold. A limit without an explicit decomposition
// is one bound.
func (g Goal) Bounds() []Bound {
	var all []Bound
	for _, l := range g.Limits {
		if len(l.Bounds) > 0 {
			all = append(all, l.Bounds...)
			continue
		}
		all = append(all, Bound{Text: l.Text, Sides: func(metric func(string) (float64, bool)) (float64, float64, error) {
			ok, err := l.Holds(metric)
			if err != nil || ok {
				return 0, 0.5, err
			}
			return 1, 0.5, nil
		}})
	}
	return all
}

// A Breach is a bound that a run breaks.
type Breach struct {
	Text string // of the bound, or of the limit that it is
	// Bounded is whether the bound is one of a metric alone, so that Value is the value of the run and Limit the number
	// that it is to keep to.
	Bounded      bool
	Value, Limit float64
	Unit         string // of both, for people
	Lower        bool   // Limit is the least that is allowed
}

// AllBroken returns every limit that a run with these metrics breaks, in the words of the user, or, for a limit made of
// several bounds, its broken bounds. Limits that need unmeasured metrics are left out.
func (g Goal) AllBroken(metric func(name string) (float64, bool)) (all []Breach) {
	for _, l := range g.Limits {
		if ok, err := l.Holds(metric); ok || err != nil {
			continue
		}
		n := len(all)
		if len(l.Bounds) > 1 {
			for _, b := range l.Bounds {
				if left, right, err := b.Sides(metric); err == nil && left > right {
					all = append(all, b.breach(b.Text, left, right))
				}
			}
		}
		if len(all) > n {
			continue
		}
		broken := Breach{Text: l.Text} // a strict comparison that is met exactly, if there are several bounds
		if len(l.Bounds) == 1 {
			if left, right, err := l.Bounds[0].Sides(metric); err == nil {
				broken = l.Bounds[0].breach(l.Text, left, right)
			}
		}
		all = append(all, broken)
	}
	return all
}

// breach returns the breach of a bound with these sides.
func (b Bound) breach(text string, left, right float64) Breach {
	switch {
	case b.Metric != "":
		return Breach{text, true, left, right, b.Unit, false}
	case b.Least != "":
		return Breach{text, true, right, left, b.Unit, true}
	}
	return Breach{Text: text}
}

// A LimitLearner is a Searcher that learns where the limits of a goal are kept. Any other takes a trial that
// breaks one for one that failed.
type LimitLearner interface {
	// LearnLimits sets the bounds that a run must keep. The Searcher reads from the Measurement of each trial by how much
	// the trial keeps or breaks them. The Value of an Infeasible trial is then an ordinary value, except that it is never
	// the best. LearnLimits is called before all other methods except Hint.
	LearnLimits(bounds []Bound)
}
