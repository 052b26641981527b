package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/assay-run/assay/internal/testbed"
)

const root = "../../.."

// TestDocs runs the commands of lab/README.md.
func TestDocs(t *testing.T) {
	testbed.Outside(t)
	testbed.RunPage(t, root+"/lab/README.md")
}

// TestPapersByCommand runs every command of this program that docs/papers.md names.
func TestPapersByCommand(t *testing.T) {
	testbed.Outside(t)
	page, err := os.ReadFile(root + "/docs/papers.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Abs(root + "/cmd/assay/testdata/papers")
	if err != nil {
		t.Fatal(err)
	}
	n := testbed.RunPapers(t, string(page), files, func(cell string) bool { return strings.HasPrefix(cell, "assay-lab ") },
		func(cell string) (string, bool) {
			var out bytes.Buffer
			code := execute(streams{strings.NewReader(""), &out, &out}, strings.Fields(cell)[1:])
			return out.String(), code == 0
		})
	if n < 10 {
		t.Errorf("%d commands", n)
	}
}

// shown matches a command line of this program in a text, with the lines that continue it.
var shown = regexp.MustCompile("assay-lab ([a-z](?:[^`|#>;\\\\\n]|\\\\\n)*)")

// Every command line of this program that a page or a study file shows has a command and flags that are there. Most of
// them take minutes, or need data that are no part of the repository.
func TestShownCommands(t *testing.T) {
	lines := 0
	for _, dir := range []string{"docs", "bench", "examples", "lab"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err != nil || d.IsDir() || ext != ".md" && ext != ".yaml" {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range shown.FindAllStringSubmatch(string(text), -1) {
				lines++
				if err := parsed(m[1]); err != nil {
					t.Errorf("%s: assay-lab %s: %v", path, m[1], err)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if lines < 50 {
		t.Errorf("%d command lines", lines)
	}
}

// parsed returns the error of a command line that is not run. Variables of a shell and the ends of lines are left out.
func parsed(line string) error {
	var args []string
	for word := range strings.FieldsSeq(line) {
		if word != "\\" && !strings.HasPrefix(word, "$") {
			args = append(args, word)
		}
	}
	cmd, rest, err := newRoot(streams{out: io.Discard, err: io.Discard}).Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); !errors.Is(err, pflag.ErrHelp) {
		return err
	}
	return nil
}

// A command line with a command or a flag that is not there is seen.
func TestParsed(t *testing.T) {
	for line, ok := range map[string]bool{
		"pro x.yaml --rho 0.1": true, "pro x.yaml \\\n --noise $n": false, "pro --nix": false, "nix": false,
	} {
		if err := parsed(line); (err == nil) != ok {
			t.Errorf("%q: %v", line, err)
		}
	}
}
