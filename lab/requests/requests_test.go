package requests

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/workflow/request"
	"github.com/assay-run/assay/internal/workflow/trace"
	"github.com/assay-run/assay/workflow"
)

// TestLeastSquares: with equal weights the line of least squares, 1 + 2x here but for one point; with
// errors above the line counting more it goes towards that point.
func TestLeastSquares(t *testing.T) {
	x, y := []float64{0, 1, 2, 3}, []float64{1, 3, 5, 7}
	if a, b := leastSquares(x, y, 1); !(math.Abs(a-1) <= 1e-9) || !(math.Abs(b-2) <= 1e-9) {
		t.Errorf("%v + %v x", a, b)
	}
	y[3] = 11
	_, even := leastSquares(x, y, 1)
	a, b := leastSquares(x, y, 0.01)
	if even != 3.2 || b <= even || a+3*b < 10.8 {
		t.Errorf("slope %v, then %v + %v x", even, a, b)
	}
}

// TestPonder goes through the rules by hand.
func TestPonder(t *testing.T) {
	use := func(in, memory float64) request.Use { return request.Use{In: in, Memory: memory} }
	few := ponder([]request.Use{use(10, 1e9), use(20, 2e9)})
	if got := few(&request.Use{In: 15}); got != 2e9+ponderLeast {
		t.Errorf("a larger input was seen: %v", got)
	}
	if got := few(&request.Use{In: 25}); got != 0 {
		t.Errorf("none was seen: %v", got)
	}
	flat := ponder([]request.Use{use(1, 3e9), use(2, 2e9), use(3, 3e9), use(4, 2e9), use(5, 1e9)})
	if got := flat(&request.Use{In: 9}); got != 3e9+ponderLeast {
		t.Errorf("no correlation: %v", got)
	}
	line := ponder([]request.Use{use(1, 1e9), use(2, 2e9), use(3, 3e9), use(4, 4e9), use(5, 5e9)})
	for in, want := range map[float64]float64{2.5: 2.5e9, 10: 10e9, 0.1: 1e9} {
		if got := line(&request.Use{In: in}); !(math.Abs(got-want-ponderLeast) <= 1e3) {
			t.Errorf("input %v: %v, want %v and 128 MiB", in, got, want)
		}
	}
}

func TestWitt(t *testing.T) {
	var uses []request.Use
	for i := range 101 {
		uses = append(uses, request.Use{Kind: "k", In: float64(i + 1), Memory: float64(i) + 1})
	}
	m, l := wittPercentile(0.95)(uses)(&request.Use{Kind: "k"})
	if m.High != 96 || l.Known() {
		t.Errorf("%+v %+v", m, l)
	}
	if m, _ := wittPercentile(0.95)(uses)(&request.Use{Kind: "other"}); m.Known() {
		t.Errorf("a kind that was not seen: %+v", m)
	}
	if got := wittRegression(uses)(&request.Use{In: 200}); !(math.Abs(got-200) <= 1e-6) {
		t.Errorf("on a line without errors: %v", got)
	}
}

// recorded returns executions of an application whose memory is in proportion to the input, and one
// of which there is only one.
func recorded() []trace.Recorded {
	var runs []trace.Recorded
	one := func(app, config string, seed int) {
		w := &workflow.Workflow{Name: app}
		for i := range 40 {
			in := 1e8 * float64(1+(i*7+seed)%40)
			w.Tasks = append(w.Tasks, workflow.Task{
				ID: fmt.Sprint(i), Kind: "k", Run: 3600, In: in, Memory: 2e8 + in*(1+0.01*float64(i%3)),
			})
		}
		runs = append(runs, trace.Recorded{Execution: workflow.Execution{Workflow: w, App: app, Config: config}})
	}
	for c := range 4 {
		one("app", fmt.Sprint(c), c)
		one("app", fmt.Sprint(c), c+4)
	}
	one("single", "0", 0)
	return runs
}

// TestEvaluate: by size little is wasted and few tasks fail, in both ways of leaving out; an application of
// one execution is named apart.
func TestEvaluate(t *testing.T) {
	for _, byConfig := range []bool{false, true} {
		r, err := Evaluate(recorded(), Methods(0.02), byConfig, request.Constant(8e9))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Apps) != 1 || r.Apps[0].Executions != 8 || r.Apps[0].Configs != 4 || len(r.Single) != 1 ||
			r.All.Now.Tasks != 320 {
			t.Fatalf("%+v", r)
		}
		got := map[string]Outcome{}
		for _, o := range r.All.Outcomes {
			got[o.Method] = o
		}
		if a := got["assay"]; a.Relative > 0.1 || a.Share > 0.02 {
			t.Errorf("assay: %+v", a)
		}
		if w := got["Witt 95 %"]; w.Share < 0.02 || w.Wasted < 3*got["assay"].Wasted {
			t.Errorf("Witt: %+v", w)
		}
		if p := got["Ponder"]; p.Share > 0.02 || p.Relative > 0.3 {
			t.Errorf("Ponder: %+v", p)
		}
		var b bytes.Buffer
		if err := WriteText(&b, []*Report{r}); err != nil || !strings.Contains(b.String(), "none can be left out: single") {
			t.Errorf("%v\n%s", err, b.String())
		}
	}
	if _, err := Evaluate(recorded()[8:], Methods(0.02), false, request.Constant(8e9)); err == nil {
		t.Error("nothing was left out")
	}
}
