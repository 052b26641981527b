package run

import (
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

func TestLines(t *testing.T) {
	r := Metrics(newLocal(t, LocalOptions{}))
	long := strings.Repeat("x", 5000)
	for text, want := range map[string]float64{
		"": 0, "a": 1, "a\n": 1, "a\nb": 2, "\n\n": 2, long: 1, long + "\n" + long + "\n": 2,
	} {
		job := assay.Job{Dir: t.TempDir(), Argv: []string{"/bin/sh", "-c", `printf %s "$1" >out`, "sh", text}}
		job.Metrics = sources(t, "l=lines:out", "gone=lines:gone")
		m, err := r.Run(t.Context(), job, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := m.Metric("l"); !ok || got != want {
			t.Errorf("%.10q has %v lines, %v, want %v", text, got, ok, want)
		}
		if why := m.Missing["gone"]; !strings.Contains(why, "no such file") {
			t.Errorf("of a file that is not there: %q", why)
		}
	}
}
