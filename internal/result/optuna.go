package result

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

// Operation codes, trial states and directions of Optuna's journal storage,
// version 3 and later (optuna.storages.journal, JournalOperation).
const (
	optunaCreateStudy = 0
	optunaStudyUser   = 2
	optunaStudySystem = 3
	optunaCreateTrial = 4
	optunaParam       = 5
	optunaState       = 6
	optunaUserAttr    = 8
	optunaSystemAttr  = 9

	optunaComplete = 1
	optunaPruned   = 2
	optunaFail     = 3

	optunaMinimize = 1
	optunaMaximize = 2

	optunaTime = "2006-01-02T15:04:05.000000"
)

// WriteOptuna writes the study as a journal that Optuna's JournalStorage can load and continue. Stopped runs are pruned
// trials and failed ones failed trials. Trials outside the limits are complete, with their value: the constraints of
// the trial have one entry for each limit of the study, 1 for a broken limit and 0 for a kept one. The metrics are user
// attributes of a trial. The objectives have their names, and the study has their units as the user attribute
// assay_units.
func (r *Record) WriteOptuna(ctx context.Context, w io.Writer) error {
	buf := bufio.NewWriter(w)
	log := optunaLog{buf}
	if err := r.optunaHead(log); err != nil {
		return err
	}
	n := 0
	for t, err := range r.Trials(ctx) {
		if err != nil {
			return err
		}
		if !t.State.Final() || t.State == assay.Withdrawn { // nothing was learned from it
			continue
		}
		if err := r.optunaTrial(log, n, t); err != nil {
			return err
		}
		n++
	}
	return buf.Flush()
}

// optunaHead writes the study, without its trials.
func (r *Record) optunaHead(log optunaLog) error {
	var directions []int
	names, units := []string{}, map[string]string{}
	for _, o := range r.Goal.Objectives() {
		direction := optunaMinimize
		if o.Maximize {
			direction = optunaMaximize
		}
		directions, names = append(directions, direction), append(names, o.Metric)
		if o.Unit != "" {
			units[o.Metric] = o.Unit
		}
	}
	if err := log.op(optunaCreateStudy, map[string]any{"study_name": r.Name, "directions": directions}); err != nil {
		return err
	}
	system := map[string]any{"study_id": 0, "system_attr": map[string]any{"study:metric_names": names}}
	if err := log.op(optunaStudySystem, system); err != nil {
		return err
	}
	return log.op(optunaStudyUser, map[string]any{"study_id": 0, "user_attr": map[string]any{"assay_units": units}})
}

// optunaValues returns the values of the objectives of a trial, nil if it lacks one.
func (r *Record) optunaValues(t assay.Trial) (values []float64) {
	if !r.Goal.Several() {
		return []float64{r.Goal.Show(t.Value)}
	}
	for _, o := range r.Goal.Objectives() {
		v, err := o.Value(t.Measurement)
		if err != nil {
			return nil
		}
		values = append(values, o.Show(v))
	}
	return values
}

type optunaLog struct{ io.Writer }

func (l optunaLog) op(code int, fields map[string]any) error {
	fields["op_code"], fields["worker_id"] = code, "assay"
	line, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	_, err = l.Write(append(report.VisibleJSON(line), '\n'))
	return err
}

func (r *Record) optunaTrial(log optunaLog, id int, t assay.Trial) error {
	head := map[string]any{"study_id": 0, "datetime_start": t.Started.UTC().Format(optunaTime)}
	if err := log.op(optunaCreateTrial, head); err != nil {
		return err
	}
	for i, p := range r.Params {
		if !assay.Active(r.Params, t.Config, i) {
			continue
		}
		dist, err := optunaDistribution(p)
		if err != nil {
			return err
		}
		param := map[string]any{
			"trial_id": id, "param_name": p.Name, "param_value_internal": t.Config[i], "distribution": dist,
		}
		if err := log.op(optunaParam, param); err != nil {
			return err
		}
	}
	attrs := []map[string]any{
		{"assay_id": t.ID}, {"assay_state": t.State}, {"assay_reason": t.Reason},
	}
	metrics := assay.MetricsOf(t, r.Goal)
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		if assay.Finite(metrics[name]) != nil {
			attrs = append(attrs, map[string]any{name: metrics[name]})
		}
	}
	for _, attr := range attrs { // Optuna takes one attribute at a time.
		if err := log.op(optunaUserAttr, map[string]any{"trial_id": id, "user_attr": attr}); err != nil {
			return err
		}
	}
	if c := r.optunaConstraints(t); c != nil {
		attr := map[string]any{"constraints": c}
		if err := log.op(optunaSystemAttr, map[string]any{"trial_id": id, "system_attr": attr}); err != nil {
			return err
		}
	}
	state := map[string]any{
		"trial_id": id, "state": optunaFail, "values": nil, "datetime_complete": t.Ended.UTC().Format(optunaTime),
	}
	switch values := r.optunaValues(t); {
	case values == nil:
	case t.State == assay.Done || t.State == assay.Infeasible:
		state["state"], state["values"] = optunaComplete, values
	case t.State == assay.Censored && len(values) == 1:
		state["state"], state["values"] = optunaPruned, values
	case t.State == assay.Censored: // Optuna prunes no trial of several objectives
	}
	return log.op(optunaState, state)
}

// optunaConstraints returns a number for each limit of the study: above 0 if the trial, which was completed, breaks it.
// It returns nil without limits, or if the trial was not completed.
func (r *Record) optunaConstraints(t assay.Trial) []float64 {
	if len(r.Goal.Limits) == 0 || t.State != assay.Done && t.State != assay.Infeasible {
		return nil
	}
	c := make([]float64, len(r.Goal.Limits))
	broken := false
	for i, l := range r.Goal.Limits {
		if ok, err := l.Holds(t.Measurement.Metric); err == nil && !ok {
			c[i], broken = 1, true
		}
	}
	if t.State == assay.Infeasible && !broken { // the recorded values hold
		for i := range c {
			c[i] = 1
		}
	}
	return c
}

// optunaOrders is how many orders of a permutation are choices. More are their numbers.
const optunaOrders = 120

// optunaDistribution returns the distribution of a parameter as Optuna's JSON. Its internal value is our coordinate:
// the number, or the index of the choice. An inactive parameter is left out of a trial, as in Optuna.
func optunaDistribution(p assay.Param) (string, error) {
	name, attrs := "CategoricalDistribution", map[string]any{}
	switch p.Kind {
	case assay.Real:
		name = "FloatDistribution"
		attrs = map[string]any{"low": p.Lo, "high": p.Hi, "log": p.Log, "step": nil}
		if p.Step > 0 && !p.Log {
			attrs["step"] = p.Step
		}
	case assay.Integer:
		name = "IntDistribution"
		attrs = map[string]any{"low": int64(p.Lo), "high": int64(p.Hi), "log": p.Log, "step": 1}
		if p.Step > 1 && !p.Log { // Optuna takes no step with log
			attrs["step"] = int64(p.Step)
		}
	case assay.Permutation:
		if p.Count() > optunaOrders {
			name = "IntDistribution"
			attrs = map[string]any{"low": 0, "high": p.Count() - 1, "log": false, "step": 1}
			break
		}
		fallthrough
	default:
		choices := make([]any, p.Count())
		for i := range choices {
			choices[i] = p.Value(float64(i))
		}
		attrs["choices"] = choices
	}
	b, err := json.Marshal(map[string]any{"name": name, "attributes": attrs})
	if err != nil {
		return "", fmt.Errorf("parameter %q: %w", p.Name, err)
	}
	return string(b), nil
}
