package result

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

// A journal for Optuna has one operation a line, whatever the names and reasons are: a name with the end of a line
// in it adds none.
func FuzzOptuna(f *testing.F) {
	f.Add("s", "why", "max_rss")
	f.Add("a\nb", "\"}\n{\"op_code\":5}", "\u2028\x00")
	f.Add("\xff", "\x1b[2J", "=1+1")
	r := onRecord(f, "")
	var trials []assay.Trial
	for t, err := range r.Trials(f.Context()) {
		if err != nil {
			f.Fatal(err)
		}
		if t.State.Final() && t.State != assay.Withdrawn {
			trials = append(trials, t)
		}
	}
	f.Fuzz(func(t *testing.T, name, reason, metric string) {
		var b bytes.Buffer
		log := optunaLog{&b}
		if err := log.op(optunaCreateStudy, map[string]any{"study_name": name}); err != nil {
			t.Fatal(err)
		}
		for i, trial := range trials {
			trial.Reason = reason
			trial.Measurement.Metrics = map[string]float64{metric: 1}
			if err := r.optunaTrial(log, i, trial); err != nil {
				t.Fatal(err)
			}
		}
		created := 0
		for line := range strings.Lines(b.String()) {
			var op struct {
				Code *int `json:"op_code"`
			}
			if err := json.Unmarshal([]byte(line), &op); err != nil || op.Code == nil {
				t.Fatalf("%q: %v", line, err)
			}
			if *op.Code == optunaCreateTrial {
				created++
			}
		}
		if created != len(trials) {
			t.Errorf("%d trials became %d", len(trials), created)
		}
	})
}
