package expr

import (
	"fmt"
	"math"
	"slices"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"

	"github.com/assay-run/assay"
)

// bounds returns the conditions of tree that && joins, each of which needs a metric. tree is the parsed
// form; env and v are the environment and the vocabulary of the whole limit text.
func bounds(text string, tree ast.Node, env map[string]any, v vocabulary) []assay.Bound {
	if n, ok := tree.(*ast.BinaryNode); ok && (n.Operator == "&&" || n.Operator == "and") {
		return slices.Concat(bounds(text, n.Left, env, v), bounds(text, n.Right, env, v))
	}
	if n, ok := tree.(*ast.BinaryNode); ok {
		if b, ok := comparison(text, n, env, v); ok {
			return []assay.Bound{b}
		}
	}
	program, used, err := compile(tree.String(), env, v, nil)
	if err != nil || len(used) == 0 {
		return nil // it is the same for all runs
	}
	run := measured(text, program, used)
	return []assay.Bound{{Text: tree.String(), Sides: func(metric func(string) (float64, bool)) (float64, float64, error) {
		out, err := run(metric)
		if ok, _ := out.(bool); ok || err != nil {
			return 0, 0.5, err
		}
		return 1, 0.5, nil
	}}}
}

// A side is one side of a comparison.
type side struct {
	of   func(func(string) (float64, bool)) (any, error)
	used []string
	sole bool // it is a metric and nothing else
}

// value returns the number that the side is for the metrics of a run.
func (s side) value(metric func(string) (float64, bool)) (float64, error) {
	out, err := s.of(metric)
	if err != nil {
		return 0, err
	}
	x, ok := out.(float64)
	if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("a side of the limit is %v", out)
	}
	return x, nil
}

// sideOf returns a side; false if it is not a number.
func sideOf(text string, n ast.Node, env map[string]any, v vocabulary) (side, bool) {
	program, used, err := compileAs(expr.AsFloat64(), n.String(), env, v, nil)
	if err != nil {
		return side{}, false
	}
	s := side{of: measured(text, program, used), used: used}
	switch n.(type) {
	case *ast.IdentifierNode, *ast.MemberNode:
		s.sole = len(used) == 1
	}
	return s, true
}

// comparison returns the bound of a comparison of two numbers; false if n is no such comparison. An
// equality bounds the distance of its sides.
func comparison(text string, n *ast.BinaryNode, env map[string]any, v vocabulary) (b assay.Bound, ok bool) {
	if !slices.Contains([]string{"<", "<=", ">", ">=", "=="}, n.Operator) {
		return b, false
	}
	left, ok1 := sideOf(text, n.Left, env, v)
	right, ok2 := sideOf(text, n.Right, env, v)
	if !ok1 || !ok2 || len(left.used)+len(right.used) == 0 {
		return b, false
	}
	if n.Operator == ">" || n.Operator == ">=" {
		left, right = right, left
	}
	b.Text = n.String()
	equal := n.Operator == "=="
	if left.sole && len(right.used) == 0 && !equal {
		b.Metric = left.used[0]
	}
	if right.sole && len(left.used) == 0 && !equal {
		b.Least = right.used[0]
	}
	b.Sides = func(metric func(string) (float64, bool)) (float64, float64, error) {
		l, err := left.value(metric)
		if err != nil {
			return 0, 0, err
		}
		r, err := right.value(metric)
		if equal {
			return min(math.Abs(l-r), math.MaxFloat64), 0, err
		}
		return l, r, err
	}
	return b, true
}
