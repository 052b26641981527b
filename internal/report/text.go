package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Visible returns s with everything that a terminal would not show as itself as an escape: control
// characters, characters that change the direction of text, and bytes that are not UTF-8, such as \n,
// \x1b or \u202e. Every writer of text passes foreign text through it, so that a name or a value can
// neither move a cursor nor begin a line.
func Visible(s string) string { return visible(s, hidden) }

// Warning writes a warning as one line.
func Warning(w io.Writer, text string) error {
	_, err := fmt.Fprintf(w, "warning: %s\n", Visible(text))
	return err
}

// VisibleLines is [Visible] for text of several lines: line feeds and tabs stay.
func VisibleLines(s string) string {
	return visible(s, func(r rune) bool { return r != '\n' && r != '\t' && hidden(r) })
}

func visible(s string, hide func(rune) bool) string {
	if strings.IndexFunc(s, func(r rune) bool { return hide(r) || r == utf8.RuneError }) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, k := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && k == 1: // not UTF-8
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == 0x7f: // %q leaves it as it is
			b.WriteString(`\x7f`)
		case hide(r):
			quoted := fmt.Sprintf("%+q", r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
		i += k
	}
	return b.String()
}

// hidden reports whether a terminal obeys r, or shows the text after it in another order.
func hidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0: // C0, DEL and C1
		return true
	case r == 0x2028, r == 0x2029: // line and paragraph separator
		return true
	}
	return r == 0x61c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// SheetCell returns a text for a cell of a CSV file that people open in a spreadsheet: text that begins
// like a formula has an apostrophe before it, unless it is a number, and control characters are as
// [Visible] shows them.
func SheetCell(s string) string {
	_, err := strconv.ParseFloat(s, 64)
	formula := s != "" && strings.IndexByte("=+-@\t\r", s[0]) >= 0 && err != nil
	s = Visible(s)
	if formula {
		return "'" + s
	}
	return s
}

// VisibleJSON returns a JSON text with the characters that [Visible] escapes in JSON escapes. The text
// means the same: outside of its strings only line feeds and tabs of this kind can stand.
func VisibleJSON(text []byte) []byte {
	if bytes.IndexFunc(text, func(r rune) bool { return r >= 0x7f && hidden(r) }) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		if r >= 0x7f && hidden(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}
