package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
)

// write makes files below a directory.
func write(t testing.TB, dir string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// told returns why a file was left.
func told(m *files.Manifest, name string) string {
	for _, l := range m.Left {
		if l.Name == name {
			return l.Why
		}
	}
	return ""
}

func TestGather(t *testing.T) {
	dir, to, outside := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, outside, map[string]string{"secret.log": "canary", "d/x.log": "canary"})
	write(t, dir, map[string]string{
		"a.log": "one", "b.txt": "no", "sub/c.log": "deep", "in.log": "an input", "same.log": "one", "a\nb.log": "odd",
		`x\y.log`: "odd",
		"e.log":   "",
	})
	for name, target := range map[string]string{
		"abs.log": filepath.Join(outside, "secret.log"), "up.log": "../" + filepath.Base(outside) + "/secret.log",
		"in2.log": "a.log", "dir": outside, "gone.log": "nowhere", "sub/d": filepath.Join(outside, "d"),
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.log"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &files.Manifest{}
	patterns := []string{"*.log", "sub/*.log", "dir/*.log", "sub/d/*.log"}
	if err := files.Gather(dir, patterns, map[string]bool{"in.log": true}, to, m); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range m.Files {
		names = append(names, f.Name)
		b, err := os.ReadFile(filepath.Join(to, f.SHA256))
		if err != nil || int64(len(b)) != f.Size || sum(t, string(b)) != f.SHA256 {
			t.Errorf("%s: %q, %v", f.Name, b, err)
		}
		if strings.Contains(string(b), "canary") {
			t.Errorf("%s is from outside", f.Name)
		}
	}
	if want := []string{"a.log", "e.log", "same.log", "sub/c.log"}; !slices.Equal(names, want) {
		t.Errorf("kept are %q, want %q", names, want)
	}
	for name, why := range map[string]string{
		"abs.log": "it is a link", "up.log": "it is a link", "in2.log": "it is a link", "gone.log": "it is a link",
		"pipe.log": "no regular file", "a\nb.log": "control character", `x\y.log`: "backslash",
	} {
		if !strings.Contains(told(m, name), why) {
			t.Errorf("%q: %q", name, told(m, name))
		}
	}
	if len(m.Left) != 7 {
		t.Errorf("left are %+v", m.Left)
	}
	if n := len(namesIn(t, to)); n != 3 { // two are the same
		t.Errorf("%d files were copied", n)
	}
	text, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.ParseManifest(text); err != nil {
		t.Error(err)
	}
}

// The files kept of a run are limited: the list names the rest.
func TestGatherLimits(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	for name, size := range map[string]int64{"a.log": files.MaxOutputs - 10, "b.log": 20, "c.log": 10, "d.log": 1} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	m := &files.Manifest{}
	if err := files.Gather(dir, []string{"*.log"}, nil, to, m); err != nil {
		t.Fatal(err)
	}
	if len(m.Files) != 2 || m.Files[0].Name != "a.log" || m.Files[1].Name != "c.log" || len(m.Left) != 2 ||
		!strings.Contains(told(m, "b.log"), "at most 64.0 MiB") {
		t.Errorf("%+v", m)
	}
	many := t.TempDir()
	for i := range files.MaxOutputFiles + 150 {
		write(t, many, map[string]string{fmt.Sprintf("%04d.log", i): "x"})
	}
	m = &files.Manifest{}
	if err := files.Gather(many, []string{"*.log"}, nil, to, m); err != nil {
		t.Fatal(err)
	}
	if len(m.Files) != files.MaxOutputFiles || len(m.Left) != 100 || m.More != 50 {
		t.Errorf("%d files, %d left, %d more", len(m.Files), len(m.Left), m.More)
	}
}

// A list that a worker makes up is refused.
func TestParseManifest(t *testing.T) {
	hash := strings.Repeat("a", 64)
	entry := func(name string) string { return fmt.Sprintf(`{"name":%q,"sha256":%q,"size":1}`, name, hash) }
	for _, text := range []string{
		"", "[]", "{}", `{"version":2}`, `{"version":1,"files":[{"name":"a","sha256":"b","size":1}]}`,
		`{"version":1,"files":[` + entry("a") + `,` + entry("a") + `]}`,
		`{"version":1,"files":[{"name":"a","sha256":"` + hash + `","size":-1}]}`,
		`{"version":1,"files":[{"name":"a","sha256":"` + hash + `","size":67108863},{"name":"b","sha256":"` + hash +
			`","size":67108863}]}`,
		`{"version":1,"stdout":{"sha256":"` + hash + `","size":99999999}}`, `{"version":1,"more":-1}`,
		`{"version":1,"stdout":{"name":"x","sha256":"` + hash + `","size":9}}`,
	} {
		if _, err := files.ParseManifest([]byte(text)); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, name := range hostileNames() {
		if !utf8.ValidString(name) || strings.ContainsAny(name, "\x00\x1b") {
			continue // JSON has its own way to write them
		}
		if _, err := files.ParseManifest([]byte(`{"version":1,"files":[` + entry(name) + `]}`)); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
	m, err := files.ParseManifest([]byte(`{"version":1,"files":[` + entry("a") + `],"stderr":{"sha256":"` + hash +
		`","size":9}}`))
	if err != nil || len(m.All()) != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, ok := m.File("a"); !ok {
		t.Error("a is not there")
	}
	if _, ok := m.File("b"); ok {
		t.Error("b is there")
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(`{"version":1,"files":[{"name":"a","sha256":"` + strings.Repeat("a", 64) + `","size":1}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := files.ParseManifest(b)
		if err != nil {
			return
		}
		for _, k := range m.Files {
			if files.NameFlaw(k.Name) != "" {
				t.Errorf("%q is taken", k.Name)
			}
		}
		text, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := files.ParseManifest(text); err != nil {
			t.Error(err)
		}
	})
}
