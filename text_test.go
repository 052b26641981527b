package assay

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLastLine(t *testing.T) {
	long := strings.Repeat("é", 200)
	for name, c := range map[string]struct{ output, want string }{
		"nothing":            {"", ""},
		"blank":              {" \n\t\r\n", ""},
		"one line":           {"no space", "no space"},
		"the last of many":   {"a\nb\nc\n", "c"},
		"blank lines after":  {"a\nb  \n\n \r\n", "b"},
		"carriage return":    {"a\r\nb\r\n", "b"},
		"tabs and colours":   {"x\ty\x1b[31mz\x00", "x y[31mz"},
		"not UTF-8":          {"a\xffb", "a\uFFFDb"},
		"long":               {long, strings.Repeat("é", 160) + "…"},
		"exactly the length": {long[:2*160], long[:2*160]},
	} {
		t.Run(name, func(t *testing.T) {
			if got := LastLine([]byte(c.output)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLastLines(t *testing.T) {
	for name, c := range map[string]struct {
		output string
		n      int
		want   []string
	}{
		"nothing":           {"", 3, nil},
		"fewer than n":      {"a\nb", 3, []string{"a", "b"}},
		"more than n":       {"a\nb\nc\nd\n", 2, []string{"c", "d"}},
		"blank lines":       {"a\n\n \nb\r\n\x00\nc\n\n", 2, []string{"b", "c"}},
		"none":              {"a\nb", 0, nil},
		"begins with blank": {"\n\na", 5, []string{"a"}},
	} {
		if got := LastLines([]byte(c.output), c.n); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// The quote is one printable line, whatever a program prints.
func TestLastLineOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := LastLine(rapid.SliceOf(rapid.Byte()).Draw(t, "output"))
		if !utf8.ValidString(s) || utf8.RuneCountInString(s) > 161 || strings.TrimSpace(s) != s {
			t.Fatalf("%q", s)
		}
		if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("%q cannot be printed", s)
		}
	})
}
