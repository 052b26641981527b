package report

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	var l Lines
	l.Add("best", "n=%d, %s", 3, "100 %")
	l.AddList("where", []string{"a < b", "b < c"})
	l.AddList("nothing", nil)
	l.AddText("+--\n| drawing\n")
	l.Add("", "%s", "50 %d")
	l.Add("longer label", "x")
	var b strings.Builder
	if err := l.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := "best       n=3, 100 %\nwhere      a < b\n           b < c\n+--\n| drawing\n           50 %d\nlonger label  " +
		"x\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if err := l.Write(full{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a writer that fails: %v", err)
	}
}

// full is a writer that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestMetric(t *testing.T) {
	for _, c := range []struct {
		x          float64
		unit, want string
	}{
		{0.25, "s", Seconds(0.25)},
		{1234.56, "", "1235"},
		{-0.5, "", "−0.5"},
		{2.5e6, "B", SI(2.5e6, "B")},
		{2.5e6, "J", SI(2.5e6, "J")},
	} {
		if got := Metric(c.x, c.unit); got != c.want {
			t.Errorf("%v in %q: got %q, want %q", c.x, c.unit, got, c.want)
		}
	}
}

// An error of the writer ends the blocks, also between two of them.
func TestWriteBlocksFails(t *testing.T) {
	table := func(rows []string) *Table {
		t := NewTable(Palette{}, "")
		t.Add(rows...)
		return t
	}
	for writes := range 3 {
		w := &fewWrites{left: writes}
		err := WriteBlocks(w, []string{"a", "b"}, func(s string) string { return s }, table)
		if !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("after %d writes: %v", writes, err)
		}
	}
}

// A fewWrites fails after some writes.
type fewWrites struct{ left int }

func (w *fewWrites) Write(b []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}
