package prune

import (
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/search"
)

// knowledge is of two earlier studies of a space.
func knowledge(space *assay.Space) *Knowledge {
	return NewKnowledge(space, testGoal, []Study{
		earlier("a", space, 30, 1, bowl(space, 0.2)), earlier("b", space, 30, 2, bowl(space, 0.9)),
	})
}

// A Transfer is resumed with its inner searcher: one with memos of its own, one
// without, and one that has to wait, behind a wrapper that asks it for less.
func TestTransferResumes(t *testing.T) {
	t.Parallel()
	testbed.Long(t)
	small := func(s *assay.Space) bool { return len(s.Features()) < 12 }
	for name, build := range map[string]func(*assay.Space) assay.Searcher{
		"random": func(space *assay.Space) assay.Searcher {
			return NewTransfer(search.NewRandom(space, 1), knowledge(space), TransferOptions{Seed: 1})
		},
		"pruned bayes": func(space *assay.Space) assay.Searcher {
			p := must(New(quick(space), knowledge(space), Options{Alpha: 0.8}))
			return search.Cache(NewTransfer(p, knowledge(space), TransferOptions{Seed: 1}))
		},
		"waiting": func(space *assay.Space) assay.Searcher {
			p := search.NewPRO(space, search.SimplexOptions{Restarts: -1, Remember: true})
			t := NewTransfer(p, knowledge(space), TransferOptions{Seed: 1})
			return search.Replicate(t, 3, slices.Min)
		},
		"reuse": func(space *assay.Space) assay.Searcher {
			return search.Replicate(NewReuse(search.NewRandom(space, 1), knowledge(space), 3), 2, slices.Min)
		},
	} {
		t.Run(name, func(t *testing.T) {
			assaytest.TestResumer(t, build, assaytest.SearcherOptions{Trials: testbed.Times(40, 120), Supports: small})
		})
	}
}

// The first proposals depend on each other: resumed after any of them, the next is
// the same.
func TestTransferResumesPortfolio(t *testing.T) {
	space := grid()
	build := func() *Transfer {
		k := NewKnowledge(space, testGoal, []Study{
			earlier("a", space, 40, 1, bowl(space, 0)), earlier("b", space, 40, 2, bowl(space, 1)),
			earlier("c", space, 40, 3, bowl(space, 0.5)),
		})
		return NewTransfer(search.NewRandom(space, 1), k, TransferOptions{First: 6})
	}
	want := must(build().Ask(8))
	for n := 1; n < 8; n++ {
		one, two := build(), build()
		var memos [][]byte
		for range n {
			must(one.Ask(1))
			memos = append(memos, one.Memo())
		}
		if err := two.Recall(memos); err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			if p := must(two.Ask(1))[0]; !p.Config.Equal(want[i].Config) {
				t.Errorf("resumed after %d: proposal %d is %v, want %v", n, i+1, p.Config, want[i].Config)
			}
		}
	}
}

// The fields of a memo are input from outside, and are checked.
func TestTransferRecallChecks(t *testing.T) {
	space := grid()
	build := func() *Transfer {
		return NewTransfer(quick(space), knowledge(space), TransferOptions{Seed: 1})
	}
	one := build()
	must(one.Ask(4))
	memo := string(one.Memo())
	if err := build().Recall([][]byte{[]byte(memo)}); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"v":1`, `"v":2`},
		{"seed 1", "seed 2"},
		{`"after":0`, `"after":-1`},
		{`"ours":[`, `"ours":[[1],`},
		{`"ended":0`, `"ended":-1`},
		{`"inner":"`, `"inner":"AAAA`},
		{`{`, `[`},
	} {
		changed := strings.Replace(memo, c[0], c[1], 1)
		if changed == memo {
			t.Fatalf("no %s in %s", c[0], memo)
		}
		if err := build().Recall([][]byte{[]byte(changed)}); err == nil {
			t.Errorf("%s in place of %s can be recalled", c[1], c[0])
		}
	}
	plain := NewTransfer(search.NewRandom(space, 1), knowledge(space), TransferOptions{Seed: 1})
	if plain.Recall([][]byte{[]byte(memo)}) == nil {
		t.Error("a memo of a searcher inside can be recalled by one that has none")
	}
}
