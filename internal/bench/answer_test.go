package bench

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/spec"
)

var update = flag.Bool("update", false, "write testdata/answer.golden")

// steps is a table of n configurations, of which x takes 2n-x seconds in each of some recorded runs, times the factor.
func steps(t *testing.T, n int, factors ...float64) (Problem, *table.Table) {
	t.Helper()
	return recordedOf(t, n, func(x int) float64 { return float64(2*n - x) }, factors...)
}

// recordedOf is a table of n configurations, of which x takes so many seconds in each of some recorded runs, times the
// factor.
func recordedOf(t *testing.T, n int, seconds func(x int) float64, factors ...float64) (Problem, *table.Table) {
	t.Helper()
	columns := make([]string, len(factors))
	for k := range factors {
		columns[k] = fmt.Sprintf("s%d", k)
	}
	text := "x," + strings.Join(columns, ",") + "\n"
	for x := range n {
		text += fmt.Sprint(x)
		for _, by := range factors {
			text += fmt.Sprintf(",%g", seconds(x)*by)
		}
		text += "\n"
	}
	tab, err := table.Read(strings.NewReader(text), table.Spec{
		Parameters: []string{"x"}, Metrics: map[string][]string{"elapsed": columns},
	})
	if err != nil {
		t.Fatal(err)
	}
	space, err := tab.Space()
	if err != nil {
		t.Fatal(err)
	}
	goal := assay.Goal{Metric: "elapsed", Grows: true}
	p, err := Recorded("steps", tab, space, goal, 100*time.Millisecond, spec.Grows)
	if err != nil {
		t.Fatal(err)
	}
	return *p, tab
}

// studyInOrder is a study that runs all configurations in their order.
var studyInOrder = Player{Name: "in order", method: Method{
	New: func(p *Problem, _ uint64) (assay.Searcher, assay.Stopper, error) {
		return search.NewGrid(p.Space, search.GridOptions{}), nil, nil
	},
}}

func closeTo(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// players returns the players of a list.
func players(t *testing.T, text string) []Player {
	t.Helper()
	all, err := Players(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// forever is a length of a median run beside which own time is nothing.
const forever = 1 << 62

// A study that has time for everything recommends the best and shows its gain, with an interval that covers the true
// gain. In a budget of less than a run nothing is recommended, which is no right verdict and the regret of the worst.
func TestAnswers(t *testing.T) {
	p, tab := steps(t, 12, 1)
	r, err := Answers(t.Context(), AnswerOptions{
		Problems: []Problem{p}, Tables: []*table.Table{tab}, Players: []Player{studyInOrder}, Budgets: []float64{0.5, 200},
		Noise: []Noise{LogNormal(0.01)}, Run: forever, Seeds: 4, Workers: 2,
	})
	if err != nil || len(r.Rows) != 6 {
		t.Fatalf("%v, %+v", err, r.Rows)
	}
	short, long := r.Rows[0], r.Rows[1]
	if !closeTo(short.Mean.Value, 11.0/13) || short.Right.Value != 0 || short.Covered != nil || short.Bound.Value != 0 {
		t.Errorf("in no time: %+v", short)
	}
	if long.Mean.Value != 0 || long.P90.Value != 0 || long.Right.Value != 1 || long.Untrue.Value != 0 ||
		long.Bound.Value != 1 || long.Covered.Value < 0.75 || !(long.Again.Value > 0) || long.Trials != 12 {
		t.Errorf("in much time: %+v", long)
	}
	for i, row := range r.Rows[4:] { // of all
		same := r.Rows[i]
		if same.Study, same.Noise, same.BySeed = "", "", nil; row.Mean != same.Mean || *row.Right != *same.Right {
			t.Errorf("%+v of all, %+v of the table", row, same)
		}
	}
}

// A program in which no parameter has an effect shows a gain in at most 2 of 100 studies. Search, race and the choice
// of the best take part.
func TestEqualsShowNoGain(t *testing.T) {
	p, tab := recordedOf(t, 60, func(int) float64 { return 1 }, 1)
	seeds := 40
	if testbed.IsSystem() {
		seeds = 400
	}
	r, err := Answers(t.Context(), AnswerOptions{
		Problems: []Problem{p}, Tables: []*table.Table{tab}, Players: players(t, "auto"), Budgets: []float64{20, 50},
		Noise: []Noise{LogNormal(0.02), LogNormal(0.1), LogNormal(0.3)}, Run: forever, Seeds: seeds, Workers: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		t.Logf("%s, %g x: %.1f %% untrue, %.0f %% with an interval", row.Noise, row.Budget, 100*row.Untrue.Value,
			100*row.Bound.Value)
		if row.Study == "" && row.Noise == "" && (row.Untrue.Value > 0.02 || row.Bound.Value == 0) {
			t.Errorf("%g x: %+v of the gains are shown", row.Budget, row.Untrue)
		}
	}
}

// A verdict is right by the true values: a shown gain that is one, or a gain below 1 % that is not shown.
func TestRightVerdicts(t *testing.T) {
	for _, tt := range []struct {
		first, best   float64
		shown         bool
		right, untrue bool
	}{
		{10, 5, true, true, false},
		{5, 10, true, false, true},
		{10, 5, false, false, false},
		{5, 10, false, true, false},
		{10, 10, false, true, false},
		{10, 10, true, false, true},
		{10, 9.95, true, true, false},
		{10, 9.95, false, true, false},
		{10, 9.85, false, false, false},
		{-5, -10, true, true, false},
		{-5, -10, false, false, false}, // maximized
	} {
		if right, untrue := rightOf(tt.shown, tt.first, tt.best); right != tt.right || untrue != tt.untrue {
			t.Errorf("%+v: right %v, untrue %v", tt, right, untrue)
		}
	}
}

// Every run is paid for from the budget, repeated ones included: the lengths of all runs add up to it at most, and a
// search that repeats runs has the fewer configurations.
func TestRepeatsAreCharged(t *testing.T) {
	p, tab := steps(t, 40, 1, 1, 1)
	const budget = 20
	r, err := Answers(t.Context(), AnswerOptions{
		Problems: []Problem{p}, Tables: []*table.Table{tab},
		Players: append(players(t, "random,random-top3,auto"), studyInOrder), Budgets: []float64{budget},
		Noise: []Noise{LogNormal(0.1)}, Run: forever, Seeds: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range r.Rows[:4] {
		if row.Used > 1+1e-9 || row.Used < 0.5 {
			t.Errorf("%s: runs of %v of the budget", row.Method, row.Used)
		}
		if again := row.Again.Value; (again > 0) != (i > 0) || again > row.Used {
			t.Errorf("%s: repeated runs of %v of the budget, all of %v", row.Method, again, row.Used)
		}
	}
	if one, three := r.Rows[0], r.Rows[1]; !closeTo(one.Used, 1) || three.Again.Value < 0.2 {
		t.Errorf("random: %v of the budget; top3: %v again", one.Used, three.Again.Value)
	}
}

// A table with three runs of each configuration has the noise of these, and their medians are its truth.
func TestOwnNoise(t *testing.T) {
	p, tab := steps(t, 6, 1, 1.1, 5)
	r, err := Answers(t.Context(), AnswerOptions{
		Problems: []Problem{p}, Tables: []*table.Table{tab}, Players: players(t, "random"), Budgets: []float64{1000},
		Noise: []Noise{LogNormal(0.1)}, Run: forever, Seeds: 1,
	})
	if err != nil || r.Rows[0].Noise != "own" || len(r.Rows) != 3 {
		t.Fatalf("%v, %+v", err, r.Rows)
	}
	if v, ok := medians(tab, p.Goal)(assay.Config{5}); !ok || !closeTo(v, 7.7) {
		t.Errorf("true value %v, %v", v, ok)
	}
	seen := map[string]int{}
	for _, m := range Own.Runs(tab, 1, 0).Measurements(assay.Config{5}) {
		seen[fmt.Sprintf("%.1f", m.Elapsed.Seconds())]++
	}
	if len(seen) != 3 || seen["7.0"]+seen["7.7"]+seen["35.0"] != repetitions {
		t.Errorf("runs %v", seen)
	}
}

// The best three are run again, and the least median is recommended rather than the luckiest run.
func TestRandomTop3(t *testing.T) {
	p, _ := steps(t, 6, 1)
	p.Time = 60 * time.Second
	c := newRandom(&p, 1, 3, 5)
	runs, again := map[float64]int{}, 0
	for left := p.Time; ; left -= 2 * time.Second {
		x, err := c.next(left)
		if err != nil || x == nil {
			break
		}
		value := 10 - x[0] // 5 is the best
		if runs[x[0]]++; x[0] == 3 && runs[x[0]] == 1 {
			value = 1 // by luck
		}
		if runs[x[0]] > 1 {
			again++
		}
		if err := c.add(x, value, true, 2*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if best := c.answer(); best[0] != 5 || again != 15 || runs[3] != 6 || runs[0] != 1 {
		t.Errorf("answer %v of runs %v", best, runs)
	}
	if c := newRandom(&p, 1, 0, 0); c.answer() != nil {
		t.Error("an answer without a run")
	}
}

// A slow chooser has time for fewer runs, by the length of a median run that is stated.
func TestOwnTimeIsCharged(t *testing.T) {
	p, tab := steps(t, 40, 1)
	p.Time = 10 * p.Median
	slow := func(*Problem) chooser { return sluggard{newRandom(&p, 1, 0, 0)} }
	quick, err := choose(t.Context(), &p, slow(&p), tab, 0)
	if err != nil {
		t.Fatal(err)
	}
	late, err := choose(t.Context(), &p, slow(&p), tab, float64(p.Median)/float64(5*time.Millisecond))
	if err != nil || late.runs == 0 || late.runs > quick.runs*2/3 || late.own < 5*time.Millisecond {
		t.Errorf("%v: %d runs, %d if own time costs nothing", err, late.runs, quick.runs)
	}
}

type sluggard struct{ chooser }

func (s sluggard) next(left time.Duration) (assay.Config, error) {
	time.Sleep(5 * time.Millisecond)
	return s.chooser.next(left)
}

// The levels are the programs in the middle of each third by spread, warm and as multiples of their medians.
func TestSeriesNoise(t *testing.T) {
	text := "program,process,t1,t2,t3,t4,t5,t6,t7,t8,t9,t10\n"
	for i := range 6 {
		text += fmt.Sprintf("p%d,1,900,900,900,900,900,900", 5-i)
		for k := range 4 {
			text += fmt.Sprintf(",%d", 100+(k-2)*(5-i))
		}
		text += "\n"
	}
	file := filepath.Join(t.TempDir(), "series.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	levels, err := NoiseOf(file)
	if err != nil || len(levels) != 3 {
		t.Fatalf("%v, %v", levels, err)
	}
	_, tab := steps(t, 2, 1)
	for i, x := range []float64{1, 3, 5} {
		seen := map[string]bool{}
		for _, m := range levels[i].Runs(tab, 1, 0).Measurements(assay.Config{1}) {
			seen[fmt.Sprintf("%.4f", m.Elapsed.Seconds()/3)] = true
		}
		for k := range 4 {
			if at := fmt.Sprintf("%.4f", (100+(float64(k)-2)*x)/(100-x/2)); !seen[at] || len(seen) != 4 {
				t.Errorf("level %d: runs %v, no %s", i, seen, at)
			}
		}
	}
	for _, wrong := range []string{"x", "0", "2,-1"} {
		if _, err := NoiseOf(wrong); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// A program that is asked line by line: it runs row 3 until the time is over, and recommends row 4.
func TestPeer(t *testing.T) {
	p, tab := steps(t, 12, 1)
	play := func(script string) (AnswerReport, error) {
		all, err := Players("", []string{"it=" + script})
		if err != nil {
			return AnswerReport{}, err
		}
		return Answers(t.Context(), AnswerOptions{
			Problems: []Problem{p}, Tables: []*table.Table{tab}, Players: all, Budgets: []float64{10},
			Noise: []Noise{LogNormal(0.001)}, Run: forever, Seeds: 2,
		})
	}
	r, err := play(`sh -c 'while read -r line; do echo "{\"run\":3,\"best\":4}"; done'`)
	if err != nil {
		t.Fatal(err)
	}
	if row := r.Rows[0]; row.Method != "it" || !closeTo(row.Mean.Value, 7.0/13) || row.Trials != 8 || row.Right != nil ||
		row.Again.Value < 0.8 || !closeTo(row.Used, 1) {
		t.Errorf("%+v", row)
	}
	for script, want := range map[string]string{
		"sh -c 'read -r line'": "no answer", `sh -c 'read -r line; echo nonsense'`: "nonsense",
		`sh -c 'read -r line; echo "{\"run\":12}"'`: "no such row", "": "not NAME=COMMAND",
	} {
		if _, err := play(script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", script, err, want)
		}
	}
}

// The text of a report with few seeds. The methods' own times are left out: they depend on the machine.
func TestAnswerText(t *testing.T) {
	p, tab := steps(t, 30, 1)
	own, ownTab := steps(t, 20, 0.9, 1, 1.2)
	own.Name = "own"
	r, err := Answers(context.Background(), AnswerOptions{
		Problems: []Problem{p, own}, Tables: []*table.Table{tab, ownTab}, Players: players(t, "auto,random,random-top3"),
		Budgets: []float64{5, 20}, Noise: []Noise{LogNormal(0.02), LogNormal(0.2)}, Run: forever, Seeds: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Rows {
		if r.Rows[i].OwnMS.Value < 0 {
			t.Errorf("own time %v", r.Rows[i].OwnMS)
		}
		r.Rows[i].OwnMS = Figure{}
	}
	r.RunS = 60
	var b bytes.Buffer
	if err := r.Write(&b, report.Palette{}); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/answer.golden"
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v, got\n%s\nwant\n%s", err, b.String(), want)
	}
}

func TestAnswersWithoutMuch(t *testing.T) {
	if _, err := Answers(t.Context(), AnswerOptions{}); err == nil {
		t.Error("no problem, and no error")
	}
	for _, text := range []string{"nope"} {
		if _, err := Players(text, nil); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%q: %v", text, err)
		}
	}
	f := figureOf(stats.Estimate{Value: 2, Low: math.Inf(-1), High: math.Inf(1)})
	if f.CI95 != [2]float64{2, 2} {
		t.Errorf("%+v", f)
	}
}
