// This file turns events into bytes and back. Equal events give equal bytes, because encoding/json sorts the keys of
// maps: stores compare payloads to find out whether an Append is a repetition.

package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/assay-run/assay"
)

// payload is the stored form of an event. JSON has neither infinities nor NaN, so the numbers that are not finite go
// into Nonfinite by their place; a missing value of a trial is +Inf and a missing prediction NaN, as in the JSON of
// the root package. assay.Event must not have a method MarshalJSON: payload would inherit it from the embedded type,
// and Nonfinite would be lost.
type payload struct {
	assay.Event
	Nonfinite map[string]string `json:"nonfinite,omitempty"`
}

// Keys of payload.Nonfinite.
const (
	keyValue     = "value"
	keyPredicted = "predicted"
	keyMetric    = "metrics/" // + name
)

// EncodeEvent returns e as one line of JSON that [DecodeEvent] turns into an equal event: numbers that are not finite
// and times to the nanosecond included. The output of a trial (Stdout, Stderr) is not part of the record, and bytes
// that are not UTF-8 become U+FFFD. It returns an error if not exactly one of the pointers of e is set, if Batch or
// Memo is without Asked or Race without Checked, if a coordinate of the configuration is not finite, if the state is
// unknown, or if a time is outside the years 0 to 9999. EncodeEvent does not change e. The bytes are the caller's.
func EncodeEvent(e assay.Event) ([]byte, error) {
	if err := checkEvent(e); err != nil {
		return nil, err
	}
	// encoding/json would refuse it too, but without naming the coordinate.
	for _, c := range eventConfigs(e) {
		for i, x := range c {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("coordinate %d of the configuration is %v", i+1, x)
			}
		}
	}
	p := payload{Event: e}
	switch {
	case e.Told != nil:
		p.Told, p.Nonfinite = splitNonfinite(e.Told)
	case e.Checked != nil:
		p.Checked, p.Nonfinite = splitNonfinite(e.Checked)
	case e.Booked != nil:
		booked := *e.Booked
		var t *assay.Trial
		t, p.Nonfinite = splitNonfinite(bookedTrial(e.Booked))
		booked.Measurement = t.Measurement
		p.Booked = &booked
	}
	b, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	return b, nil
}

// EncodeEvents returns [EncodeEvent] of each event. DecodePayloads is the inverse.
func EncodeEvents(events []assay.Event) ([][]byte, error) {
	payloads := make([][]byte, len(events))
	for i, e := range events {
		p, err := EncodeEvent(e)
		if err != nil {
			return nil, err
		}
		payloads[i] = p
	}
	return payloads, nil
}

// DecodeEvent is the inverse of [EncodeEvent]. Unknown keys are ignored. The event shares no memory with b. An event of
// a newer kind only is an error, as one of no kind is.
func DecodeEvent(b []byte) (assay.Event, error) {
	if e, ok := quickEvent(b); ok {
		return e, nil
	}
	return slowEvent(b)
}

// slowEvent is DecodeEvent of any payload.
func slowEvent(b []byte) (assay.Event, error) {
	var p payload
	if err := json.Unmarshal(b, &p); err != nil {
		return assay.Event{}, fmt.Errorf("event: %w", err)
	}
	e := p.Event
	if err := checkEvent(e); err != nil {
		return assay.Event{}, err
	}
	place := cmp.Or(e.Told, e.Checked)
	if e.Booked != nil {
		place = bookedTrial(e.Booked)
	}
	for key, text := range p.Nonfinite {
		// checkEvent has made sure that at most one of them is set. The order of the keys
		// does not matter: each is a place of its own.
		if err := setNonfinite(place, key, text); err != nil {
			return assay.Event{}, err
		}
	}
	if e.Booked != nil {
		e.Booked.Measurement = place.Measurement
	}
	return e, nil
}

// bookedTrial returns a trial with the measurement of b, and nothing else that could be odd.
func bookedTrial(b *assay.AttemptEnd) *assay.Trial {
	return &assay.Trial{Value: math.Inf(1), Measurement: b.Measurement}
}

// checkEvent returns an error unless e is one event of a kind known here.
// It looks neither at coordinates nor at states; the encoding does.
func checkEvent(e assay.Event) error {
	kinds := 0
	for _, set := range []bool{
		e.Asked != nil, e.Started != nil, e.Told != nil, e.Checked != nil, e.Pruned != nil,
		e.Drifted != nil, e.Ordered != nil, e.Withdrawn != nil, e.Booked != nil, e.Given != nil, e.Steered != nil,
		e.Ended != nil,
	} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		return fmt.Errorf("event is of %d known kinds, not one", kinds)
	}
	if e.Asked == nil && (e.Batch != 0 || len(e.Memo) != 0) {
		return errors.New("event has a batch or a memo, but no proposal")
	}
	if e.Checked == nil && e.Race {
		return errors.New("event is of a race, but no repeated run")
	}
	if e.Checked == nil && e.Redone {
		return errors.New("event takes the place of a run, but is no repeated one")
	}
	return nil
}

// eventConfigs returns the configurations that e is about. They are the event's, not copies.
func eventConfigs(e assay.Event) []assay.Config {
	switch {
	case e.Asked != nil:
		return []assay.Config{e.Asked.Config}
	case e.Told != nil:
		return []assay.Config{e.Told.Config}
	case e.Checked != nil:
		return []assay.Config{e.Checked.Config}
	case e.Given != nil:
		return e.Given.Configs
	}
	return nil
}

// splitNonfinite returns t without the metrics that are not finite, and every number of t that is not finite and
// differs from its default when absent. It returns t itself without such numbers. It does not change t. The other
// numbers stay in the result; the JSON of a trial leaves them out.
func splitNonfinite(t *assay.Trial) (*assay.Trial, map[string]string) {
	// A value of +Inf is missing: the JSON of a trial leaves it out, and reads it as +Inf.
	odd := map[string]string{}
	if math.IsNaN(t.Value) || math.IsInf(t.Value, -1) {
		odd[keyValue] = NumberText(t.Value)
	}
	// A prediction that is NaN is missing in the same way.
	if t.Decision != nil && math.IsInf(t.Decision.Predicted, 0) {
		odd[keyPredicted] = NumberText(t.Decision.Predicted)
	}
	metrics := len(odd)
	for name, x := range t.Measurement.Metrics {
		if text := NumberText(x); text != "" {
			odd[keyMetric+name] = text
		}
	}
	if len(odd) == 0 {
		return t, nil
	}
	// The map of metrics is t's, and others may read it, so the copy gets one of its own.
	if len(odd) > metrics {
		finite := *t
		finite.Measurement.Metrics = maps.Clone(t.Measurement.Metrics)
		maps.DeleteFunc(finite.Measurement.Metrics, func(_ string, x float64) bool { return NumberText(x) != "" })
		t = &finite
	}
	return t, odd
}

// setNonfinite puts a number back in its place. It returns an error if t is nil, if text is no
// such number, or if t has no such place. It changes t, which may then be partly restored.
func setNonfinite(t *assay.Trial, key, text string) error {
	x, ok := map[string]float64{"NaN": math.NaN(), "+Inf": math.Inf(1), "-Inf": math.Inf(-1)}[text]
	if t == nil || !ok {
		return fmt.Errorf("event: nonfinite %q is %q", key, text)
	}
	name, isMetric := strings.CutPrefix(key, keyMetric)
	switch {
	case isMetric:
		if t.Measurement.Metrics == nil {
			t.Measurement.Metrics = map[string]float64{}
		}
		t.Measurement.Metrics[name] = x
	case key == keyValue:
		t.Value = x
	case key == keyPredicted && t.Decision != nil:
		t.Decision.Predicted = x
	default:
		return fmt.Errorf("event: nonfinite %q has no place", key)
	}
	return nil
}

// NumberText returns "NaN", "+Inf" or "-Inf", or "" for a finite number.
func NumberText(x float64) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "+Inf"
	case math.IsInf(x, -1):
		return "-Inf"
	}
	return ""
}
