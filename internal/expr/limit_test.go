package expr

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func metrics(m map[string]float64) func(string) (float64, bool) {
	return func(name string) (float64, bool) { x, ok := m[name]; return x, ok }
}

func TestLimit(t *testing.T) {
	m := metrics(map[string]float64{
		"max_rss": 1.5e9, "out_size": 5e7, "exit_code": 0, "p99-latency": 3, "min": 2,
		"bad": math.NaN(), "inf": math.Inf(1),
	})
	tests := []struct {
		text  string
		want  bool
		names []string
	}{
		{"max_rss <= 2e9 && out_size < 1e8", true, []string{"max_rss", "out_size"}},
		{"max_rss <= 1000", false, []string{"max_rss"}},
		{"exit_code == 0", true, []string{"exit_code"}},
		{"p99_latency < 5", true, []string{"p99-latency"}},
		{`$env["p99-latency"] < 3`, false, []string{"p99-latency"}},
		{"min(out_size, min) == 2", true, []string{"out_size", "min"}},
		{"out_size / max_rss < 0.04", true, []string{"out_size", "max_rss"}},
		{"2e9 > max_rss", true, []string{"max_rss"}},
	}
	for _, tt := range tests {
		l, names, err := Limit(tt.text, "p99-latency", "max_rss")
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if !slices.Equal(names, tt.names) {
			t.Errorf("%s: needs %v, want %v", tt.text, names, tt.names)
		}
		if got, err := l.Holds(m); err != nil || got != tt.want {
			t.Errorf("%s: got %v, %v; want %v", tt.text, got, err, tt.want)
		}
	}
	for text, want := range map[string]string{
		"missing < 3":               `metric "missing" of the limit "missing < 3" was not measured`,
		"exit_code == 0 || nope> 1": "was not measured",
		"bad < 3":                   "is NaN",
		"inf < 3":                   "is +Inf",
	} {
		l, _, err := Limit(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if ok, err := l.Holds(m); ok || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v; want an error that contains %q", text, ok, err, want)
		}
	}
}

func TestLimitErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":               "empty expression",
		"energy":         "expected bool, but got float64",
		"energy < 'x'":   "mismatched types",
		"energy <":       "unexpected token EOF",
		"1 < 2":          "names no metric",
		"now() < energy": "unknown name now",
		"$env":           "$env is followed by a name",
		"let a=1; a < e": "without variables",
	} {
		_, _, err := Limit(text)
		if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an *Error that contains %q", text, err, want)
		}
	}
}

func FuzzLimit(f *testing.F) {
	f.Add("max_rss <= 2e9 && out_size < 1e8")
	f.Add(`$env["a-b"] < 3`)
	f.Fuzz(func(t *testing.T, text string) {
		l, names, err := Limit(text)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("error %T: %v", err, err)
			}
			return
		}
		asked := map[string]bool{}
		l.Holds(func(name string) (float64, bool) { asked[name] = true; return 1, true })
		for n := range asked {
			if !slices.Contains(names, n) {
				t.Errorf("%q: asked for %q, which is not in %v", text, n, names)
			}
		}
	})
}

func TestNearest(t *testing.T) {
	words := []string{"threads", "preset", "command", "min", "max"}
	for word, want := range map[string]string{
		"thraeds": "threads", "Threads": "threads", "presets": "preset", "comand": "command",
		"mni": "min", "xyzzy": "", "": "", "mix": "min",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
