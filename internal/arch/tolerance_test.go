package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// TestTolerances refuses math.Abs(got-want) > tolerance in tests, which is false for a NaN. The condition
// !(math.Abs(got-want) <= tolerance) is true for one.
func TestTolerances(t *testing.T) {
	n := 0
	files(t, func(path string) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		n++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			c, ok := node.(*ast.BinaryExpr)
			if ok && (c.Op == token.GTR || c.Op == token.GEQ) && isAbs(c.X) && !isAbs(c.Y) {
				t.Errorf("%s: a NaN passes: write !(... <= %s)", set.Position(c.Pos()), types.ExprString(c.Y))
			}
			return true
		})
	})
	if n == 0 {
		t.Error("no test was read")
	}
}

// isAbs reports whether e is a call of math.Abs.
func isAbs(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	return ok && types.ExprString(call.Fun) == "math.Abs"
}
