package site_test

import (
	"fmt"
	"math"

	"github.com/assay-run/assay/internal/workflow/site"
	"github.com/assay-run/assay/workflow"
)

// A task of 1000 s reads 10 GB that are at home. The cloud is four times as fast,
// over a link of 100 MB/s: reading from home while it computes takes 100 s and is
// worth it.
func ExampleMakePlans() {
	net, err := site.NewNetwork([]site.Site{
		{Name: "home", Slots: 1, Speed: 1, Storage: math.Inf(1)},
		{Name: "cloud", Slots: 1, Speed: 4, Storage: 1e12},
	}, []site.Link{{A: 0, B: 1, Bandwidth: 100e6}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var b workflow.Builder
	if _, err := b.Task(workflow.Task{ID: "solve", Run: 1000, In: 10e9, Machine: -1}, workflow.Pos{}); err != nil {
		fmt.Println(err)
	}
	w, err := b.Build(workflow.FillOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	plans, err := site.MakePlans(w, net, site.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	at := plans.Best.Decisions[0]
	fmt.Printf("at %s, data at %s: %.0f s\n", net.Sites()[at.Compute].Name, net.Sites()[at.Storage].Name,
		plans.Best.Makespan)
	// Output:
	// at cloud, data at home: 350 s
}
