package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/spec"
)

// hostileValues are 200 values that would do something if anything but the program read them: they make the file
// canary.
func hostileValues() (all []string) {
	touch := "touch canary"
	for _, before := range []string{"", "x", "'", `"`, "-", "--x=", " ", "\n", "\\", "é"} {
		for _, hostile := range []string{
			"; " + touch, "$(" + touch + ")", "`" + touch + "`", "\n" + touch + "\n", "' ; " + touch + " ; '",
			`" ; ` + touch + ` ; "`,
			"&& " + touch, "|| " + touch, "| " + touch, "& " + touch, ">canary", "<(" + touch + ")", "${IFS}" + touch, "%s%n",
			"{p1}",
			"{{x}}", "{p1?" + touch + "}", "\x01\x7f\x1b[2J\u202e", "\xff\xfe", "*?[a-z]~!#",
		} {
			all = append(all, before+hostile)
		}
	}
	return all
}

// A parameter's value is data: a program finds the value in its arguments, its environment and its files, byte
// for byte, and nothing else reads it. In a line for a shell values are variables.
func TestValuesAreData(t *testing.T) {
	testbed.Outside(t)
	words := func(program string, names []string) *spec.Study {
		s := &spec.Study{Command: []string{program}, Env: map[string]string{}, Files: []spec.File{{Name: "file"}}}
		for _, n := range names {
			s.Command = append(s.Command, "{"+n+"}")
			s.Env["E"+n] = "{" + n + "}"
			s.Files[0].Text += "{" + n + "}" + between
		}
		return s
	}
	valuesAreData(t, hostileValues(), words, nil)
	valuesAreData(t, hostileValues(), func(program string, names []string) *spec.Study {
		s := words(program, names)
		s.Command, s.Shell = []string{`"` + program + `"`}, true
		for _, n := range names {
			s.Command[0] += ` "$` + n + `"`
		}
		return s
	}, nil)
}

// between stands between the values in a file.
const between = "\n--- next ---\n"

// A runner that made a line for a shell of its job would be seen.
func TestValuesAreDataControl(t *testing.T) {
	testbed.Outside(t)
	testbed.Fails(t, "words that a shell reads", func(t testing.TB) {
		valuesAreData(t, hostileValues()[:1], func(program string, names []string) *spec.Study {
			return &spec.Study{Command: []string{program, "{" + names[0] + "}"}}
		}, func(argv []string) []string { return []string{"sh", "-c", strings.Join(argv, " ")} })
	})
}

// valuesAreData runs the program of a study with all values at once. change, if set, makes another command of its
// words.
func valuesAreData(
	t testing.TB, values []string, study func(program string, names []string) *spec.Study, change func([]string) []string,
) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	script := "#!/bin/sh\nprintf '%s\\0' \"$@\" >argv\nenv -0 >env\n[ ! -e file ] || cat file >seen\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var names []string
	var params []spec.Param
	for i, v := range values {
		names = append(names, fmt.Sprint("p", i))
		params = append(params, spec.Param{Name: names[i], Type: "categorical", Values: []string{v, "other"}})
	}
	def := study(program, names)
	def.Params, def.Dir = params, dir
	p, err := New(def, Options{})
	if err != nil {
		t.Fatal(err)
	}
	job, err := p.job(make(assay.Config, len(values)))
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		job.Argv = change(job.Argv)
	}
	r, end, err := Jobs(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	m, err := r.Run(t.Context(), job, nil)
	if err != nil || m.ExitCode != 0 || m.Failure != nil {
		t.Fatalf("the run: %+v, %v", m, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "canary")); err == nil {
		t.Error("a value was executed")
	}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		return string(b)
	}
	if got, want := read("argv"), strings.Join(values, "\x00")+"\x00"; got != want {
		t.Errorf("the arguments are\n%q, want\n%q", got, want)
	}
	env := "\x00" + read("env")
	for i, v := range values {
		if len(def.Env) > 0 && !strings.Contains(env, "\x00Ep"+fmt.Sprint(i)+"="+v+"\x00") {
			t.Errorf("variable %d is not %q", i, v)
		}
	}
	if len(def.Files) > 0 {
		if got, want := read("seen"), strings.Join(values, between)+between; got != want {
			t.Errorf("the file is\n%q, want\n%q", got, want)
		}
	}
	if !t.Failed() {
		t.Logf("counted: %d values, none executed, none changed", len(values))
	}
}
