package prune

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
)

// A Study is an earlier study. Its trials are in a final state and have one coordinate for each parameter; relations
// and lists of the space do not matter.
//
// The coordinates of the trials are not copied unless they are translated: the caller does not change them while a
// [Knowledge] of the study is in use.
type Study struct {
	Name   string        // for people
	Params []assay.Param // of its configurations
	Goal   assay.Goal    // that its trials have values of
	Trials []assay.Trial
}

// A Knowledge is the earlier studies that serve one space and goal, with their surrogates. Any number of searchers can
// be made of it, one after the other: it is not safe for concurrent use.
type Knowledge struct {
	space   *assay.Space // of the running study
	sources []*source    // the earlier studies that serve
	refused []Similarity // those that do not serve

	// By kind of surrogate, and nil before the first. The searchers of one Knowledge share them.
	compared map[Surrogate]*comparison
}

// NewKnowledge returns the knowledge of the studies about a space and goal. Studies that do not [Match] are left out.
// Cost: translating and encoding all trials.
func NewKnowledge(space *assay.Space, goal assay.Goal, studies []Study) *Knowledge {
	k := &Knowledge{space: space}
	for _, s := range studies {
		src, err := newSource(space, goal, s)
		if err != nil {
			k.refused = append(k.refused, Similarity{Study: s.Name, Err: err})
			continue
		}
		k.sources = append(k.sources, src)
	}
	return k
}

// Among returns the part of the knowledge from the studies of those names, in their order. Unknown names are ignored.
//
// The sources and their cached results are shared with k: the two must not be used at the same time. Studies that do
// not serve are dropped. A name that is given twice counts twice.
func (k *Knowledge) Among(names ...string) *Knowledge {
	some := &Knowledge{space: k.space}
	for _, name := range names {
		for _, s := range k.sources {
			if s.name == name {
				some.sources = append(some.sources, s)
			}
		}
	}
	return some
}

// Studies returns the names of the studies that serve.
func (k *Knowledge) Studies() []string {
	var names []string
	for _, s := range k.sources {
		names = append(names, s.name)
	}
	return names
}

// Match returns nil if an earlier study can serve a study of that space and goal, else an error with the reason in
// words. The study needs the same parameters, by name and kind, in any order, with two finished trials of different
// outcomes within the common part of their ranges; and the same metric, direction and unit.
func Match(space *assay.Space, goal assay.Goal, s Study) error {
	_, err := newSource(space, goal, s)
	return err
}

// Fits is the part of [Match] that needs no trials: nil if the study has the objective and the parameters that it
// needs, else an error with the reason in words. Cost: comparing the parameters.
func Fits(space *assay.Space, goal assay.Goal, s Study) error {
	_, err := fits(space, goal, s)
	return err
}

// fits returns the translation of the study's configurations.
func fits(space *assay.Space, goal assay.Goal, s Study) (*translation, error) {
	switch {
	case s.Goal.Metric != goal.Metric:
		return nil, fmt.Errorf("its objective is %s, not %s", s.Goal.Metric, goal.Metric)
	case s.Goal.Maximize != goal.Maximize:
		return nil, fmt.Errorf("its objective %s is %s, not %s", goal.Metric, direction(s.Goal), direction(goal))
	case s.Goal.Unit != goal.Unit:
		return nil, fmt.Errorf("its objective %s is in %q, not in %q", goal.Metric, s.Goal.Unit, goal.Unit)
	}
	t, err := newTranslation(space.Params, s.Params)
	if err != nil {
		return nil, err
	}
	t.space = space
	return t, nil
}

// A source is an earlier study in the coordinates of the running one. Its outcomes are on its own scale throughout:
// studies are compared by shape, not by size.
//
// Expensive parts are made on first use: exact, nearest and data with the first prediction, the forest and its mean and
// deviation with the first hint or blend. A source is therefore not safe for concurrent use.
type source struct {
	name   string        // of the study
	trials []assay.Trial // within the common ranges, with the space's coordinates
	params []assay.Param // of the space
	scale  scale         // of its outcomes
	best   assay.Trial   // of least value
	worst  float64       // greatest finished value

	exact   map[string]float64 // mean scaled outcome by Key
	nearest assay.Predictor    // between them
	data    assay.Data         // the input of both
	note    string             // why the automatic aggressiveness is the fixed one, or ""
	space   *assay.Space       // of the running study

	forest   assay.Predictor // made when it is needed first, with the next two
	mean, sd float64         // of data.Y
	unit     float64         // of loss; 0 before it is needed
}

// newSource translates the study, or returns an error with the reason in words: another objective, other parameters, or
// fewer than two finished trials of different outcomes in the common part of the ranges. Trials that have not ended, or
// with a NaN value, are left out. Cost: its trials times the parameters.
//
// The objective is compared first, since it costs nothing, and the parameters before the trials, since without a
// translation no trial can be read ([Fits]). A nil error promises two finished trials of different values, which fit
// and examples rely on.
func newSource(space *assay.Space, goal assay.Goal, s Study) (*source, error) {
	bad := func(format string, args ...any) (*source, error) {
		return nil, fmt.Errorf(format, args...)
	}
	t, err := fits(space, goal, s)
	if err != nil {
		return nil, err
	}
	if len(s.Trials) == 0 {
		return bad("it has no trials")
	}
	src := &source{name: s.Name, space: space, params: space.Params}
	finished := 0
	for _, trial := range s.Trials {
		if len(trial.Config) != len(s.Params) || !trial.State.Final() {
			continue
		}
		if trial.State == assay.Done {
			if math.IsNaN(trial.Value) || math.IsInf(trial.Value, 0) {
				continue
			}
			finished++
		}
		if c, ok := t.config(trial.Config); ok {
			trial.Config = c
			src.trials = append(src.trials, trial)
		}
	}
	// finished also counts trials outside the common ranges, so that the error distinguishes a study without finished
	// trials from a study of other ranges.
	if finished == 0 {
		return bad("none of its %d trials ran to the end", len(s.Trials))
	}
	values := finishedValues(src.trials)
	switch {
	case len(values) == 0:
		return bad("none of its trials is within the ranges of this study")
	case len(values) == 1:
		return bad("1 finished trial is not enough to compare")
	case slices.Min(values) == slices.Max(values):
		return bad("its %d outcomes are all equal, so that there is no correlation", len(values))
	}
	src.fit(values)
	return src, nil
}

// direction is the goal's direction in words.
func direction(g assay.Goal) string {
	if g.Maximize {
		return "maximized"
	}
	return "minimized"
}

// finishedValues returns the values of the trials that ran to their end, in their order.
func finishedValues(trials []assay.Trial) []float64 {
	var vs []float64
	for _, t := range trials {
		if t.State == assay.Done {
			vs = append(vs, t.Value)
		}
	}
	return vs
}

// fit sets the fields that need no surrogate.
func (s *source) fit(values []float64) {
	s.scale = newScale(values)
	// A best trial exists: values are of the same trials, and not empty.
	s.best, _ = assay.Best(s.trials)
	s.worst = slices.Max(values)
}

// examples returns the training set of the surrogates, made on first use: many studies are matched, few are used.
//
//   - A failed or infeasible trial counts as the worst finished one: it is to be avoided, by an unknown amount.
//   - A censored trial is left out: its value is at the time of the stop, not at the end.
//
// It also makes exact, the mean outcome of each configuration.
func (s *source) examples() assay.Data {
	// exact is the mark that data was made, too. It is set last.
	if s.exact != nil {
		return s.data
	}
	sum, n := make(map[string]float64, len(s.trials)), make(map[string]float64, len(s.trials))
	for _, t := range s.trials {
		v := t.Value
		switch t.State {
		case assay.Censored:
			continue
		case assay.Done:
		default:
			v = s.worst
		}
		k := t.Config.Key()
		y := s.scale.forward(v)
		sum[k] += y
		n[k]++
		s.data.X = append(s.data.X, s.space.Encode(t.Config))
		s.data.Y = append(s.data.Y, y)
	}
	// data keeps the repetitions one by one, as a regression wants them. Only exact is averaged.
	for k := range sum {
		sum[k] /= n[k]
	}
	s.exact = sum
	return s.data
}

// predict returns the surrogate at c, on the scale of the study: exact where there
// are trials, and the mean of the five nearest elsewhere (Silva et al. 2018, §3.3).
func (s *source) predict(c assay.Config) float64 {
	s.examples()
	if y, ok := s.exact[c.Key()]; ok {
		return y
	}
	if s.nearest == nil {
		var err error
		if s.nearest, err = (model.KNN{}).Fit(s.examples()); err != nil {
			panic(err) // exact examples of finite features and outcomes always fit
		}
	}
	return s.nearest.Predict(s.space.Encode(c)).Mean
}

// byValue returns the finished trials, the best first and of equals the earlier. Cost: a sort of all.
func (s *source) byValue() []assay.Trial {
	ts := slices.DeleteFunc(slices.Clone(s.trials), func(t assay.Trial) bool { return t.State != assay.Done })
	slices.SortStableFunc(ts, func(a, b assay.Trial) int { return cmp.Compare(a.Value, b.Value) })
	return ts
}

// A translation maps configurations of earlier parameters to configurations of the running study: values by their
// number, levels by their text.
type translation struct {
	space  *assay.Space          // the running study's; nil if nothing is known of it but to
	to     []assay.Param         // the running study's parameters
	from   []assay.Param         // in the order of to
	column []int                 // where each is in an earlier configuration
	level  []map[float64]float64 // of parameters with levels
	same   bool                  // whether nothing changes
}

// newTranslation returns the translation of configurations of from to configurations of to. It returns an error that
// names the first parameter that is missing, or of another kind or unit. Units are compared only if both are given.
func newTranslation(to, from []assay.Param) (*translation, error) {
	t := &translation{to: to, same: len(to) == len(from)}
	for _, p := range to {
		i := slices.IndexFunc(from, func(q assay.Param) bool { return q.Name == p.Name })
		if i < 0 {
			return nil, fmt.Errorf("it has no parameter %s", p.Name)
		}
		q := from[i]
		if err := differs(p, q); err != nil {
			return nil, err
		}
		// If the lengths differ, same is false already and to[i] is not looked at. Units are of no interest
		// here: they are equal, or one of them is not given.
		t.same = t.same && to[i].Name == p.Name && q.Lo == p.Lo && q.Hi == p.Hi && q.Step == p.Step &&
			slices.Equal(q.Levels, p.Levels)
		levels := map[float64]float64{}
		for l, text := range q.Levels {
			if x, err := p.Parse(text); err == nil {
				levels[float64(l)] = x
			}
		}
		t.from, t.column, t.level = append(t.from, q), append(t.column, i), append(t.level, levels)
	}
	// Each of to is in from by now. As names are unique, from has another one only if it is longer.
	if len(from) > len(to) {
		for _, q := range from {
			if !slices.ContainsFunc(to, func(p assay.Param) bool { return p.Name == q.Name }) {
				return nil, fmt.Errorf("it has another parameter, %s", q.Name)
			}
		}
	}
	return t, nil
}

// differs returns why the values of q, of the same name, are no values of p.
func differs(p, q assay.Param) error {
	if q.Kind != p.Kind {
		return fmt.Errorf("its parameter %s is %s, not %s", p.Name, q.Kind, p.Kind)
	}
	if q.Unit != p.Unit && q.Unit != "" && p.Unit != "" {
		return fmt.Errorf("its parameter %s is in %s, not in %s", p.Name, q.Unit, p.Unit)
	}
	return nil
}

// config returns the configuration in the running study's coordinates. ok is false if a
// coordinate is outside of the common part: a level that is not there, or a number beyond the
// range. A number between the steps of the running study is moved to the nearest of them.
func (t *translation) config(c assay.Config) (assay.Config, bool) {
	c, ok := t.coordinates(c)
	if ok && t.space != nil {
		c = t.space.Rested(c)
	}
	return c, ok
}

// coordinates is config without regard to active conditions.
func (t *translation) coordinates(c assay.Config) (assay.Config, bool) {
	if t.same {
		for i, x := range c {
			// The comparison is written so that NaN is outside. A number between the steps stays as it is.
			if p := &t.to[i]; !p.Numeric() && !p.Contains(x) || p.Numeric() && !(x >= p.Lo && x <= p.Hi) {
				return nil, false
			}
		}
		return c, true
	}
	out := make(assay.Config, len(t.to))
	for i, p := range t.to {
		x := c[t.column[i]]
		if p.Kind == assay.Permutation {
			y, err := p.Parse(t.from[i].Text(x))
			if err != nil {
				return nil, false
			}
			out[i] = y
			continue
		}
		if !p.Numeric() {
			y, ok := t.level[i][x]
			if !ok {
				return nil, false
			}
			out[i] = y
			continue
		}
		if !p.Contains(x) {
			return nil, false
		}
		out[i] = x
		if p.Count() > 0 {
			// The earlier study may have had another step.
			out[i] = p.Snap(x)
		}
	}
	return out, true
}

// A scale is a monotone transform that makes relative differences visible at every order of magnitude: log v if all
// outcomes are positive, its mirror image -log(-v) if all are negative, as for a maximized metric, and v itself
// otherwise.
type scale int8

const (
	// The outcomes are of both signs, or one is 0.
	identity scale = iota
	// All outcomes are positive, as run times are.
	logarithm
	// All outcomes are negative, as throughputs with their sign changed are.
	mirror
)

// newScale returns the scale of values, of which there is at least one.
func newScale(values []float64) scale {
	switch {
	case slices.Min(values) > 0:
		return logarithm
	case slices.Max(values) < 0:
		return mirror
	}
	return identity
}

// forward returns v on the scale. It is NaN or infinite for a value that the scale does not
// have, such as an outcome of the other sign.
func (s scale) forward(v float64) float64 {
	switch s {
	case logarithm:
		return math.Log(v)
	case mirror:
		return -math.Log(-v)
	}
	return v
}
