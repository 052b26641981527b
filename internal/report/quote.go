package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ShellQuote returns an argv as one line for a POSIX shell that runs exactly it: text that needs no
// quotes is left bare, the rest is in single quotes, in which only the single quote itself is special.
// Newlines stay as they are. Characters that [Visible] would escape are written by printf, "$(printf
// '\033')", so that the line can be shown on a terminal. An argv cannot hold NUL; one that does is
// quoted without it.
func ShellQuote(argv []string) string {
	var b strings.Builder
	for i, arg := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		quoteWord(&b, arg, i == 0)
	}
	return b.String()
}

// reserved are the words that a shell does not look up as commands.
const reserved = " if then else elif fi do done case esac while until for in function select time coproc "

// quoteWord appends a word. As the first of a command, it must be
// neither an assignment nor a reserved word.
func quoteWord(b *strings.Builder, word string, first bool) {
	word = strings.ReplaceAll(word, "\x00", "")
	bare := word != "" && strings.IndexFunc(word, special) < 0
	if first && (strings.Contains(word, "=") || strings.Contains(reserved, " "+word+" ")) {
		bare = false
	}
	if bare {
		b.WriteString(word)
		return
	}
	if word == "" {
		b.WriteString("''")
	}
	for hide := false; word != ""; hide = !hide {
		n := stretch(word, hide)
		switch part := word[:n]; {
		case part == "":
		case hide:
			b.WriteString(`"$(printf '`)
			for i := range n {
				fmt.Fprintf(b, `\%03o`, part[i])
			}
			b.WriteString(`')"`)
		default:
			b.WriteByte('\'')
			b.WriteString(strings.ReplaceAll(part, "'", `'\''`))
			b.WriteByte('\'')
		}
		word = word[n:]
	}
}

// stretch returns how many bytes at the start of a word are all unshown, or all not.
func stretch(word string, hide bool) int {
	for i := 0; i < len(word); {
		r, k := utf8.DecodeRuneInString(word[i:])
		if unshown(r, k) != hide {
			return i
		}
		i += k
	}
	return len(word)
}

// unshown reports whether a rune of size bytes is written by printf. A line feed is not: a shell drops
// it at the end of the output of a command.
func unshown(r rune, size int) bool {
	return r != '\n' && hidden(r) || r == utf8.RuneError && size == 1
}

// special reports whether a shell may read more into r than itself.
func special(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("@%+=:,./_-", r)
}
