package result

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

// The columns are explained below the table, and lead to the value that the legend names.
func TestLegend(t *testing.T) {
	goal := assay.Goal{Metric: "elapsed", Unit: "s"}
	e, err := explainBest(params(), goal, someTrials(t, 60, nil), 1)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := e.Write(&b, report.Palette{}, &Record{Name: "x", Goal: goal, Params: params()}); err != nil {
		t.Fatal(err)
	}
	_, legend, _ := strings.Cut(b.String(), "\nat the best  ")
	for _, want := range []string{
		"from the average, " + report.Seconds(e.Base) + ", to " + report.Seconds(e.Predicted) + "\n",
		"\nimportance   how far it moves elapsed, typically: ±25 % is times or divided by 1.25\n",
		"\nalone        its share of the differences in elapsed",
	} {
		if !strings.Contains(legend, want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	for line := range strings.Lines(legend) {
		if report.Width(line) > 90 {
			t.Errorf("%d columns: %s", report.Width(line), line)
		}
	}
}

// The output has the values of the explanation: factors as percentages if the metric is
// positive, else its unit.
func TestOutput(t *testing.T) {
	goal := assay.Goal{Metric: "elapsed", Unit: "s"}
	e, err := explainBest(params(), goal, someTrials(t, 60, nil), 1)
	if err != nil {
		t.Fatal(err)
	}
	r := &Record{Name: "x", Goal: goal, Params: params()}
	b, err := json.Marshal(e.Output(r))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"study", "metric", "trials", "exact", "explained", "relative", "base", "predicted", "best", "parameters",
	} {
		if _, ok := got[key]; !ok {
			t.Errorf("no key %s in %s", key, b)
		}
	}
	first := got["parameters"].([]any)[0].(map[string]any)
	if first["name"] != "threads" || first["value"].(float64) != e.Best.Config[0] ||
		!(first["effect"].(float64) < 0) || got["relative"] != true {
		t.Errorf("got %s", b)
	}
	var text strings.Builder
	if err := e.Write(&text, report.Palette{}, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"model      a random forest of 60 trials, 60 of them exact", "average    elapsed ",
		"\n\nparameter  value  at the best  importance   alone\nthreads ", " %     ±",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if c := e.Chart(r); c.XLabel != "effect on elapsed, %" || len(c.Bars) != 3 ||
		!strings.HasPrefix(c.Bars[0].Name, "threads = ") || !(c.Bars[0].Value < 0) {
		t.Errorf("got %+v", c)
	}
	e.Relative = false
	if c := e.Chart(r); c.XLabel != "effect on elapsed, s" || c.Bars[0].Value != e.Params[0].Effect {
		t.Errorf("in the unit of the metric: %+v", c)
	}
	if got := e.text(0.5, "s"); got != "+500 ms" {
		t.Errorf("got %q", got)
	}
}
