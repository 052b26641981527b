package report

import (
	"bytes"
	"encoding/json"
	"io"
)

// Print writes a result as one line of JSON, or for people with text.
func Print[T any](w io.Writer, asJSON bool, p Palette, result T, text func(T, io.Writer, Palette) error) error {
	if asJSON {
		return WriteJSON(w, result)
	}
	return text(result, w, p)
}

// WriteJSON writes v as one line of JSON, in which characters that a terminal does not show are escaped.
func WriteJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(VisibleJSON(b.Bytes()))
	return err
}

// PrintRows writes each of several results as one line of JSON, or all for people with text.
func PrintRows[T any](
	w io.Writer, asJSON bool, p Palette, rows []T, text func([]T, io.Writer, Palette) error,
) error {
	if !asJSON {
		return text(rows, w, p)
	}
	for _, r := range rows {
		if err := WriteJSON(w, r); err != nil {
			return err
		}
	}
	return nil
}
