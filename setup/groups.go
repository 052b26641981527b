package setup

import (
	"fmt"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// grouped declares groups of parameters, which a searcher tunes in turn: a list of names with + between the names of
// one group. Parameters in no named group are the last group. Without the option the searcher covers the whole space.
func (f *fields) grouped(make func(*assay.Space, uint64) assay.Searcher) newSearcher {
	var groups [][]string
	f.list("groups", "a list of groups, the names of each with + between them", func(item string) error {
		groups = append(groups, strings.Split(item, "+"))
		return nil
	})
	// A turn of 0 leaves the length of a turn to the library.
	turn := 0
	f.int("turn", &turn, 1, 1_000_000)
	if groups == nil {
		if f.given("turn") {
			f.flaw("turn", "it is an option of groups")
		}
		return simply(make)
	}
	return func(space *assay.Space, seed uint64) (assay.Searcher, error) {
		indices, err := indicesOf(space, groups)
		if err != nil {
			f.flaw("groups", "%v", err)
			return nil, f.err
		}
		g, err := search.NewGroups(space, search.GroupOptions{
			Groups: indices, Turn: turn,
			Make: func(s *assay.Space, turn int) assay.Searcher { return make(s, seed+uint64(turn)) },
		})
		if err != nil {
			f.flaw("groups", "%v", err)
			return nil, f.err
		}
		return g, nil
	}
}

// indicesOf returns the parameters of the groups.
// The groups keep their order. An unknown name is an error; that a parameter is in two groups
// is for search.NewGroups to refuse.
func indicesOf(space *assay.Space, groups [][]string) (out [][]int, err error) {
	for _, names := range groups {
		var group []int
		for _, name := range names {
			i := space.Index(strings.TrimSpace(name))
			if i < 0 {
				return nil, fmt.Errorf("there is no parameter %q", name)
			}
			group = append(group, i)
		}
		out = append(out, group)
	}
	return out, nil
}
