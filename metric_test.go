package assay

import (
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
		{"json:a#b.json#/x", FromJSON, "a#b.json", "/x"},
		{"json:{name}.json#/x", FromJSON, "{name}.json", "/x"},
		{"size:out.mkv", FromSize, "out.mkv", ""},
		{"cmd:wc -c <out: x", FromCommand, "", ""},
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
		{"", "none of stdout:/REGEXP/"},
		{"out.json", "none of"},
		{"file:x", `unknown source "file"`},
		{"stdout:took (.*)", "between slashes"},
		{"stdout:/", "between slashes"},
		{"stdout:/took .*/", "0 groups"},
		{"stdout:/(a)(b)/", "2 groups"},
		{"stdout:/took (?:[0-9]+/", "missing closing )"},
		{"stdout:/é([0-9/", "at character 3: missing closing ]"},
		{"stdout:/(a)**/", "at character 4: invalid nested repetition operator"},
		{"json:#/x", "no file"},
		{"json:f#/a~2", "~0"},
		{"json:", "no file"},
		{"size: ", "no file"},
		{"cmd:", "no command"},
		{"size:a\x00b", "NUL"},
	}
	for _, tt := range bad {
		_, err := ParseMetricSource("m", tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.HasPrefix(err.Error(), `metric "m": `) {
			t.Errorf("%q: got %v, want it to say %q", tt.text, err, tt.says)
		}
	}
	if _, err := ParseMetricSource(" ", "size:x"); err == nil {
		t.Error("a metric without a name")
	}
}

func FuzzParseMetricSource(f *testing.F) {
	for _, s := range []string{"stdout:/(a)/", "json:f#/a/~0", "size:x", "cmd:y", "stderr:/((/", "json:#"} {
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
