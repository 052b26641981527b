package spec

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A file of applications is read, or refused with flaws that have a place.
func FuzzParseApps(f *testing.F) {
	for _, s := range []string{
		"x264: {command: [x264, --preset, \"{preset}\"], parameters: {preset: [a, b]}}\n", "a: {}\n", "a: &a {b: *a}\n",
		"- x\n", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := ParseApps("apps.yaml", b)
		if e, ok := errors.AsType[*Error](err); err != nil && (!ok || len(e.Error()) == 0) {
			t.Errorf("%T %v", err, err)
		}
		if err == nil && len(a.Apps) == 0 {
			t.Error("no application and no error")
		}
	})
}

// The definition of a study on record is read, or refused; one that was read stays the same when it is written and
// read again.
func FuzzDecode(f *testing.F) {
	s, _, err := Parse("s.yaml", []byte("command: [echo, \"{n}\"]\nparameters: {n: 1..3}\nbudget: {trials: 4}\n"), nil)
	if err != nil {
		f.Fatal(err)
	}
	spec, err := json.Marshal(s)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(spec)
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Decode(b)
		if err != nil {
			return
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(text) {
			t.Errorf("%s became %s, %v", text, twice, err)
		}
	})
}

// A file of levels is read, or refused with its place.
func FuzzTraceFile(f *testing.F) {
	for _, s := range []string{"seconds,level\n0,1\n20,10Mbit\n", "0,1\n0,1\n", "x", "1,\"", "#\n", "1e9,1\n"} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, "levels.csv"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		text := []byte("command: [sh, -c, 'true {n}']\nparameters: {n: 1..3}\nworkbench: {bandwidth: {trace: levels.csv}}\n")
		_, _, err := Parse(filepath.Join(dir, "s.yaml"), text, nil)
		if _, ok := errors.AsType[*Error](err); err != nil && !ok {
			t.Errorf("%T %v", err, err)
		}
	})
}

// Templates and spans of time are read or refused.
func FuzzTexts(f *testing.F) {
	f.Add("--x={a}{b?}", "1d12h")
	f.Add("{{a}}{", "-1s")
	f.Add("{a|}", "9223372036s")
	f.Fuzz(func(t *testing.T, template, span string) {
		if p, err := ParseTemplate(template, []string{"a", "b"}); err == nil {
			for _, i := range p.Params() {
				if i < 0 || i > 1 {
					t.Errorf("%q names parameter %d", template, i)
				}
			}
		}
		if d, err := ParseDuration(span); err == nil && d < 0 {
			t.Errorf("%q is %v", span, d)
		}
		_, _ = ParseTarget(span)
		_, _ = ParseGain(span)
	})
}
