package term

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFit(t *testing.T) {
	for _, c := range []struct {
		name  string
		line  string
		width int
		want  string
	}{
		{"short", "abc", 5, "abc"},
		{"exact", "abcde", 5, "abcde"},
		{"long", "abcdef", 5, "abcd…"},
		{"one column", "ab", 1, "…"},
		{"no room", "ab", 0, ""},
		{"wide fits", "日本", 4, "日本"},
		{"wide is not halved", "日本語", 4, "日…"},
		{"combining marks stay", "e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"colour takes no room", "\x1b[31mabc\x1b[0m", 3, "\x1b[31mabc\x1b[0m"},
		{"colour is closed", "\x1b[31mabcdef\x1b[0m", 4, "\x1b[31mabc…\x1b[0m"},
		{"open colour is closed", "\x1b[1mab", 4, "\x1b[1mab\x1b[0m"},
		{"cursor movement is dropped", "a\x1b[2Ab\x1b[Kc", 5, "abc"},
		{"title is dropped", "a\x1b]0;title\x07b\x1b]0;t\x1b\\c", 5, "abc"},
		{"controls", "a\rb\tc\nd\be", 9, "ab c de"},
		{"not UTF-8", "a\xffb", 5, "a\ufffdb"},
		{"unfinished", "ab\x1b[3", 5, "ab"},
		{"broken sequence", "ab\x1b[3\nc", 5, "ab c"},
	} {
		if got := Fit(c.line, c.width); got != c.want {
			t.Errorf("%s: Fit(%q, %d) = %q, want %q", c.name, c.line, c.width, got, c.want)
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add("\x1b[31m日本\x1b[0m e\u0301\x1b]0;x\x07", 3)
	f.Add("a\x1b", 1)
	f.Fuzz(func(t *testing.T, line string, width int) {
		width = width % 300
		got := Fit(line, width)
		used := 0
		for _, tok := range split(got) {
			used += tok.columns
			if tok.text != "" && tok.text[0] == 0x1b && !tok.color {
				t.Fatalf("%q has a sequence that is no colour", got)
			}
		}
		if used > max(width, 0) || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t\b\x07") {
			t.Fatalf("Fit(%q, %d) = %q, %d columns", line, width, got, used)
		}
		if again := Fit(got, width); again != got {
			t.Fatalf("Fit is not stable: %q, then %q", got, again)
		}
	})
}

func TestFitKeepsWhatFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[a-zé日 ]{0,30}`).Draw(t, "line")
		used := 0
		for _, tok := range split(line) {
			used += tok.columns
		}
		if got := Fit(line, used+rapid.IntRange(0, 3).Draw(t, "spare")); used > 0 && got != line {
			t.Fatalf("Fit(%q) = %q", line, got)
		}
	})
}

func TestColor(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, c := range []struct {
		name  string
		isTTY bool
		env   func(string) string
		want  bool
	}{
		{"terminal", true, env("TERM", "xterm"), true},
		{"pipe", false, env("TERM", "xterm"), false},
		{"NO_COLOR", true, env("NO_COLOR", "1"), false},
		{"empty NO_COLOR", true, env("NO_COLOR", ""), true},
		{"dumb", true, env("TERM", "dumb"), false},
	} {
		if got := Color(c.isTTY, c.env); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
