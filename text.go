package assay

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
)

// maxLastLine is how much of a line of a program's last words is quoted, in runes.
const maxLastLine = 160

// LastLine returns the last line of a program's output that is not blank, for people to read: without control
// characters, valid UTF-8, and of at most 160 runes, where "…" stands for the rest. It is "" without such a line.
func LastLine(output []byte) string {
	if lines := LastLines(output, 1); len(lines) > 0 {
		return lines[0]
	}
	return ""
}

// LastLines returns the last lines of a program's output that are not blank, at most n,
// in their order, each as [LastLine] returns it.
func LastLines(output []byte, n int) []string {
	var lines []string
	for len(lines) < n && len(output) > 0 {
		at := bytes.LastIndexByte(output, '\n') + 1
		if line := plainLine(output[at:]); line != "" {
			lines = append(lines, line)
		}
		output = output[:max(at-1, 0)]
	}
	slices.Reverse(lines)
	return lines
}

// plainLine returns a line as people may be shown it.
func plainLine(b []byte) string {
	b = bytes.TrimSpace(b)
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
