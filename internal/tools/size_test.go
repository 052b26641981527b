package main

import (
	"fmt"
	"strings"
	"testing"
)

// The figures are the sizes of a small tree, each of which is counted by hand.
func TestSize(t *testing.T) {
	body := func(n int) string { return "{\n" + strings.Repeat("\tx++\n", n) + "}\n" }
	branches := "{\n" + strings.Repeat("\tif a && b || c {\n\t}\n", 5) // 1 + 5*3
	c := newCode()
	for path, text := range map[string]string{
		"a.go":   "package a\n\nfunc f() " + body(70) + "func g() " + body(71),
		"b/b.go": "package b\n\ntype T[K any] struct{}\n\nfunc (t *T[K]) F() {}\n\nfunc (t T[K]) G() {}\n",
		"internal/i/i.go": "package i\n\nfunc f() " + branches + "}\n\nfunc g() " + branches[:len(branches)-1] +
			"\n\tfor {\n\t}\n}\n",
		"cmd/assay/main.go": "package main\n",
		"a_test.go":         "package a\n//" + strings.Repeat("é", 118) + "\n//" + strings.Repeat("é", 119) + "\n",
		"lab/x/x.go":        "package x\n\n",
		"b/testdata/t.go":   "package t\n",
		"examples/e/e.go":   "package e\n",
	} {
		if err := c.add(path, []byte(text)); err != nil {
			t.Fatal(path, err)
		}
	}
	if c.lab != 2 || c.command != 1 || c.wide != 1 || c.long != 1 || c.branching != 2 {
		t.Errorf("%+v", c)
	}
	var out strings.Builder
	c.write(&out)
	for _, want := range []string{
		fmt.Sprintf("%-72s %10s\n", "packages / public", "4 / 2"),
		fmt.Sprintf("%-72s %10d\n", "methods of the largest type, b.T", 2),
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if err := c.add("bad.go", []byte("package")); err == nil {
		t.Error("a file that is no Go is counted")
	}
}

// A condition of 15 branches is not over the limit.
func TestComplexityAtTheLimit(t *testing.T) {
	c := newCode()
	text := "package p\n\nfunc f() {\n" + strings.Repeat("\tif a {\n\t}\n", branching-1) + "}\n"
	if err := c.add("p/p.go", []byte(text)); err != nil || c.branching != 0 {
		t.Errorf("%d, %v", c.branching, err)
	}
	if err := c.add("p/q.go", []byte(strings.Replace(text, "{\n", "{\n\tif b {\n\t}\n", 1))); err != nil ||
		c.branching != 1 {
		t.Errorf("%d, %v", c.branching, err)
	}
}
