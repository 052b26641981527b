package term

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// A screen is a terminal in so far as a status line needs one: printing with a
// pending wrap at the right margin, CR, LF, cursor up, erase to the end of the
// line, and colours, which it ignores. It fails the test on anything else. Lines
// that scroll out at the top are kept.
type screen struct {
	t     *testing.T
	width int
	rows  [][]string // one string for each column; "" is the right half of a wide one
	x, y  int
	wraps bool // the cursor is past the last column
}

func newScreen(t *testing.T, width int) *screen { return &screen{t: t, width: width} }

func (s *screen) row() []string {
	for len(s.rows) <= s.y {
		s.rows = append(s.rows, slices.Repeat([]string{" "}, s.width))
	}
	return s.rows[s.y]
}

func (s *screen) Write(p []byte) (int, error) {
	for text := string(p); text != ""; {
		if n := sequence(text); n > 0 {
			s.escape(text[:n])
			text = text[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(text)
		s.put(r)
		text = text[n:]
	}
	return len(p), nil
}

func (s *screen) escape(seq string) {
	count, _ := strconv.Atoi(strings.Trim(seq[2:], "ABCDKm"))
	switch seq[len(seq)-1] {
	case 'A':
		s.y = max(0, s.y-max(1, count))
		s.wraps = false
	case 'K':
		row := s.row()
		for i := s.x; i < s.width; i++ {
			row[i] = " "
		}
	case 'm':
	default:
		s.t.Errorf("the terminal got %q", seq)
	}
}

func (s *screen) put(r rune) {
	switch {
	case r == '\r':
		s.x, s.wraps = 0, false
	case r == '\n': // with the CR that a terminal driver adds
		s.x, s.wraps = 0, false
		s.y++
		s.row()
	case r < 0x20:
		s.t.Errorf("the terminal got %q", r)
	case columns(r) == 0:
		s.row()[max(0, s.x-1)] += string(r)
	default:
		if s.wraps || s.x+columns(r) > s.width {
			s.x, s.wraps = 0, false
			s.y++
		}
		row := s.row()
		row[s.x] = string(r)
		if columns(r) == 2 {
			row[s.x+1] = ""
		}
		if s.x += columns(r); s.x >= s.width {
			s.x, s.wraps = s.width-1, true
		}
	}
}

// resize makes the terminal narrower: rows that are too long wrap, and the
// cursor stays with its character.
func (s *screen) resize(width int) {
	var rows [][]string
	y := 0
	for i, row := range s.rows {
		used := len(strings.TrimRight(strings.Join(row, ""), " "))
		if i == s.y {
			y = len(rows) + s.x/width
			used = max(used, s.x)
		}
		row = row[:min(len(row), max(used, 1))]
		for part := range slices.Chunk(row, width) {
			rows = append(rows, append(slices.Clone(part), slices.Repeat([]string{" "}, width-len(part))...))
		}
	}
	s.rows, s.width, s.x, s.y = rows, width, s.x%width, y
}

// lines returns the lines of the screen without empty ones at the end.
func (s *screen) lines() []string {
	var out []string
	for _, row := range s.rows {
		out = append(out, strings.TrimRight(strings.Join(row, ""), " "))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func (s *screen) want(lines ...string) {
	s.t.Helper()
	if got := s.lines(); !slices.Equal(got, lines) {
		s.t.Errorf("the screen shows %q, want %q", got, lines)
	}
}
