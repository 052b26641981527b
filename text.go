package assay

import (
	"bytes"
	"strings"
	"unicode"
)

// maxLastLine is how much of a program's last words [LastLine] quotes, in runes.
const maxLastLine = 160

// LastLine returns the last line of a program's output that is not blank, for people to
// read: without control characters, valid UTF-8, and of at most 160 runes, where "…"
// stands for the rest. It is "" if there is none.
func LastLine(output []byte) string {
	b := bytes.TrimRightFunc(output, unicode.IsSpace)
	b = b[bytes.LastIndexByte(b, '\n')+1:]
	b = b[:min(len(b), 8*maxLastLine)]
	s := strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(b), "\uFFFD"))
	s = strings.TrimSpace(s)
	if rs := []rune(s); len(rs) > maxLastLine {
		s = string(rs[:maxLastLine]) + "…"
	}
	return s
}
