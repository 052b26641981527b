package study

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/assay-run/assay"
)

// maxReason is how much of a program's last words a reason quotes, in runes.
const maxReason = 160

// exitReason says how a run failed: its exit code or signal, and the last line
// of its error output, or of its output if that is empty.
func exitReason(m assay.Measurement) string {
	r := fmt.Sprintf("exit code %d", m.ExitCode)
	if m.Signal != "" {
		r = "ended by " + m.Signal
	}
	last := lastLine(m.Stderr)
	if last == "" {
		last = lastLine(m.Stdout)
	}
	if last != "" {
		r += ": " + last
	}
	return r
}

// lastLine returns the last line of b that is not blank, without control
// characters, shortened.
func lastLine(b []byte) string {
	b = bytes.TrimRightFunc(b, unicode.IsSpace)
	b = b[bytes.LastIndexByte(b, '\n')+1:]
	b = b[:min(len(b), 8*maxReason)]
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
	if rs := []rune(s); len(rs) > maxReason {
		s = string(rs[:maxReason]) + "…"
	}
	return s
}
