package assay

// A Bound is one comparison of a limit: what is on its left must be at most what is on its right. What is
// known of both says by how much a run keeps it or breaks it.
type Bound struct {
	Text string // of the comparison, as people read it
	// Metric is the metric that Left is, if it is one alone and Right is a number of the limit itself; "" otherwise.
	Metric string
	// Grows says that Left can only grow while a run goes on, and that Right stays as it is: of a run that was
	// cut, Left is a lower bound of what it would have become.
	Grows bool
	// Sides returns both sides for the metrics of a run. It is pure. It returns an error if a metric that it needs
	// was not measured, or a side is not finite. A condition that is no comparison of numbers has 0 on its left
	// where it holds and 1 where it does not, and 1/2 on its right.
	Sides func(metric func(name string) (float64, bool)) (left, right float64, err error)
}

// Bounds returns what must hold for all limits to hold, in their order. A limit that does not say what it is
// made of is one bound.
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

// AllBroken returns every limit that a measurement breaks, in the words of the user, or of one that is made of
// several bounds those that are broken. Limits that need what was not measured are left out.
func (g Goal) AllBroken(m Measurement) []string {
	var all []string
	for _, l := range g.Limits {
		if ok, err := l.Holds(m.Metric); ok || err != nil {
			continue
		}
		n := len(all)
		if len(l.Bounds) > 1 {
			for _, b := range l.Bounds {
				if left, right, err := b.Sides(m.Metric); err == nil && left > right {
					all = append(all, b.Text)
				}
			}
		}
		if len(all) == n { // one bound, or a strict comparison that is met exactly
			all = append(all, l.Text)
		}
	}
	return all
}

// A LimitLearner is a Searcher that learns where the limits of a goal are kept. Any other takes a trial that
// breaks one for one that failed.
type LimitLearner interface {
	// LearnLimits says what a run must keep, all of it. By how much each trial did the Searcher reads from its
	// Measurement. The Value of an Infeasible trial is then a value like others, except that it is never the
	// best. LearnLimits comes before all other calls but Hint.
	LearnLimits(bounds []Bound)
}
