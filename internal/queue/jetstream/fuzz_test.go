package jetstream

import (
	"encoding/json"
	"testing"

	"github.com/assay-run/assay/internal/queue"
)

// A message of a queue is a ticket that can be used, or nothing.
func FuzzTicket(f *testing.F) {
	f.Add([]byte(`{"id":"a","app":"b"}`))
	f.Add([]byte(`{"id":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var k queue.Ticket
		if json.Unmarshal(b, &k) != nil || checkTicket(k) != nil {
			return
		}
		text, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		var again queue.Ticket
		if err := json.Unmarshal(text, &again); err != nil || checkTicket(again) != nil {
			t.Errorf("%+v is not read again: %v", k, err)
		}
	})
}

// A reply of a server is decoded or gives an error, and a server's error has a text.
func FuzzReply(f *testing.F) {
	f.Add([]byte(`{"order":{"do":"drain"}}`))
	f.Add([]byte(`{"error":{"text":"no","class":"usage"}}`))
	f.Add([]byte(`{"claim":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := decodeReply(b); err != nil && err.Error() == "" {
			t.Errorf("%+v: an error without a word", r)
		}
	})
}
