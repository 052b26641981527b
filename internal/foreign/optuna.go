package foreign

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

// This file makes a Study of the trials of Optuna, whichever storage they are read from. A trial that is COMPLETE is a
// run; one that was PRUNED or FAILed is a failed one, since it has no value of a whole run. Those that wait or run say
// nothing. The value of a parameter is a number in a distribution, in JSON: of a categorical one it is the place of the
// choice.

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

// set keeps a parameter. Its value is that of a distribution.
func (t *optunaTrial) set(name string, internal float64, distribution string) error {
	value, err := optunaValue(internal, distribution)
	if err != nil {
		return fmt.Errorf("trial %d, parameter %s: %w", t.number, name, err)
	}
	if _, twice := t.params[name]; !twice {
		t.names = append(t.names, name)
	}
	t.params[name] = value
	return nil
}

// optunaValue returns the value as a text.
func optunaValue(internal float64, distribution string) (string, error) {
	var d struct {
		Name       string
		Attributes struct{ Choices []any }
	}
	if err := json.Unmarshal([]byte(distribution), &d); err != nil {
		return "", fmt.Errorf("the distribution %q: %w", distribution, err)
	}
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
	// Of a trial that failed halfway the rest of the configuration is not known.
	trials = slices.DeleteFunc(trials, func(t *optunaTrial) bool { return t.state == optunaFail && !o.whole(t) })
	if err := s.conditions(file, trials); err != nil {
		return nil, err
	}
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

// conditions finds out when a parameter is in force that not all trials have: if a parameter that all have says it, for
// every trial. A file of Optuna does not have the condition itself.
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
				"%s: %s: some trials have no parameter %s, and no other parameter says which", file, s.Name, p)
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

// valuesFor returns the values of a parameter with which trials do not lack another: none if the values do not say it,
// or cannot stand in a condition.
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
