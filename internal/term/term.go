// Package term knows the terminal: whether there is one, how wide it is, whether
// it wants colours, and how to keep a live status line at its bottom while
// permanent lines scroll by above.
package term

import (
	"os"

	xterm "golang.org/x/term"
)

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return xterm.IsTerminal(int(f.Fd())) }

// fallbackWidth is the width of a terminal that does not know its own.
const fallbackWidth = 80

// Columns returns a function that asks for the width of the terminal f, for
// [NewStatus]: it changes when the window is resized. It returns 80 if the
// width is not known.
func Columns(f *os.File) func() int {
	return func() int {
		if w, _, err := xterm.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
		return fallbackWidth
	}
}

// Color reports whether text for a terminal should be coloured: it is one, it
// is not dumb, and NO_COLOR is not set to anything (https://no-color.org). getenv
// is [os.Getenv] or a fake.
func Color(isTTY bool, getenv func(string) string) bool {
	return isTTY && getenv("NO_COLOR") == "" && !Dumb(getenv)
}

// Dumb reports whether the terminal does not understand escape sequences, so
// that a [Status] must treat it as no terminal.
func Dumb(getenv func(string) string) bool { return getenv("TERM") == "dumb" }
