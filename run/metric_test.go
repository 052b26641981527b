package run

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

func TestParseMetricSource(t *testing.T) {
	good := []struct {
		text          string
		kind          assay.SourceKind
		file, pointer string
	}{
		{"stdout:/took ([0-9.]+) s/", assay.FromStdout, "", ""},
		{"stderr:/a/b (.*)/", assay.FromStderr, "", ""},
		{"json:out.json#/a/0/b~1c~0", assay.FromJSON, "out.json", "/a/0/b~1c~0"},
		{"json:out.json", assay.FromJSON, "out.json", ""},
		{"json:out.json#", assay.FromJSON, "out.json", ""},
		{"json:a#b.json#/x", assay.FromJSON, "a#b.json", "/x"},
		{"json:{name}.json#/x", assay.FromJSON, "{name}.json", "/x"},
		{"size:out.mkv", assay.FromSize, "out.mkv", ""},
		{"cmd:wc -c <out: x", assay.FromCommand, "", ""},
	}
	for _, tt := range good {
		s, err := assay.ParseMetricSource("m", tt.text)
		if err != nil || s.Name != "m" || s.Kind != tt.kind || s.File != tt.file || s.Pointer != tt.pointer {
			t.Errorf("%q is read as %+v, %v", tt.text, s, err)
			continue
		}
		if again, err := assay.ParseMetricSource("m", s.String()); err != nil || again.String() != s.String() {
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
		_, err := assay.ParseMetricSource("m", tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.HasPrefix(err.Error(), `metric "m": `) {
			t.Errorf("%q: got %v, want it to say %q", tt.text, err, tt.says)
		}
	}
	if _, err := assay.ParseMetricSource(" ", "size:x"); err == nil {
		t.Error("a metric without a name")
	}
}

func FuzzParseMetricSource(f *testing.F) {
	for _, s := range []string{"stdout:/(a)/", "json:f#/a/~0", "size:x", "cmd:y", "stderr:/((/", "json:#"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := assay.ParseMetricSource("m", text)
		if err != nil {
			return
		}
		again, err := assay.ParseMetricSource("m", s.String())
		if err != nil || again.String() != s.String() {
			t.Errorf("%q is written as %q: %v", text, s, err)
		}
	})
}

func TestNumber(t *testing.T) {
	good := map[string]float64{"1": 1, " 2.5\n": 2.5, "-0": 0, "1e3": 1000, "0x10": 16, "1_0": 0}
	delete(good, "1_0")
	delete(good, "0x10")
	for text, want := range good {
		if got, err := number(text); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", " ", "1,5", "1.5s", "NaN", "nan", "inf", "-Inf", "+inf", "1e999", "1 2", "é"} {
		if got, err := number(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestLookupJSON(t *testing.T) {
	const doc = `{"a": {"b": [10, {"c/d": 1.5, "e~f": -2}], "": 3}, "s": "1.5", "n": null, "t": true, "x": 1e999, "o": {}}`
	good := map[string]float64{"/a/b/0": 10, "/a/b/1/c~1d": 1.5, "/a/b/1/e~0f": -2, "/a/": 3}
	for p, want := range good {
		tokens, err := assay.ParsePointer(p)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := lookup(strings.NewReader(doc), tokens); err != nil || got != want {
			t.Errorf("%s is %v, %v, want %v", p, got, err, want)
		}
	}
	bad := map[string]string{
		"/z": "no /z", "/a/b/2": "no /a/b/2", "/a/b/00": "no", "/a/b/-": "no", "/a/b/x": "no", "/s/x": "no /s/x",
		"/s": "not a number", "/n": "null", "/t": "not a number", "/x": "range", "/o": "object", "": "object",
	}
	for p, says := range bad {
		tokens, _ := assay.ParsePointer(p)
		if got, err := lookup(strings.NewReader(doc), tokens); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is %v, %v, want an error that says %q", p, got, err, says)
		}
	}
	for _, doc := range []string{"", "{", `{"a"`, `{"a":`, `{"a":[1,2`, "nonsense", `{"b":[`} {
		if got, err := lookup(strings.NewReader(doc), []string{"a"}); err == nil {
			t.Errorf("%q has a = %v", doc, got)
		}
	}
	if got, err := lookup(strings.NewReader(" 42\n"), nil); err != nil || got != 42 {
		t.Errorf("a whole document is %v, %v", got, err)
	}
}

func FuzzLookupJSON(f *testing.F) {
	f.Add(`{"a":[1,{"b":2}]}`, "/a/1/b")
	f.Add(`[[[`, "/0/0")
	f.Fuzz(func(t *testing.T, doc, pointer string) {
		tokens, err := assay.ParsePointer(pointer)
		if err != nil {
			return
		}
		if x, err := lookup(strings.NewReader(doc), tokens); err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
			t.Errorf("%q%s is %v", doc, pointer, x)
		}
	})
}

// sources parses "name=source" pairs.
func sources(t *testing.T, texts ...string) (all []assay.MetricSource) {
	t.Helper()
	for _, text := range texts {
		name, source, _ := strings.Cut(text, "=")
		s, err := assay.ParseMetricSource(name, source)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func TestMetricsOfARun(t *testing.T) {
	dir := t.TempDir()
	var missed atomic.Int32
	r := Metrics(newLocal(t, LocalOptions{}), sources(t,
		"rate=stdout:/rate: (\\S+)/", "loss=stderr:/loss ([^ \n]+)/", "score=json:out.json#/score", "size=size:out.json", "lines=cmd:wc -l <out.json; test \"$A\" = 1",
		"elapsed=stdout:/took (\\S+)/", "none=stdout:/absent (x)/", "comma=stdout:/comma (\\S+)/", "nan=stdout:/nan (\\S+)/",
		"stale=size:stale", "missing=json:missing.json#/x", "fails=cmd:echo 1; echo why >&2; exit 3", "words=cmd:echo one",
	))
	r.Missed = func(job assay.Job, e *MetricError) {
		if job.Dir != dir || e.Metric == "" {
			t.Errorf("missed %v of %+v", e, job)
		}
		missed.Add(1)
	}
	if err := os.WriteFile(filepath.Join(dir, "stale"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	job := assay.Job{Dir: dir, Env: []string{"A=1"}, Argv: []string{
		"/bin/sh", "-c",
		`echo rate: 1; echo rate: 2.5; echo loss 7 >&2; echo took 99; echo comma 1,5; echo nan NaN; printf '{"score":\n -4}\n' >out.json; exit 2`,
	}}
	m, err := r.Run(t.Context(), job, nil)
	if err != nil || m.ExitCode != 2 {
		t.Fatal(m, err)
	}
	for name, want := range map[string]float64{"rate": 2.5, "loss": 7, "score": -4, "size": 15, "lines": 2, "elapsed": 99} {
		if got, ok := m.Metric(name); !ok || got != want {
			t.Errorf("%s is %v, %v, want %v", name, got, ok, want)
		}
	}
	why := map[string]string{
		"none": "matches nothing", "comma": `"1,5" is not a number`, "nan": "not finite", "stale": "not written by the run",
		"missing": "no such file", "fails": "code 3: why", "words": `"one" is not a number`,
	}
	errs := r.Errors()
	if len(errs) != len(why) || int(missed.Load()) != len(why) {
		t.Errorf("%d metrics are missed, %d calls, want %d: %v", len(errs), missed.Load(), len(why), errs)
	}
	for _, e := range errs {
		if _, ok := m.Metric(e.Metric); ok || why[e.Metric] == "" || !strings.Contains(e.Error(), why[e.Metric]) {
			t.Errorf("%s: %v, want it to say %q; measured %v", e.Metric, e, why[e.Metric], ok)
		}
	}
}

// A file of the run before does not count for a run that writes none.
func TestMetricsOfAStaleFile(t *testing.T) {
	dir := t.TempDir()
	r := Metrics(newLocal(t, LocalOptions{}), sources(t, "x=json:out.json#/x"))
	for i, tt := range []struct {
		script string
		ok     bool
	}{{`echo '{"x":1}' >out.json`, true}, {"true", false}, {`sleep 0.02; echo '{"x":1}' >out.json`, true}, {"rm out.json", false}} {
		m, err := r.Run(t.Context(), assay.Job{Dir: dir, Argv: []string{"/bin/sh", "-c", tt.script}}, nil)
		if _, ok := m.Metric("x"); err != nil || ok != tt.ok {
			t.Errorf("run %d: measured %v, %v, want %v", i, ok, err, tt.ok)
		}
	}
}

// A run that was ended has no metrics of sources, and a metric command can be
// cancelled.
func TestMetricsOfARunThatWasEnded(t *testing.T) {
	r := Metrics(newLocal(t, LocalOptions{}), sources(t, "x=stdout:/(1)/", "y=cmd:sleep 30; echo 1"))
	m, err := r.Run(t.Context(), assay.Job{Argv: []string{"/bin/sh", "-c", "echo 1; sleep 30"}, Limit: 50 * time.Millisecond}, nil)
	if _, ok := m.Metric("x"); ok || !errors.Is(err, assay.ErrLimit) {
		t.Errorf("measured %v, %v", ok, err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
	if _, err := r.Run(ctx, assay.Job{Argv: []string{"true"}}, nil); err != cause {
		t.Errorf("got %v, want the cause", err)
	}
}
