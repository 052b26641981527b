package expr

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
)

// An Error is a flaw of an expression.
type Error struct {
	Text    string // the expression
	Column  int    // where it is, in runes from 1, counted over the whole text; 0 if it has no place
	Message string
}

// Error returns the message and the expression on one line.
func (e *Error) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("%s in %q", e.Message, shorten(e.Text))
	}
	return fmt.Sprintf("%s at column %d of %q", e.Message, e.Column, shorten(e.Text))
}

// shorten cuts a text to fit in a message.
func shorten(text string) string {
	const keep = 120
	if len(text) <= keep {
		return text
	}
	cut := keep
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "..."
}

// errorAt returns an error at a node of the parsed text.
func errorAt(text string, n ast.Node, format string, args ...any) *Error {
	return &Error{Text: text, Column: n.Location().From + 1, Message: fmt.Sprintf(format, args...)}
}

// wrap turns an error of the expression library into one of ours.
func wrap(text string, err error) *Error {
	e := &Error{Text: text, Message: err.Error()}
	if f, ok := errors.AsType[*file.Error](err); ok {
		e.Column = min(f.From, utf8.RuneCountInString(text)) + 1
		e.Message = f.Message
		if f.Snippet == "" && text == "" {
			e.Column = 0
		}
	}
	e.Message, _, _ = strings.Cut(e.Message, "\n")
	e.Message = explain(e.Message)
	return e
}

// explain adds advice to the messages that people meet most.
func explain(message string) string {
	switch {
	case strings.Contains(message, `unexpected token Operator("=")`):
		return message + " (equality is written ==)"
	case strings.Contains(message, "mismatched types bool and int"),
		strings.Contains(message, "mismatched types int and bool"):
		return message + " (a switch is written as it is, or with ! when it is off)"
	case strings.Contains(message, "mismatched types string and"):
		return message + " (the values of a category are texts, written in quotes)"
	case strings.HasPrefix(message, "expected bool, but got"):
		return message + " (a comparison is needed, such as threads <= 4)"
	}
	return message
}
