package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// addRow adds a row at the end of a table of a Go file: the last literal that the function of that
// name returns, the value of the variable of that name, or the constants of the type of that name.
func addRow(src []byte, table, row string) ([]byte, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	end := token.NoPos // of the end of the table
	for _, d := range f.Decls {
		if at := closes(d, table); at.IsValid() {
			end = at
		}
	}
	if !end.IsValid() {
		return nil, fmt.Errorf("there is no table %s", table)
	}
	line := bytes.LastIndexByte(src[:files.Position(end).Offset], '\n') + 1
	return format.Source(slices.Concat(src[:line], []byte(row), src[line:]))
}

// closes returns where the table of that name ends, if d declares it.
func closes(d ast.Decl, table string) token.Pos {
	end := token.NoPos
	literal := func(x ast.Expr) {
		if l, ok := x.(*ast.CompositeLit); ok {
			end = l.Rbrace
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.Name != table || d.Recv != nil || d.Body == nil {
			break
		}
		for _, s := range d.Body.List {
			if r, ok := s.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
				literal(r.Results[0])
			}
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if t, ok := s.(*ast.TypeSpec); ok && t.Name.Name == table {
				if fields, ok := t.Type.(*ast.StructType); ok {
					end = fields.Fields.Closing
				}
			}
			v, ok := s.(*ast.ValueSpec)
			if !ok {
				continue
			}
			of, typed := v.Type.(*ast.Ident)
			switch {
			case d.Tok == token.CONST && typed && of.Name == table:
				end = d.Rparen
			case d.Tok == token.VAR && v.Names[0].Name == table && len(v.Values) == 1:
				literal(v.Values[0])
			}
		}
	}
	return end
}

// addLine adds a row at the end of the first table under a heading of a page.
func addLine(page, heading, row string) (string, error) {
	lines := strings.SplitAfter(page, "\n")
	i := slices.IndexFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "#") && strings.TrimSpace(strings.TrimLeft(l, "#")) == heading
	})
	if i < 0 {
		return "", fmt.Errorf("there is no heading %q", heading)
	}
	inside := false
	for i++; i < len(lines) && !strings.HasPrefix(lines[i], "#"); i++ {
		in := strings.HasPrefix(lines[i], "|")
		if inside && !in {
			return strings.Join(slices.Insert(lines, i, row), ""), nil
		}
		inside = in
	}
	return "", fmt.Errorf("there is no table under %q", heading)
}

func TestAddRow(t *testing.T) {
	const src = `package p

func rows() []row {
	always := func() []row { return []row{{"never"}} }
	return []row{
		{"a", always},
	}
}

var kinds = [...]string{
	A: "a",
}

// The kinds.
const (
	A kind = iota // a
	B
)

const (
	other = 1
)

func (t table) rows() []row {
	return []row{
		{"method"},
	}
}
`
	for _, c := range []struct{ table, row, want string }{
		{"rows", "{\"b\", nil},\n", "\t\t{\"a\", always},\n\t\t{\"b\", nil},\n\t}\n}\n"},
		{"kinds", "B: \"b\",\n", "\tA: \"a\",\n\tB: \"b\",\n}\n"},
		{"kind", "C // c\n", "\tB\n\tC // c\n)\n"},
	} {
		got, err := addRow([]byte(src), c.table, c.row)
		if err != nil || !strings.Contains(string(got), c.want) {
			t.Errorf("%s: %v\n%s\nlacks\n%s", c.table, err, got, c.want)
		}
	}
	for _, c := range []struct{ table, row string }{{"absent", "x,\n"}, {"rows", "{\n"}, {"other", "x,\n"}} {
		if got, err := addRow([]byte(src), c.table, c.row); err == nil {
			t.Errorf("%q in %s gives\n%s", c.row, c.table, got)
		}
	}
}

func TestAddLine(t *testing.T) {
	const page = "# A\n| t |\n## B c\ntext\n\n| x |\n|---|\n| 1 |\n\n| y |\n# D\n"
	got, err := addLine(page, "B c", "| 2 |\n")
	if want := strings.Replace(page, "| 1 |\n", "| 1 |\n| 2 |\n", 1); err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	for _, heading := range []string{"B", "D"} {
		if got, err := addLine(page, heading, "| 2 |\n"); err == nil {
			t.Errorf("under %q: %q", heading, got)
		}
	}
}
