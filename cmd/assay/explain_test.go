package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/result"
)

// TestExplainStudy tunes a recorded program and asks for the reasons of its speed.
func TestExplainStudy(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	var rows strings.Builder
	rows.WriteString("threads,codec,time_s\n")
	tens := map[string]string{"1": "8", "2": "4", "4": "2", "8": "1"}
	for _, threads := range []string{"1", "2", "4", "8"} {
		for k, codec := range []string{"a", "b", "c"} {
			rows.WriteString(threads + "," + codec + "," + tens[threads] + []string{"0", "1", "2"}[k] + "\n")
		}
	}
	study := "replay: {file: t.csv, parameters: [threads, codec], metrics: {elapsed: time_s}}\n" +
		"objective: {minimize: elapsed}\n"
	for name, text := range map[string]string{"t.csv": rows.String(), "t.yaml": study} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	assay := func(args ...string) string {
		t.Helper()
		var out, err strings.Builder
		if code := execute(streams{in: strings.NewReader(""), out: &out, err: &err}, args); code != 0 {
			t.Fatalf("%v ends with %d: %s", args, code, err.String())
		}
		return out.String()
	}
	assay("tune", filepath.Join(dir, "t.yaml"), "--trials", "12", "--study", "s")
	svg := filepath.Join(dir, "s.svg")
	text := assay("study", "explain", "s", "--svg", svg)
	for _, want := range []string{"12 of them exact", "threads    8", "±"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if b, err := os.ReadFile(svg); err != nil || !strings.Contains(string(b), "threads = 8") {
		t.Errorf("the chart: %v\n%s", err, b)
	}
	var got result.Output
	if err := json.Unmarshal([]byte(assay("study", "explain", "s", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Params) != 2 || got.Params[0].Name != "threads" || !(got.Params[0].Effect < -0.3) ||
		got.Params[0].MainEffect < got.Params[1].MainEffect {
		t.Errorf("got %+v", got.Params)
	}
}
