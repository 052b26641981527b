package report

import "strings"

// ShellQuote returns an argv as one line for a POSIX shell that runs exactly it:
// what needs no quotes is left bare, the rest is in single quotes, in which only the
// single quote itself is special. Newlines and bytes that are not UTF-8
// stay as they are. An argv cannot hold NUL; one that does is quoted without it.
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
	b.WriteByte('\'')
	b.WriteString(strings.ReplaceAll(word, "'", `'\''`))
	b.WriteByte('\'')
}

// special reports whether a shell may read more into r than itself.
func special(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("@%+=:,./_-", r)
}
