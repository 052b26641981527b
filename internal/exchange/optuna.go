package exchange

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
)

// This file makes a Study of the trials of Optuna, from any of its storages. A trial that is COMPLETE is
// a run; one that was PRUNED or FAILed is a failed one, since it has no value of a whole run. Waiting
// and running trials are ignored. The value of a parameter is a number in a distribution, in JSON: for a
// categorical one it is the index of the choice.

// Names of the states of trials of Optuna.
const (
	optunaComplete = "COMPLETE"
	optunaPruned   = "PRUNED"
	optunaFail     = "FAIL"
)

// An optunaTrial is a trial as Optuna has it.
type optunaTrial struct {
	number     int
	state      string // COMPLETE, PRUNED, FAIL, or another
	start, end string
	names      []string // of parameters, in the order in which they were asked for
	params     map[string]string
	drawn      map[string]Range // from which the values were drawn
	values     []float64
	attrs      map[string]float64 // user attributes that are numbers
}

// optunaStudy is a study as Optuna has it.
type optunaStudy struct {
	name     string
	maximize []bool // of its objectives
	metrics  []string
	trials   []*optunaTrial
}

// set keeps a parameter. Its value is a number in the distribution.
func (t *optunaTrial) set(name string, internal float64, distribution string) error {
	var d optunaDistribution
	err := json.Unmarshal([]byte(distribution), &d)
	if err != nil {
		err = fmt.Errorf("the distribution %q: %w", distribution, err)
	}
	var value string
	if err == nil {
		value, err = d.value(internal)
	}
	if err != nil {
		return fmt.Errorf("trial %d, parameter %s: %w", t.number, name, err)
	}
	if r, ok := d.drawn(internal); ok {
		if t.drawn == nil {
			t.drawn = map[string]Range{}
		}
		t.drawn[name] = r
	}
	if _, twice := t.params[name]; !twice {
		t.names = append(t.names, name)
	}
	t.params[name] = value
	return nil
}

// An optunaDistribution is the source of a value. Its names are FloatDistribution, IntDistribution and
// CategoricalDistribution; before Optuna 3.0 there were UniformDistribution, IntLogUniformDistribution and others.
type optunaDistribution struct {
	Name       string
	Attributes struct {
		Choices            []any
		Low, High, Step, Q float64
		Log                bool
	}
}

// drawn returns the range of a number. A value that was set by hand may be outside the distribution.
func (d optunaDistribution) drawn(value float64) (r Range, ok bool) {
	a := d.Attributes
	r = Range{
		Integer: strings.HasPrefix(d.Name, "Int"), Log: a.Log || strings.Contains(d.Name, "LogUniform"),
		Low: min(a.Low, value), High: max(a.High, value), Step: max(a.Step, a.Q),
	}
	if r.Integer && r.Step == 1 {
		r.Step = 0
	}
	ok = d.Name != "CategoricalDistribution" && r.Low < r.High && !(r.Log && r.Low <= 0)
	return r, ok
}

// ranges returns the ranges of the parameters: of each the widest over the trials, unless their kinds differ.
func (o *optunaStudy) ranges(params []string, trials []*optunaTrial) map[string]Range {
	all := map[string]Range{}
	for _, p := range params {
		var wide Range
		same := true
		for _, t := range trials {
			if _, has := t.params[p]; !has {
				continue
			}
			r, ok := t.drawn[p]
			if wide == (Range{}) {
				wide = r
			}
			same = same && ok && r.Integer == wide.Integer && r.Log == wide.Log && r.Step == wide.Step
			wide.Low, wide.High = min(wide.Low, r.Low), max(wide.High, r.High)
		}
		if same && wide != (Range{}) {
			all[p] = wide
		}
	}
	return all
}

// value returns the value as a text.
func (d optunaDistribution) value(internal float64) (string, error) {
	if d.Name != "CategoricalDistribution" {
		return number(internal), nil
	}
	choices := d.Attributes.Choices
	if internal != math.Trunc(internal) || internal < 0 || internal >= float64(len(choices)) {
		return "", fmt.Errorf("there is no choice %v of %d", internal, len(choices))
	}
	switch c := choices[int(internal)].(type) {
	case nil:
		return "None", nil
	case string:
		return c, nil
	case bool:
		return strconv.FormatBool(c), nil
	case float64:
		return number(c), nil
	}
	return "", fmt.Errorf("the choice %v is no number and no text", choices[int(internal)])
}

// study makes a Study of the trials that have ended.
func (o *optunaStudy) study(file string) (*Study, error) {
	s := &Study{Tool: "Optuna", Name: o.name}
	trials := slices.DeleteFunc(slices.Clone(o.trials), func(t *optunaTrial) bool {
		return t.state != optunaComplete && t.state != optunaPruned && t.state != optunaFail ||
			t.state != optunaComplete && len(t.names) == 0 // it failed before it had a configuration
	})
	for _, t := range trials {
		for _, n := range t.names {
			if !slices.Contains(s.Parameters, n) {
				s.Parameters = append(s.Parameters, n)
			}
		}
	}
	// The rest of the configuration of a trial that failed halfway is not known.
	trials = slices.DeleteFunc(trials, func(t *optunaTrial) bool { return t.state == optunaFail && !o.whole(t) })
	if err := s.conditions(file, trials); err != nil {
		return nil, err
	}
	s.Ranges = o.ranges(s.Parameters, trials)
	for i, more := range o.maximize {
		s.Metrics = append(s.Metrics, Metric{Name: o.metric(i), Maximize: more, Known: true})
	}
	attrs := o.attributes(trials)
	for _, n := range attrs {
		s.Metrics = append(s.Metrics, Metric{Name: n})
	}
	for _, t := range trials {
		s.Runs = append(s.Runs, o.run(s, t, attrs, trials))
	}
	return s, s.check(file)
}

// run returns a trial as a run of s, which has the metrics attrs besides the objectives.
func (o *optunaStudy) run(s *Study, t *optunaTrial, attrs []string, trials []*optunaTrial) Run {
	r := Run{Elapsed: between(t.start, t.end)}
	if t.state != optunaComplete {
		r.Failed = t.state
	}
	for _, p := range s.Parameters {
		r.Config = append(r.Config, s.cell(t, p, trials))
	}
	for i := range o.maximize {
		v := math.NaN()
		if t.state == optunaComplete && i < len(t.values) {
			v = t.values[i]
		}
		if math.IsInf(v, 0) {
			v, r.Failed = math.NaN(), "no finite value"
		}
		r.Values = append(r.Values, v)
	}
	for _, n := range attrs {
		v, ok := t.attrs[n]
		if !ok {
			v = math.NaN()
		}
		r.Values = append(r.Values, v)
	}
	return r
}

// whole reports whether a complete trial has the same parameters, so that nothing was left to be asked for.
func (o *optunaStudy) whole(t *optunaTrial) bool {
	return slices.ContainsFunc(o.trials, func(c *optunaTrial) bool {
		return c.state == optunaComplete && len(c.names) == len(t.names) &&
			!slices.ContainsFunc(t.names, func(n string) bool { return !slices.Contains(c.names, n) })
	})
}

// cell returns the value of a parameter, or where it is not in force any value of it: rows that differ in nothing else
// are one configuration.
func (s *Study) cell(t *optunaTrial, param string, trials []*optunaTrial) string {
	if v, ok := t.params[param]; ok {
		return v
	}
	i := slices.IndexFunc(trials, func(t *optunaTrial) bool { _, ok := t.params[param]; return ok })
	return trials[i].params[param]
}

// metric returns the name of an objective.
func (o *optunaStudy) metric(i int) string {
	switch {
	case i < len(o.metrics):
		return o.metrics[i]
	case len(o.maximize) == 1:
		return "value"
	}
	return fmt.Sprintf("values_%d", i) // as a DataFrame of Optuna has it
}

// attributes returns the names of the user attributes that are metrics: those that are numbers.
func (o *optunaStudy) attributes(trials []*optunaTrial) []string {
	var names []string
	for _, t := range trials {
		for n := range t.attrs {
			taken := slices.Contains(names, n) || strings.HasPrefix(n, "assay_")
			for i := range o.maximize {
				taken = taken || n == o.metric(i)
			}
			if !taken {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	return names
}

// identifier is a name that a condition can have.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z_0-9]*$`)

// conditions finds the condition under which a parameter is in force that not all trials have: a value
// of a parameter that all trials have, if that decides it for every trial. A file of Optuna does not
// have the condition itself.
func (s *Study) conditions(file string, trials []*optunaTrial) error {
	s.When = map[string]string{}
	for _, p := range s.Parameters {
		lacks := func(t *optunaTrial) bool { _, ok := t.params[p]; return !ok }
		if !slices.ContainsFunc(trials, lacks) {
			continue
		}
		for _, on := range s.Parameters {
			if values := valuesFor(trials, on, lacks); values != nil && identifier.MatchString(on) {
				for i, v := range values {
					values[i] = fmt.Sprintf("%s == %s", on, literal(v))
				}
				s.When[p] = strings.Join(values, " or ")
				break
			}
		}
		if s.When[p] == "" {
			return assay.Errorf(assay.ClassUsage,
				"%s: %s: some trials have no parameter %s, and no other parameter decides which", file, s.Name, p)
		}
	}
	return nil
}

// literal returns a value as a condition has it.
func literal(v string) string {
	if _, err := strconv.ParseFloat(v, 64); err == nil {
		return v
	}
	return "'" + v + "'"
}

// valuesFor returns the values of a parameter with which trials do not lack another: none if the values
// do not decide it, or cannot stand in a condition.
func valuesFor(trials []*optunaTrial, on string, lacks func(*optunaTrial) bool) (with []string) {
	var without []string
	for _, t := range trials {
		v, ok := t.params[on]
		switch {
		case !ok:
			return nil
		case lacks(t):
			without = append(without, v)
		case !slices.Contains(with, v):
			with = append(with, v)
		}
	}
	if slices.ContainsFunc(with, func(v string) bool {
		return slices.Contains(without, v) || strings.ContainsAny(v, `'\`)
	}) {
		return nil
	}
	return with
}
