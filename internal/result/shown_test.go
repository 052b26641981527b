package result

import (
	"encoding/json"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/workbench"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
)

// recordOf puts a study with these trials on record, as s.
func recordOf(t testing.TB, text string, trials iter.Seq[assay.Trial]) *Record {
	t.Helper()
	def, _, err := spec.Parse("f.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(def)
	if err != nil {
		t.Fatal(err)
	}
	mem := store.NewMem()
	if err := mem.Create(t.Context(), "s", stored); err != nil {
		t.Fatal(err)
	}
	var events []assay.Event
	for tr := range trials {
		tr.Started, tr.Ended = time.Unix(1, 0).UTC(), time.Unix(2, 0).UTC()
		events = append(events, assay.Event{At: tr.Started, Asked: &tr.Proposal}, assay.Event{At: tr.Ended, Told: &tr})
	}
	if _, err := mem.Append(t.Context(), "s", 0, events...); err != nil {
		t.Fatal(err)
	}
	r, err := Read(t.Context(), mem, "s")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWriteShown(t *testing.T) {
	r := onRecord(t, "where: ['n < 9']\nsubject_to: ['max_rss <= 1e9']\nsearch: {name: random, seed: 4}\n")
	out, err := r.Shown(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxHelpers + 2 {
		r.Definition.Prior.Resolved = append(r.Definition.Prior.Resolved, spec.PriorStudy{Name: "h", Trials: i})
	}
	out.Cuts = []assay.Pruned{
		{Param: "n", Values: []string{"7", "8"}, Study: "h", Correlation: 0.9, Alpha: 0.5, Threshold: 2, Reason: "slow"},
		{Param: "n", Values: []string{"7"}, Study: "h", Reason: "no longer", Restored: true},
	}
	var b strings.Builder
	if err := r.WriteShown(&b, 0, out, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"study      s, made ", "command    p ", "parameters n: int 1..9\n           elapsed: ", "where      n < 9\n",
		"objective  minimize elapsed\n", "subject to max_rss <= 1e9\n", "search     random, early stopping: auto, seed 4\n",
		"best       n=6 elapsed=b r=1.5\nelapsed    5 s (trial 6)\n", "and 2 more\n", "progress   ",
		"pruned     n=7,8 by h (correlation 0.90, alpha 0.50): nothing with it reached 2 s there; slow\n",
		"           n=7 is back: no longer (h)\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	l, _ := learner(t, nil)
	if err := r.WriteShown(&b, 0, out, l); err != nil || strings.Contains(b.String(), "progress") {
		t.Errorf("with an error curve: %v\n%s", err, b.String())
	}
}

// The runs are the completed ones, in order; a stored trial of other
// parameters is an error.
func TestRuns(t *testing.T) {
	var ids []int64
	for tr, err := range onRecord(t, "").Runs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, tr.ID)
	}
	if len(ids) != 3 || ids[0] != 1 || ids[1] != 4 || ids[2] != 6 {
		t.Errorf("got %v", ids)
	}
	broken := recordOf(t, "command: [p, '{n}']\nparameters: {n: 1..9}\n", func(yield func(assay.Trial) bool) {
		_ = yield(trial(1, assay.Done, 1, "")) &&
			yield(assay.Trial{Proposal: assay.Proposal{ID: 2, Config: assay.Config{99}}, State: assay.Done})
	})
	n := 0
	var last error
	for _, err := range broken.Runs(t.Context()) {
		n, last = n+1, err
	}
	if n != 2 || last == nil {
		t.Errorf("%d runs, %v; want an error at the second", n, last)
	}
}

func TestProfile(t *testing.T) {
	p := workbench.Profile{
		Readings: []workbench.Reading{
			{
				Name: "float_speed", Resource: "compute", Unit: "flop/s", Method: "sum",
				Value: stats.Estimate{Value: 2e9, Low: 1e9, High: 3e9, N: 7},
			},
			{Name: "int_speed", Resource: "compute", Method: "loop", Value: stats.MedianInterval([]float64{5}, 0.95)},
		},
		Warnings: []string{"the clock is coarse"}, Took: 15 * time.Second,
	}
	var b strings.Builder
	if err := WriteProfile(p, &b, report.Palette{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"resource  attribute ", "compute   float_speed", "\n          int_speed",
		"warning: the clock is coarse\nmedian and 95 % interval; 15 s in all\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	got := keys(t, NewProfile(p))
	readings := got["readings"].([]any)
	second := readings[1].(map[string]any)
	if got["version"] != 1.0 || got["took_s"] != 15.0 ||
		got["attributes"].(map[string]any)["float_speed"] != 2e9 || len(readings) != 2 {
		t.Errorf("got %v", got)
	}
	if ci := second["ci95"].([]any); ci[0] != nil || ci[1] != nil || second["runs"] != 1.0 {
		t.Errorf("one run has no bounds: %v", second)
	}
	if w := keys(t, NewProfile(workbench.Profile{}))["warnings"]; w == nil {
		t.Error("no warning is null, not an empty list")
	}
}

func TestDataProfile(t *testing.T) {
	p := workbench.DataProfile{
		Bytes: 3_000_000, Files: 3, Directories: 1, Others: 2,
		Quantiles: []float64{1, 2, 1e6, 4, 5, 6, 2e6},
	}
	d := NewDataProfile("dir", p)
	var b strings.Builder
	if err := d.Write(&b, report.Palette{}); err != nil {
		t.Fatal(err)
	}
	want := "bytes      " + report.Bytes(3e6) + " (3000000 B)\nfiles      3 in 1 directories below dir\n" +
		"others     2 links, devices and pipes, not followed\nsize       least          " + report.Bytes(1) +
		"\n           25 % quantile  2 B\n           median         " + report.Bytes(1e6) + "\n"
	if !strings.HasPrefix(b.String(), want) || !strings.HasSuffix(b.String(), "greatest       "+report.Bytes(2e6)+"\n") {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	empty := keys(t, NewDataProfile("dir", workbench.DataProfile{}))
	if q, ok := empty["size_quantiles"].([]any); !ok || len(q) != 0 || empty["version"] != 1.0 || empty["data"] != "dir" {
		t.Errorf("got %v", empty)
	}
}
