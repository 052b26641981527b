// This file reads the two kinds of events of which a record is full, a proposal and the end of a
// trial, in the very form in which EncodeEvent writes them. encoding/json goes over a trial three
// times and looks at each of its fields by reflection: a study of 100,000 trials takes seconds so.

package store

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/assay-run/assay"
)

// quickEvent returns the event of a payload. ok is false for a payload that differs from the output of EncodeEvent,
// or has a rare part of events: then it must be read as any JSON is. If ok is true the event is the one that
// encoding/json finds.
func quickEvent(b []byte) (e assay.Event, ok bool) {
	q := &quick{b: b}
	q.must(`{"at":`)
	e.At = q.time()
	q.must(`,"spent_ns":`)
	e.Spent = time.Duration(q.int())
	switch {
	case q.has(`,"asked":{`):
		p := assay.Proposal{}
		q.proposal(&p)
		q.must(`}`)
		if e.Asked = &p; q.has(`,"batch":`) {
			e.Batch = int(q.int())
		}
	case q.has(`,"told":{`):
		e.Told = q.trial()
	default:
		return e, false
	}
	q.must(`}`)
	return e, !q.bad && len(q.b) == 0
}

// quick is the rest of a payload. After anything unexpected it is bad, and empty.
type quick struct {
	b   []byte
	bad bool
}

func (q *quick) fail() { q.b, q.bad = nil, true }

// has takes text off the front, if it is there.
func (q *quick) has(text string) bool {
	if len(q.b) < len(text) || string(q.b[:len(text)]) != text {
		return false
	}
	q.b = q.b[len(text):]
	return true
}

func (q *quick) must(text string) {
	if !q.has(text) {
		q.fail()
	}
}

// number takes a number of JSON off the front, and reports whether it is a whole one.
func (q *quick) number() (text string, whole bool) {
	n := 0
	digits := func() bool {
		from := n
		for n < len(q.b) && q.b[n] >= '0' && q.b[n] <= '9' {
			n++
		}
		return n > from
	}
	is := func(any string) bool { return n < len(q.b) && bytes.IndexByte([]byte(any), q.b[n]) >= 0 }
	if is("-") {
		n++
	}
	lead := n
	ok := digits() && (q.b[lead] != '0' || n == lead+1)
	whole = true
	if is(".") {
		n, whole = n+1, false
		ok = digits() && ok
	}
	if is("eE") {
		if n, whole = n+1, false; is("+-") {
			n++
		}
		ok = digits() && ok
	}
	if !ok {
		q.fail()
		return "", false
	}
	text, q.b = string(q.b[:n]), q.b[n:]
	return text, whole
}

func (q *quick) int() int64 {
	text, whole := q.number()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !whole {
		q.fail()
	}
	return n
}

func (q *quick) float() float64 {
	text, _ := q.number()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		q.fail()
	}
	return x
}

// token takes a string off the front: the text between its quotes, and whether it is plain ASCII without escapes.
func (q *quick) token() (inner []byte, plain bool) {
	q.must(`"`)
	plain = true
	for i := 0; i < len(q.b); i++ {
		switch c := q.b[i]; {
		case c == '"':
			inner, q.b = q.b[:i], q.b[i+1:]
			return inner, plain
		case c == '\\':
			plain = false
			i++
		case c < ' ' || c >= 0x7f:
			plain = false
		}
	}
	q.fail()
	return nil, false
}

func (q *quick) string() string {
	whole := q.b
	inner, plain := q.token()
	if plain || q.bad {
		return string(inner)
	}
	var s string
	if json.Unmarshal(whole[:len(inner)+2], &s) != nil {
		q.fail()
	}
	return s
}

func (q *quick) time() (t time.Time) {
	inner, plain := q.token()
	if !plain || t.UnmarshalText(inner) != nil {
		q.fail()
	}
	return t
}

func (q *quick) flag() bool {
	if q.has("true") {
		return true
	}
	q.must("false")
	return false
}

func (q *quick) proposal(p *assay.Proposal) {
	q.must(`"id":`)
	p.ID = q.int()
	q.must(`,"config":[`)
	p.Config = make(assay.Config, 0, 8)
	for !q.bad && !q.has("]") {
		if len(p.Config) > 0 {
			q.must(",")
		}
		p.Config = append(p.Config, q.float())
	}
}

func (q *quick) trial() *assay.Trial {
	t := &assay.Trial{Value: math.Inf(1)}
	q.proposal(&t.Proposal)
	q.must(`,"state":`)
	if t.State.UnmarshalText([]byte(q.string())) != nil {
		q.fail()
	}
	if q.has(`,"value":`) {
		t.Value = q.float()
	}
	q.must(`,"measurement":{`)
	q.measurement(&t.Measurement)
	if q.has(`,"reason":`) {
		t.Reason = q.string()
	}
	if q.has(`,"decision":{`) {
		t.Decision = q.decision()
	}
	if q.has(`,"attempts":`) {
		t.Attempts = int(q.int())
	}
	q.must(`,"started":`)
	t.Started = q.time()
	q.must(`,"ended":`)
	t.Ended = q.time()
	q.must(`}`)
	return t
}

func (q *quick) measurement(m *assay.Measurement) {
	if q.has(`"began":`) {
		m.Began = q.time()
		q.must(`,`)
	}
	if q.has(`"where":`) {
		m.Worker = q.string()
		q.must(`,`)
	}
	if q.has(`"class":`) {
		m.MachineClass = q.string()
		q.must(`,`)
	}
	q.must(`"elapsed_ns":`)
	m.Elapsed = time.Duration(q.int())
	q.must(`,"exit_code":`)
	m.ExitCode = int(q.int())
	if q.has(`,"signal":`) {
		m.Signal = q.string()
	}
	if q.has(`,"metrics":{`) {
		m.Metrics = make(map[string]float64, 8)
		for !q.bad && !q.has("}") {
			if len(m.Metrics) > 0 {
				q.must(",")
			}
			name := q.string()
			q.must(":")
			m.Metrics[name] = q.float()
		}
	}
	q.must(`}`) // reasons why metrics are missing, and failures, are rare
}

func (q *quick) decision() *assay.Decision {
	d := &assay.Decision{Predicted: math.NaN()}
	q.must(`"stop":`)
	d.Stop = q.flag()
	if q.has(`,"audited":`) {
		d.Audited = q.flag()
	}
	if q.has(`,"reason":`) {
		d.Reason = q.string()
	}
	if q.has(`,"predicted":`) {
		d.Predicted = q.float()
	}
	q.must(`,"at_ns":`)
	d.At = time.Duration(q.int())
	q.must(`}`)
	return d
}
