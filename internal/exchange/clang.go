package exchange

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/assay-run/assay"
)

// This file is about clang, whose help lists its flags, and neither their defaults nor whether they mean
// anything for a program in C on this machine. So each flag and its opposite is tried: clang -### prints
// the call of the compiler proper.

// askClang asks clang for its flags.
func askClang(ctx context.Context) (*Catalogue, error) {
	version, err := output(ctx, "clang", "--version")
	if err != nil {
		return nil, err
	}
	text, err := output(ctx, "clang", "--help-hidden")
	if err != nil {
		return nil, err
	}
	plain, ok := clangCall(ctx, "")
	if !ok {
		return nil, assay.Errorf(assay.ClassUsage, "clang -O2 compiles no program in C here: try it on one")
	}
	return &Catalogue{
		Program: "clang", Version: firstLine(version), Keys: compileKeys("clang"), Settings: readClang(text),
		confirm: func(ctx context.Context, s Setting) (Setting, bool) { return clangConfirms(ctx, s, plain) },
	}, nil
}

var clangLine = regexp.MustCompile(`^\s+(-f[\w-]+)(?:\s+(.*))?$`)

// aboutClang maps words in the help of a flag to its subject. The first that is found decides. Flags
// about messages or other languages are last.
var aboutClang = []struct {
	words *regexp.Regexp
	rank  int
}{
	{regexp.MustCompile(`(?i)diagnos|debug|dwarf|module|\bmacro|column|source location|message|pch|objective|c\+\+|` +
		`cuda|hip\b|gpu|openmp|opencl|saniti|coverage|profil|instrument|visibility|trigraph|digraph|identifier`), rankParam},
	{regexp.MustCompile(`(?i)optimi|vector|inlin|unroll|loop|floating|math|alias|overflow|align`), rankLevel},
}

// readClang reads the output of clang --help-hidden: the flags without a value, each with its opposite,
// whether that is in the help or not.
func readClang(text string) []Setting {
	help := map[string]string{}
	var order []string // of names without -f and -fno-
	last := ""
	for line := range strings.Lines(text) {
		m := clangLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			if last != "" && help[last] == "" && strings.HasPrefix(line, "        ") {
				help[last] = strings.TrimSpace(line)
			}
			last = ""
			continue
		}
		last = m[1]
		help[last] = strings.TrimSpace(m[2])
		name, negative := strings.CutPrefix(last, "-fno-")
		if !negative {
			name = strings.TrimPrefix(last, "-f")
		}
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	var all []Setting
	for _, name := range order {
		on, off := "-f"+name, "-fno-"+name
		s := Setting{Name: on, Values: []string{off, on}, Note: help[on], Rank: rankFlag}
		if s.Note == "" && help[off] != "" {
			s.Note = off + ": " + help[off]
		}
		for _, about := range aboutClang {
			if about.words.MatchString(on + " " + help[on] + " " + help[off]) {
				s.Rank = about.rank
				break
			}
		}
		all = append(all, s)
	}
	return all
}

// clangConfirms reports whether clang takes both values of a flag for a program in C, and at least one
// of them changes how it compiles; plain is the call without the flag. The value that changes nothing is
// the default: there is no default if both change something.
func clangConfirms(ctx context.Context, s Setting, plain string) (Setting, bool) {
	change := false
	for _, value := range s.Values {
		call, ok := clangCall(ctx, value)
		if !ok {
			return s, false
		}
		if call == plain {
			s.Default = value
			continue
		}
		if change = true; !clangBuilds(ctx, value) {
			return s, false
		}
	}
	return s, change
}

// clangCall returns the command line of the compiler proper for a flag, "" for none. It is not ok if
// clang refuses the flag, or warns that it is of no use.
func clangCall(ctx context.Context, value string) (call string, ok bool) {
	argv := []string{"-O2", "-###", "-c", "-x", "c", os.DevNull, "-o", os.DevNull}
	said, err := clang(ctx, os.TempDir(), "", append(argv, flags(value)...)...)
	if err != nil || strings.Contains(said, "warning:") || strings.Contains(said, "error:") {
		return "", false
	}
	for line := range strings.Lines(said) {
		if strings.Contains(line, `"-cc1"`) || strings.Contains(line, `"-cc1as"`) {
			call += line
		}
	}
	return call, call != ""
}

// clangBuilds reports whether a program can be built with a flag: some need a linker or a library
// that is not there.
func clangBuilds(ctx context.Context, value string) bool {
	dir, err := os.MkdirTemp("", "assay-clang-")
	if err != nil {
		return false
	}
	defer func() { _ = os.RemoveAll(dir) }() // a remainder is small
	const program = "int main(int argc, char **argv) { return argv[argc] != 0; }\n"
	argv := append([]string{"-O2", "-x", "c", "-", "-o", "prog"}, flags(value)...)
	_, err = clang(ctx, dir, program, argv...)
	return err == nil
}

func flags(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// clang runs it in a directory, where some flags have it write files, and which is part of the calls
// that it prints. It returns its error output.
func clang(ctx context.Context, dir, input string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "clang", args...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(input), &said
	err := cmd.Run()
	return said.String(), err
}
