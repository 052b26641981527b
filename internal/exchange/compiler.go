package exchange

import (
	"context"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// This file is about gcc: flags that come in a pair, -fX and -fno-X, flags with one of a few values, and numbers.

// Ranks of compiler flags.
const (
	rankLevel   = iota // -O3 sets it otherwise than -O2: the compiler's authors think it is worth a try
	rankEnabled        // -O2 has it on
	rankFlag
	rankParam
)

// askGCC asks gcc for its optimizers at -O2 and at -O3, and for its parameters.
func askGCC(ctx context.Context) (*Catalogue, error) {
	version, err := output(ctx, "gcc", "--version")
	if err != nil {
		return nil, err
	}
	var answers []string
	for _, args := range [][]string{
		{"-Q", "--help=optimizers", "-O2"},
		{"-Q", "--help=optimizers", "-O3"},
		{"-Q", "--help=params", "-O2"},
		{"-Q", "--help=params", "-O3"},
	} {
		text, err := output(ctx, append([]string{"gcc"}, args...)...)
		if err != nil {
			return nil, err
		}
		answers = append(answers, text)
	}
	return &Catalogue{
		Program: "gcc", Version: firstLine(version), Keys: compileKeys("gcc"),
		Settings: append(readGCC(answers[0], answers[1]), readGCC(answers[2], answers[3])...),
	}, nil
}

// compileKeys returns the keys of a study that builds a program with the flags.
func compileKeys(compiler string) func([]Named) string {
	return func(all []Named) string {
		argv := []string{compiler, "-O2"}
		for _, s := range all {
			if s.Kind == Choice {
				argv = append(argv, "{"+s.Param+"}")
			} else {
				argv = append(argv, s.Name+"={"+s.Param+"}")
			}
		}
		return "setup: " + list(append(argv, "-o", "{setup}/prog", "prog.c")...) + "  # your sources and libraries\n" +
			"# command: [\"{setup}/prog\"]\n"
	}
}

// gccLine is a line such as "  -fgcse  [enabled]" or "  --param=x=<1,9>  4".
var gccLine = regexp.MustCompile(`^\s+(-f[\w-]+|--param=[\w-]+)(=\S*)?\s+(\S*)\s*$`)

var gccRange = regexp.MustCompile(`^<(-?\d+),(-?\d+)>$`)

// readGCC reads the output of gcc -Q --help=CLASS at -O2, and at -O3 to find the settings that differ
// there.
func readGCC(o2, o3 string) []Setting {
	other := map[string]string{}
	for line := range strings.Lines(o3) {
		if m := gccLine.FindStringSubmatch(line); m != nil {
			other[m[1]+m[2]] = m[3] // -fx and -fx= are two lines
		}
	}
	var all []Setting
	seen := map[string]bool{}
	for line := range strings.Lines(o2) {
		m := gccLine.FindStringSubmatch(line)
		if m == nil || seen[m[1]] {
			continue
		}
		s, ok := gccSetting(m[1], strings.TrimPrefix(m[2], "="), m[3])
		if !ok {
			continue
		}
		name, value := m[1], m[3]
		switch v, ok := other[name+m[2]]; {
		case ok && v != value:
			s.Rank, s.Note = rankLevel, "-O3 sets it"
		case strings.HasPrefix(name, "--param="):
			s.Rank = rankParam
		}
		seen[name] = true
		all = append(all, s)
	}
	return all
}

// gccSetting returns the setting of an option by the form of its value and its default. Some are none: they take a
// text, or are another name.
func gccSetting(name, form, value string) (Setting, bool) {
	s := Setting{Name: name, Rank: rankFlag}
	choices := strings.Trim(form, "[]")
	switch r := gccRange.FindStringSubmatch(form); {
	case value == "[enabled]" || value == "[disabled]":
		on, off := name, "-fno-"+strings.TrimPrefix(name, "-f")
		s.Values, s.Default = []string{off, on}, off
		if value == "[enabled]" {
			s.Default, s.Rank = on, rankEnabled
		}
	case form != choices && strings.Contains(choices, "|"):
		for v := range strings.SplitSeq(choices, "|") {
			s.Values = append(s.Values, name+"="+v)
			if v == value {
				s.Default = name + "=" + v
			}
		}
	case r != nil:
		s.Kind, s.Default = Number, value
		s.Min, _ = strconv.ParseFloat(r[1], 64)
		s.Max, _ = strconv.ParseFloat(r[2], 64)
	case strings.HasPrefix(name, "--param=") && form == "":
		s.Kind, s.Default, s.Min, s.Max = Number, value, 0, math.Inf(1)
	default:
		return s, false // it takes a text, or is another name of a flag
	}
	_, err := strconv.Atoi(s.Default)
	return s, s.Kind != Number || err == nil
}
