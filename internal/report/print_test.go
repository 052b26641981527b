package report

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// A result is printed as one line of JSON, or as text for people.
func TestPrint(t *testing.T) {
	text := func(xs []string, w io.Writer, _ Palette) error {
		_, err := fmt.Fprintln(w, "for people", xs)
		return err
	}
	for asJSON, want := range map[bool]string{
		false: "for people [1 <\u202e]\n",
		true:  `["1","<\u202e"]` + "\n",
	} {
		var b strings.Builder
		if err := Print(&b, asJSON, Palette{}, []string{"1", "<\u202e"}, text); err != nil || b.String() != want {
			t.Errorf("got %q, %v, want %q", b.String(), err, want)
		}
	}
}
