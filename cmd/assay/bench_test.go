package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/report"
)

// The result of an experiment is JSON or text, and nothing if it failed.
func TestPrinted(t *testing.T) {
	text := func(xs []int, w io.Writer, _ report.Palette) error {
		_, err := fmt.Fprintln(w, "for people", xs)
		return err
	}
	for _, tt := range []struct {
		err  error
		json bool
		want string
	}{
		{nil, false, "for people [1 2]\n"},
		{nil, true, "[1,2]\n"},
		{io.ErrUnexpectedEOF, true, ""},
		{io.ErrUnexpectedEOF, false, ""},
	} {
		var b strings.Builder
		err := printed(tt.err, tt.json, &b, []int{1, 2}, text)
		if !errors.Is(err, tt.err) || b.String() != tt.want {
			t.Errorf("%+v: got %q, %v", tt, b.String(), err)
		}
	}
}
