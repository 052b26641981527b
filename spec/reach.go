package spec

import (
	"path/filepath"
	"slices"
	"strings"
)

// This file finds the parameters that reach nothing: varying them would be a study of noise.
// What is certain is an error, what is doubtful a warning:
//
//   - a placeholder {name} reaches what it stands in;
//   - a shell line reaches the parameters whose variable it names, in any way;
//   - a script, an interpreter or a build tool that has the parameters in its environment may
//     read every one of them there, and nothing is said;
//   - any other program may as well, which is a warning;
//   - what the shell does itself, and the utilities below, read none.

// A reach is what was found of where the parameters go.
type reach struct {
	used   []bool // by parameter: it is named somewhere
	reads  bool   // something that may well read the environment has it
	doubts string // the first program that could, though it is no script; "" for none
}

// interpreters run what a user wrote, which may read any variable. A version at the end of
// the name, as in python3.12, does not count.
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

// commands returns the words of a line for a shell that stand where a command does. It knows
// no more of the grammar than that takes: a word that it takes for a command and is none at
// worst turns an error into a warning.
func commands(line string) []string {
	var out []string
	expect := true // the next word is a command
	var word strings.Builder
	quote, quoted := byte(0), false
	flush := func() {
		w := word.String()
		word.Reset()
		if w == "" && !quoted {
			return
		}
		quoted = false
		name, _, assigns := strings.Cut(w, "=")
		switch {
		case !expect || slices.Contains(keywords, w) || assigns && shellName(name+"_") == name+"_":
		default:
			out = append(out, w)
			expect = false
		}
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case c == '\\' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
		case c == '\'' || c == '"':
			quote, quoted = c, true
		case c == '$' && i+1 < len(line) && line[i+1] == '(':
			flush()
			expect = true
			i++
		case c == '#' && word.Len() == 0 && !quoted:
			for i+1 < len(line) && line[i+1] != '\n' {
				i++
			}
		case strings.IndexByte(";|&()`\n", c) >= 0:
			flush()
			expect = true
		case c == ' ' || c == '\t':
			flush()
		case c == '<' || c == '>':
			flush()
			// The file that follows is no command.
			for i+1 < len(line) && strings.IndexByte("<>&- ", line[i+1]) >= 0 {
				i++
			}
			for i+1 < len(line) && strings.IndexByte(" \t;|&()\n", line[i+1]) < 0 {
				i++
			}
		default:
			word.WriteByte(c)
		}
	}
	flush()
	return out
}
