package abtest_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/abtest"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/study"
)

// At most 4 of 200 whole studies of a program on which no parameter has an effect show a gain: the search, the choice
// of the best and the comparison together, on each kind of machine in turn. make test takes the first 7, of which at
// most 1 may.
func TestErrorOfStudies(t *testing.T) {
	testbed.Long(t)
	n, most := testbed.Times(7, 200), testbed.Times(1, 4)
	all := abtest.Machines(t)
	names := slices.Sorted(maps.Keys(all))
	wrong, compared := map[string]int{}, 0
	for i := range n {
		name := names[i%len(names)]
		v, ok := studyOfEquals(t, all[name], uint64(i))
		if ok && v.Pairs > 0 {
			compared++
		}
		if ok && v.Verdict == stats.Less {
			wrong[name]++
		}
	}
	sum := 0
	for _, k := range wrong {
		sum += k
	}
	t.Logf("%d of %d studies show a gain: %v; %d compare", sum, n, wrong, compared)
	if sum > most {
		t.Errorf("%d of %d studies show a gain, %d at most: %v", sum, n, most, wrong)
	}
	if compared < n*3/4 {
		t.Errorf("%d of %d studies compare the best with the first", compared, n)
	}
}

// studyOfEquals runs a study as a command with a time budget has it, in simulated time.
func studyOfEquals(t *testing.T, m abtest.Machine, seed uint64) (study.Verdict, bool) {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{
		{Name: "a", Kind: assay.Integer, Lo: 1, Hi: 9}, {Name: "b", Kind: assay.Integer, Lo: 1, Hi: 9},
	})
	if err != nil {
		t.Fatal(err)
	}
	methods, err := bench.Methods("auto")
	if err != nil {
		t.Fatal(err)
	}
	goal := assay.Goal{Metric: "elapsed", Grows: true}
	p := bench.Problem{Space: space, Goal: goal, Time: 90 * time.Second}
	searcher, stopper, err := methods[0].New(&p, seed)
	if err != nil {
		t.Fatal(err)
	}
	next, clock := m(rand.New(rand.NewPCG(seed, 13))), &table.SimClock{}
	runner := bench.Simulate(clock, func(assay.Config) assay.Measurement {
		took := next()
		return assay.Measurement{Elapsed: time.Duration(took * 1e9), Metrics: map[string]float64{"elapsed": took}}
	})
	res, err := bench.Cell{
		Space: space, Goal: goal, Searcher: searcher, Stopper: stopper, Runner: runner, Clock: clock,
		Budget: study.Budget{Time: p.Time}, Race: true, Check: 200, Sequential: true,
	}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return res.Verdict(goal)
}
