package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// TestAnswerPage runs the command of docs/results/answer.md, with one seed, one budget and no other program.
func TestAnswerPage(t *testing.T) {
	testbed.Outside(t)
	page, err := os.ReadFile("../../docs/results/answer.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```sh\n")
	block, _, _ = strings.Cut(block, "```")
	dir, command, ok := strings.Cut(strings.ReplaceAll(block, "\\\n", ""), "\n")
	command = regexp.MustCompile(`--peer \w+='[^']*'`).ReplaceAllString(command, "")
	args := strings.Fields(command)
	if !ok || dir != "cd bench/studies" || len(args) < 10 || strings.Join(args[:3], " ") != "assay bench answer" {
		t.Fatalf("the page has no such command: %q", block)
	}
	testbed.Data(t, "jmh-noise")
	t.Chdir("../../bench/studies")
	for i, arg := range args {
		if arg == "--noise" {
			if _, err := os.Stat(args[i+1]); err != nil {
				t.Skipf("SKIPPED: no evaluation data: %v", err)
			}
		}
	}
	var out, errs bytes.Buffer
	args = append(args[1:], "--seeds", "1", "--budget-x", "5")
	if code := execute(streams{strings.NewReader(""), &out, &errs}, args); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	for _, want := range []string{
		"\nown ", "\n17 % ", "\nall ", "random-top3", "5 studies, 1 seed; a median run takes 10 min",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
