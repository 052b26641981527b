package request

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay/workflow"
)

// TestQuantLineIsBest compares the pivots with all lines through two points, one of which is best.
func TestQuantLineIsBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "n")
		tau := rapid.SampledFrom([]float64{0.5, 0.75, 0.9}).Draw(t, "tau")
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(rapid.IntRange(0, 20).Draw(t, "x"))
			y[i] = float64(rapid.IntRange(0, 50).Draw(t, "y"))
		}
		a, b := quantLine(x, y, tau)
		best := math.Inf(1)
		for i := range x {
			for j := range i {
				if x[i] != x[j] {
					s := (y[i] - y[j]) / (x[i] - x[j])
					best = min(best, tilted(x, y, y[i]-s*x[i], s, tau))
				}
			}
		}
		if math.IsInf(best, 1) {
			if b != 0 {
				t.Fatalf("slope %v with one x", b)
			}
			return
		}
		// Pivots end where no line through the last point is better. With ties that may be an edge
		// away from the best, never far.
		if got := tilted(x, y, a, b, tau); got > best*1.25+1e-9 {
			t.Fatalf("loss %v, best %v: %v + %v x of %v %v", got, best, a, b, x, y)
		}
	})
}

// TestQuantLineCovers checks the share of points below a line of a quantile, on points of which no
// three are on a line.
func TestQuantLineCovers(t *testing.T) {
	var x, y []float64
	for i := range 200 {
		x = append(x, float64(i))
		y = append(y, 3*float64(i)+100*math.Mod(float64(i*i)*0.6180339887, 1))
	}
	for _, tau := range []float64{0.5, 0.9} {
		a, b := quantLine(x, y, tau)
		below := 0
		for i := range x {
			if y[i] <= a+b*x[i]+1e-9 {
				below++
			}
		}
		if share := float64(below) / 200; !(math.Abs(share-tau) <= 0.02) || !(math.Abs(b-3) <= 0.3) {
			t.Errorf("tau %v: %v below, slope %v", tau, share, b)
		}
	}
}

// drawUses draws the tasks of one kind in some executions.
func drawUses(t *rapid.T) []Use {
	n := rapid.IntRange(1, 80).Draw(t, "tasks")
	sized := rapid.Bool().Draw(t, "sized")
	uses := make([]Use, n)
	for i := range uses {
		uses[i] = Use{
			Kind: "k", Ended: true, Execution: i % 5, Config: i % 5,
			Memory: rapid.Float64Range(1, 1e11).Draw(t, "memory"), Run: rapid.Float64Range(0.001, 1e6).Draw(t, "run"),
		}
		if sized {
			uses[i].In = rapid.Float64Range(1, 1e12).Draw(t, "in")
		}
	}
	return uses
}

// TestFitKeepsWhatIsPromised checks, on any tasks, that requests are amounts that can be asked for, and
// that the cautious ones are not below anything that was seen.
func TestFitKeepsWhatIsPromised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		uses := drawUses(t)
		k := Fit(uses, Options{}).Kind("k")
		for name, c := range map[string]struct {
			Choice
			unit, least float64
			of          func(*Use) float64
		}{
			"memory": {k.Memory, mebibyte, leastMemory, func(u *Use) float64 { return u.Memory }},
			"time":   {k.Time, 60, leastTime, func(u *Use) float64 { return u.Run }},
		} {
			if !(c.Low >= c.least && c.High >= c.Low) || math.IsInf(c.High, 0) {
				t.Fatalf("%s from %v to %v", name, c.Low, c.High)
			}
			if math.Mod(c.High, c.unit) != 0 || math.Mod(c.Low, c.unit) != 0 {
				t.Fatalf("%s of %v to %v is not in units of %v", name, c.Low, c.High, c.unit)
			}
			failed := 0
			for i := range uses {
				ask := c.At(uses[i].In)
				if !(ask >= c.least) {
					t.Fatalf("%s asks for %v", name, ask)
				}
				if c.of(&uses[i]) > ask {
					failed++
				}
			}
			if c.Cautious && failed > 0 {
				t.Fatalf("cautious %s is too little for %d of %d that were seen: %+v", name, failed, len(uses), c.Rule)
			}
			if !c.Cautious && float64(failed) > 0.1*float64(len(uses))+1 {
				t.Fatalf("%s is too little for %d of %d: %+v", name, failed, len(uses), c.Rule)
			}
		}
	})
}

// TestFewTasksAreCautious: with fewer tasks than can show the share, the request is a bound; with many
// of equal spread it is the quantile.
func TestFewTasksAreCautious(t *testing.T) {
	many := func(n int) []Use {
		var uses []Use
		for i := range n {
			uses = append(uses, Use{
				Kind: "k", Execution: i % 10, Config: i % 10, Run: 100 + float64(i%7), Memory: 1e9 + 1e7*float64(i%7), Ended: true,
			})
		}
		return uses
	}
	few := Fit(many(5), Options{}).Kind("k").Memory
	if !few.Cautious || few.High < 1.04e9 || few.High > 2.2e9 {
		t.Errorf("five tasks: %+v", few)
	}
	lots := Fit(many(400), Options{}).Kind("k").Memory
	if lots.Cautious || lots.High < 1.06e9 || lots.High > 1.1e9 {
		t.Errorf("four hundred tasks: %+v", lots)
	}
}

// TestSizesAreUsed: the request is in proportion to the input if memory is, and not if requests cannot depend on it.
func TestSizesAreUsed(t *testing.T) {
	var uses []Use
	for i := range 300 {
		in := 1e9 * (1 + float64(i%30))
		uses = append(uses, Use{
			Kind: "k", In: in, Execution: i % 10, Config: i % 10, Run: 600, Ended: true,
			Memory: 5e8 + in/2*(1+0.02*float64(i%5)),
		})
	}
	c := Fit(uses, Options{}).Kind("k").Memory
	if !c.Sized() || c.At(2e9) > 2e9 || c.At(30e9) < 15.5e9 {
		t.Errorf("%+v asks %v and %v", c, c.At(2e9), c.At(30e9))
	}
	if most := mostGrowth*c.At(30e9) + mebibyte; c.At(1e15) > most {
		t.Errorf("an input larger than any that was seen gets %v, more than %v", c.At(1e15), most)
	}
	flat := Fit(uses, Options{NoSizes: true}).Kind("k").Memory
	if flat.Sized() || flat.High < 15.5e9 {
		t.Errorf("without sizes %+v", flat)
	}
	a, b := Count(uses, Fit(uses, Options{}).Rules, Rule{}), Count(uses, Fit(uses, Options{NoSizes: true}).Rules, Rule{})
	if a.Wasted > b.Wasted/3 || a.FailedShare() > 0.02 {
		t.Errorf("wasted %v by size, %v without; %v fail", a.Wasted, b.Wasted, a.FailedShare())
	}
}

// TestUnknownRange: sizes that are all the same give no information, so that a larger input gets
// more in proportion, within bounds.
func TestUnknownRange(t *testing.T) {
	var uses []Use
	for i := range 60 {
		uses = append(uses, Use{
			Kind: "k", In: 1e9 + float64(i), Config: i % 6, Run: 10, Memory: 1e9, Ended: true,
		})
	}
	c := Fit(uses, Options{}).Kind("k").Memory
	if c.At(1e9) > 1.2e9 || c.At(2e9) < 2e9 || c.At(1e12) > 5e9 {
		t.Errorf("%+v asks %v, %v and %v", c, c.At(1e9), c.At(2e9), c.At(1e12))
	}
}

// TestTry counts by hand: 3 GB needed, 1 GB asked, doubled twice; then a limit of time that is too short.
func TestTry(t *testing.T) {
	var a Tally
	a.Try(&Use{Memory: 3e9, Run: 100}, Constant(1e9), Constant(200))
	want := Tally{
		Tasks: 1, Failed: 1, Attempts: 3, Wasted: 1e9*100 + 2e9*100 + 1e9*100, Used: 3e11, Asked: 200 + 400 + 800, Ran: 100,
	}
	if a != want {
		t.Errorf("memory: %+v, want %+v", a, want)
	}
	var b Tally
	b.Try(&Use{Memory: 3e9, Run: 100}, Constant(4e9), Constant(60))
	want = Tally{Tasks: 1, Failed: 1, Attempts: 2, Wasted: 4e9*60 + 5e9*100, Used: 3e11, Asked: 180, Ran: 100}
	if b != want {
		t.Errorf("time: %+v, want %+v", b, want)
	}
	var c Tally
	c.Try(&Use{Memory: 3e9, Run: 100}, Rule{}, Rule{})
	if c != (Tally{Tasks: 1, Attempts: 1, Used: 3e11, Ran: 100}) {
		t.Errorf("without requests: %+v", c)
	}
}

// TestUsesOfLostAttempts: attempts that were killed go to their task, those of a task that never
// ended show a need of twice its memory, and an attempt that failed by itself shows nothing.
func TestUsesOfLostAttempts(t *testing.T) {
	w := &workflow.Workflow{
		Tasks: []workflow.Task{
			{ID: "A (1) #2", Kind: "A", Run: 50, Memory: 3e9, AskMemory: 4e9, AskTime: 100},
			{ID: "stage", Kind: "stage", Run: 1, Auxiliary: true},
			{ID: "B #4", Kind: "B", Run: math.NaN()},
		},
		Lost: []workflow.Lost{
			{Name: "A (1)", Kind: "A", Run: 20, AskMemory: 2e9, Killed: true},
			{Name: "A (2)", Kind: "A", Run: 30, AskMemory: 2e9, AskTime: 60, Killed: true},
			{Name: "C", Kind: "C", Run: 5},
		},
	}
	uses := Uses([]Execution{{w, "c"}})
	if len(uses) != 2 || len(uses[0].Killed) != 1 || !uses[0].Ended || uses[1].Ended || uses[1].Memory != 4e9 {
		t.Fatalf("%+v", uses)
	}
	now := CountRecorded(uses, Constant(8e9))
	if now.Failed != 2 || now.Unended != 1 || now.Attempts != 3 || now.Wasted != 1e9*50+2e9*20+2e9*30 {
		t.Errorf("%+v", now)
	}
}

// TestJudgeSeesOthersOnly: no part is sized by its own tasks, and each task is counted once.
func TestJudgeSeesOthersOnly(t *testing.T) {
	var uses []Use
	for i := range 50 {
		uses = append(uses, Use{Kind: "k", Execution: i % 25, Run: 1, Memory: 1, Ended: true})
	}
	for _, most := range []int{0, 4} {
		parts := 0
		got, ok := Judge(uses, func(seen []Use) func(*Use) (Rule, Rule) {
			parts++
			return func(u *Use) (Rule, Rule) {
				if slices.ContainsFunc(seen, func(s Use) bool { return s.Execution == u.Execution }) {
					t.Errorf("execution %d was seen", u.Execution)
				}
				return Constant(1), Rule{}
			}
		}, ByExecution, most, Rule{})
		want := 25
		if most > 0 {
			want = most
		}
		if !ok || got.Tasks != 50 || parts != want {
			t.Errorf("%v %v, %d parts", got, ok, parts)
		}
	}
	if _, ok := Judge(uses[:1], Fitted(Options{}), ByExecution, 0, Rule{}); ok {
		t.Error("one execution was left out of itself")
	}
}
