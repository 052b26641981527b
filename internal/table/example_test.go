package table_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// Recorded runs are played back to a search, in simulated time: two runs of each of
// three configurations, 21 s of recorded time, pass at once.
func Example() {
	ctx := context.Background()
	recorded, err := table.Read(strings.NewReader(`threads,first,second
1,8.0,6.0
2,3.0,2.0
4,1.0,1.0
`), table.Spec{
		File: "runs.csv", Parameters: []string{"threads"},
		Metrics: map[string][]string{"elapsed": {"first", "second"}}, // two columns: two repetitions
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	space, err := recorded.Space()
	if err != nil {
		fmt.Println(err)
		return
	}
	records := store.NewMem()
	if err := records.Create(ctx, "again", nil); err != nil {
		fmt.Println(err)
		return
	}
	clock := &table.SimClock{}
	s := &study.Study{
		Name: "again", Store: records, Space: space,
		Goal:     assay.Goal{Metric: "elapsed", Grows: true},
		Searcher: search.NewGrid(space, search.GridOptions{}),
		Runner:   table.NewReplay(recorded, clock, nil),
		Clock:    clock, // the replay and the study have the same clock
		Command:  func(c assay.Config) (assay.Job, error) { return assay.Job{Config: c}, nil },
	}
	result, err := s.Run(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range result.Trials {
		fmt.Println(space.Text(t.Config), t.Value)
	}
	best, err := recorded.Optimum(s.Goal, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("simulated", result.Spent, "- the best by its mean is", space.Text(best.Config))
	// Output:
	// threads=1 8
	// threads=2 3
	// threads=4 1
	// simulated 12s - the best by its mean is threads=4
}
