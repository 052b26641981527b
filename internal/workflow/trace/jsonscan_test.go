package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/assay-run/assay/workflow"
)

func scanner(text string) *jsonScanner { return newJSONScanner(strings.NewReader(text), "f") }

// TestScanStrings checks that strings are read as encoding/json reads them, however
// the input is cut.
func TestScanStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "string")
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*jsonScanner{
			scanner(string(text)), newJSONScanner(iotest.OneByteReader(strings.NewReader(string(text))), "f"),
		} {
			got, err := s.str()
			if err != nil || string(got) != want {
				t.Fatalf("%s: %q, %v; want %q", text, got, err, want)
			}
			if err := s.finish(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestScanNumbers checks that numbers are read as they were written.
func TestScanNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Float64().Draw(t, "number")
		text := strconv.FormatFloat(want, "gefE"[rapid.IntRange(0, 3).Draw(t, "form")], -1, 64)
		got, err := scanner(text).number()
		if err != nil || got != want {
			t.Fatalf("%s: %v, %v", text, got, err)
		}
	})
	if x, err := scanner("null").number(); err != nil || !math.IsNaN(x) {
		t.Errorf("null is %v, %v", x, err)
	}
}

// TestScanSkip checks that any value can be skipped, and that the next value is read.
func TestScanSkip(t *testing.T) {
	for _, text := range []string{
		"{}", "[]", `{"a":[1,2,{"b":null}],"c":"}]"}`, `"\"x\\"`, "-1.5e-3", "true", "false",
		"null", `[[[[]]]]`, ` [ 1 , 2 ] `,
	} {
		s := scanner(text + " 7")
		if err := s.skip(); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if x, err := s.number(); err != nil || x != 7 {
			t.Errorf("after %s: %v, %v", text, x, err)
		}
	}
}

// TestScanErrors checks that an error is reported with its place.
func TestScanErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, place string }{
		{"cut short", "{\n \"a\": [1,", "f:2:"},
		{"no value", `{"a":}`, "f:1:6"},
		{"no colon", `{"a" 1}`, "f:1:6"},
		{"no comma", `[1 2]`, "f:1:4"},
		{"a bad word", `[tru]`, "f:1:5"},
		{"a bad escape", `["\x"]`, "f:1:"},
		{"a control character", "[\"a\nb\"]", "f:1:"},
		{"not closed", `["a`, "f:1:"},
		{"NaN", "[\n\n NaN]", "f:3:2"},
		{"too deep", strings.Repeat("[", 100_000), "f:1:"},
	} {
		s := scanner(tt.text)
		err := s.skip()
		if tt.name == "NaN" { // a value that may be skipped, but not read
			s = scanner(tt.text)
			err = s.array(func() error { _, err := s.number(); return err })
		}
		var in *workflow.InputError
		if !errors.As(err, &in) || !strings.HasPrefix(err.Error(), tt.place) {
			t.Errorf("%s: %v, want an error at %s", tt.name, err, tt.place)
		}
	}
	s := scanner("{} x")
	if err := errors.Join(s.skip(), s.finish()); err == nil || !strings.Contains(err.Error(),
		"after the end of the JSON text") {
		t.Errorf("something after the end: %v", err)
	}
	broken := newJSONScanner(iotest.ErrReader(errors.New("disk on fire")), "f")
	if err := broken.finish(); err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("a reader that fails: %v", err)
	}
}

// TestListedAgain checks that a file which a task lists as an object counts, whether
// it was named before or not.
func TestListedAgain(t *testing.T) {
	text := `{"schemaVersion":"1.5","workflow":{"specification":{
"files":[{"id":"in","sizeInBytes":10}],
"tasks":[{"id":"a","name":"a","inputFiles":[{"id":"in"},{"id":"new","sizeInBytes":5}],"outputFiles":["out"]},
{"id":"b","name":"b","inputFiles":[{"id":"out","sizeInBytes":3},{"sizeInBytes":9}]}]},
"execution":{"tasks":[{"id":"a","runtimeInSeconds":1},{"id":"b","runtimeInSeconds":1}]}}}`
	w, err := read(t, workflow.FillOptions{}, "f", text)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := w.Tasks[0], w.Tasks[1]; a.In != 15 || a.Out != 3 || b.In != 3 {
		t.Errorf("a reads %v B and writes %v B, b reads %v B; want 15, 3 and 3", a.In, a.Out, b.In)
	}
	if w.Graph.Edges() != 1 {
		t.Errorf("%d dependencies, want the one that the file implies", w.Graph.Edges())
	}
}

// TestScanWords checks that literals which JSON does not have can be skipped, and not read as numbers or texts, however
// the input is cut. A string that looks like one is a string.
func TestScanWords(t *testing.T) {
	const text = "[NaN, -Infinity,\n{\"a\": Infinity, \"b\": -1}, \"NaN\", \"\\\"-Infinity\\\\\", \"I\", NaN\n]"
	for name, r := range map[string]func() io.Reader{
		"whole": func() io.Reader { return strings.NewReader(text) },
		"bytes": func() io.Reader { return iotest.OneByteReader(strings.NewReader(text)) },
		"parts": func() io.Reader { return iotest.HalfReader(strings.NewReader(text)) },
	} {
		s := newJSONScanner(r(), "f")
		if err := errors.Join(s.skip(), s.finish()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var places []string
		s = newJSONScanner(r(), "f")
		err := s.array(func() error {
			places = append(places, fmt.Sprintf("%c %v", s.peek(), s.place()))
			return s.skip()
		})
		want := []string{"N {1 2}", "- {1 7}", "{ {2 1}", "\" {2 27}", "\" {2 34}", "\" {2 51}", "N {2 56}"}
		if err != nil || !slices.Equal(places, want) {
			t.Errorf("%s: %q, %v", name, places, err)
		}
	}
	for text, want := range map[string]string{
		"[\n -Infinity]": "f:2:2: a number is -Infinity", "[Infinity]": "f:1:2: a number is Infinity",
		"[Inf]": "f:1:2: found 'I' where a number belongs", "[NaNs]": "f:1:2: a number is NaN",
		"[-I]": "f:1:3: invalid character 'I'",
	} {
		s := scanner(text)
		err := s.array(func() error { _, err := s.number(); return err })
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	s := scanner("[NaN]")
	err := s.array(func() error { _, err := s.str(); return err })
	if err == nil || err.Error() != "f:1:2: found 'N' where a string belongs" {
		t.Errorf("a text: %v", err)
	}
}
