package main

// size prints how large the Go code of the repository is: lines of the modules, packages, long and branching
// functions, long lines, and the methods of the largest type. It is run in the root of the repository.

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

func size() error {
	c := newCode()
	if err := c.read("."); err != nil {
		return err
	}
	c.write(os.Stdout)
	return nil
}

const (
	longFunction = 70  // lines of its body
	branching    = 15  // cyclomatic complexity
	longLine     = 120 // characters; a tab is one
)

// A code is the sum over the files of a tree. All but wide and lab are of the product without its tests.
type code struct {
	lines, lab, command int
	packages            map[string]bool // by folder: whether it is one that other modules may import
	long, branching     int
	wide                int // lines, of tests and of the lab too
	methods             map[string]int
}

func newCode() *code { return &code{packages: map[string]bool{}, methods: map[string]int{}} }

// read adds the Go files below a folder. Examples, test data and files that are not kept in the
// repository are left out, except that their long lines count.
func (c *code) read(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && rel != "." && (name[0] == '.' || name == "bin" || name == "dist") {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return c.add(filepath.ToSlash(rel), text)
	})
}

// add adds a file.
func (c *code) add(path string, text []byte) error {
	for line := range bytes.Lines(text) {
		if utf8.RuneCount(bytes.TrimRight(line, "\n")) > longLine {
			c.wide++
		}
	}
	dir := filepath.Dir(path)
	within := func(folder string) bool { return slices.Contains(strings.Split(dir, "/"), folder) }
	lines := bytes.Count(text, []byte("\n"))
	switch {
	case strings.HasSuffix(path, "_test.go") || within("testdata"):
		return nil
	case strings.HasPrefix(path, "lab/"):
		c.lab += lines
		return nil
	}
	c.lines += lines
	if dir == "cmd/assay" {
		c.command += lines
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(path, "examples/") && !within("docs") {
		c.packages[dir] = !within("internal") && file.Name.Name != "main"
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			c.function(set, dir, f)
		}
	}
	return nil
}

// function adds a function.
func (c *code) function(set *token.FileSet, dir string, f *ast.FuncDecl) {
	if f.Recv != nil {
		c.methods[dir+"."+receiver(f.Recv.List[0].Type)]++
	}
	if f.Body == nil {
		return
	}
	if set.Position(f.Body.Rbrace).Line-set.Position(f.Body.Lbrace).Line-1 > longFunction {
		c.long++
	}
	if complexity(f.Body) > branching {
		c.branching++
	}
}

// receiver returns the name of the type of a method.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// complexity is one more than the branches, as gocyclo counts: if, for, range, each case with a condition, && and ||,
// also in the functions within it.
func complexity(body *ast.BlockStmt) int {
	n := 1
	ast.Inspect(body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// write writes the table.
func (c *code) write(w io.Writer) {
	public := 0
	for _, is := range c.packages {
		if is {
			public++
		}
	}
	largest := ""
	for _, name := range slices.Sorted(maps.Keys(c.methods)) {
		if c.methods[name] > c.methods[largest] {
			largest = name
		}
	}
	for _, row := range []struct {
		name  string
		value any
	}{
		{"lines of Go in the product, without tests", c.lines},
		{"lines of Go in the lab, without tests", c.lab},
		{"packages / public", fmt.Sprintf("%d / %d", len(c.packages), public)},
		{"lines of cmd/assay, without tests", c.command},
		{
			fmt.Sprintf("functions over %d lines / cyclomatic over %d", longFunction, branching),
			fmt.Sprintf("%d / %d", c.long, c.branching),
		},
		{fmt.Sprintf("lines of Go over %d characters, a tab is one; tests and lab too", longLine), c.wide},
		{"methods of the largest type, " + largest, c.methods[largest]},
	} {
		fmt.Fprintf(w, "%-72s %10v\n", row.name, row.value)
	}
}
