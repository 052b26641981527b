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

// A value and its limit have as many digits as show them apart.
func TestBeside(t *testing.T) {
	for _, c := range []struct {
		value, limit float64
		unit         string
		lower        bool
		want         string
	}{
		{50.9e6, 48e6, "B", false, "50.9 MB of 48 MB"},
		{48.0021e6, 48e6, "B", false, "48.002 MB of 48 MB"},
		{48e6, 48e6, "B", false, "48 MB of 48 MB"},
		{24.5, 30, "", true, "24.5, at least 30"},
		{30.000001, 30, "", false, "30.000001 of 30"},
		{61.2, 61, "s", false, "61.2 s of 61 s"},
	} {
		if got := Beside(c.value, c.limit, c.unit, c.lower); got != c.want {
			t.Errorf("%v beside %v %s: %q, want %q", c.value, c.limit, c.unit, got, c.want)
		}
	}
}

// Different values have different texts, with as few more digits as that takes.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		values []float64
		unit   string
		want   string
	}{
		{[]float64{2.94, 3.47, 3.47}, "s", "2.94 s; 3.47 s; 3.47 s"},
		{[]float64{2491000, 2494000}, "B", "2.491 MB; 2.494 MB"},
		{[]float64{2.4444, 2.4441, 7}, "", "2.4444; 2.4441; 7"},
		{[]float64{1, 1 + 1e-12}, "s", "1 s; 1 s"},
		{nil, "s", ""},
	} {
		if got := strings.Join(Apart(c.values, c.unit), "; "); got != c.want {
			t.Errorf("%v %s: %q, want %q", c.values, c.unit, got, c.want)
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
