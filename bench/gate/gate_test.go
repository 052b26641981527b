// Package gate holds four small recorded tables, made by programs of its own, and the errors
// of the default search on them. It tests the studies of published tables in bench/studies too.
package gate

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// command makes the tables and the recorded errors again.
const command = "go test ./bench/gate -update"

var update = flag.Bool("update", false, "make the tables and the recorded errors again")

const (
	design = 20   // trials after which the proposals count
	parts  = 10   // of a budget, at the end of each of which the best is judged
	margin = 0.10 // of the recorded errors
	slack  = 0.01 // and this much, where they are close to 0
)

// budgets are the budgets of the tables. One that counts time stops runs early, as the default
// of a study does; one that counts trials exceeds the trials that the process of auto sees.
var budgets = map[string]spec.Budget{
	"flags":  {Time: 30 * median},
	"sizes":  {Trials: 150},
	"needle": {Time: 40 * median},
	"tails":  {Trials: 150},
}

// median stands for the median run of the table.
const median = time.Nanosecond

// errors of a search: means over the seeds of log(time/optimum), where the time is the true one.
type errors struct {
	// Found is the error of the best so far, at the ends of ten equal parts of the budget.
	Found float64 `json:"found"`
	// Asked is the error of the proposals after the first trials.
	Asked float64 `json:"asked"`
}

// recorded has the errors of the first seed, for make test, and means of five seeds, for make system.
type recorded struct {
	Command string            `json:"command"`
	First   map[string]errors `json:"first"`
	Errors  map[string]errors `json:"errors"`
}

// The errors of auto are the recorded ones. An error that is larger is a defect. One that is
// smaller by more than the margin shows a change too: know why, and record it.
//
// Not all that breaks auto makes both errors larger: a search that knows less may ask for
// better configurations and find the best one later.
func TestAuto(t *testing.T) {
	file := filepath.Join("testdata", "errors.json")
	if *update {
		write(t)
	}
	now := recorded{command, map[string]errors{}, map[string]errors{}}
	for _, s := range sources() {
		now.First[s.name] = errorsOn(t, s.name, 1)
		if *update || testbed.IsSystem() {
			now.Errors[s.name] = errorsOn(t, s.name, 5)
		}
		t.Logf("%s: first seed %+v, five seeds %+v", s.name, now.First[s.name], now.Errors[s.name])
	}
	if *update {
		text, err := json.MarshalIndent(now, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(text, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var was recorded
	if err := json.Unmarshal(text, &was); err != nil {
		t.Fatal(err)
	}
	compare := func(now, was map[string]errors) {
		for name, e := range now {
			w, ok := was[name]
			if !ok {
				t.Errorf("%s is not in %s: %s", name, file, command)
			}
			check(t, name+": found", e.Found, w.Found)
			check(t, name+": asked", e.Asked, w.Asked)
		}
	}
	compare(now.First, was.First)
	compare(now.Errors, was.Errors)
}

func check(t *testing.T, what string, now, was float64) {
	t.Helper()
	switch room := margin*was + slack; {
	case now > was+room:
		t.Errorf("%s: error %.4f, recorded %.4f: auto is worse", what, now, was)
	case now < was-room:
		t.Errorf("%s: error %.4f, recorded %.4f: know why it is less, then %s", what, now, was, command)
	}
}

// errorsOn returns the errors of the default method on a table, over the first seeds.
func errorsOn(t *testing.T, name string, seeds int) (mean errors) {
	t.Helper()
	def, warnings, err := spec.Load(filepath.Join("testdata", name+".yaml"), nil)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	p, err := setup.New(def, setup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	budget := budgets[name]
	budget.Time *= p.Table.MedianElapsed() / median
	for seed := range uint64(seeds) {
		e := judge(t, p, budget, search(t, p, budget, seed+1))
		mean.Found += e.Found / float64(seeds)
		mean.Asked += e.Asked / float64(seeds)
	}
	return mean
}

func search(t *testing.T, p *setup.Problem, budget spec.Budget, seed uint64) []assay.Trial {
	t.Helper()
	return play(t, p, budget, seed, func(*bench.Cell) {}).Trials
}

// play runs the default method on a table, in a cell that edit has changed.
func play(
	t *testing.T, p *setup.Problem, budget spec.Budget, seed uint64, edit func(*bench.Cell),
) study.Result {
	t.Helper()
	method, err := setup.MethodOf(setup.DefaultSearcher)
	if err != nil {
		t.Fatal(err)
	}
	searcher, stopper, err := method.Make(p.Space, p.Goal, seed, budget)
	if err != nil {
		t.Fatal(err)
	}
	clock := &table.SimClock{}
	c := bench.Cell{
		Space: p.Space, Goal: p.Goal, Searcher: searcher, Stopper: stopper,
		Runner: table.NewReplay(p.Table, clock, spec.Grows), Clock: clock, Interval: p.Interval(),
		Budget: study.Budget{Trials: budget.Trials, Time: budget.Time},
	}
	edit(&c)
	r, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// judge returns the errors of a search by its trials, in the order they ended.
func judge(t *testing.T, p *setup.Problem, budget spec.Budget, trials []assay.Trial) (e errors) {
	t.Helper()
	optimum, err := p.Table.Optimum(p.Goal, nil)
	if err != nil {
		t.Fatal(err)
	}
	truth := bench.Truth(p.Table, p.Goal)
	var best [parts]float64 // by the part at whose end it was known
	for k := range best {
		best[k] = p.Table.MedianElapsed().Seconds() // of a search that has found nothing
	}
	for i, x := range trials {
		v, _ := truth(x.Config)
		if i >= design {
			e.Asked += math.Log(v/optimum.Value) / float64(len(trials)-design)
		}
		if x.State != assay.Done {
			continue
		}
		used := float64(i+1) / float64(max(1, budget.Trials))
		if budget.Time > 0 {
			used = x.Ended.Sub(trials[0].Started).Seconds() / budget.Time.Seconds()
		}
		for k := max(0, int(math.Ceil(used*parts))-1); k < parts; k++ {
			best[k] = min(best[k], v)
		}
	}
	for _, v := range best {
		e.Found += math.Log(v/optimum.Value) / parts
	}
	return e
}
