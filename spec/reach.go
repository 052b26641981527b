package spec

import (
	"path/filepath"
	"slices"
	"strings"
)

// This file finds the parameters that reach nothing: varying them would be a study of noise. A certain case is an
// error, a doubtful one a warning:
//
//   - a placeholder {name} reaches the text around it;
//   - a shell line reaches the parameters whose variable it names, in any way;
//   - a script, an interpreter or a build tool with the parameters in its environment may
//     read every one of them there: no error and no warning;
//   - any other program may as well, which is a warning;
//   - the builtins of the shell and the utilities below read none.

// A reach holds the places where the parameters go.
type reach struct {
	used   []bool // by parameter: it is named somewhere
	reads  bool   // something that may well read the environment has it
	doubts string // the first program that could, though it is no script; "" for none
}

// interpreters run code of the user, which may read any variable. A version at the end of the name, as in python3.12,
// does not count.
var interpreters = []string{
	".", "source", "eval", "sh", "bash", "dash", "ash", "zsh", "ksh", "fish", "python", "pypy", "perl", "ruby",
	"node", "deno", "bun", "lua", "luajit", "Rscript", "R", "julia", "octave", "php", "tclsh", "java", "dotnet",
	"make", "gmake", "ninja", "cmake", "meson", "bazel", "cargo", "go", "npm", "mvn", "gradle", "scons", "just",
	"env", "printenv", "envsubst", "xargs", "export", "set", "sudo", "su", "mpirun", "mpiexec", "srun",
}

// utilities read no variable of a user's own.
var utilities = []string{
	":", "[", "[[", "test", "true", "false", "echo", "printf", "cd", "exit", "return", "shift", "unset", "wait",
	"kill", "pkill", "killall", "trap", "read", "umask", "ulimit", "pwd", "sleep", "sync", "cat", "tac", "head",
	"tail", "tee", "wc", "sort", "uniq", "cut", "tr", "grep", "egrep", "fgrep", "sed", "paste", "join", "comm",
	"rm", "rmdir", "mkdir", "mktemp", "cp", "mv", "ln", "touch", "truncate", "chmod", "chown", "ls", "du", "df",
	"stat", "dd", "cmp", "diff", "date", "seq", "yes", "basename", "dirname", "readlink", "realpath", "tar",
	"gzip", "gunzip", "zcat", "md5sum", "sha256sum", "cksum", "base64", "od", "xxd", "pgrep", "ps", "id", "uname",
	"hostname", "nproc", "free", "clear", "which", "type", "command", "ping", "fallocate", "shred", "pidof",
}

// keywords of a shell are followed by a command, as assignments are.
var keywords = []string{
	"!", "{", "then", "do", "else", "elif", "if", "while", "until", "time", "exec", "nohup", "nice", "setsid",
	"stdbuf", "command", "builtin", "(",
}

// line takes in a line for a shell that has the parameters in its environment.
func (r *reach) line(text string, vars []variable) {
	for _, v := range vars {
		if hasWord(text, v.name) {
			r.used[v.param] = true
		}
	}
	for _, program := range commands(text) {
		r.program(program)
	}
}

// program takes in a program that has the parameters in its environment.
func (r *reach) program(argv0 string) {
	bare := strings.TrimRight(filepath.Base(argv0), "0123456789.")
	switch {
	case argv0 == "":
	case strings.ContainsAny(argv0, "$`{") || argv0 == "." || slices.Contains(interpreters, bare):
		r.reads = true
	case slices.Contains(utilities, filepath.Base(argv0)):
	case strings.Contains(argv0, "/"):
		r.reads = true
	case r.doubts == "":
		r.doubts = argv0
	}
}

// hasWord reports whether text has the name of a variable as a word of its own.
func hasWord(text, name string) bool {
	in := func(c byte) bool {
		return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
	}
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(name)
		if (i == 0 || !in(text[i-1])) && (end == len(text) || !in(text[end])) {
			return true
		}
		at = i + 1
	}
}

// commands returns the words of a shell line in the position of a command. It knows only as much of the grammar as
// that needs: an argument mistaken for a command at worst turns an error into a warning.
func commands(line string) []string {
	l := &shellWords{line: line, expect: true}
	for l.at < len(line) {
		l.step()
	}
	l.flush()
	return l.out
}

// shellWords finds the commands of a line.
type shellWords struct {
	line   string
	at     int
	out    []string
	expect bool // the next word is a command
	word   strings.Builder
	quoted bool // the word has quotes, so that it is one even if it is empty
}

// step takes in a character, or all that belongs to it.
func (l *shellWords) step() {
	c := l.line[l.at]
	l.at++
	switch {
	case c == '\\' && l.at < len(l.line):
		l.word.WriteByte(l.line[l.at])
		l.at++
	case c == '\'' || c == '"':
		l.quote(c)
	case c == '$' && strings.HasPrefix(l.line[l.at:], "("):
		l.at++
		l.next()
	case c == '#' && l.word.Len() == 0 && !l.quoted:
		l.until("\n")
	case strings.IndexByte(";|&()`\n", c) >= 0:
		l.next()
	case c == ' ' || c == '\t':
		l.flush()
	case c == '<' || c == '>':
		l.redirect()
	default:
		l.word.WriteByte(c)
	}
}

// quote takes in a text up to its closing quote.
func (l *shellWords) quote(c byte) {
	text, _, _ := strings.Cut(l.line[l.at:], string(c))
	l.word.WriteString(text)
	l.at = min(l.at+len(text)+1, len(l.line))
	l.quoted = true
}

// redirect skips a redirection: the file that follows is no command.
func (l *shellWords) redirect() {
	l.flush()
	for l.at < len(l.line) && strings.IndexByte("<>&- ", l.line[l.at]) >= 0 {
		l.at++
	}
	l.until(" \t;|&()\n")
}

// until skips to the first of these characters.
func (l *shellWords) until(these string) {
	if n := strings.IndexAny(l.line[l.at:], these); n >= 0 {
		l.at += n
		return
	}
	l.at = len(l.line)
}

// next ends a word, before one that is a command.
func (l *shellWords) next() {
	l.flush()
	l.expect = true
}

// flush ends a word.
func (l *shellWords) flush() {
	w := l.word.String()
	l.word.Reset()
	if w == "" && !l.quoted {
		return
	}
	l.quoted = false
	name, _, assigns := strings.Cut(w, "=")
	if !l.expect || slices.Contains(keywords, w) || assigns && shellName(name+"_") == name+"_" {
		return
	}
	l.out = append(l.out, w)
	l.expect = false
}
