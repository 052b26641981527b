package online_test

import (
	"context"
	"fmt"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/online"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
)

// One process of a program tunes itself: it joins, and around each of its iterations
// it fetches a configuration and reports how long the iteration took.
func Example() {
	ctx := context.Background()
	records := store.NewMem()
	if err := records.Create(ctx, "solver", nil); err != nil {
		fmt.Println(err)
		return
	}
	space, err := assay.NewSpace([]assay.Param{
		{Name: "block", Kind: assay.Ordinal, Levels: []string{"16", "32", "64", "128"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	session, err := online.Open(ctx, online.Options{
		Name: "solver", Store: records, Space: space, Default: assay.Config{0},
		Searcher: func(epoch int) (assay.Searcher, error) {
			return search.NewGrid(space, search.GridOptions{}), nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	const me = "rank-0-of-this-run"
	if err := session.Join(0, me); err != nil {
		fmt.Println(err)
		return
	}
	seconds := []float64{4, 2, 1, 3} // of an iteration, by block
	for session.Status().State == "searching" {
		turn, err := session.Fetch(me) // never waits for the search
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := session.Report(me, turn.ID, seconds[int(turn.Config[0])], ""); err != nil {
			fmt.Println(err)
			return
		}
	}
	turn, err := session.Fetch(me)
	fmt.Println(space.Text(turn.Config), "for the rest of the run", err)
	fmt.Println("recorded:", session.Close() == nil)
	// Output:
	// block=64 for the rest of the run <nil>
	// recorded: true
}
