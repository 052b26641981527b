package assay_test

import (
	"fmt"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// A relation ties parameters together. A configuration that breaks it is no member of the space: it
// is not counted, not drawn and not proposed.
func ExampleRelation() {
	params := []assay.Param{
		{Name: "threads", Kind: assay.Integer, Lo: 1, Hi: 8},
		{Name: "buffer", Kind: assay.Integer, Lo: 16, Hi: 128, Step: 16, Unit: "MiB"},
	}
	fits := assay.Relation{
		Text: "threads * buffer <= 256", Params: []int{0, 1},
		Holds: func(c assay.Config) bool { return c[0]*c[1] <= 256 },
	}
	space, err := assay.NewSpace(params, fits)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("members:", space.Size())
	_, err = space.Parse(map[string]string{"threads": "8", "buffer": "64"})
	fmt.Println(err)
	c, err := space.Parse(map[string]string{"threads": "4", "buffer": "64"})
	fmt.Println(space.Text(c), err)
	// Output:
	// members: 34
	// threads=8 buffer=64 does not satisfy "threads * buffer <= 256"
	// threads=4 buffer=64 <nil>
}

// A space may be an explicit list, such as the configurations that were recorded.
func ExampleNewList() {
	space, err := assay.NewList(
		[]assay.Param{{
			Name: "machine", Kind: assay.Categorical,
			Levels: []string{"m5.large", "c5.xlarge", "r5.large"},
		}},
		[]assay.Config{{0}, {2}},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for c := range space.All() {
		fmt.Println(space.Text(c))
	}
	fmt.Println(space.Check(assay.Config{1}))
	// Output:
	// machine=m5.large
	// machine=r5.large
	// machine=c5.xlarge is not one of the 2 listed configurations
}

// A Searcher is run by hand: ask for proposals, measure them in any way, tell the
// results. Package study does this with a record, limits and early stopping.
func ExampleSearcher() {
	space, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Lo: 0, Hi: 15}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var searcher assay.Searcher = search.NewSobol(space, 1)
	var trials []assay.Trial
	for len(trials) < 8 {
		proposals, err := searcher.Ask(2)
		if err != nil {
			fmt.Println(err) // assay.ErrDone: the search has ended by itself
			return
		}
		for _, p := range proposals {
			x := p.Config[0]
			t := assay.Trial{Proposal: p, State: assay.Done, Value: (x - 11) * (x - 11)}
			if err := searcher.Tell(t); err != nil {
				fmt.Println(err)
				return
			}
			trials = append(trials, t)
		}
	}
	best, ok := assay.Best(trials)
	fmt.Println(ok, best.Value <= 1)
	// A proposal is told once.
	fmt.Println(searcher.Tell(best) != nil)
	// Output:
	// true true
	// true
}

// An ability of a searcher is found through its wrappers by As. Replicate has each
// configuration run three times and tells the inner searcher the least value. It ends
// one ability, to leave out values while a search goes on, and keeps the others.
func ExampleAs() {
	space, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Lo: 0, Hi: 99}})
	if err != nil {
		fmt.Println(err)
		return
	}
	inner := search.NewAuto(space, search.AutoOptions{Seed: 1})
	searcher := search.Replicate(inner, 3, slices.Min[[]float64])

	proposals, err := searcher.Ask(9)
	if err != nil {
		fmt.Println(err)
		return
	}
	runs := map[string]int{}
	for _, p := range proposals {
		runs[p.Config.Key()]++
	}
	fmt.Println(len(proposals), "runs of", len(runs), "configurations")

	_, isHinter := searcher.(assay.Hinter)
	_, hints := assay.As[assay.Hinter](searcher)
	_, narrows := assay.As[assay.Narrower](searcher)
	fmt.Println("takes a hint:", hints, "- as a type assertion sees it:", isHinter)
	fmt.Println("can leave out values:", narrows)
	// Output:
	// 9 runs of 3 configurations
	// takes a hint: true - as a type assertion sees it: false
	// can leave out values: false
}

// A Goal turns a measurement into the value that a search minimizes.
func ExampleGoal() {
	goal := assay.Goal{Metric: "fps", Maximize: true, Limits: []assay.Limit{{
		Text: "psnr >= 40",
		Holds: func(metric func(string) (float64, bool)) (bool, error) {
			x, ok := metric("psnr")
			if !ok {
				return false, fmt.Errorf("psnr was not measured")
			}
			return x >= 40, nil
		},
	}}}
	m := assay.Measurement{Metrics: map[string]float64{"fps": 62.5, "psnr": 38.2}}
	value, err := goal.Value(m)
	fmt.Println(value, err)
	broken, err := goal.Broken(m)
	fmt.Println(broken, err)
	fmt.Println(goal.Show(value))
	// Output:
	// -62.5 <nil>
	// psnr >= 40 <nil>
	// 62.5
}
