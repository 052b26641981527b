package assay

import (
	"bytes"
	"slices"
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

// Tail returns the last lines of a program's output that are not blank, at most 6, for people to
// read: each as [LastLine] has it, with " | " between them. It is "" if there are none.
func Tail(output []byte) string {
	const most = 6
	var lines []string
	for len(lines) < most {
		output = bytes.TrimRightFunc(output, unicode.IsSpace)
		if len(output) == 0 {
			break
		}
		if line := LastLine(output); line != "" {
			lines = append(lines, line)
		}
		output = output[:bytes.LastIndexByte(output, '\n')+1]
	}
	slices.Reverse(lines)
	return strings.Join(lines, " | ")
}
