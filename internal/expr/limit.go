package expr

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"github.com/assay-run/assay"
)

// Limit returns the condition that text states about the metrics of a run, and the metrics that it needs
// in order of appearance. Every name that is neither a function nor one of declared is taken for a
// metric as it is written; declared metrics may be written as in the package comment. Metrics are
// floats in base units and compare with whole numbers as numbers do.
//
// Holds returns an error if a metric named in text was not measured or is not finite, even if the rest
// would decide alone, and if the expression cannot be evaluated. It is safe for concurrent use. The
// Bounds are the conditions that && joins. The error of Limit is an [*Error].
func Limit(text string, declared ...string) (assay.Limit, []string, error) {
	tree, err := parse(text)
	if err != nil {
		return assay.Limit{}, nil, err
	}
	known := newVocabulary(declared)
	names := slices.Clone(declared)
	collect := &resolver{text: text, lookup: func(spelling string) (string, string) {
		if name, ok := known.spoken[spelling]; ok {
			return name, ""
		}
		if !slices.Contains(names, spelling) {
			names = append(names, spelling)
		}
		return spelling, ""
	}}
	ast.Walk(&tree, collect)
	env := make(map[string]any, len(names))
	for _, n := range names {
		env[slot(n)] = 0.0
	}
	program, used, err := compile(text, env, newVocabulary(names), nil)
	if err != nil {
		return assay.Limit{}, nil, err
	}
	if len(used) == 0 {
		return assay.Limit{}, nil, &Error{Text: text, Message: "a limit that names no metric"}
	}
	run := measured(text, program, used)
	holds := func(metric func(string) (float64, bool)) (bool, error) {
		out, err := run(metric)
		ok, _ := out.(bool)
		return ok, err
	}
	l := assay.Limit{Text: text, Holds: holds}
	if tree, err = parse(text); err != nil { // the names in the first tree are slots
		return assay.Limit{}, nil, err
	}
	if l.Bounds = bounds(text, tree, env, newVocabulary(names)); len(l.Bounds) == 1 {
		l.Bounds[0].Text = text // as the user wrote it
	}
	return l, used, nil
}

// measured returns a function that evaluates a program of text over the metrics that it uses. It is safe
// for concurrent use.
func measured(text string, program *vm.Program, used []string) func(func(string) (float64, bool)) (any, error) {
	slots := make([]string, len(used))
	for i, n := range used {
		slots[i] = slot(n)
	}
	pool := sync.Pool{New: func() any { return &evaluator{env: make(map[string]any, len(used))} }}
	return func(metric func(string) (float64, bool)) (any, error) {
		e := pool.Get().(*evaluator)
		defer pool.Put(e)
		for i, n := range used {
			x, ok := metric(n)
			if !ok {
				return nil, fmt.Errorf("metric %q of the limit %q was not measured", n, text)
			}
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("metric %q of the limit %q is %v", n, text, x)
			}
			e.env[slots[i]] = x
		}
		e.machine.MemoryBudget = maxMemory
		out, err := e.machine.Run(program, e.env)
		if err != nil {
			return nil, fmt.Errorf("the limit %q cannot be evaluated: %s", text, wrap(text, err).Message)
		}
		return out, nil
	}
}
