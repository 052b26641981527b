package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
)

// This file follows a JSON pointer (RFC 6901) through a file of any size. The decoder gives tokens, so that the file
// is never in memory as a whole. The text after the value is not read: an error there goes unnoticed.

// readJSON returns the number that the pointer names. The error names the file; an error of opening it does so by
// itself.
func readJSON(_ context.Context, s assay.MetricSource, r finished) (float64, error) {
	f, err := os.Open(r.path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	tokens, err := assay.ParsePointer(s.Pointer)
	if err != nil {
		return 0, err
	}
	x, err := lookup(f, tokens)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", r.path, err)
	}
	return x, nil
}

// lookup reads JSON up to the value that the tokens lead to, in constant memory, and returns it if it is a number.
// Among equal names in an object the first counts. Numbers are kept as they are written, so that number judges them
// like numbers of an output. No tokens stand for the whole document.
func lookup(r io.Reader, tokens []string) (float64, error) {
	d := json.NewDecoder(r)
	d.UseNumber()
	for i, t := range tokens {
		tok, err := d.Token()
		if err != nil {
			return 0, syntaxError(err)
		}
		here := "/" + strings.Join(tokens[:i+1], "/")
		switch tok {
		case json.Delim('{'):
			err = enterObject(d, t)
		case json.Delim('['):
			err = enterArray(d, t)
		default:
			err = errAbsent
		}
		if err == errAbsent {
			return 0, fmt.Errorf("there is no %s", here)
		}
		if err != nil {
			return 0, syntaxError(err)
		}
	}
	tok, err := d.Token()
	if err != nil {
		return 0, syntaxError(err)
	}
	switch v := tok.(type) {
	case json.Number:
		return number(v.String())
	case json.Delim:
		return 0, errors.New("the value is an object or an array, not a number")
	case nil:
		return 0, errors.New("the value is null")
	}
	return 0, fmt.Errorf("the value %.40q is not a number", fmt.Sprint(tok))
}

// errAbsent is internal: lookup replaces it by a text that names the part of the pointer that is missing.
var errAbsent = errors.New("absent")

// syntaxError describes a file that ends early, as one does whose writer was killed.
func syntaxError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON ends early")
	}
	return err
}

// enterObject reads an object up to the value of a name. The opening brace has been read. On success the value is the
// next token; on errAbsent the object has been read to its end.
func enterObject(d *json.Decoder, name string) error {
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if key == name {
			return nil
		}
		if err := skip(d); err != nil {
			return err
		}
	}
	return absent(d)
}

// enterArray reads an array up to the value of an index. The opening bracket has been read. An index has no sign and no
// leading zero (RFC 6901, section 4). The index "-", behind the last element, is always absent.
func enterArray(d *json.Decoder, index string) error {
	n, err := strconv.Atoi(index)
	if err != nil || n < 0 || strconv.Itoa(n) != index {
		return errAbsent
	}
	for ; d.More(); n-- {
		if n == 0 {
			return nil
		}
		if err := skip(d); err != nil {
			return err
		}
	}
	return absent(d)
}

// absent reads the end of an object or array in which something was not found.
func absent(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return err
	}
	return errAbsent
}

// skip reads one value of any kind. A single token is a whole value unless it opens an object or an array.
func skip(d *json.Decoder) error {
	for depth := 0; ; {
		tok, err := d.Token()
		if err != nil {
			return err
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
