package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-run/assay"
)

// maxFlaws is how many flaws are reported at once.
const maxFlaws = 10

// A Flaw is one mistake in a user's input.
type Flaw struct {
	File         string // "" if it was not in a file
	Line, Column int    // from 1; 0 if it has no place in the file
	Where        string // for a flaw outside a file: "--where 1", "argument 2"
	Message      string
	// Text is the piece at fault and Mark the column of the fault in it, from 1, for a line with a caret. Text is "" if
	// the message needs no line.
	Text string
	Mark int
}

// String returns "FILE:LINE:COLUMN: MESSAGE", followed by two indented lines
// with the text and a caret if there are any.
func (f Flaw) String() string {
	var b strings.Builder
	switch {
	case f.File != "" && f.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", f.File, f.Line, f.Column)
	case f.File != "":
		b.WriteString(f.File + ": ")
	}
	if f.Where != "" {
		b.WriteString(f.Where + ": ")
	}
	b.WriteString(f.Message)
	if f.Text != "" && f.Mark > 0 {
		before, line, mark := excerpt(f.Text, f.Mark)
		fmt.Fprintf(&b, "\n    %s%s\n    %s^", before, line, strings.Repeat(" ", mark-1+len(before)))
	}
	return b.String()
}

// excerpt returns the line of text that holds the mark-th rune, cut to 72 runes around it, and the mark within that
// excerpt.
func excerpt(text string, mark int) (before, line string, at int) {
	runes := []rune(text)
	at = min(mark-1, len(runes))
	start := at
	for start > 0 && runes[start-1] != '\n' {
		start--
	}
	end := at
	for end < len(runes) && runes[end] != '\n' {
		end++
	}
	if at-start > 40 {
		start, before = at-40, "..."
	}
	for i, r := range runes[start:end] {
		if r < ' ' || r == 0x7f {
			runes[start+i] = ' '
		}
	}
	return before, string(runes[start:min(end, start+72)]), at - start + 1
}

// An Error is everything that is wrong with a study. It is a mistake of the
// user, who can mend it: the command exits with code 2.
type Error struct {
	Flaws []Flaw // at least one, at most 10, in order of place
	More  int    // how many more there are
	cause error  // the error of the operating system, or nil
}

// Error returns the flaws, one a line (see [Flaw.String]).
func (e *Error) Error() string {
	lines := make([]string, len(e.Flaws), len(e.Flaws)+1)
	for i, f := range e.Flaws {
		lines[i] = f.String()
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("... and %d more", e.More))
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the error of the operating system, if that is the cause.
func (e *Error) Unwrap() error { return e.cause }

// Class returns [assay.ClassUsage]: the user can mend every flaw.
func (e *Error) Class() assay.Class { return assay.ClassUsage }

// newError returns the error of the flaws, or nil if there are none.
func newError(flaws []Flaw) error {
	if len(flaws) == 0 {
		return nil
	}
	slices.SortStableFunc(flaws, func(a, b Flaw) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	flaws = slices.CompactFunc(flaws, func(a, b Flaw) bool { return a == b })
	e := &Error{Flaws: flaws}
	if len(flaws) > maxFlaws {
		e.Flaws, e.More = flaws[:maxFlaws], len(flaws)-maxFlaws
	}
	return e
}

// flawf returns a flaw that has no place.
func flawf(format string, args ...any) Flaw { return Flaw{Message: fmt.Sprintf(format, args...)} }
