package workflow

import (
	"testing"

	"pgregory.net/rapid"
)

// TestNames compares with a Go map.
func TestNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n names
		want := map[string]int32{}
		for range rapid.IntRange(0, 300).Draw(t, "n") {
			s := rapid.StringN(0, 3, 3).Draw(t, "s")
			old, known := want[s]
			if got := n.find([]byte(s)); known && got != old || !known && got != -1 {
				t.Fatalf("find(%q) = %d, want %d, %v", s, got, old, known)
			}
			got, isNew := n.number([]byte(s))
			if isNew == known || known && got != old || int(got) >= len(n.said) || n.said[got] != s {
				t.Fatalf("number(%q) = %d, %v; want %d, %v", s, got, isNew, old, !known)
			}
			want[s] = got
		}
	})
}
