package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assay-run/assay/workflow"
)

// A jsonScanner reads one JSON text as a stream, value by value, in the order in which it is written: traces are up to
// gigabytes of which little is kept. The caller walks through the text with object and array, which call it back for
// each value, and it must read or skip every value. After an error the scanner is of no use any more.
//
// Errors are [*InputError] with the line and column.
type jsonScanner struct {
	dec  *jsontext.Decoder
	in   *jsonInput
	file string

	peeked bool   // since the last read: peek returns it again
	first  byte   // of the next token, or 0
	at     int64  // its offset
	word   string // the literal that it is if JSON does not have it

	text []byte // the key of the innermost member being read
}

// space is the white space of JSON.
const space = " \t\r\n"

// newJSONScanner returns a scanner at the start of r. file is for messages.
func newJSONScanner(r io.Reader, file string) *jsonScanner {
	in := &jsonInput{r: bufio.NewReaderSize(r, 1<<16)}
	// UTF-8 is not checked. Names that are given twice are passed on twice.
	dec := jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	in.decoded = dec.InputOffset
	return &jsonScanner{dec: dec, in: in, file: file}
}

// peek returns the first byte of the next token, or 0 at the end and at an error.
func (s *jsonScanner) peek() byte {
	if s.peeked {
		return s.first
	}
	kind := s.dec.PeekKind()
	rest := s.dec.UnreadBuffer()
	i := 0
	for i < len(rest) && (rest[i] <= ' ' || rest[i] == ',' || rest[i] == ':') {
		i++
	}
	s.peeked, s.first, s.at, s.word = true, 0, s.dec.InputOffset()+int64(i), ""
	if kind == 0 || i == len(rest) {
		return 0
	}
	s.first = rest[i]
	if s.first == '"' {
		if s.word = s.in.wordAt(s.at); s.word != "" {
			s.first = s.word[0]
		}
	}
	return s.first
}

// place returns the line and column of the next token.
func (s *jsonScanner) place() workflow.Pos {
	s.peek()
	return s.in.place(s.at)
}

// errorAt returns an error at an offset.
func (s *jsonScanner) errorAt(at int64, format string, args ...any) error {
	return &workflow.InputError{File: s.file, Pos: s.in.place(at), Msg: fmt.Sprintf(format, args...)}
}

// fault returns an error of the decoder with its place. want describes the text expected at the end of
// input that is cut short.
func (s *jsonScanner) fault(err error, want string) error {
	bad, syntax := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return s.errorAt(s.in.read, "the input ends where %s belongs: it is cut short", want)
	case syntax:
		return s.errorAt(bad.ByteOffset, "%v", bad.Err)
	}
	return s.errorAt(s.dec.InputOffset(), "reading: %v", errors.Unwrap(err))
}

// unexpected is the error for a next token that cannot stand there. want describes the expected one.
func (s *jsonScanner) unexpected(want string) error {
	if c := s.peek(); c != 0 {
		return s.errorAt(s.at, "found %q where %s belongs", rune(c), want)
	}
	s.peeked = false
	_, err := s.dec.ReadToken()
	return s.fault(err, want)
}

// token reads a bracket; want describes the expected one.
func (s *jsonScanner) token(c byte, want string) error {
	if s.peek() != c {
		return s.unexpected(want)
	}
	s.peeked = false
	if _, err := s.dec.ReadToken(); err != nil {
		return s.fault(err, want)
	}
	return nil
}

// object calls f for each member of the object that comes next, with the value
// unread, which f must read. The key is valid until then.
func (s *jsonScanner) object(f func(key []byte) error) error {
	if err := s.token('{', "an object"); err != nil {
		return err
	}
	for s.peek() == '"' {
		key, err := s.str()
		if err != nil {
			return err
		}
		s.text = append(s.text[:0], key...)
		if err := f(s.text); err != nil {
			return err
		}
	}
	return s.token('}', "a name in quotes")
}

// array calls f before each element of the array that comes next, which f must
// read.
func (s *jsonScanner) array(f func() error) error {
	if err := s.token('[', "an array"); err != nil {
		return err
	}
	for c := s.peek(); c != 0 && c != ']'; c = s.peek() {
		if err := f(); err != nil {
			return err
		}
	}
	return s.token(']', "a value")
}

// str reads a string. The result is valid until the next read.
func (s *jsonScanner) str() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.unexpected("a string")
	}
	s.peeked = false
	raw, err := s.dec.ReadValue()
	if err != nil {
		return nil, s.fault(err, "the end of a string")
	}
	if text := raw[1 : len(raw)-1]; bytes.IndexByte(text, '\\') < 0 {
		return text, nil
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // its error is half of a surrogate pair, which becomes U+FFFD
	return text, nil
}

// number reads a number; null, which means not known, is NaN. The literal NaN is an error: a measured
// value is a number or is left out. So is a number that is too large for a float64.
func (s *jsonScanner) number() (float64, error) {
	c := s.peek()
	switch {
	case s.word != "":
		return 0, s.errorAt(s.at, "a number is %s", s.word)
	case c == 'n':
		return math.NaN(), s.skip()
	case c != '-' && (c < '0' || c > '9'):
		return 0, s.unexpected("a number")
	}
	s.peeked = false
	raw, err := s.dec.ReadValue()
	if err != nil {
		return 0, s.fault(err, "a number")
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return 0, s.errorAt(s.at, "%q is not a number", raw)
	}
	return x, nil
}

// skip reads a value of any kind. NaN and Infinity are accepted in values that are not used.
func (s *jsonScanner) skip() error {
	s.peeked = false
	if err := s.dec.SkipValue(); err != nil {
		return s.fault(err, "the rest of a value")
	}
	return nil
}

// finish checks that nothing but white space follows the value that was read.
//
// A second JSON text is an error, and so is a reader that fails behind the first.
func (s *jsonScanner) finish() error {
	s.dec.PeekKind()
	all := s.dec.UnreadBuffer()
	if rest := bytes.TrimLeft(all, space); len(rest) > 0 {
		at := s.dec.InputOffset() + int64(len(all)-len(rest))
		return s.errorAt(at, "found %q after the end of the JSON text", rune(rest[0]))
	}
	if _, err := s.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return s.fault(err, "the end")
	}
	return nil
}
