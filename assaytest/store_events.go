package assaytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// SameEvent reports whether a and b are the same record: NaN is equal to NaN, -0 differs from 0, times are equal as
// instants, no metrics are equal to an empty map, and the output of a trial does not count.
func SameEvent(a, b assay.Event) bool {
	return a.At.Equal(b.At) && a.Spent == b.Spent && sameSearch(a, b) &&
		equalOrNil(a.Started, b.Started) && equalOrNil(a.Ordered, b.Ordered) &&
		equalOrNil(a.Withdrawn, b.Withdrawn) && equalOrNil(a.Ended, b.Ended) &&
		equalOrNil(a.Steered, b.Steered) && sameOrNil(a.Given, b.Given, sameBatch) &&
		sameOrNil(a.Booked, b.Booked, sameBooking) && sameOrNil(a.Drifted, b.Drifted, sameDrift) &&
		sameOrNil(a.Pruned, b.Pruned, func(a, b assay.Pruned) bool { return reflect.DeepEqual(a, b) })
}

// sameSearch compares the proposals and the results.
func sameSearch(a, b assay.Event) bool {
	return sameOrNil(a.Asked, b.Asked, sameProposal) && sameOrNil(a.Told, b.Told, sameTrial) &&
		a.Batch == b.Batch && a.Race == b.Race && a.Redone == b.Redone && bytes.Equal(a.Memo, b.Memo) &&
		sameOrNil(a.Checked, b.Checked, sameTrial)
}

func sameDrift(a, b assay.Drift) bool {
	return a.Since.Equal(b.Since) && slices.Equal(a.Trials, b.Trials) &&
		a.Worker == b.Worker && a.MachineClass == b.MachineClass &&
		a.Ratio == b.Ratio && a.Reason == b.Reason && a.Over == b.Over
}

// equalOrNil reports whether a and b are both nil or point to equal values.
func equalOrNil[T comparable](a, b *T) bool {
	return sameOrNil(a, b, func(a, b T) bool { return a == b })
}

// sameOrNil reports whether a and b are both nil or point to the same values.
func sameOrNil[T any](a, b *T, same func(a, b T) bool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return same(*a, *b)
}

func sameProposal(a, b assay.Proposal) bool {
	return a.ID == b.ID && slices.EqualFunc(a.Config, b.Config, sameNumber)
}

func sameBatch(a, b assay.Batch) bool {
	return a.By == b.By && slices.EqualFunc(a.Configs, b.Configs, func(a, b assay.Config) bool {
		return slices.EqualFunc(a, b, sameNumber)
	})
}

func sameBooking(a, b assay.AttemptEnd) bool {
	return a.RunID == b.RunID && a.Worker == b.Worker && a.Why == b.Why && a.Extra == b.Extra && a.Reason == b.Reason &&
		sameMeasurement(a.Measurement, b.Measurement)
}

func sameMeasurement(a, b assay.Measurement) bool {
	return a.Elapsed == b.Elapsed && a.ExitCode == b.ExitCode && a.Signal == b.Signal &&
		a.Worker == b.Worker && a.MachineClass == b.MachineClass && maps.EqualFunc(a.Metrics, b.Metrics, sameNumber)
}

func sameTrial(a, b assay.Trial) bool {
	return sameProposal(a.Proposal, b.Proposal) && a.State == b.State && sameNumber(a.Value, b.Value) &&
		sameMeasurement(a.Measurement, b.Measurement) &&
		a.Reason == b.Reason && sameOrNil(a.Decision, b.Decision, sameDecision) && a.Attempts == b.Attempts &&
		a.Started.Equal(b.Started) && a.Ended.Equal(b.Ended)
}

func sameDecision(a, b assay.Decision) bool {
	return a.Stop == b.Stop && a.Reason == b.Reason && sameNumber(a.Predicted, b.Predicted) && a.At == b.At
}

// sameNumber reports whether a and b are the same number, by their bits unless they are NaN.
func sameNumber(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Float64bits(a) == math.Float64bits(b)
}

// askedEvent returns an event that is fixed by id.
func askedEvent(id int64) assay.Event {
	return assay.Event{
		At:    time.Unix(1_770_000_000, id),
		Spent: time.Duration(id) * time.Second,
		Asked: &assay.Proposal{ID: id, Config: assay.Config{float64(id), 0.5}},
	}
}

// toldEvent returns an event that is fixed by its arguments.
func toldEvent(id int64, value float64) assay.Event {
	e := askedEvent(id)
	e.Told = &assay.Trial{
		Proposal:    *e.Asked,
		State:       assay.Done,
		Value:       value,
		Measurement: assay.Measurement{Elapsed: time.Second, Metrics: map[string]float64{"m": value}},
		Attempts:    1,
		Started:     e.At,
		Ended:       e.At.Add(time.Second),
	}
	e.Asked = nil
	return e
}

// fillStudy makes a study of n events and returns them.
func fillStudy(t *testing.T, s assay.Store, study string, n int) []assay.Event {
	t.Helper()
	noStoreErr(t, s.Create(t.Context(), study, nil))
	events := make([]assay.Event, n)
	for i := range events {
		events[i] = askedEvent(int64(i + 1))
	}
	noStoreErr(t, add(t.Context(), s, study, events...))
	return events
}

// add appends events wherever the record ends.
func add(ctx context.Context, s assay.Store, study string, events ...assay.Event) error {
	for {
		var end assay.Position
		for _, err := range s.Events(ctx, study, 0) {
			if err != nil {
				return err
			}
			end++
		}
		if _, err := s.Append(ctx, study, end, events...); !errors.Is(err, assay.ErrConflict) {
			return err
		}
	}
}

func checkEvents(t *testing.T, s assay.Store, study string, want []assay.Event) {
	t.Helper()
	got := mustEvents(t, s, study)
	if len(got) != len(want) {
		t.Fatalf("study %q: got %d events, want %d", study, len(got), len(want))
	}
	for i := range got {
		if !SameEvent(got[i], want[i]) {
			t.Errorf("study %q: event %d:\ngot  %s\nwant %s", study, i, eventText(got[i]), eventText(want[i]))
		}
	}
}

func eventText(e assay.Event) string {
	text := fmt.Sprintf("%v %v", e.At, e.Spent)
	if e.Asked != nil {
		text += fmt.Sprintf(" asked %+v", *e.Asked)
	}
	if e.Told != nil {
		text += fmt.Sprintf(" told %+v %+v", *e.Told, e.Told.Decision)
	}
	if e.Checked != nil {
		text += fmt.Sprintf(" checked %+v %+v race %v", *e.Checked, e.Checked.Decision, e.Race)
	}
	if e.Ended != nil {
		text += fmt.Sprintf(" ended %+v", *e.Ended)
	}
	if e.Asked == nil && e.Told == nil && e.Checked == nil && e.Ended == nil {
		text += fmt.Sprintf(" %+v %+v %+v %+v", e.Started, e.Pruned, e.Ordered, e.Withdrawn)
		text += fmt.Sprintf(" %+v %+v %+v", e.Booked, e.Given, e.Steered)
	}
	return fmt.Sprintf("%.1000s", text)
}

func mustEvents(t *testing.T, s assay.Store, study string) []assay.Event {
	t.Helper()
	events, err := collectPairs(s.Events(t.Context(), study, 0))
	noStoreErr(t, err)
	return events
}

func mustStudies(t *testing.T, s assay.Store) []string {
	t.Helper()
	names, err := collectPairs(s.Studies(t.Context()))
	noStoreErr(t, err)
	return names
}

// collectPairs returns the values before the first error, and that error.
func collectPairs[T any](seq iter.Seq2[T, error]) (values []T, err error) {
	for v, err := range seq {
		if err != nil {
			return values, err
		}
		values = append(values, v)
	}
	return values, nil
}

func noStoreErr(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
