package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/assay-run/assay/workflow"
)

// This file reads JSON (RFC 8259) without encoding/json, for two reasons: traces are up to
// gigabytes of which little is kept, and errors must have a line and a column. The caller walks
// through the text with object and array, which call it back for each value, and it must read or
// skip every value. After an error the scanner is at the place of the error and is of no use any
// more.

// A jsonScanner reads one JSON text as a stream, value by value, in the order in
// which it is written. It holds a window of the input that grows to the longest
// string only. It accepts the literals NaN, Infinity and -Infinity where a
// number may stand, which several workflow tools write, so that their place can
// be reported.
//
// Errors are [*InputError] with the line and column.
type jsonScanner struct {
	// never closed here
	r    io.Reader
	file string
	// the window: it is never shrunk; slices of it are valid until fill
	buf []byte
	pos int // next byte to read in buf
	end int // buf[pos:end] is unread
	// what r returned last, once it has; io.EOF is the end, anything else a failure
	eof error

	// The place is counted when it is asked for, not for every byte. counted <= pos.
	lines    int32 // line breaks before buf[counted]
	counted  int
	lineFrom int // where the line of buf[counted] begins, in buf; negative if before it
	// the key of the innermost member being read
	text []byte
	// objects and arrays that are open
	depth int
}

const (
	// eight bytes of indentation as one word, in any byte order
	eightSpaces = 0x2020202020202020
	// bytes; large enough that reading and moving what is left cost little
	scanWindow = 1 << 20
	// far more than any known format has
	maxJSONDepth = 1000
)

// newJSONScanner returns a scanner at the start of r. file is for messages.
func newJSONScanner(r io.Reader, file string) *jsonScanner {
	return &jsonScanner{r: r, file: file, buf: make([]byte, scanWindow)}
}

// place returns the line and column of the next byte. Calls cost as much as
// the input between them is long.
//
// Columns count bytes, from 1. The line breaks between the last call and this one are counted now,
// so that calls must go forward: pos never falls between two of them.
func (s *jsonScanner) place() workflow.Pos {
	for {
		i := bytes.IndexByte(s.buf[s.counted:s.pos], '\n')
		if i < 0 {
			break
		}
		s.lines++
		s.counted += i + 1
		s.lineFrom = s.counted
	}
	s.counted = s.pos
	return workflow.Pos{Line: s.lines + 1, Column: int32(s.pos - s.lineFrom + 1)}
}

// errorf returns an error at the next byte.
func (s *jsonScanner) errorf(format string, args ...any) error {
	return &workflow.InputError{File: s.file, Pos: s.place(), Msg: fmt.Sprintf(format, args...)}
}

// fill reads more input behind buf[from:end], which is kept and moves to the
// front. It reports whether there was more.
//
// Every slice of the window is invalid after it. The window doubles if what is kept fills it. pos,
// end, counted and lineFrom move with the bytes, after place has counted the line breaks that are
// about to be dropped.
// A reader that returns nothing a hundred times without an error is given up, as in bufio.
func (s *jsonScanner) fill(from int) bool {
	if s.eof != nil {
		return false
	}
	s.place()
	if from > 0 {
		copy(s.buf, s.buf[from:s.end])
		s.pos -= from
		s.end -= from
		s.counted -= from
		s.lineFrom -= from
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for range 100 {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.eof = err
		}
		if n > 0 || err != nil {
			return n > 0
		}
	}
	s.eof = io.ErrNoProgress
	return false
}

// peek skips white space and returns the next byte, or 0 at the end.
//
// A byte 0 in the input looks like the end: callers that must tell compare pos with end.
func (s *jsonScanner) peek() byte {
	for {
		for s.pos < s.end {
			switch c := s.buf[s.pos]; c {
			case ' ':
				s.pos++
				for s.pos+8 <= s.end && binary.LittleEndian.Uint64(s.buf[s.pos:]) == eightSpaces {
					s.pos += 8 // most of an indented file is indentation
				}
			case '\n', '\r', '\t':
				s.pos++
			default:
				return c
			}
		}
		if !s.fill(s.pos) {
			return 0
		}
	}
}

// unexpected is the error for a next byte that cannot stand there.
//
// want says in words what belongs there. A failure of the reader is reported as such and not as a
// text that is cut short.
func (s *jsonScanner) unexpected(want string) error {
	c := s.peek()
	switch {
	case c != 0 || s.pos < s.end:
		return s.errorf("found %q where %s belongs", rune(c), want)
	case errors.Is(s.eof, io.EOF):
		return s.errorf("the input ends where %s belongs: it is cut short", want)
	}
	return s.errorf("reading: %v", s.eof)
}

// expect skips white space and reads the byte c; want says in words what belongs
// there.
func (s *jsonScanner) expect(c byte, want string) error {
	if s.peek() != c {
		return s.unexpected(want)
	}
	s.pos++
	return nil
}

// object calls f for each member of the object that comes next, with the value
// unread, which f must read. The key is valid until then.
//
// A member of the value may use the same key memory: f must not read key after it has begun to read
// the value. Names that are given twice are passed on twice.
func (s *jsonScanner) object(f func(key []byte) error) error {
	if err := s.expect('{', "an object"); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer func() { s.depth-- }()
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	for {
		if s.peek() != '"' {
			return s.unexpected("a name in quotes")
		}
		key, err := s.str()
		if err != nil {
			return err
		}
		// The key may lie in the window, which moves when more is read.
		s.text = append(s.text[:0], key...)
		if err := s.expect(':', "a colon"); err != nil {
			return err
		}
		if err := f(s.text); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return nil
		default:
			return s.unexpected("a comma or }")
		}
	}
}

// array calls f before each element of the array that comes next, which f must
// read.
func (s *jsonScanner) array(f func() error) error {
	if err := s.expect('[', "an array"); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer func() { s.depth-- }()
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		if err := f(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			return nil
		default:
			return s.unexpected("a comma or ]")
		}
	}
}

// enter counts one more nesting. The limit keeps a hostile input from using up
// the stack.
//
// Each nesting is a few calls deep in Go.
func (s *jsonScanner) enter() error {
	if s.depth++; s.depth > maxJSONDepth {
		return s.errorf("nested deeper than %d", maxJSONDepth)
	}
	return nil
}

// str reads a string. The result is valid until the next read.
//
// Most strings have no escape and are returned as a part of the window, without a copy. pos stays
// at the first character until the end is found, so that fill keeps all of the string, and escaped
// can read it from the start. UTF-8 is not checked.
func (s *jsonScanner) str() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.unexpected("a string")
	}
	s.pos++
	n := 0 // bytes of the string known to hold neither quote, escape nor control
	for {
		for i, c := range s.buf[s.pos+n : s.end] {
			if c == '"' {
				t := s.buf[s.pos : s.pos+n+i]
				s.pos += n + i + 1
				return t, nil
			}
			if c == '\\' {
				return s.escaped()
			}
			if c < ' ' {
				s.pos += n + i
				return nil, s.errorf("control character %#x in a string", c)
			}
		}
		n = s.end - s.pos
		if !s.fill(s.pos) {
			s.pos = s.end
			return nil, s.unexpected("the end of a string")
		}
	}
}

// escaped reads the rest of a string that has escapes.
//
// pos is at the first character behind the opening quote. The result is a slice of its own.
func (s *jsonScanner) escaped() ([]byte, error) {
	var t []byte
	for {
		// A surrogate pair is twelve bytes. A reader may give them one by one.
		for s.end-s.pos < 12 && s.fill(s.pos) {
		}
		if s.pos == s.end {
			return nil, s.unexpected("the end of a string")
		}
		c := s.buf[s.pos]
		switch {
		case c == '"':
			s.pos++
			return t, nil
		case c < ' ':
			return nil, s.errorf("control character %#x in a string", c)
		case c != '\\':
			t = append(t, c)
			s.pos++
			continue
		}
		var err error
		if t, err = s.escape(t); err != nil {
			return nil, err
		}
	}
}

// escape reads one escape and appends what it means to t. Half of a surrogate
// pair becomes U+FFFD, as in encoding/json.
//
// pos is at the backslash. The escapes are those of RFC 8259, §7. The caller has seen to it that
// the window has twelve bytes unless the input ends before.
func (s *jsonScanner) escape(t []byte) ([]byte, error) {
	if s.end-s.pos < 2 {
		s.pos = s.end
		return nil, s.unexpected("the end of a string")
	}
	c := s.buf[s.pos+1]
	if i := bytes.IndexByte([]byte(`"\/bfnrt`), c); i >= 0 {
		s.pos += 2
		return append(t, "\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return nil, s.errorf("escape \\%c in a string", c)
	}
	r, ok := s.hex(2)
	if !ok {
		return nil, s.errorf("\\u without four hexadecimal digits")
	}
	s.pos += 6
	if utf16.IsSurrogate(r) {
		// The second half is an escape of its own right behind. What is no second half is left for
		// the next call.
		second, ok := s.hex(2)
		if s.end-s.pos >= 6 && s.buf[s.pos] == '\\' && s.buf[s.pos+1] == 'u' && ok {
			if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
				s.pos += 6
				return utf8.AppendRune(t, pair), nil
			}
		}
		r = utf8.RuneError
	}
	return utf8.AppendRune(t, r), nil
}

// hex reads four hexadecimal digits at an offset from the next byte.
//
// ok is false where the window has fewer digits, or other characters.
func (s *jsonScanner) hex(at int) (rune, bool) {
	if s.end-s.pos < at+4 {
		return 0, false
	}
	x, err := strconv.ParseUint(string(s.buf[s.pos+at:s.pos+at+4]), 16, 32)
	return rune(x), err == nil
}

// number reads a number; null, which means not known, is NaN. The literal NaN is
// an error: what was measured is a number or is left out.
//
// What strconv takes is a little more than JSON allows: leading zeros and a final point. A number
// that is too large for a float64 is an error. At an error pos is at the first character, so that
// the place is that of the number.
func (s *jsonScanner) number() (float64, error) {
	c := s.peek()
	if c != '-' && (c < '0' || c > '9') {
		if c == 'n' {
			return math.NaN(), s.literal("null")
		}
		if c == 'N' || c == 'I' {
			return 0, s.errorf("a number is %s", map[byte]string{'N': "NaN", 'I': "Infinity"}[c])
		}
		return 0, s.unexpected("a number")
	}
	n := 0
	for {
		if s.pos+n == s.end && !s.fill(s.pos) {
			break
		}
		c := s.buf[s.pos+n]
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			break
		}
		n++
	}
	x, err := strconv.ParseFloat(string(s.buf[s.pos:s.pos+n]), 64)
	if err != nil {
		if n == 1 && s.pos+1 < s.end && s.buf[s.pos+1] == 'I' {
			return 0, s.errorf("a number is -Infinity")
		}
		return 0, s.errorf("%q is not a number", s.buf[s.pos:s.pos+n])
	}
	s.pos += n
	return x, nil
}

// literal reads a word such as null.
//
// What follows the word is not looked at: the caller finds a comma or a bracket missing.
func (s *jsonScanner) literal(word string) error {
	for s.end-s.pos < len(word) {
		if !s.fill(s.pos) {
			break
		}
	}
	if !bytes.HasPrefix(s.buf[s.pos:s.end], []byte(word)) {
		return s.unexpected("a value")
	}
	s.pos += len(word)
	return nil
}

// skip reads a value of any kind.
//
// The value is checked as strictly as one that is read, except that NaN and Infinity are fine where
// nobody uses them.
func (s *jsonScanner) skip() error {
	switch c := s.peek(); c {
	case '{':
		return s.object(func([]byte) error { return s.skip() })
	case '[':
		return s.array(s.skip)
	case '"':
		_, err := s.str()
		return err
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	case 'N':
		return s.literal("NaN")
	case 'I':
		return s.literal("Infinity")
	case '-':
		if s.end-s.pos < 2 {
			s.fill(s.pos)
		}
		if s.end-s.pos >= 2 && s.buf[s.pos+1] == 'I' {
			return s.literal("-Infinity")
		}
	}
	_, err := s.number()
	return err
}

// finish checks that nothing but white space follows the value that was read.
//
// A second JSON text is an error, and so is a reader that fails behind the first.
func (s *jsonScanner) finish() error {
	if c := s.peek(); c != 0 || s.pos < s.end {
		return s.errorf("found %q after the end of the JSON text", rune(c))
	}
	if !errors.Is(s.eof, io.EOF) {
		return s.errorf("reading: %v", s.eof)
	}
	return nil
}
