package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fit returns a line that takes at most width columns: without control
// characters (a tab is a space), and cut with an ellipsis if it is longer. Colour
// sequences take no column, are never cut in two, and are closed at the end.
// Other escape sequences are dropped, for they could move the cursor.
func Fit(line string, width int) string {
	if width < 1 {
		return ""
	}
	tokens := split(line)
	total := 0
	for _, t := range tokens {
		total += t.columns
	}
	room := width
	if total > width {
		room-- // for the ellipsis
	}
	var b strings.Builder
	used, painted := 0, false
	for _, t := range tokens {
		// Invariant: the content of b takes used <= room columns.
		if used+t.columns > room {
			break
		}
		used += t.columns
		b.WriteString(t.text)
		if t.color {
			painted = t.text != "\x1b[0m" && t.text != "\x1b[m"
		}
	}
	if total > width {
		b.WriteString("…")
	}
	if painted {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// A token is a colour sequence or a rune with the combining marks after it.
type token struct {
	text    string
	columns int
	color   bool
}

// split cuts a line into tokens, without characters that cannot be shown on one line.
func split(s string) []token {
	var tokens []token
	for s != "" {
		if n := sequence(s); n > 0 {
			if s[n-1] == 'm' && strings.HasPrefix(s, "\x1b[") {
				tokens = append(tokens, token{s[:n], 0, true})
			}
			s = s[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		text := s[:n]
		s = s[n:]
		switch {
		case r == utf8.RuneError && n == 1:
			tokens = append(tokens, token{"\ufffd", 1, false})
		case r == '\t' || r == '\n':
			tokens = append(tokens, token{" ", 1, false})
		case r < 0x20 || r >= 0x7f && r < 0xa0:
		case columns(r) == 0:
			if k := len(tokens) - 1; k >= 0 && !tokens[k].color {
				tokens[k].text += text
			}
		default:
			tokens = append(tokens, token{text, columns(r), false})
		}
	}
	return tokens
}

// sequence returns the length of the escape sequence that s starts with, 0 without one: CSI (ESC [ …
// final), OSC (ESC ] … BEL or ESC \), or ESC and one character. One that is not finished takes the rest
// of s.
func sequence(s string) int {
	if s[0] != 0x1b {
		return 0
	}
	if len(s) == 1 {
		return 1
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x3f {
				return i // broken off by something else
			}
		}
		return len(s)
	case ']':
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	}
	_, n := utf8.DecodeRuneInString(s[1:])
	return 1 + n
}

// columns returns how many columns r takes: none for combining marks and
// formats, two for East Asian wide characters and emoji (Unicode Standard Annex
// #11, by blocks).
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	for _, b := range wide {
		if b[0] <= r && r <= b[1] {
			return 2
		}
	}
	return 1
}

// wide are the blocks of double width.
var wide = [...][2]rune{
	{0x1100, 0x115f},
	{0x2e80, 0x303e},
	{0x3041, 0xa4cf},
	{0xa960, 0xa97f},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},
	{0xffe0, 0xffe6},
	{0x1f300, 0x1f64f},
	{0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff},
	{0x20000, 0x3fffd},
}
