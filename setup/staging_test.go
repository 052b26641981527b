package setup

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
)

// staged returns the definition of a study of a file in a directory of its own.
func staged(t *testing.T, keys string) (def *spec.Study, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"in.txt": "hello", "src/a.c": "a", "src/b.c": "bb", "src/deep/c.h": "ccc",
		"run.sh": "#!/bin/sh",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o600)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o700
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	def, _, err := spec.Parse(filepath.Join(dir, "s.yaml"),
		[]byte("dir: .\ncommand: [\"true\", \"{n}\"]\nparameters: {n: 1..3}\n"+strings.ReplaceAll(keys, "DIR", dir)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return def, dir
}

func TestStage(t *testing.T) {
	def, dir := staged(t, "inputs: [in.txt, \"src/*.c\", src/deep/, run.sh]\nshared: [DIR, DIR/in.txt, /nowhere/at/all]\n")
	files, err := Stage(t.Context(), def)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, in := range def.Staged.Inputs {
		names = append(names, in.Name)
		b, err := os.ReadFile(files[in.SHA256])
		if err != nil || int64(len(b)) != in.Size || in.Exec != (in.Name == "run.sh") {
			t.Errorf("%+v is %q, %v", in, b, err)
		}
	}
	if got := strings.Join(names, " "); got != "in.txt run.sh src/a.c src/b.c src/deep/c.h" {
		t.Errorf("%s", got)
	}
	if h := def.Staged.Inputs[0].SHA256; h != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
		t.Errorf("hello has %s", h)
	}
	want := []assay.Shared{{Path: dir, Size: -1}, {Path: dir + "/in.txt", Size: 5}, {Path: "/nowhere/at/all", Size: -1}}
	for i, at := range def.Staged.Shared {
		if at != want[i] {
			t.Errorf("%+v, want %+v", at, want[i])
		}
	}
	def.Placement.On = Fleet
	p, err := New(def, Options{})
	if err != nil {
		t.Fatal(err)
	}
	j, err := p.job(assay.Config{1})
	if err != nil || len(j.Inputs) != 5 || len(j.Shared) != 3 || !j.Apart() {
		t.Errorf("%+v, %v", j, err)
	}
	// The record has it all.
	stored, err := Encode(def, "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := spec.Decode(stored)
	if err != nil || back.Identity() != def.Identity() {
		t.Errorf("%v", err)
	}
}

// The files are used as they are if the runs are made on this machine; they must be there.
func TestStagingHere(t *testing.T) {
	for keys, says := range map[string]string{
		"inputs: [in.txt, \"src/*.c\"]\noutputs: [\"*.log\"]\nshared: [DIR]": "",
		"inputs: [in.txt, gone.txt]": "s.yaml:4:18: inputs: gone.txt: no file fits " +
			"it",
		"inputs: [empty]": "only empty directories",
		"inputs: [pipe]":  "no regular file",
		"inputs: [loop]":  "a link to a directory",
		"shared: [/nowhere/at/all]": "s.yaml:4:10: shared: stat /nowhere/at/all: " +
			"no such file",
	} {
		def, dir := staged(t, keys+"\n")
		if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("src", filepath.Join(dir, "loop")); err != nil {
			t.Fatal(err)
		}
		_, err := New(def, Options{})
		if says == "" && err != nil ||
			says != "" && (err == nil || !strings.Contains(err.Error(), says) || assay.ClassOf(err) != assay.ClassUsage) {
			t.Errorf("%s: %v", keys, err)
		}
	}
}
