package jetstream

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
)

// maxMessage is the most that a worker sends at once.
const maxMessage = 60 << 10

// A claimRequest has the arguments of Claim.
type claimRequest struct {
	Ticket queue.Ticket `json:"ticket"`
	Worker string       `json:"worker"`
}

// A reply has the results of a call.
type reply struct {
	Order   *queue.Order  `json:"order,omitempty"`
	Claim   *queue.Claim  `json:"claim,omitempty"`
	Verdict queue.Verdict `json:"verdict,omitempty"`
	// Results, with Order, is true if outcomes are collected while no server answers.
	Results bool       `json:"results,omitempty"`
	Error   *wireError `json:"error,omitempty"`
}

// A wireError is an error with the parts that programs use.
type wireError struct {
	Class string `json:"class"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

// newWireError returns nil for nil.
func newWireError(err error) *wireError {
	if err == nil {
		return nil
	}
	return &wireError{assay.ClassOf(err).String(), err.Error(), assay.HintOf(err)}
}

// err returns the error again, nil for nil. A class that this version does not know is unknown.
func (e *wireError) err() error {
	if e == nil {
		return nil
	}
	class := assay.ClassUnknown
	for c := assay.ClassUnknown; c <= assay.ClassLost; c++ {
		if c.String() == e.Class {
			class = c
		}
	}
	err := assay.Errorf(class, "%s", e.Text)
	if e.Hint != "" {
		err = assay.WithHint(err, e.Hint)
	}
	return err
}

// fitOutcome returns an outcome as a message of at most maxMessage bytes. The outputs are cut to their beginnings and
// ends; if that is not enough, the output of a failure is omitted.
func fitOutcome(o queue.Outcome) ([]byte, error) {
	b, err := json.Marshal(o)
	if err != nil || len(b) <= maxMessage {
		return b, err
	}
	stdout, stderr := o.Stdout, o.Stderr
	o.Stdout, o.Stderr = nil, nil
	if b, err = json.Marshal(o); err != nil {
		return nil, err
	}
	if f := o.Measurement.Failure; f != nil && len(b) > maxMessage/2 {
		short := *f
		short.Output = nil
		if len(short.Reason) > 4<<10 {
			short.Reason = validPrefix(short.Reason, 4<<10) + " ..."
		}
		o.Measurement.Failure = &short
		if b, err = json.Marshal(o); err != nil {
			return nil, err
		}
	}
	// Bytes are sent as base64, 4 for 3, with some names around them.
	room := (maxMessage - len(b) - 100) / 4 * 3
	if room < 0 {
		return nil, assay.Errorf(assay.ClassUsage, "the outcome of trial %d is larger than %d KiB without its output",
			o.ID.Trial, maxMessage>>10)
	}
	o.Stderr = cut(stderr, max(room/2, room-len(stdout)))
	o.Stdout = cut(stdout, room-len(o.Stderr))
	return json.Marshal(o)
}

// validPrefix returns at most n bytes of a text, of whole runes.
func validPrefix(s string, n int) string {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:min(n, len(s))]
}

// cut returns at most n bytes of an output: a quarter of its beginning, and its end.
func cut(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	mark := fmt.Sprintf("\n... %d bytes are left out ...\n", len(b)-n)
	if n -= len(mark); n <= 0 {
		return nil
	}
	head := n / 4
	out := append(append([]byte{}, b[:head]...), mark...)
	return append(out, b[len(b)-(n-head):]...)
}
