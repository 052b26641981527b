package expr

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"github.com/assay-run/assay"
)

// Relation returns the condition that text states about the parameters. The
// result of text must be true or false. A parameter is
//
//   - an int, if it is an Integer, or an Ordinal whose levels all stand for
//     whole numbers ([assay.Number]: 64M is 67108864);
//   - a float, if it is a Real, or an Ordinal of numbers;
//   - true or false, if it is a Switch: whether it is at its second level; it
//     may be compared with its levels too: cache == 'on', no_asm == 1;
//   - a text otherwise: the level as it was written; for a Permutation its levels in order, with
//     commas between them: passes matches 'inline.*unroll'.
//
// A text that is compared with a parameter for equality must be one of its
// levels. A configuration at which the expression cannot be evaluated, because
// it divides by zero or makes a list of more than 10,000 elements, does not
// satisfy it.
//
// Holds costs about 200 ns and depends only on the coordinates of the
// parameters named in text. The error is an [*Error].
func Relation(text string, params []assay.Param) (assay.Relation, error) {
	tree, err := parse(text)
	if err != nil {
		return assay.Relation{}, err
	}
	env := make(map[string]any, len(params))
	names := make([]string, len(params))
	switches := map[string]assay.Param{}
	for i, p := range params {
		names[i] = p.Name
		if !p.Numeric() && len(p.Levels) == 0 {
			return assay.Relation{}, fmt.Errorf("parameter %q has no values", p.Name)
		}
		v := newVariable(i, p)
		env[slot(p.Name)] = v.at(0) // for its type
		if p.Kind == assay.Switch {
			switches[slot(p.Name)] = p
		}
	}
	vocab := newVocabulary(names)
	if err := checkLevels(text, tree, vocab, params); err != nil {
		return assay.Relation{}, err
	}
	program, used, err := compile(text, env, vocab, switches)
	if err != nil {
		return assay.Relation{}, err
	}
	r := &relation{program: program}
	indices := make([]int, len(used))
	for k, name := range used {
		indices[k] = slices.Index(names, name)
		r.vars = append(r.vars, newVariable(indices[k], params[indices[k]]))
	}
	r.pool.New = func() any { return &evaluator{env: make(map[string]any, len(r.vars))} }
	return assay.Relation{Text: text, Params: indices, Holds: r.holds}, nil
}

// A relation is a compiled condition on a configuration.
type relation struct {
	program *vm.Program
	vars    []variable
	pool    sync.Pool // of *evaluator
}

// An evaluator is the state of one evaluation. It is reused, for a machine and
// a map for every call would cost more than the evaluation.
type evaluator struct {
	machine vm.VM
	env     map[string]any
}

func (r *relation) holds(c assay.Config) bool {
	e := r.pool.Get().(*evaluator)
	defer r.pool.Put(e)
	for i := range r.vars {
		v := &r.vars[i]
		e.env[v.key] = v.at(c[v.index])
	}
	e.machine.MemoryBudget = maxMemory
	out, err := e.machine.Run(r.program, e.env)
	ok, _ := out.(bool)
	return ok && err == nil
}

// A variable turns the coordinate of a parameter into a value of the language.
type variable struct {
	index  int    // in the configuration
	key    string // in the environment
	kind   assay.Kind
	values []any // of the levels
	param  assay.Param
}

func newVariable(index int, p assay.Param) variable {
	v := variable{index: index, key: slot(p.Name), kind: p.Kind, param: p}
	switch p.Kind {
	case assay.Switch:
		v.values = []any{false, true}
	case assay.Ordinal:
		v.values = numbers(p)
	}
	if v.values == nil {
		for _, l := range p.Levels {
			v.values = append(v.values, l)
		}
	}
	return v
}

// numbers returns the levels as ints, or else as floats, or nil if one of them
// does not stand for a number.
func numbers(p assay.Param) []any {
	floats, ints := make([]any, len(p.Levels)), make([]any, len(p.Levels))
	whole := true
	for i := range p.Levels {
		x, ok := p.LevelNumber(i)
		if !ok {
			return nil
		}
		floats[i], ints[i] = x, int(x)
		whole = whole && x == math.Trunc(x) && math.Abs(x) < 1<<53
	}
	if whole {
		return ints
	}
	return floats
}

func (v *variable) at(x float64) any {
	switch v.kind {
	case assay.Integer:
		return int(x)
	case assay.Real:
		return x
	case assay.Permutation:
		return v.param.Text(x)
	}
	return v.values[int(x)]
}

// checkLevels returns an error if a parameter is compared with a text that is
// none of its levels, which would silently be false for ever.
func checkLevels(text string, tree ast.Node, vocab vocabulary, params []assay.Param) error {
	c := &levelChecker{text: text}
	c.param = func(n ast.Node) (p assay.Param) {
		spelling := ""
		switch n := n.(type) {
		case *ast.IdentifierNode:
			spelling = n.Value
		case *ast.MemberNode:
			if s, ok := n.Property.(*ast.StringNode); ok {
				spelling = s.Value
			}
		}
		name, flaw := vocab.resolve(spelling)
		if flaw != "" {
			return p
		}
		i := slices.IndexFunc(params, func(p assay.Param) bool { return p.Name == name })
		if params[i].Kind == assay.Permutation {
			return p
		}
		return params[i]
	}
	ast.Walk(&tree, c)
	if c.err != nil {
		return c.err
	}
	return nil
}

type levelChecker struct {
	text  string
	param func(ast.Node) assay.Param // with its levels, if it has a list of them
	err   *Error
}

// Visit implements ast.Visitor.
func (c *levelChecker) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.BinaryNode)
	if !ok || c.err != nil {
		return
	}
	switch n.Operator {
	case "==", "!=":
		c.compare(n.Left, n.Right, true)
		c.compare(n.Right, n.Left, true)
	case "in":
		if list, ok := n.Right.(*ast.ArrayNode); ok {
			for _, e := range list.Nodes {
				c.compare(n.Left, e, false)
			}
		}
	}
}

// compare looks for the level that a parameter is compared with. If words, a switch has other words for on and off.
func (c *levelChecker) compare(param, value ast.Node, words bool) {
	s, ok := value.(*ast.StringNode)
	if !ok || c.err != nil {
		return
	}
	p := c.param(param)
	levels := p.Levels
	if len(levels) == 0 || slices.Contains(levels, s.Value) {
		return
	}
	if _, err := p.Parse(s.Value); err == nil && words && p.Kind == assay.Switch {
		return
	}
	hint := ""
	if near := Nearest(s.Value, levels); near != "" {
		hint = fmt.Sprintf(" (did you mean '%s'?)", near)
	} else if len(levels) <= 8 {
		hint = fmt.Sprintf(" (it has %s)", strings.Join(levels, ", "))
	}
	if slices.Equal(levels, []string{"false", "true"}) {
		hint = " (it has false, true; values: [off, on] gives a bool others)"
	}
	c.err = errorAt(c.text, value, "%s has no value '%s'%s", p.Name, s.Value, hint)
}
