package assaytest

import (
	"fmt"
	"math"
	"time"

	"github.com/assay-run/assay"
)

// A Problem is a synthetic objective with a known optimum. Value is a cheap,
// deterministic function with positive values, like an elapsed time in seconds;
// it is safe for concurrent use.
type Problem struct {
	Name    string
	Space   *assay.Space
	Value   func(assay.Config) float64
	Best    assay.Config // a configuration with the least value
	Optimum float64      // its value
}

// Trial returns the finished trial of a proposal, which took Value seconds.
func (p Problem) Trial(q assay.Proposal) assay.Trial {
	v := p.Value(q.Config)
	elapsed := time.Duration(v * float64(time.Second))
	return assay.Trial{
		Proposal: q, State: assay.Done, Value: v, Measurement: assay.Measurement{Elapsed: elapsed},
		Attempts: 1,
	}
}

// Problems returns the problems of this package.
func Problems() []Problem {
	return []Problem{Bowl(), Valley(), Interaction(), Constrained(), Table()}
}

// Bowl is easy: a separable, unimodal function of two reals, one of them
// logarithmic, and an integer, with 1 at the bottom.
func Bowl() Problem {
	space := must(assay.NewSpace([]assay.Param{
		{Name: "x", Kind: assay.Real, Lo: -5, Hi: 5},
		{Name: "rate", Kind: assay.Real, Lo: 1e-4, Hi: 1, Log: true},
		{Name: "k", Kind: assay.Integer, Lo: 0, Hi: 20},
	}))
	return Problem{
		Name: "bowl", Space: space, Best: assay.Config{1, 0.01, 7}, Optimum: 1,
		Value: func(c assay.Config) float64 {
			x, r, k := (c[0]-1)/5, math.Log10(c[1]/0.01)/2, (c[2]-7)/10
			return 1 + x*x + r*r + k*k
		},
	}
}

// Valley is hard for coordinate search: Rosenbrock's function on a grid of
// integers, a curved valley with 1 at its end (Rosenbrock 1960), log-compressed.
func Valley() Problem {
	space := must(assay.NewSpace([]assay.Param{
		{Name: "i", Kind: assay.Integer, Lo: -20, Hi: 20},
		{Name: "j", Kind: assay.Integer, Lo: -10, Hi: 40},
	}))
	return Problem{
		Name: "valley", Space: space, Best: assay.Config{10, 10}, Optimum: 1,
		Value: func(c assay.Config) float64 {
			x, y := c[0]/10, c[1]/10
			return 1 + math.Log1p(100*(y-x*x)*(y-x*x)+(1-x)*(1-x))
		},
	}
}

// Interaction is deceptive: the good level of one category depends on the level of the other, and the best pair, 1,
// hides among pairs that are bad on average. A switch and an ordered parameter scale the result.
func Interaction() Problem {
	space := must(assay.NewSpace([]assay.Param{
		{Name: "solver", Kind: assay.Categorical, Levels: []string{"cg", "gmres", "lu", "multigrid"}},
		{Name: "preconditioner", Kind: assay.Categorical, Levels: []string{"none", "jacobi", "ilu", "amg", "ssor"}},
		{Name: "block", Kind: assay.Ordinal, Levels: []string{"16", "32", "64", "128", "256"}},
		{Name: "pinned", Kind: assay.Switch, Levels: []string{"off", "on"}},
	}))
	pairs := [4][5]float64{
		{8, 6, 4, 5, 5},
		{9, 7, 5, 3, 6},
		{4, 4, 4, 4, 4},
		{20, 15, 1, 12, 10},
	}
	return Problem{
		Name: "interaction", Space: space, Best: assay.Config{3, 2, 2, 1}, Optimum: 1,
		Value: func(c assay.Config) float64 {
			v := pairs[int(c[0])][int(c[1])]
			v *= 1 + 0.2*math.Abs(c[2]-2)
			if c[3] == 0 {
				v *= 1.1
			}
			return v
		},
	}
}

// Constrained has its unconstrained optimum outside the relation: more threads
// and more memory are faster, but their product is bounded. The best value 1 is
// on the boundary.
func Constrained() Problem {
	space := must(assay.NewSpace([]assay.Param{
		{Name: "threads", Kind: assay.Integer, Lo: 1, Hi: 16},
		{Name: "memory", Kind: assay.Integer, Lo: 1, Hi: 16},
		{Name: "mode", Kind: assay.Categorical, Levels: []string{"a", "b", "c"}},
	}, assay.Relation{
		Text: "threads * memory <= 36", Params: []int{0, 1},
		Holds: func(c assay.Config) bool { return c[0]*c[1] <= 36 },
	}))
	value := func(c assay.Config) float64 {
		mode := [...]float64{1.5, 1, 1.2}[int(c[2])]
		return mode * (36/c[0] + 36/c[1]) / 12 // 12 at threads = memory = 6
	}
	return Problem{Name: "constrained", Space: space, Best: assay.Config{6, 6, 1}, Optimum: 1, Value: value}
}

// Table is a listed space: 60 combinations of a machine type and a number of
// nodes, with a value that falls with the nodes at first and rises later.
func Table() Problem {
	params := []assay.Param{
		{Name: "machine", Kind: assay.Categorical, Levels: []string{"small", "medium", "large"}},
		{Name: "nodes", Kind: assay.Integer, Lo: 1, Hi: 48},
	}
	var list []assay.Config
	for m := range 3 {
		for n := 1 + m; n <= 48-4*m; n += 2 {
			list = append(list, assay.Config{float64(m), float64(n)})
		}
	}
	space := must(assay.NewList(params, list))
	value := func(c assay.Config) float64 {
		speed := 1 + 0.5*c[0]
		return 10/(speed*c[1]) + 0.1*c[1]*speed
	}
	p := Problem{Name: "table", Space: space, Value: value, Optimum: math.Inf(1)}
	for c := range space.All() {
		if v := value(c); v < p.Optimum {
			p.Best, p.Optimum = c, v
		}
	}
	return p
}

func must(s *assay.Space, err error) *assay.Space {
	if err != nil {
		panic(fmt.Sprintf("assaytest: %v", err))
	}
	return s
}
