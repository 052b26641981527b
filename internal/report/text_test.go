package report

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"größe 日本 ±": "größe 日本 ±",
		"a\x1b[31mb": `a\x1b[31mb`,
		"a\nb\tc\r":  `a\nb\tc\r`,
		"\x7f\xff":   `\x7f\xff`,
		"\u009b2J":   `\u009b2J`,
		"\u202egpj":  `\u202egpj`,
		"\ufffd":     "\ufffd",
		"":           "",
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
	if got := VisibleLines("a\n\tb\x1bc\r"); got != "a\n\tb\\x1bc\\r" {
		t.Errorf("VisibleLines: %q", got)
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[31mb\x1b[0m\n")
	f.Add("\x1b[")
	f.Add("\u202e\xc2")
	f.Fuzz(func(t *testing.T, s string) {
		got := Visible(s)
		for _, r := range got {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e {
				t.Fatalf("Visible(%q) = %q has a control character", s, got)
			}
		}
		if !utf8.ValidString(got) || Visible(got) != got {
			t.Fatalf("Visible(%q) = %q", s, got)
		}
	})
}

// A cell that a spreadsheet would run as a formula is text; numbers stay numbers.
func TestSheetCell(t *testing.T) {
	for in, want := range map[string]string{
		"=1+1": "'=1+1", "+cmd|' /C calc'!A0": "'+cmd|' /C calc'!A0", "-x": "'-x", "@SUM(A1)": "'@SUM(A1)",
		"\t=1": `'\t=1`, "\r=1": `'\r=1`, "-3": "-3", "+5": "+5", "-1.5e-3": "-1.5e-3", "a=b": "a=b", "": "",
		"-64M": "'-64M", "x\x1b": `x\x1b`,
	} {
		if got := SheetCell(in); got != want {
			t.Errorf("SheetCell(%q) = %q, want %q", in, got, want)
		}
	}
}

// A line of a report is one line whatever it is about, and its command is one for a shell.
func TestLinesShowWhatTheyWereGiven(t *testing.T) {
	var l Lines
	l.Add("best", "%s", "n=a\nbest  b\x1b[2J")
	l.AddCommand("command", "x 'a\nb'\x1b")
	var b strings.Builder
	if err := l.Write(&b); err != nil {
		t.Fatal(err)
	}
	if want := "best       n=a\\nbest  b\\x1b[2J\ncommand    x 'a\nb'\\x1b\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
