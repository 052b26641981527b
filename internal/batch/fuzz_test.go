package batch

import (
	"os"
	"strings"
	"testing"
)

// Output of Slurm is read as jobs of ours or as none: a line that is cut off makes no job of another name.
func FuzzParseJobs(f *testing.F) {
	f.Add("1|" + Prefix + "x|RUNNING|None\n")
	f.Add("slurm_load_jobs error: x\n")
	f.Add("1_[2-3]|" + Prefix + "x|CANCELLED by 1000\n|||\n\x00")
	f.Fuzz(func(t *testing.T, out string) {
		jobs, err := parseJobs("squeue", out)
		for _, j := range jobs {
			if err != nil || !strings.HasPrefix(j.Name, Prefix) || j.ID == "" {
				t.Errorf("%+v, %v", j, err)
			}
		}
	})
}

// A file of an attempt is whole or is not there, and never counts by accident.
func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"name":"a","why":"limit","measurement":{"elapsed_ns":1}}`))
	f.Add([]byte(`{"name":"a","why":"?"}`))
	f.Add([]byte(`{"name":"a","measure`))
	d := dir(f.TempDir())
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(d.path("r"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		var r result
		ok, err := d.read("r", &r)
		if err != nil {
			t.Fatal(err)
		}
		if ok && r.counts() && strings.TrimSpace(r.Why) != r.Why {
			t.Errorf("%+v counts", r)
		}
	})
}
