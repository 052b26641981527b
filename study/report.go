package study

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay"
)

// A Report is a client's result of a trial that an [ExternalSession] has handed out.
type Report struct {
	ID int64 `json:"id"`
	// Value is the objective, as the metric of the goal; it may stand among Metrics in its place.
	Value   *float64           `json:"value,omitempty"`
	Metrics map[string]float64 `json:"metrics,omitempty"`
	// State is the name of a final state; "" is done. For a censored trial Value is the value at which it was stopped.
	State  string `json:"state,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Config, if present, must be the configuration that was handed out.
	Config map[string]any `json:"config,omitempty"`

	By    string `json:"-"` // the reporter, for the record of a withdrawal
	Place string `json:"-"` // where it stands, for messages
}

// A Receipt counts the outcomes of reports.
type Receipt struct {
	Told      int // that count
	Known     int // that were reported before
	Withdrawn int
	Open      int    // trials in flight
	Ended     string // why the study is over, or ""
}

// Tell takes results of trials, all in one step: it takes none if one of them is refused. A report that was given
// before is no error. Errors begin with the place of the report, and are of the class usage if the report is invalid,
// not found if no such trial was handed out, and conflict if the trial has another result.
func (d *ExternalSession) Tell(ctx context.Context, reports []Report) (Receipt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tell(ctx, reports)
}

func (d *ExternalSession) tell(ctx context.Context, reports []Report) (r Receipt, err error) {
	l := d.l
	var news []assay.Trial
	var events []assay.Event
	for _, report := range reports {
		t, known, err := d.read(report, news)
		if err != nil {
			if report.Place != "" {
				err = assay.WithHint(assay.Errorf(assay.ClassOf(err), "%s: %w", report.Place, err), assay.HintOf(err))
			}
			return Receipt{}, err
		}
		switch {
		case known:
			r.Known++
			continue
		case t.State == assay.Withdrawn:
			r.Withdrawn++
			events = append(events, assay.Event{Withdrawn: &assay.Withdrawal{Trial: t.ID, By: report.By, Reason: t.Reason}})
		default:
			r.Told++
			events = append(events, assay.Event{Told: &t})
		}
		news = append(news, t)
	}
	if len(events) > 0 {
		if err := l.record.keep(ctx, events...); err != nil {
			return Receipt{}, err
		}
		d.last = ""
	}
	for i, t := range news {
		if err := d.take(t, events[i]); err != nil {
			l.record.fail(err)
			return Receipt{}, err
		}
	}
	r.Open = len(l.run.inFlight())
	l.control.goOn()
	r.Ended, err = d.over(ctx)
	return r, err
}

// take takes in a trial that has ended on record.
func (d *ExternalSession) take(t assay.Trial, e assay.Event) error {
	l := d.l
	delete(d.handed, t.ID)
	l.run.drop(t.ID)
	if e.Withdrawn != nil {
		return l.takenBack(withdrawal{t.Proposal, *e.Withdrawn})
	}
	l.run.forget(t.ID)
	d.ended[t.ID] = l.judge.size()
	l.judge.remember(t)
	l.judge.choose()
	return l.ask.tell(t)
}

// read returns the trial of a report, and whether this result is known. news are the trials of the reports before it.
func (d *ExternalSession) read(r Report, news []assay.Trial) (t assay.Trial, known bool, err error) {
	l := d.l
	h, open := d.handed[r.ID]
	before, told := assay.Trial{}, false
	if i, ok := d.ended[r.ID]; ok {
		before, told = l.judge.told(i), true
	} else if l.ask.isWithdrawn(r.ID) {
		before, told = assay.Trial{Proposal: assay.Proposal{ID: r.ID}, State: assay.Withdrawn}, true
	} else if i := slices.IndexFunc(news, func(t assay.Trial) bool { return t.ID == r.ID }); i >= 0 {
		before, told = news[i], true
	}
	if !open && !told {
		return t, false, assay.Errorf(assay.ClassNotFound, "trial %d was not asked", r.ID)
	}
	p := before.Proposal
	if open {
		p = h.Proposal
	}
	if t, err = reported(l.Study, r, p); err != nil {
		return t, false, err
	}
	if t.Started, t.Ended = h.Since, l.clock.Now(); !told {
		return t, false, nil
	}
	if before.State == assay.Withdrawn || t.State == assay.Withdrawn {
		if before.State == t.State {
			return t, true, nil
		}
		if before.State == assay.Withdrawn {
			return t, false, assay.Errorf(assay.ClassConflict, "trial %d was withdrawn: its result comes too late", r.ID)
		}
	}
	same := maps.Equal(before.Measurement.Metrics, t.Measurement.Metrics)
	if before.State != t.State || before.Value != t.Value || !same {
		return t, false, assay.Errorf(assay.ClassConflict, "trial %d was reported before, with another result: %s", r.ID,
			cameTo(before))
	}
	return t, true, nil
}

// cameTo describes the result of a trial.
func cameTo(t assay.Trial) string {
	if t.State == assay.Failed || t.State == assay.Withdrawn {
		return t.State.String()
	}
	metrics, err := json.Marshal(t.Measurement.Metrics)
	if err != nil {
		return t.State.String()
	}
	return fmt.Sprintf("%v, %s", t.State, metrics)
}

// reported returns the trial of a proposal with the content of a report.
func reported(s *Study, r Report, p assay.Proposal) (assay.Trial, error) {
	t := assay.Trial{Proposal: p, Value: math.Inf(1), Reason: r.Reason}
	if r.State == "" {
		t.State = assay.Done
	} else if err := t.State.UnmarshalText([]byte(r.State)); err != nil || !t.State.Final() {
		return t, assay.Errorf(assay.ClassUsage,
			"trial %d: state %.40q is not one of done, failed, censored, infeasible and withdrawn", r.ID, r.State)
	}
	if r.Config != nil && p.Config != nil {
		said, err := json.Marshal(r.Config)
		was, _ := json.Marshal(s.Space.Values(p.Config))
		if err != nil || string(said) != string(was) {
			return t, assay.Errorf(assay.ClassUsage, "trial %d is of another configuration: %s", r.ID, was)
		}
	}
	metrics, err := metricsOf(r, s.Goal.Metric)
	if err != nil {
		return t, err
	}
	m := assay.Measurement{Metrics: metrics}
	if x, ok := metrics["elapsed"]; ok && x > 0 {
		m.Elapsed = time.Duration(min(x, 9e9) * float64(time.Second))
	}
	t.Measurement = m
	switch t.State {
	case assay.Withdrawn:
		return t, nil
	case assay.Failed:
		t.Measurement.Failure = assay.NewFailure("run", r.Reason, nil, nil)
		return t, nil
	}
	if _, ok := metrics[s.Goal.Metric]; !ok {
		return t, assay.Errorf(assay.ClassUsage, "trial %d has no value: \"value\", or \"metrics\" with %q, is the "+
			"objective (of a run that failed: \"state\": \"failed\")", r.ID, s.Goal.Metric)
	}
	if t.Value, err = s.Goal.Value(t.Measurement); err != nil {
		return t, assay.Errorf(assay.ClassUsage, "trial %d: %w", r.ID, err)
	}
	if t.State != assay.Done {
		return t, nil
	}
	return within(s.Goal, t, r.ID)
}

// metricsOf returns the metrics of a report, the objective with them.
func metricsOf(r Report, objective string) (map[string]float64, error) {
	metrics := maps.Clone(r.Metrics)
	if r.Value != nil {
		if x, ok := metrics[objective]; ok && x != *r.Value {
			return nil, assay.Errorf(assay.ClassUsage, "trial %d: value is %v, and the metric %s is %v: they are the same thing",
				r.ID, *r.Value, objective, x)
		}
		if metrics == nil {
			metrics = map[string]float64{}
		}
		metrics[objective] = *r.Value
	}
	for name, x := range metrics {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, assay.Errorf(assay.ClassUsage, "trial %d: metric %s is %v: a run without a result has failed", r.ID,
				name, x)
		}
	}
	return metrics, nil
}

// within returns a trial that is done as infeasible if it breaks a limit.
func within(goal assay.Goal, t assay.Trial, id int64) (assay.Trial, error) {
	// Only the reported metrics count: a measurement has an elapsed time of its own.
	reported := func(name string) (float64, bool) {
		x, ok := t.Measurement.Metrics[name]
		return x, ok
	}
	for _, limit := range goal.Limits {
		holds, err := limit.Holds(reported)
		if err != nil {
			return t, assay.Errorf(assay.ClassUsage, "trial %d: %w", id, err)
		}
		if !holds {
			t.State, t.Reason = assay.Infeasible, "breaks "+limit.Text
			break
		}
	}
	if below := goal.Beneath(t.Config); t.State == assay.Done && below != "" {
		t.State, t.Reason = assay.Infeasible, below
	}
	return t, nil
}
