package study

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// most is how many methods a type may have.
const most = 40

// parts are the fields of the loop that are its parts, with their types.
var parts = map[string]string{"ask": "asker", "run": "runner", "judge": "judge", "race": "racer", "control": "control"}

// No part knows the type of another, so that it cannot read or set its fields; the loop calls their methods
// alone. No type has more methods than a reader can keep in mind.
func TestPartsKeepToThemselves(t *testing.T) {
	files := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []ast.Node
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	for _, wrong := range faults(files, all) {
		t.Error(wrong)
	}
	for code, says := range map[string]string{
		"type asker struct { j *judge }":                            "asker has a field of the type judge",
		"type judge struct { top int }; func f() { l.judge.top++ }": "the field top of judge",
		"func f() { l.record.fatal = nil }":                         "sets record.fatal",
		strings.Repeat("func (x *big) f() {};", most+1):             "big has 41 methods",
	} {
		f, err := parser.ParseFile(files, "planted.go", "package study;"+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(faults(files, []ast.Node{f}), "\n"); !strings.Contains(got, says) {
			t.Errorf("%q passes: %q", code, got)
		}
	}
}

// faults returns the places that break the rule.
func faults(files *token.FileSet, all []ast.Node) (wrong []string) {
	fields, methods := map[string]map[string]bool{}, map[string]int{}
	isPart := map[string]bool{}
	for _, name := range parts {
		isPart[name] = true
		fields[name] = map[string]bool{}
	}
	say := func(n ast.Node, words ...string) {
		wrong = append(wrong, files.Position(n.Pos()).String()+": "+strings.Join(words, " "))
	}
	each := func(do func(ast.Node)) {
		for _, f := range all {
			ast.Inspect(f, func(n ast.Node) bool { do(n); return true })
		}
	}
	each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.TypeSpec:
			s, ok := n.Type.(*ast.StructType)
			if !ok || !isPart[n.Name.Name] {
				return
			}
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					fields[n.Name.Name][name.Name] = true
				}
				ast.Inspect(f.Type, func(t ast.Node) bool {
					if id, ok := t.(*ast.Ident); ok && isPart[id.Name] {
						say(f, n.Name.Name, "has a field of the type", id.Name)
					}
					return true
				})
			}
		case *ast.FuncDecl:
			if n.Recv == nil {
				return
			}
			recv := n.Recv.List[0].Type
			if p, ok := recv.(*ast.StarExpr); ok {
				recv = p.X
			}
			if id, ok := recv.(*ast.Ident); ok {
				methods[id.Name]++
			}
		}
	})
	each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.SelectorExpr); ok && fields[parts[x.Sel.Name]][n.Sel.Name] {
				say(n, "the field", n.Sel.Name, "of", parts[x.Sel.Name], "is used elsewhere")
			}
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				s, ok := to.(*ast.SelectorExpr)
				if !ok {
					continue
				}
				if x, ok := s.X.(*ast.SelectorExpr); ok && x.Sel.Name == "record" {
					say(n, "sets record."+s.Sel.Name)
				}
			}
		}
	})
	for name, n := range methods {
		if n > most {
			wrong = append(wrong, name+" has "+strconv.Itoa(n)+" methods")
		}
	}
	return wrong
}
