package assay

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseMetricSource(t *testing.T) {
	good := []struct {
		text          string
		kind          SourceKind
		file, pointer string
	}{
		{"stdout:/took ([0-9.]+) s/", FromStdout, "", ""},
		{"stderr:/a/b (.*)/", FromStderr, "", ""},
		{"json:out.json#/a/0/b~1c~0", FromJSON, "out.json", "/a/0/b~1c~0"},
		{"json:out.json", FromJSON, "out.json", ""},
		{"json:out.json#", FromJSON, "out.json", ""},
		{"json: out.json", FromJSON, " out.json", ""},
		{"json:a#b#", FromJSON, "a#b", ""},
		{"json:a#/b#", FromJSON, "a", "/b#"},
		{"json:a#b.json#/x", FromJSON, "a#b.json", "/x"},
		{"json:{name}.json#/x", FromJSON, "{name}.json", "/x"},
		{"size:out.mkv", FromSize, "out.mkv", ""},
		{"cmd:wc -c <out: x", FromCommand, "", ""},
		{"gpu:energy", FromGPU, "", ""},
	}
	for _, tt := range good {
		s, err := ParseMetricSource("m", tt.text)
		if err != nil || s.Name != "m" || s.Kind != tt.kind || s.File != tt.file || s.Pointer != tt.pointer {
			t.Errorf("%q is read as %+v, %v", tt.text, s, err)
			continue
		}
		if again, err := ParseMetricSource("m", s.String()); err != nil || again.String() != s.String() {
			t.Errorf("%q is written as %q, which is read as %q, %v", tt.text, s, again, err)
		}
	}
	bad := []struct{ text, says string }{
		{"", "one of stdout:/REGEXP/"},
		{"out.json", "one of"},
		{"file:x", `unknown source "file" (known: stdout, stderr, json, size, cmd`},
		{"stdout:took (.*)", "between slashes"},
		{"stdout:/", "between slashes"},
		{"stdout:/took .*/", "has 0, write (?: )"},
		{"stdout:/(a)(b)/", "exactly one group ( ) around the number and has 2"},
		{"stdout:/took (?:[0-9]+/", "missing closing )"},
		{"stdout:/é([0-9/", "at character 3: missing closing ]"},
		{"stdout:/(a)**/", "at character 4: invalid nested repetition operator"},
		{"json:#/x", "json: is followed by FILE#/POINTER"},
		{"json: #/x", "FILE#/POINTER"},
		{"json:f#x", `FILE#/POINTER: JSON pointer "x" does not begin with /`},
		{"json:f#/a~2", "~0"},
		{"json:", "FILE#/POINTER"},
		{"size: ", "size: is followed by FILE"},
		{"cmd:", "cmd: is followed by COMMAND"},
		{"gpu:", `gpu: is followed by energy, power, memory or utilization, not ""`},
		{"gpu:heat", `energy, power, memory or utilization, not "heat"`},
		{"size:a\x00b", "NUL"},
		{"stdout:/(\x00)/", "NUL"},
		{"stdout:/(\xff)/", "invalid UTF-8"},
		{"stdout:/" + strings.Repeat("x", 9_998) + "(x)/", "at most 10,000 bytes"},
		{strings.Repeat("x", 1000) + ":", "unknown source \"" + strings.Repeat("x", 60) + "\""},
	}
	for _, tt := range bad {
		_, err := ParseMetricSource("m", tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.HasPrefix(err.Error(), `metric "m": `) {
			t.Errorf("%q: got %v, want it to say %q", tt.text, err, tt.says)
		}
	}
	for _, name := range []string{"", " ", "\xff"} {
		_, err := ParseMetricSource(name, "size:x")
		if e, ok := errors.AsType[*SourceError](err); !ok || e.Metric != name || e.Unwrap() == nil {
			t.Errorf("a metric of the name %q: %v", name, err)
		}
	}
}

func FuzzParseMetricSource(f *testing.F) {
	for _, s := range []string{"stdout:/(a)/", "json:f#/a/~0", "size:x", "cmd:y", "stderr:/((/", "json:#", "gpu:power"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseMetricSource("m", text)
		if err != nil {
			return
		}
		again, err := ParseMetricSource("m", s.String())
		if err != nil || again.String() != s.String() {
			t.Errorf("%q is written as %q: %v", text, s, err)
		}
	})
}

func TestSourceKinds(t *testing.T) {
	seen := map[string]bool{}
	for i, k := range SourceKinds() {
		if int(k) != i || seen[k.String()] || k.String() == "" || int(k.Argument()) >= len(argumentForms) {
			t.Errorf("kind %d is %v, followed by %v", i, k, k.Argument())
		}
		seen[k.String()] = true
	}
	want := "stdout:/REGEXP/, stderr:/REGEXP/, json:FILE#/POINTER, size:FILE, cmd:COMMAND, gpu:QUANTITY"
	if got := SourceForms(); !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want it to begin with %s", got, want)
	}
	if got := SourceKind(99).String(); got != "SourceKind(99)" {
		t.Error(got)
	}
	if got := SourceArgument(9).String(); got != "SourceArgument(9)" {
		t.Error(got)
	}
	if _, err := (MetricSource{Name: "m", Kind: 99}).MarshalJSON(); err == nil {
		t.Error("a source of no kind is written")
	}
	for _, a := range []SourceArgument{PatternArgument, PointerArgument, FileArgument, CommandArgument, QuantityArgument} {
		if want := a == PointerArgument || a == FileArgument; a.Files() != want {
			t.Errorf("%v names a file: %v", a, a.Files())
		}
	}
}

func TestParsePointer(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "/": {""}, "/a/0": {"a", "0"}, "/a~1b/c~0d": {"a/b", "c~d"}, "/~01": {"~1"}, "//": {"", ""},
	} {
		if got, err := ParsePointer(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is read as %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"a", "#/a", "/~", "/~2", "/a~/b"} {
		if got, err := ParsePointer(text); err == nil {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}
