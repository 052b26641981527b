package report

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay/internal/testbed"
)

func TestShellQuote(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{"zstd", "-3", "--threads=4", "in.txt"}, "zstd -3 --threads=4 in.txt"},
		{[]string{"echo", ""}, "echo ''"},
		{[]string{"echo", "it's"}, `echo 'it'\''s'`},
		{[]string{"echo", "a b", "$HOME", "*", "~", "#x", "\n"}, "echo 'a b' '$HOME' '*' '~' '#x' '\n'"},
		{[]string{"A=b", "A=b"}, "'A=b' A=b"},
		{[]string{"if", "if"}, "'if' if"},
		{[]string{"größe"}, "'größe'"},
		{[]string{"a", "\x1b[31mb\xff"}, `a "$(printf '\033')"'[31mb'"$(printf '\377')"`},
		{nil, ""},
	} {
		if got := ShellQuote(c.argv); got != c.want {
			t.Errorf("ShellQuote(%q) = %s, want %s", c.argv, got, c.want)
		}
	}
}

// runShell returns the arguments that each line's printf was given by a shell:
// all lines in one script, so that one shell reads them all.
func runShell(t *testing.T, shell string, lines []string) []string {
	t.Helper()
	cmd := exec.Command(shell)
	cmd.Env = append(os.Environ(), "LC_ALL=C") // a shell warns of a locale that the machine lacks
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil || errs.Len() > 0 {
		t.Fatalf("%s: %v: %s", shell, err, errs.String())
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\x00"), "\x00")
}

// A shell splits the line into the argv, whatever bytes it holds.
func TestShellQuoteInRealShells(t *testing.T) {
	testbed.Outside(t)
	var shells []string
	for _, s := range []string{"sh", "dash", "bash"} {
		if path, err := exec.LookPath(s); err == nil {
			shells = append(shells, path)
		}
	}
	if len(shells) == 0 {
		t.Skip("NO SHELL FOUND: quoting is not checked against a real one")
	}
	printf, err := exec.LookPath("printf")
	if err != nil {
		t.Skip("NO printf FOUND: quoting is not checked against a real shell")
	}
	word := rapid.OneOf(
		rapid.StringMatching("[ -~\n\t\x01-\x1f]{0,12}"),
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.ByteRange(1, 255)), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{
			"", "-", "--", "-n", "'", "''", `\`, `\\`, "!", "a=b", "if", "{", "}", "!!", "$(id)", "`id`",
			"\r", "é", "\xff",
		}),
	)
	var lines, want []string
	for i := range testbed.Times(60, 300) {
		args := rapid.SliceOfN(word, 1, 5).Example(i)
		for k := range args {
			args[k] = strings.ReplaceAll(args[k], "\x00", "")
		}
		lines = append(lines, ShellQuote(append([]string{printf, `%s\0`}, args...)))
		want = append(want, args...)
	}
	for _, line := range lines {
		if VisibleLines(line) != line || strings.Contains(line, "\t") {
			t.Fatalf("a terminal does not show %q as it is", line)
		}
	}
	for _, shell := range shells {
		got := runShell(t, shell, lines)
		if len(got) != len(want) {
			t.Fatalf("%s saw %d arguments, want %d", shell, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s saw %q, want %q", shell, got[i], want[i])
			}
		}
	}
}

func ExampleShellQuote() {
	fmt.Println(ShellQuote([]string{"x264", "--preset", "very fast", "-o", "it's.mkv"}))
	// Output: x264 --preset 'very fast' -o 'it'\''s.mkv'
}
