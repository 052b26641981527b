package spec

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// again is the command that writes the golden files anew.
const again = "go test ./spec -run Golden"

// anywhere writes an absolute path of the tree as $ROOT.
func anywhere(t *testing.T, text string) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(text, root, "$ROOT")
}

// The messages of a corpus of flawed study files are those on file, with their places and hints. A study of the corpus
// without a flaw is an external study if it has no command.
func TestGoldenFlaws(t *testing.T) {
	data, err := os.ReadFile("testdata/flawed.json")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	if err := json.Unmarshal(data, &texts); err != nil || len(texts) < 300 {
		t.Fatal(len(texts), err)
	}
	var b strings.Builder
	for _, text := range texts {
		b.WriteString("---\n" + text)
		for _, as := range []string{"", "external: "} {
			_, warnings, err := Parse("s.yaml", []byte(text), func(s *Study) error {
				if as != "" {
					s.SetAsked()
				}
				return nil
			})
			for _, w := range warnings {
				b.WriteString("### " + as + "warning: " + w + "\n")
			}
			message := "no flaw"
			if err != nil {
				message = err.Error()
			}
			if as != "" && strings.Contains(b.String()[strings.LastIndex(b.String(), "---\n"):], "### "+firstLine(message)) {
				continue // as without
			}
			b.WriteString("### " + as + strings.ReplaceAll(anywhere(t, message), "\n", "\n### ") + "\n")
		}
	}
	testbed.Current(t, "testdata/flaws.golden", b.String(), again)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// identityAnywhere is the identity of a study with the paths of this tree replaced, for they are part of it.
func identityAnywhere(t *testing.T, s Study) string {
	t.Helper()
	if s.Replay != nil {
		r := *s.Replay
		r.File, s.Replay = anywhere(t, r.File), &r
	}
	if s.Workbench != nil {
		w := *s.Workbench
		w.Data, w.Mount, s.Workbench = anywhere(t, w.Data), anywhere(t, w.Mount), &w
	}
	return s.Identity()
}

// The stored JSON and the identity of each study of a corpus are those on file, and its study file is read back as the
// same JSON. The corpus are the studies of the examples, scripts and documents as they were when keys were declared
// once; a path is beside the package, as it was there.
func TestGoldenStored(t *testing.T) {
	var b strings.Builder
	data, err := os.ReadFile("testdata/studies.json")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	if err := json.Unmarshal(data, &texts); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		s, _, err := Parse(name, []byte(texts[name]), func(s *Study) error {
			s.SetAsked()
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n++
		stored, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := Decode(stored)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		file, ok := decoded.YAML()
		how := "file"
		if !ok {
			how = "JSON"
		}
		b.WriteString(strings.TrimLeft(name, "./") + " " + how + " " + identityAnywhere(t, *s)[:12] + " " +
			anywhere(t, string(stored)) + "\n")
		if !ok {
			continue
		}
		back, _, err := Parse("study.yaml", []byte(file), func(s *Study) error {
			s.SetAsked()
			return nil
		})
		if err != nil {
			t.Errorf("%s is written as\n%s\n%v", name, file, err)
			continue
		}
		if got, err := json.Marshal(back); err != nil || string(got) != string(stored) {
			t.Errorf("%s (%v)\nstored    %s\nread back %s", name, err, stored, got)
		}
	}
	if n < 60 {
		t.Errorf("%d studies were looked at", n)
	}
	testbed.Current(t, "testdata/stored.golden", b.String(), again)
}
