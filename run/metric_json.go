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

// readJSON returns the number that the pointer names.
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

// lookup reads JSON up to the value that the tokens lead to, in constant memory,
// and returns it if it is a number. Of equal names in an object the first counts.
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

var errAbsent = errors.New("absent")

func syntaxError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON ends early")
	}
	return err
}

// enterObject reads an object up to the value of a name.
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

// enterArray reads an array up to the value of an index.
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

// skip reads one value of any kind.
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
