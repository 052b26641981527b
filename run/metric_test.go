package run

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

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
	const doc = `{"a": {"b": [10, {"c/d": 1.5, "e~f": -2}], "": 3}, ` +
		`"s": "1.5", "n": null, "t": true, "x": 1e999, "o": {}}`
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
	r := Metrics(newLocal(t, LocalOptions{}))
	if err := os.WriteFile(filepath.Join(dir, "stale"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	job := assay.Job{Dir: dir, Env: []string{"A=1"}, Argv: []string{
		"/bin/sh", "-c",
		`echo rate: 1; echo rate: 2.5; echo loss 7 >&2; echo took 99; ` +
			`echo comma 1,5; echo nan NaN; printf '{"score":\n -4}\n' >out.json; exit 2`,
	}}
	job.Metrics = sources(t,
		"rate=stdout:/rate: (\\S+)/", "loss=stderr:/loss ([^ \n]+)/", "score=json:out.json#/score",
		"size=size:out.json", "lines=cmd:wc -l <out.json; test \"$A\" = 1",
		"elapsed=stdout:/took (\\S+)/", "none=stdout:/absent (x)/", "comma=stdout:/comma (\\S+)/",
		"nan=stdout:/nan (\\S+)/",
		"stale=size:stale", "missing=json:missing.json#/x", "fails=cmd:echo 1; printf 'why\\377' >&2; exit 3",
		"words=cmd:echo one",
	)
	m, err := r.Run(t.Context(), job, nil)
	if err != nil || m.ExitCode != 2 {
		t.Fatal(m, err)
	}
	for name, want := range map[string]float64{
		"rate": 2.5, "loss": 7, "score": -4, "size": 15, "lines": 2,
		"elapsed": 99,
	} {
		if got, ok := m.Metric(name); !ok || got != want {
			t.Errorf("%s is %v, %v, want %v", name, got, ok, want)
		}
	}
	why := map[string]string{
		"none": "matches nothing", "comma": `"1,5" is not a number`, "nan": "not finite",
		"stale":   "not written by the run",
		"missing": "no such file", "fails": "code 3: why\ufffd", "words": `"one" is not a number`,
	}
	for name, says := range why {
		if _, ok := m.Metric(name); ok || !strings.Contains(m.Missing[name], says) {
			t.Errorf("%s: %q, want it to say %q; measured %v", name, m.Missing[name], says, ok)
		}
	}
	if len(m.Missing) != len(why) {
		t.Errorf("%d metrics are missing, want %d: %v", len(m.Missing), len(why), m.Missing)
	}
	var back assay.Measurement
	if b, err := json.Marshal(m); err != nil {
		t.Error(err)
	} else if err := json.Unmarshal(b, &back); err != nil || !maps.Equal(back.Metrics, m.Metrics) ||
		!maps.Equal(back.Missing, m.Missing) {
		t.Errorf("%+v comes back as %+v, %v", m, back, err)
	}
}

// The metrics of inner hold unless a source of that name has another value. The jobs that inner
// runs beside get no metrics and no attempt.
func TestMetricsKeepWhatInnerSays(t *testing.T) {
	var seen []assay.Job
	r := Metrics(runnerFunc(func(_ context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement,
		error,
	) {
		seen = append(seen, job)
		m := assay.Measurement{Stdout: []byte("3"), Metrics: map[string]float64{"a": 1, "b": 1}}
		m.Missing = map[string]string{"b": "no b", "c": "no c", "d": "no d"}
		return m, nil
	}))
	job := assay.Job{
		ID: assay.RunID{Study: "s", Trial: 2, Repeat: 1, Attempt: 3}, Argv: []string{"job"},
		Resources: map[string]float64{"cpus": 1},
		Metrics:   sources(t, "a=stdout:/(x)/", "c=stdout:/(3)/", "e=cmd:line"), Priority: 4,
	}
	m, err := r.Run(t.Context(), job, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]float64{"b": 1, "c": 3, "e": 3}; !maps.Equal(m.Metrics, want) {
		t.Errorf("measured %v, want %v", m.Metrics, want)
	}
	if len(m.Missing) != 3 || m.Missing["a"] == "" || m.Missing["b"] != "no b" || m.Missing["d"] != "no d" {
		t.Errorf("missing are %v", m.Missing)
	}
	if len(seen) != 2 || seen[0].ID != job.ID || seen[1].ID != (assay.RunID{Study: "s", Trial: 2, Repeat: 1}) ||
		seen[1].Resources != nil {
		t.Errorf("inner ran %+v", seen)
	}
	for _, j := range seen {
		if j.Metrics != nil || j.Priority != 4 {
			t.Errorf("inner is given %+v", j)
		}
	}
}

// A file of the run before does not count for a run that writes none.
func TestMetricsOfAStaleFile(t *testing.T) {
	dir := t.TempDir()
	r := Metrics(newLocal(t, LocalOptions{}))
	for i, tt := range []struct {
		script string
		ok     bool
	}{
		{`echo '{"x":1}' >out.json`, true},
		{"true", false},
		{`sleep 0.02; echo '{"x":1}' >out.json`, true},
		{"rm out.json", false},
	} {
		m, err := r.Run(t.Context(), assay.Job{
			Dir: dir, Argv: []string{"/bin/sh", "-c", tt.script},
			Metrics: sources(t, "x=json:out.json#/x"),
		}, nil)
		if _, ok := m.Metric("x"); err != nil || ok != tt.ok {
			t.Errorf("run %d: measured %v, %v, want %v", i, ok, err, tt.ok)
		}
	}
}

// A run that was ended has no metrics of sources, and a metric command can be
// cancelled.
func TestMetricsOfARunThatWasEnded(t *testing.T) {
	r := Metrics(newLocal(t, LocalOptions{}))
	asked := sources(t, "x=stdout:/(1)/", "y=cmd:sleep 30; echo 1")
	m, err := r.Run(t.Context(), assay.Job{
		Argv:  []string{"/bin/sh", "-c", "echo 1; sleep 30"},
		Limit: 50 * time.Millisecond, Metrics: asked,
	}, nil)
	if _, ok := m.Metric("x"); ok || !errors.Is(err, assay.ErrLimit) {
		t.Errorf("measured %v, %v", ok, err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
	if _, err := r.Run(ctx, assay.Job{Argv: []string{"true"}, Metrics: asked}, nil); err != cause {
		t.Errorf("got %v, want the cause", err)
	}
}

// Every kind of source has something that finds it.
func TestFinders(t *testing.T) {
	all := finders()
	for _, k := range assay.SourceKinds() {
		if all[k] == nil {
			t.Errorf("nothing finds a metric of the kind %v: finders in run/metric.go lacks a row", k)
		}
	}
	if len(all) != len(assay.SourceKinds()) {
		t.Errorf("%d kinds are found, want %d", len(all), len(assay.SourceKinds()))
	}
}
