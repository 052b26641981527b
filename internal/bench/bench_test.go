package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/search"
	"pgregory.net/rapid"
)

// A course is a simulated study of one parameter x = 0, 1, ...: the true value of
// each configuration, and the values of its runs.
type course struct {
	truth  []float64 // the cost, free of noise
	shown  []float64 // the measured cost; nil for the truth
	length []int     // of a run, s; nil for 1 s
	fails  int       // x below that exits with code 1
	noise  float64   // share by which a run of a seed differs, at most
	broken error     // of every run
}

// problem returns the course as a Problem.
func (c course) problem(t interface{ Fatal(...any) }, name string) Problem {
	n := len(c.truth)
	space, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Lo: 0, Hi: float64(n - 1)}})
	if err != nil {
		t.Fatal(err)
	}
	p := Problem{
		Name: name, Space: space, Goal: assay.Goal{Metric: "cost"}, Worst: slices.Max(c.truth),
		Optimum: slices.Min(c.truth), Median: c.seconds(n / 2),
		True: func(x assay.Config) (float64, bool) { return c.truth[int(x[0])], true },
	}
	p.Replay = func(seed uint64) (assay.Runner, assay.Clock) {
		r := &courseRunner{course: c, rng: rand.New(rand.NewPCG(seed, 0))}
		return r, &r.clock
	}
	return p
}

func (c course) seconds(x int) time.Duration {
	if c.length == nil {
		return time.Second
	}
	return time.Duration(c.length[x]) * time.Second
}

// A courseRunner runs a course in simulated time.
type courseRunner struct {
	course
	clock table.SimClock
	rng   *rand.Rand
}

func (r *courseRunner) Run(ctx context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	if r.broken != nil {
		return assay.Measurement{}, r.broken
	}
	x := int(job.Config[0])
	took := r.seconds(x)
	limited := job.Limit > 0 && job.Limit < took
	if limited {
		took = job.Limit
	}
	if err := r.clock.Sleep(ctx, job.ID.Trial, took); err != nil {
		return assay.Measurement{}, err
	}
	m := assay.Measurement{Elapsed: took}
	switch {
	case limited:
		return m, assay.ErrLimit
	case x < r.fails:
		m.ExitCode = 1
		return m, nil
	}
	cost := r.truth[x]
	if r.shown != nil {
		cost = r.shown[x]
	}
	m.Metrics = map[string]float64{"cost": cost * (1 + r.noise*r.rng.Float64())}
	return m, nil
}

// inOrder is a method that proposes x = 0, 1, 2, ...
var inOrder = Method{"in order", func(p *Problem, _ uint64) (assay.Searcher, assay.Stopper, error) {
	return search.NewGrid(p.Space, search.GridOptions{}), nil, nil
}}

var atRandom = Method{"at random", func(p *Problem, seed uint64) (assay.Searcher, assay.Stopper, error) {
	return search.NewRandom(p.Space, seed), nil, nil
}}

func trials(n int) Budget { return Budget{Kind: "trials", Value: float64(n), Trials: n} }

func seconds(s int) Budget {
	return Budget{Kind: "budget", Value: float64(s), Time: time.Duration(s) * time.Second}
}

func mustRun(t interface{ Fatal(...any) }, o Options) Report {
	o.Seeds = cmp.Or(o.Seeds, 1)
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	// Real time is the one thing that differs from run to run.
	for i := range r.Rows {
		if ms := r.Rows[i].OverheadMSPerTrial; !(ms >= 0) {
			t.Fatal(fmt.Sprintf("overhead of %v ms", ms))
		}
		r.Rows[i].OverheadMSPerTrial = 0
	}
	return r
}

// "RE = |f(x) - f(x*)| / f(x*)", with f the objective of the configuration found.
// Reference: Ding et al. 2022, eq. 6
func TestRelativeError(t *testing.T) {
	for _, tt := range []struct {
		name   string
		course course
		budget Budget
		want   float64
	}{
		{"the first of three", course{truth: []float64{8, 4, 2}}, trials(1), 3},
		{"the second", course{truth: []float64{8, 4, 2}}, trials(2), 1},
		{"the optimum", course{truth: []float64{8, 4, 2}}, trials(3), 0},
		{"more trials than configurations", course{truth: []float64{8, 4, 2}}, trials(9), 0},
		{"a later one that is worse", course{truth: []float64{4, 8, 2}}, trials(2), 1},
		{
			"a lucky run is judged by the truth",
			course{truth: []float64{8, 4, 2}, shown: []float64{1, 4, 2}},
			trials(3), 3,
		},
		{"an unlucky one is passed over", course{truth: []float64{2, 4, 8}, shown: []float64{5, 4, 8}}, trials(3), 1},
		{"a negative optimum", course{truth: []float64{-1, -2, -4}}, trials(2), 0.5},
		{"failures only are the worst row", course{truth: []float64{3, 8, 2}, fails: 2}, trials(2), 3},
		{"after failures", course{truth: []float64{3, 8, 2}, fails: 2}, trials(3), 0},
		{"no run ends in time", course{truth: []float64{2, 8}, length: []int{5, 5}}, seconds(4), 3},
	} {
		r := mustRun(t, Options{
			Problems: []Problem{tt.course.problem(t, "c")}, Methods: []Method{inOrder},
			Budgets: []Budget{tt.budget},
		})
		if got := r.Rows[0]; got.Mean != tt.want || got.Median != tt.want ||
			!slices.Equal(got.BySeed, []float64{tt.want}) || got.CI95 != [2]float64{tt.want, tt.want} {
			t.Errorf("%s: got %+v, want an error of %v", tt.name, got, tt.want)
		}
		if got := r.Geomean[0].RE; !(math.Abs(got-tt.want) <= 1e-12) {
			t.Errorf("%s: geometric mean %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A configuration that is not feasible in truth is no answer, however it ran.
func TestInfeasibleInTruth(t *testing.T) {
	p := course{truth: []float64{3, 4, 9}}.problem(t, "c")
	truth := p.True
	p.True = func(c assay.Config) (float64, bool) {
		v, _ := truth(c)
		return v, c[0] > 0
	}
	p.Optimum = 4
	r := mustRun(t, Options{
		Problems: []Problem{p}, Methods: []Method{inOrder},
		Budgets: []Budget{trials(1), trials(2)},
	})
	if a, b := r.Rows[0].Mean, r.Rows[1].Mean; a != 1.25 || b != 0 {
		t.Errorf("errors %v and %v, want that of the worst row, 1.25, and 0", a, b)
	}
}

// A run that breaks a limit has completed, and is no answer, however low its cost.
func TestInfeasibleRun(t *testing.T) {
	p := course{truth: []float64{8, 4, 2}, shown: []float64{1, 4, 2}}.problem(t, "c")
	p.Goal.Limits = []assay.Limit{{Text: "cost >= 2", Holds: func(metric func(string) (float64, bool)) (bool, error) {
		x, _ := metric("cost")
		return x >= 2, nil
	}}}
	r := mustRun(t, Options{Problems: []Problem{p}, Methods: []Method{inOrder}, Budgets: []Budget{trials(2)}})
	if got := r.Rows[0]; got.Mean != 1 || got.Completed != 2 {
		t.Errorf("an error of %v with %v completed, want 1 with 2", got.Mean, got.Completed)
	}
}

// A budget counts the trials that ended within it, to the very moment.
func TestBudgets(t *testing.T) {
	c := course{truth: []float64{10, 9, 8, 7, 6, 5}, length: []int{8, 1, 6, 5, 4, 3}, fails: 1}
	p := c.problem(t, "c") // a median of 5 s
	for _, tt := range []struct {
		budget    Budget
		completed float64
		spent     float64
		seconds   float64
		re        float64
	}{
		{trials(1), 0, 8, 0, 1},
		{trials(3), 2, 15, 0, 0.6},
		{trials(6), 5, 27, 0, 0},
		{seconds(8), 0, 8, 8, 1},
		{seconds(9), 1, 9, 9, 0.8},
		{seconds(15), 2, 15, 15, 0.6},
		{seconds(1000), 5, 27, 1000, 0},
		{Budget{Kind: "budget-x", Value: 3}, 2, 15, 15, 0.6},
		{Budget{Kind: "budget-x", Value: 1.8}, 1, 9, 9, 0.8},
	} {
		r := mustRun(t, Options{Problems: []Problem{p}, Methods: []Method{inOrder}, Budgets: []Budget{tt.budget}})
		got := r.Rows[0]
		if got.Completed != tt.completed || got.Spent != tt.spent || !(math.Abs(got.Mean-tt.re) <= 1e-12) {
			t.Errorf("%+v: completed %v in %v s with an error of %v, want %v in %v s with %v",
				tt.budget, got.Completed, got.Spent, got.Mean, tt.completed, tt.spent, tt.re)
		}
		if want := (BudgetAt{tt.budget.Kind, tt.budget.Value, tt.seconds}); got.Budget != want {
			t.Errorf("printed as %+v, want %+v", got.Budget, want)
		}
	}
}

// drawCourse draws a course whose values are positive.
func drawCourse(t *rapid.T) course {
	n := rapid.IntRange(1, 12).Draw(t, "n")
	return course{
		truth:  rapid.SliceOfN(rapid.Float64Range(0.1, 100), n, n).Draw(t, "truth"),
		length: rapid.SliceOfN(rapid.IntRange(1, 20), n, n).Draw(t, "length"),
		fails:  rapid.IntRange(0, n).Draw(t, "fails"),
	}
}

// Every budget, whatever stands beside it, is judged like a plain walk over the
// runs in order; an oracle that knows no study, no store and no clock.
func TestBudgetsAgreeWithOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCourse(t)
		p := c.problem(t, "c")
		var budgets []Budget
		for range rapid.IntRange(1, 4).Draw(t, "budgets") {
			if rapid.Bool().Draw(t, "by trials") {
				budgets = append(budgets, trials(rapid.IntRange(1, 15).Draw(t, "trials")))
			} else {
				budgets = append(budgets, seconds(rapid.IntRange(1, 150).Draw(t, "seconds")))
			}
		}
		r := mustRun(t, Options{Problems: []Problem{p}, Methods: []Method{inOrder}, Budgets: budgets})
		for i, b := range budgets {
			found, best, completed := p.Worst, math.Inf(1), 0.0
			var now time.Duration
			for x := range c.truth {
				if now += c.seconds(x); b.Trials > 0 && x >= b.Trials || b.Time > 0 && now > b.Time {
					break
				}
				if x < c.fails {
					continue
				}
				completed++
				if c.truth[x] < best {
					best, found = c.truth[x], c.truth[x]
				}
			}
			if got, want := r.Rows[i].Mean, (found-p.Optimum)/p.Optimum; !(math.Abs(got-want) <= 1e-9*(1+want)) {
				t.Errorf("%+v of %+v: error %v, want %v", b, budgets, got, want)
			}
			if r.Rows[i].Completed != completed || r.Rows[i].Trials < completed {
				t.Errorf("%+v of %+v: completed %v of %v, want %v", b, budgets, r.Rows[i].Completed, r.Rows[i].Trials,
					completed)
			}
		}
	})
}

// manyCourses are two problems with noise, for methods with seeds.
func manyCourses(t *testing.T) []Problem {
	rng := rand.New(rand.NewPCG(3, 3))
	var ps []Problem
	for k := range 2 {
		c := course{noise: 0.3}
		for range 40 {
			c.truth, c.length = append(c.truth, 1+9*rng.Float64()), append(c.length, 1+rng.IntN(9))
		}
		ps = append(ps, c.problem(t, fmt.Sprint("course ", k)))
	}
	return ps
}

// The report is the same for the same options, by any number of workers.
func TestDeterministicBySeed(t *testing.T) {
	o := Options{
		Problems: manyCourses(t), Methods: []Method{atRandom, inOrder}, Seeds: 6, Curve: true,
		Budgets: []Budget{trials(5), trials(20), seconds(30), {Kind: "budget-x", Value: 10}},
	}
	want := mustRun(t, o)
	for _, workers := range []int{1, 4} {
		o.Workers = workers
		if got := mustRun(t, o); !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers: got %+v, want %+v", workers, got, want)
		}
	}
	if row := want.Rows[0]; slices.Min(row.BySeed) == slices.Max(row.BySeed) {
		t.Errorf("all seeds give %v: nothing depends on them", row.BySeed)
	}
}

// Fewer seeds, methods, problems or budgets leave the other results as they were: every
// run has the seed of its column, whatever runs beside it.
func TestRunsAreIndependent(t *testing.T) {
	all := Options{
		Problems: manyCourses(t), Methods: []Method{inOrder, atRandom}, Seeds: 7,
		Budgets: []Budget{trials(4), trials(12), seconds(40)},
	}
	rows := map[string]Row{}
	name := func(r Row) string { return fmt.Sprint(r.Study, r.Method, r.Budget) }
	for _, r := range mustRun(t, all).Rows {
		rows[name(r)] = r
	}
	few := Options{
		Problems: all.Problems[1:], Methods: all.Methods[1:], Seeds: 4,
		Budgets: []Budget{trials(12), seconds(40)},
	}
	for _, r := range mustRun(t, few).Rows {
		if want := rows[name(r)].BySeed[:few.Seeds]; !slices.Equal(r.BySeed, want) {
			t.Errorf("%s: got %v by seed, want %v", name(r), r.BySeed, want)
		}
	}
}

// Methods are compared seed by seed: a method and the noise of a problem have
// seed k+1 in column k, and the method gets the budget that counts.
func TestSeedsArePaired(t *testing.T) {
	type built struct {
		method, problem string
		seed            uint64
		byTrials        bool
		time            time.Duration
	}
	var mu sync.Mutex
	got := map[built]int{}
	replayed := map[uint64]int{}
	spy := func(name string) Method {
		return Method{name, func(p *Problem, seed uint64) (assay.Searcher, assay.Stopper, error) {
			mu.Lock()
			defer mu.Unlock()
			got[built{name, p.Name, seed, p.ByTrials, p.Time}]++
			return search.NewGrid(p.Space, search.GridOptions{}), nil, nil
		}}
	}
	p := course{truth: []float64{3, 2, 1}, noise: 0.1}.problem(t, "c")
	replay := p.Replay
	p.Replay = func(seed uint64) (assay.Runner, assay.Clock) {
		mu.Lock()
		defer mu.Unlock()
		replayed[seed]++
		return replay(seed)
	}
	mustRun(t, Options{
		Problems: []Problem{p}, Methods: []Method{spy("a"), spy("b")}, Seeds: 3, Workers: 2,
		Budgets: []Budget{trials(1), seconds(20), trials(2), seconds(10)},
	})
	want := map[built]int{}
	for seed := range uint64(3) {
		for _, m := range []string{"a", "b"} {
			want[built{m, "c", seed + 1, true, 0}] = 1
			want[built{m, "c", seed + 1, false, 20 * time.Second}] = 1
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("built %v, want %v", got, want)
	}
	if want := map[uint64]int{1: 4, 2: 4, 3: 4}; !reflect.DeepEqual(replayed, want) {
		t.Errorf("replayed by seed %v, want %v", replayed, want)
	}
	if p.ByTrials || p.Time != 0 {
		t.Errorf("the caller's problem was changed: %v, %v", p.ByTrials, p.Time)
	}
}

// The geometric mean is over problems and seeds, each problem weighing the same.
func TestGeomean(t *testing.T) {
	o := Options{
		Problems: manyCourses(t), Methods: []Method{inOrder, atRandom}, Seeds: 9,
		Budgets: []Budget{trials(3), seconds(25)},
	}
	r := mustRun(t, o)
	if len(r.Rows) != 2*2*2 || len(r.Geomean) != 2*2 || !slices.Equal(r.Studies, []string{"course 0", "course 1"}) ||
		!slices.Equal(r.Methods, []string{"in order", "at random"}) {
		t.Fatalf("%d rows and %d means of %v by %v", len(r.Rows), len(r.Geomean), r.Studies, r.Methods)
	}
	for _, g := range r.Geomean {
		var logs []float64
		for _, row := range r.Rows {
			if row.Method != g.Method || row.Budget != g.Budget {
				continue
			}
			for _, re := range row.BySeed {
				logs = append(logs, math.Log(1+re))
			}
			if row.Mean != stats.Mean(row.BySeed) || row.Median != stats.Median(row.BySeed) ||
				!(row.CI95[0] <= row.Mean && row.Mean <= row.CI95[1]) {
				t.Errorf("row %+v", row)
			}
		}
		if want := math.Exp(stats.Mean(logs)) - 1; len(logs) != 18 || !(math.Abs(g.RE-want) <= 1e-12) {
			t.Errorf("%s at %v: got %v, want %v of 18 runs, not %d", g.Method, g.Budget, g.RE, want, len(logs))
		}
		if !(g.CI95[0] <= g.RE && g.RE <= g.CI95[1]) {
			t.Errorf("%s at %v: %v is not in %v", g.Method, g.Budget, g.RE, g.CI95)
		}
	}
}

// A curve falls from the error after a tenth of the budget to the error after all of it.
func TestCurve(t *testing.T) {
	c := course{truth: []float64{20, 18, 16, 14, 12, 10, 8, 6, 4, 2}}
	o := Options{
		Problems: []Problem{c.problem(t, "c")}, Methods: []Method{inOrder},
		Budgets: []Budget{trials(10), seconds(5), trials(3)}, Curve: true,
	}
	r := mustRun(t, o)
	for i, want := range [][]float64{
		{9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
		{9, 9, 9, 8, 8, 7, 7, 6, 6, 5}, // before the first trial has ended it is the worst row
		{9, 9, 9, 9, 9, 9, 8, 8, 8, 7}, // no part of a trial
	} {
		if got := r.Rows[i].Curve; !slices.Equal(got, want) {
			t.Errorf("%+v: got %v, want %v", o.Budgets[i], got, want)
		}
		if last := r.Rows[i].Curve[9]; last != r.Rows[i].Mean {
			t.Errorf("%+v: the curve ends at %v, the error is %v", o.Budgets[i], last, r.Rows[i].Mean)
		}
	}
	o.Curve = false
	if got := mustRun(t, o).Rows[0].Curve; got != nil {
		t.Errorf("a curve that was not asked for: %v", got)
	}
}

func TestProgress(t *testing.T) {
	var got []int
	o := Options{
		Problems: manyCourses(t), Methods: []Method{inOrder}, Seeds: 3, Workers: 3,
		Budgets: []Budget{trials(2), seconds(9)},
		Progress: func(done, total int) {
			if total != 2*3*2 {
				t.Errorf("%d in all, want 12", total)
			}
			got = append(got, done)
		},
	}
	mustRun(t, o)
	if !slices.Equal(got, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) {
		t.Errorf("got %v", got)
	}
}

func TestBadOptions(t *testing.T) {
	good := func() Options {
		return Options{
			Problems: []Problem{course{truth: []float64{2, 1}}.problem(t, "c")},
			Methods:  []Method{inOrder}, Budgets: []Budget{trials(1)}, Seeds: 1,
		}
	}
	for want, spoil := range map[string]func(o *Options){
		"no problem":         func(o *Options) { o.Problems = nil },
		"no method":          func(o *Options) { o.Methods = nil },
		"no budget":          func(o *Options) { o.Budgets = nil },
		"0 seeds":            func(o *Options) { o.Seeds = 0 },
		"-1 seeds":           func(o *Options) { o.Seeds = -1 },
		"-2 workers":         func(o *Options) { o.Workers = -2 },
		"an optimum of 0":    func(o *Options) { o.Problems[0].Optimum = 0 },
		"an optimum of NaN":  func(o *Options) { o.Problems[0].Optimum = math.NaN() },
		"of 0 trials and 0s": func(o *Options) { o.Budgets = append(o.Budgets, Budget{Kind: "trials"}) },
		"of -1 trials":       func(o *Options) { o.Budgets[0].Trials = -1 },
		"and -1s":            func(o *Options) { o.Budgets = []Budget{seconds(-1)} },
		"of 1 trials and 1s": func(o *Options) { o.Budgets[0].Time = time.Second },
		`"budget-x" of 0 trials and 0s`: func(o *Options) {
			o.Problems[0].Median, o.Budgets[0] = 0,
				Budget{Kind: "budget-x", Value: 2}
		},
		"in order on c, seed 1: no trial": func(o *Options) { o.Methods[0].New = newEnded },
		"in order on c, seed 1: odd name": func(o *Options) {
			o.Methods[0].New = func(*Problem, uint64) (assay.Searcher, assay.Stopper, error) {
				return nil, nil,
					errors.New("odd name")
			}
		},
	} {
		o := good()
		spoil(&o)
		if r, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) || len(r.Rows) > 0 {
			t.Errorf("got %v and %v, want an error that says %q", r, err, want)
		}
	}
	if _, err := Run(t.Context(), good()); err != nil {
		t.Error(err)
	}
}

// newEnded builds a search that has ended before it began.
func newEnded(p *Problem, _ uint64) (assay.Searcher, assay.Stopper, error) {
	g := search.NewGrid(p.Space, search.GridOptions{})
	for {
		if _, err := g.Ask(1); err != nil {
			return g, nil, nil
		}
	}
}

// The error of a run ends everything and names the run.
func TestRunError(t *testing.T) {
	broken := fmt.Errorf("no disk: %w", assay.ErrSetup)
	ps := []Problem{
		course{truth: []float64{2, 1}}.problem(t, "good"),
		course{truth: []float64{2, 1}, broken: broken}.problem(t, "bad"),
	}
	for _, workers := range []int{1, 3} {
		_, err := Run(t.Context(), Options{
			Problems: ps, Methods: []Method{inOrder}, Budgets: []Budget{trials(2)},
			Seeds: 50, Workers: workers,
		})
		if !errors.Is(err, assay.ErrSetup) || !strings.Contains(err.Error(), "in order on bad, seed ") {
			t.Errorf("%d workers: got %v", workers, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	runs := 0
	_, err := Run(ctx, Options{
		Problems: manyCourses(t), Methods: []Method{atRandom}, Budgets: []Budget{trials(3)}, Seeds: 1000,
		Progress: func(done, _ int) {
			if runs = done; done == 2 {
				cancel(enough)
			}
		},
	})
	if !errors.Is(err, enough) || runs > 3 {
		t.Errorf("got %v after %d runs, want the cause after 2 or 3", err, runs)
	}
}
