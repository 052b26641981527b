package api

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/store"
)

// Clients read recorded studies as before: a member that changes is a change of these files.
func TestGolden(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"command", "front"} {
		text, err := os.ReadFile("../../result/testdata/records/" + name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
		mem := r.store.Store.(*store.Mem)
		if err := mem.CreateAt(t.Context(), name, lines[0], time.Date(2026, 3, 1, 8, 59, 0, 0, time.UTC)); err != nil {
			t.Fatal(err)
		}
		var events []assay.Event
		for _, line := range lines[1:] {
			e, err := store.DecodeEvent(line)
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
		if _, err := r.store.Append(t.Context(), name, 0, events...); err != nil {
			t.Fatal(err)
		}
		golden := func(what, path string) {
			t.Helper()
			got := r.do(t, Viewer, "GET", prefix+"/studies/"+name+path, "", nil)
			if got.status != 200 {
				t.Fatal(got.body)
			}
			var b bytes.Buffer
			if err := json.Indent(&b, []byte(strings.TrimSpace(got.body)), "", " "); err != nil {
				t.Fatal(err)
			}
			testbed.Current(t, "testdata/golden/"+name+"."+what+".json", b.String(), "go test ./internal/rest/api -run Golden")
		}
		golden("study", "")
		golden("trials", "/trials")
		golden("columns", "/trials?format=columns")
		golden("some", "/trials?format=columns&after=2&limit=2&fields=value,worker")
		golden("trial", "/trials/2")
		golden("answer", "/answer")
	}
}
