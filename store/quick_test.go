package store

import (
	"errors"
	"iter"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"pgregory.net/rapid"
)

// fullTrial has all fields that the quick reading knows.
func fullTrial() assay.Trial {
	at := time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.UTC)
	return assay.Trial{
		Proposal: assay.Proposal{ID: 7, Config: assay.Config{1, -2.5e-7, 3e20}}, State: assay.Censored, Value: 1.25,
		Measurement: assay.Measurement{
			Began: at, Worker: "w1", MachineClass: "c", Elapsed: 12345, ExitCode: 143, Signal: "terminated",
			Metrics: map[string]float64{"max_rss": 2e7, "größe <b>": 0.1},
		},
		Reason: "size <= 9.4e6 & \"late\"", Attempts: 2, Started: at, Ended: at.Add(time.Second),
		Decision: &assay.Decision{Stop: true, Audited: true, Reason: "slow", Predicted: 2.5, At: 99},
	}
}

// The quick reading takes the frequent fields of a record: another field of a trial is added to it, or to
// the rare ones.
func TestQuickEventTakesTrials(t *testing.T) {
	full := fullTrial()
	rare := []string{"Missing", "Failure", "Stdout", "Stderr", "Values", "Curve", "Last"}
	for _, v := range []any{full, full.Measurement, *full.Decision, full.Proposal} {
		of := reflect.ValueOf(v)
		for i := range of.NumField() {
			if name := of.Type().Field(i).Name; of.Field(i).IsZero() != slices.Contains(rare, name) {
				t.Errorf("%T: %s is not looked at here", v, name)
			}
		}
	}
	odd := full // a rare field is read all the same
	odd.Measurement.Curve = &assay.Curve{}
	odd.Decision = &assay.Decision{Stop: true, Last: true}
	b, err := EncodeEvent(assay.Event{Told: &odd})
	if err != nil {
		t.Fatal(err)
	}
	sameAsSlow(t, b)
	if e, err := DecodeEvent(b); err != nil || e.Told.Measurement.Curve == nil || !e.Told.Decision.Last {
		t.Errorf("%+v, %v", e.Told, err)
	}
	for _, e := range []assay.Event{
		{Asked: &full.Proposal},
		{Asked: &full.Proposal, Batch: -1},
		{Told: &full},
		{Told: &assay.Trial{Proposal: full.Proposal, State: assay.Failed, Value: math.Inf(1), Reason: "exit status 1"}},
	} {
		e.At, e.Spent = full.Ended, 5*time.Second
		b, err := EncodeEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := quickEvent(b); !ok {
			t.Errorf("not read quickly: %s", b)
		}
		sameAsSlow(t, b)
	}
}

// sameAsSlow fails the test if the quick reading of a payload finds something else than encoding/json.
func sameAsSlow(t interface {
	Helper()
	Errorf(string, ...any)
}, b []byte,
) {
	t.Helper()
	got, ok := quickEvent(b)
	if !ok {
		return
	}
	want, err := slowEvent(b)
	if err != nil {
		t.Errorf("read quickly, and refused: %v: %s", err, b)
		return
	}
	for _, e := range []assay.Event{got, want} { // NaN is not equal to itself
		if e.Told != nil && e.Told.Decision != nil && math.IsNaN(e.Told.Decision.Predicted) {
			e.Told.Decision.Predicted = -12345
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("quickly %+v, else %+v: %s", got, want, b)
	}
}

// The quick reading of any event finds the same as encoding/json, or nothing.
func TestQuickEvent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, err := EncodeEvent(drawEvent(t))
		if err != nil {
			t.Fatal(err)
		}
		sameAsSlow(t, b)
		i := rapid.IntRange(0, len(b)-1).Draw(t, "i")
		sameAsSlow(t, append(slices.Clone(b[:i]), b[i+1:]...))
		b[i] = rapid.SampledFrom([]byte(` "\{}[]:,.-+eE0123456789tfn`)).Draw(t, "c")
		sameAsSlow(t, b)
	})
}

func FuzzQuickEvent(f *testing.F) {
	full := fullTrial()
	for _, e := range []assay.Event{
		{Asked: &full.Proposal, Batch: 3},
		{Told: &full},
		{Asked: &full.Proposal, Memo: []byte("m")},
	} {
		b, err := EncodeEvent(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { sameAsSlow(t, b) })
}

func BenchmarkDecodeEvent(b *testing.B) {
	full := fullTrial()
	payload, err := EncodeEvent(assay.Event{Told: &full})
	if err != nil {
		b.Fatal(err)
	}
	for name, decode := range map[string]func([]byte) (assay.Event, error){"quick": DecodeEvent, "slow": slowEvent} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := decode(payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The events come in their order, however many are decoded at once. The ones before a damaged one or
// before the end of the readable part are there, and no more is read than is wanted.
func TestEventsOf(t *testing.T) {
	errRead := errors.New("no disk")
	full := fullTrial()
	read := 0
	records := func(n, damaged int, err error) iter.Seq2[Record, error] {
		return func(yield func(Record, error) bool) {
			for i := range n + 1 { // with the creation
				full.ID = int64(i)
				payload, _ := EncodeEvent(assay.Event{Told: &full})
				if i == damaged {
					payload = payload[1:]
				}
				if read++; !yield(Record{Seq: int64(i), Payload: payload}, nil) {
					return
				}
			}
			if err != nil {
				yield(Record{}, err)
			}
		}
	}
	for _, n := range []int{0, 1, 2, 3, 100, 10_000} {
		for _, after := range []int{0, min(1, n), n} {
			at := int64(after)
			for e, err := range EventsOf("a", assay.Position(after), records(n, -1, errRead)) {
				if err != nil {
					if !errors.Is(err, errRead) || at != int64(n) {
						t.Errorf("%d: %v after event %d", n, err, at)
					}
					at = -1
					continue
				}
				if at++; e.Told.ID != at {
					t.Fatalf("%d: event %d is at the place of %d", n, e.Told.ID, at)
				}
			}
			if at != -1 {
				t.Errorf("%d behind %d: ended at %d without the error", n, after, at)
			}
		}
	}
	at := 0
	for _, err := range EventsOf("a", 0, records(10_000, 5000, nil)) {
		if at++; (err != nil) != (at == 5000) || err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("event %d: %v", at, err)
		}
	}
	if at != 5000 {
		t.Errorf("it ends at event %d", at)
	}
	read = 0
	for range EventsOf("a", 0, records(10_000, -1, nil)) {
		break
	}
	if read > 3 {
		t.Errorf("%d records are read for one event", read)
	}
}
