package report

import "github.com/clipperhouse/displaywidth"

// columns measures text on a terminal: escape sequences take no column.
var columns = displaywidth.Options{ControlSequences: true}

// Width returns the number of terminal columns that s takes. Escape sequences
// and combining marks take none, East Asian wide characters and emoji two.
func Width(s string) int { return columns.String(s) }

// cut returns the longest beginning of s of at most that many columns, and of one character at least.
func cut(s string, width int) string {
	used, at := 0, 0
	for g := columns.StringGraphemes(s); g.Next(); at += len(g.Value()) {
		if used += g.Width(); used > width && at > 0 {
			break
		}
	}
	return s[:at]
}
