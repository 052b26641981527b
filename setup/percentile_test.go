package setup

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
)

// The limit is a percentile of the means over the good runs: failed ones and those
// without the metric do not count. The study itself keeps the limits that it has.
// Reference: Ding et al. 2022, section 4.4
func TestAtPercentile(t *testing.T) {
	dir := t.TempDir()
	rows := "a,t,p,ok\n1,1,10,yes\n1,1,20,yes\n2,2,20,yes\n3,3,25,yes\n4,4,1000,no\n5,5,,yes\n"
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	def, _, err := spec.Parse(filepath.Join(dir, "s.yaml"), []byte(`subject_to: [elapsed <= 100]
replay: {file: t.csv, parameters: [a], metrics: {elapsed: t, power: p}, ok: {column: ok, equals: yes}}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(def, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for percent, want := range map[float64]string{100: "power <= 25", 50: "power <= 20", 0.001: "power <= 15.0001"} {
		limited, err := p.AtPercentile("power", percent)
		if err != nil {
			t.Fatal(err)
		}
		got := limited.Definition.SubjectTo
		if !slices.Equal(got, []string{"elapsed <= 100", want}) || len(limited.Goal.Limits) != 2 {
			t.Errorf("percentile %v: limits %q, want %q beside that of the study", percent, got, want)
		}
	}
	if len(p.Definition.SubjectTo) != 1 || len(p.Goal.Limits) != 1 {
		t.Errorf("the study itself has the limits %q now", p.Definition.SubjectTo)
	}
	if _, err := p.AtPercentile("speed", 50); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("a metric that there is not: %v", err)
	}
}
