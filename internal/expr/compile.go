package expr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/assay-run/assay"
)

const (
	// MaxText is the length in bytes of the longest expression that is read.
	MaxText = 10_000

	maxNodes  = 2_000  // of a syntax tree
	maxMemory = 10_000 // elements of the lists that one evaluation makes
)

// Functions returns the names of the functions that expressions may call.
func Functions() []string {
	return []string{
		"abs", "all", "any", "ceil", "count", "float", "floor", "int", "len", "lower", "max", "mean", "median",
		"min", "none", "one", "round", "string", "sum", "trim", "upper",
	}
}

// Identifier returns how a name is written in an expression; see the package
// comment.
func Identifier(name string) string {
	id := strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, name)
	if id == "" || unicode.IsDigit([]rune(id)[0]) {
		id = "_" + id
	}
	return id
}

// A vocabulary is the names that an expression may use.
type vocabulary struct {
	names  []string
	spoken map[string]string // spelling -> name, or "" if two names share it
}

// newVocabulary prefers a name that is written exactly so to one that is
// written so for want of an identifier.
func newVocabulary(names []string) vocabulary {
	v := vocabulary{names, make(map[string]string, 2*len(names))}
	for _, n := range names {
		id := Identifier(n)
		if _, taken := v.spoken[id]; taken {
			v.spoken[id] = ""
		} else {
			v.spoken[id] = n
		}
	}
	for _, n := range names {
		v.spoken[n] = n
	}
	return v
}

// resolve returns the name that a spelling stands for, or its flaw.
func (v vocabulary) resolve(spelling string) (name, flaw string) {
	name, known := v.spoken[spelling]
	switch {
	case known && name != "":
		return name, ""
	case known:
		return "", fmt.Sprintf(`%s could be several names: write $env["..."]`, spelling)
	}
	flaw = "unknown name " + spelling
	for _, n := range v.names {
		if id := Identifier(n); id != n && strings.HasPrefix(id, spelling+"_") {
			return "", flaw + " (" + n + " is written " + id + ")"
		}
	}
	if near := Nearest(spelling, v.names); near != "" {
		flaw += " (did you mean " + Identifier(near) + "?)"
	}
	return "", flaw
}

// slot returns the key of a variable in the environment of a program. It is no
// identifier, so that a parameter called min does not hide the function.
func slot(name string) string { return name + "\x00" }

// parse returns the syntax tree of text, within our own limits.
func parse(text string) (ast.Node, error) {
	switch {
	case len(text) > MaxText:
		return nil, &Error{Text: text, Message: "an expression longer than 10,000 bytes"}
	case strings.TrimSpace(text) == "":
		return nil, &Error{Text: text, Message: "an empty expression"}
	}
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, wrap(text, err)
	}
	return tree.Node, nil
}

// A resolver replaces every reference to a variable by the variable's own name
// and remembers which ones were used.
type resolver struct {
	text     string
	lookup   func(spelling string) (name, flaw string)
	used     []string               // in order of appearance, none twice
	err      *Error                 // the leftmost flaw
	switches map[string]assay.Param // the parameters that are switches, by slot
	envs     map[ast.Node]struct{}  // each $env that no ["name"] follows
}

// Visit implements ast.Visitor. Children are visited before their parents, so
// that the $env of $env["x"] is met first and pardoned when its parent is.
func (r *resolver) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if n.Value == "$env" {
			if r.envs == nil {
				r.envs = map[ast.Node]struct{}{}
			}
			r.envs[n] = struct{}{}
			return
		}
		r.use(n, n.Value, &n.Value)
	case *ast.MemberNode:
		id, ok := n.Node.(*ast.IdentifierNode)
		if !ok || id.Value != "$env" {
			return
		}
		key, ok := n.Property.(*ast.StringNode)
		if !ok {
			return // stays in envs
		}
		delete(r.envs, n.Node)
		v := &ast.IdentifierNode{}
		r.use(n, key.Value, &v.Value)
		ast.Patch(node, v)
	case *ast.BinaryNode:
		if n.Operator == "==" || n.Operator == "!=" {
			r.switchLevel(n.Left, &n.Right)
			r.switchLevel(n.Right, &n.Left)
		}
	case *ast.VariableDeclaratorNode, *ast.SequenceNode, *ast.MapNode:
		r.fail(errorAt(r.text, n, "an expression is one condition, without variables of its own"))
	}
}

func (r *resolver) use(at ast.Node, spelling string, name *string) {
	found, flaw := r.lookup(spelling)
	if flaw != "" {
		r.fail(errorAt(r.text, at, "%s", flaw))
		return
	}
	*name = slot(found)
	if !slices.Contains(r.used, found) {
		r.used = append(r.used, found)
	}
}

// switchLevel turns a level that a switch is compared with into the value of the switch at that level: its text, such
// as 'on' or 1, or another word for on or off.
func (r *resolver) switchLevel(param ast.Node, literal *ast.Node) {
	id, ok := param.(*ast.IdentifierNode)
	if !ok {
		return
	}
	p, ok := r.switches[id.Value]
	if !ok {
		return
	}
	switch l := (*literal).(type) {
	case *ast.StringNode:
		if level, err := p.Parse(l.Value); err == nil {
			ast.Patch(literal, &ast.BoolNode{Value: level == 1})
		}
	case *ast.IntegerNode:
		if i := slices.Index(p.Levels, strconv.Itoa(l.Value)); i >= 0 {
			ast.Patch(literal, &ast.BoolNode{Value: i == 1})
		}
	}
}

// fail keeps the leftmost error.
func (r *resolver) fail(e *Error) {
	if r.err == nil || e.Column < r.err.Column {
		r.err = e
	}
}

// stray returns the error of a $env that is not followed by ["name"].
func (r *resolver) stray() *Error {
	for n := range r.envs {
		r.fail(errorAt(r.text, n, `$env is followed by a name: $env["buffer-size"]`))
	}
	return r.err
}

// compile returns the program of a condition over env, whose values stand for
// their types, and the names that it uses. switches is as in resolver.
func compile(
	text string, env map[string]any, v vocabulary, switches map[string]assay.Param,
) (*vm.Program, []string, error) {
	return compileAs(expr.AsBool(), text, env, v, switches)
}

// compileAs is compile of an expression of some type.
func compileAs(
	as expr.Option, text string, env map[string]any, v vocabulary, switches map[string]assay.Param,
) (*vm.Program, []string, error) {
	r := &resolver{text: text, lookup: v.resolve, switches: switches}
	options := []expr.Option{
		expr.Env(env), as, expr.WarnOnAny(), expr.MaxNodes(maxNodes),
		expr.DisableAllBuiltins(), expr.Patch(r),
	}
	for _, f := range Functions() {
		options = append(options, expr.EnableBuiltin(f))
	}
	program, err := expr.Compile(text, options...)
	if e := r.stray(); e != nil {
		return nil, nil, e
	}
	if err != nil {
		return nil, nil, wrap(text, err)
	}
	return program, r.used, nil
}
