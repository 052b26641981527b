package result

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/expr"
	"github.com/assay-run/assay/internal/report"
)

// limited returns the trials of [study] with a memory that grows with the threads, and the goal that limits it.
func limited(t *testing.T, text string) (assay.Goal, []assay.Trial) {
	t.Helper()
	l, _, err := expr.Limit(text)
	if err != nil {
		t.Fatal(err)
	}
	goal := assay.Goal{Metric: "elapsed", Limits: []assay.Limit{l}}
	return goal, someTrials(t, 60, func(tr *assay.Trial) {
		tr.Measurement.Metrics = map[string]float64{"memory": 10 * tr.Config[0], "files": 3}
		if ok, err := l.Holds(tr.Measurement.Metric); err == nil && !ok {
			tr.State = assay.Infeasible
		}
	})
}

func TestLimits(t *testing.T) {
	goal, trials := limited(t, "memory <= 80 && files < 5")
	e, err := explainBest(params(), goal, trials, 1)
	if err != nil {
		t.Fatal(err)
	}
	broken := 0
	for _, tr := range trials {
		if tr.Config[0] > 8 {
			broken++
		}
	}
	if len(e.Limits) != 2 {
		t.Fatalf("limits: %+v", e.Limits)
	}
	memory, files := e.Limits[0], e.Limits[1]
	if memory.Measured != 60 || memory.Broken != broken || memory.By != "threads" {
		t.Errorf("of memory: %+v, broken by %d", memory, broken)
	}
	// Half of the threads keep it, and the best has the most that do, next to the edge.
	if !(memory.Anywhere > 0.4 && memory.Anywhere < 0.6) || !(memory.AtBest > 0.5) {
		t.Errorf("of memory: %+v", memory)
	}
	if files.Broken != 0 || !math.IsNaN(files.AtBest) || files.By != "" {
		t.Errorf("of files, which are the same in all runs: %+v", files)
	}
	var b strings.Builder
	if err := WriteLimits(&b, report.Palette{}, e.Limits); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"memory <= 80", "of 60", "threads", "–"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, b.String())
		}
	}
	if out := limitOutputs(e.Limits); out[0].AtBest == nil || out[1].AtBest != nil {
		t.Errorf("as data: %+v", out)
	}
}

// Only the limits are explained if no run is within them.
func TestLimitsWithoutARunInside(t *testing.T) {
	goal, trials := limited(t, "memory <= 5")
	if _, err := explainBest(params(), goal, trials, 1); !errors.Is(err, assay.ErrTooFew) {
		t.Errorf("explained: %v", err)
	}
	space, err := assay.NewSpace(params())
	if err != nil {
		t.Fatal(err)
	}
	l := Limits(space, goal, trials, nil, 1)
	if len(l) != 1 || l[0].Broken != 60 || !math.IsNaN(l[0].AtBest) || !(l[0].Anywhere < 0.2) || l[0].By != "threads" {
		t.Errorf("%+v", l)
	}
}
