package workflow

import (
	"strconv"
	"strings"
	"testing"
)

// tasks makes a workflow of words "id:run" or "id:run<a,b", where the task waits
// for a and b. The kind of a task is its id without digits.
func tasks(t testing.TB, words string) *Workflow {
	t.Helper()
	b := Builder{Name: "test"}
	for word := range strings.FieldsSeq(words) {
		head, after, _ := strings.Cut(word, "<")
		id, text, _ := strings.Cut(head, ":")
		run, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Task(Task{ID: id, Kind: strings.TrimRight(id, "0123456789"), Run: run, Machine: -1},
			Pos{}); err != nil {
			t.Fatal(err)
		}
		for p := range strings.SplitSeq(after, ",") {
			if p != "" {
				b.Edge(p, id, Pos{})
			}
		}
	}
	w, err := b.Build(FillOptions{Allow: true})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// panics reports whether f panics.
func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}
