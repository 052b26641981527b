package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Width returns the number of terminal columns that s takes. Escape sequences
// and combining marks take none, East Asian wide characters and emoji two.
func Width(s string) int {
	n := 0
	for s != "" {
		if k := escape(s); k > 0 {
			s = s[k:]
			continue
		}
		r, k := utf8.DecodeRuneInString(s)
		n += runeWidth(r)
		s = s[k:]
	}
	return n
}

// escape returns the length of the CSI sequence that s starts with, or 0.
func escape(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s); i++ {
		if c := s[i]; c >= 0x40 && c <= 0x7e {
			return i + 1
		} else if c < 0x20 || c > 0x3f {
			break
		}
	}
	return 0
}

func runeWidth(r rune) int {
	switch {
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return 0
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && wide(r):
		return 2
	}
	return 1
}

// wide reports whether r is of East Asian width W or F (Unicode Standard Annex
// #11), by its blocks.
func wide(r rune) bool {
	switch {
	case r <= 0x115f, // Hangul jamo
		r >= 0x2e80 && r <= 0x303e, // CJK radicals and punctuation
		r >= 0x3041 && r <= 0xa4cf, // kana, CJK, Yi
		r >= 0xa960 && r <= 0xa97f,
		r >= 0xac00 && r <= 0xd7a3, // Hangul
		r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f,
		r >= 0xff00 && r <= 0xff60, // full-width forms
		r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1f64f, // emoji
		r >= 0x1f680 && r <= 0x1f6ff,
		r >= 0x1f900 && r <= 0x1f9ff,
		r >= 0x20000 && r <= 0x3fffd:
		return true
	}
	return false
}
