package result

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
)

// recorded puts a study of testdata/records on record: its definition is the first line, an event each of the others.
func recorded(t *testing.T, name string) *Record {
	t.Helper()
	text, err := os.ReadFile("testdata/records/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	mem := store.NewMem()
	if err := mem.CreateAt(t.Context(), name, lines[0], time.Date(2026, 3, 1, 8, 59, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	var events []assay.Event
	for _, line := range lines[1:] {
		e, err := store.DecodeEvent(line)
		if err != nil {
			t.Fatal(err)
		}
		again, err := store.EncodeEvent(e)
		if err != nil || !bytes.Equal(bytes.TrimSuffix(again, []byte("\n")), line) {
			t.Fatalf("the event is encoded as %s, %v; it is on record as %s", again, err, line)
		}
		events = append(events, e)
	}
	if _, err := mem.Append(t.Context(), name, 0, events...); err != nil {
		t.Fatal(err)
	}
	def, err := spec.Decode(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(def); err != nil || !bytes.Equal(again, lines[0]) {
		t.Fatalf("the definition is encoded as %s, %v; it is on record as %s", again, err, lines[0])
	}
	r, err := Read(t.Context(), mem, name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The output that scripts read of recorded studies stays the same: a member that changes is a change of these files.
func TestGolden(t *testing.T) {
	const again = "go test ./internal/result -run Golden"
	for _, name := range []string{"command", "front"} {
		r := recorded(t, name)
		golden := func(what, text string) {
			t.Helper()
			testbed.Current(t, "testdata/golden/"+name+"."+what, text, again)
		}
		indented := func(what string, v any, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.MarshalIndent(v, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden(what, string(b)+"\n")
		}
		var trials strings.Builder
		for x, err := range r.Trials(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(r.Trial(x))
			if err != nil {
				t.Fatal(err)
			}
			trials.Write(append(b, '\n'))
		}
		golden("trials.jsonl", trials.String())
		var csv strings.Builder
		if err := r.WriteCSV(t.Context(), &csv); err != nil {
			t.Fatal(err)
		}
		golden("csv", csv.String())
		listed, err := r.Study(t.Context())
		indented("ls.json", listed, err)
		shown, err := r.Shown(t.Context())
		indented("show.json", shown, err)
		w, err := r.Whole(t.Context())
		if err == nil {
			w.Trials = w.Columns()
		}
		indented("page.json", w, err)
	}
}
