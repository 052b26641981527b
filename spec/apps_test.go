package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

const exampleApps = `
x264:
  command: ["/opt/x264", "--threads={threads}", --preset, "{preset}", "{{", in.y4m]
  dir: data
  cpus: 4
  timeout: 10m
  env: {LANG: C}
  parameters: {preset: [slow, fast, -fast]}
blast: {command: [blastn, "-word_size", "{w}"], verify: [cmp, out, "{w}"]}
`

func TestApps(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "apps.yaml")
	if err := os.WriteFile(path, []byte(exampleApps), 0o600); err != nil {
		t.Fatal(err)
	}
	apps, err := LoadApps(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := apps.Names(); !slices.Equal(got, []string{"x264", "blast"}) {
		t.Fatal(got)
	}
	x, _ := apps.App("x264")
	// A value becomes one argument, whatever it is.
	job, err := x.Job(map[string]string{"threads": "4 --output {preset} $(x)\n;", "preset": "-fast"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/opt/x264", "--threads=4 --output {preset} $(x)\n;", "--preset", "-fast", "{", "in.y4m"}
	if !slices.Equal(job.Argv, want) {
		t.Errorf("%q", job.Argv)
	}
	if job.Dir != filepath.Join(dir, "data") || job.Resources["cpus"] != 4 || job.Limit.Minutes() != 10 ||
		!slices.Equal(job.Env, []string{"LANG=C"}) {
		t.Errorf("%+v", job)
	}
	b, _ := apps.App("blast")
	for _, c := range []struct {
		app    App
		values map[string]string
		want   string
	}{
		{x, map[string]string{"threads": "4"}, "no parameter preset"},
		{x, map[string]string{"threads": "4", "preset": "slow", "crf": "1"}, "no {crf} in its command"},
		{x, map[string]string{"thread": "4", "preset": "slow"}, "did you mean {threads}?"},
		{x, map[string]string{"threads": "4", "preset": "medium"}, "is not a value"},
		{x, map[string]string{"threads": "4", "preset": "slow "}, "is not a value"},
		{x, map[string]string{"threads": "\x00", "preset": "slow"}, "NUL"},
		{b, map[string]string{"w": "-out=/etc/passwd"}, "option of the program"},
		{b, map[string]string{"w": "--"}, "option of the program"},
	} {
		if _, err := c.app.Job(c.values); err == nil || !strings.Contains(err.Error(), c.want) ||
			assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%v: %v, want %q", c.values, err, c.want)
		}
	}
	if job, err := b.Job(map[string]string{"w": "-11.5"}); err != nil || job.Argv[2] != "-11.5" ||
		job.Verify[2] != "-11.5" {
		t.Errorf("a negative number: %v, %v", job, err)
	}
}

func TestAppFlaws(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "the file is empty",
		"[]":                                    "a.yaml:1:1: the file of applications: a mapping",
		"{}":                                    "a.yaml:1:1: no application",
		"x: {}":                                 "a.yaml:1:1: application x: command is missing",
		"command: {command: [a]}":               "a.yaml:1:1: application command: it is reserved for studies",
		"a.b: {command: [a]}":                   "a.yaml:1:1: application a.b: a name has letters",
		"x: {command: []}":                      "a.yaml:1:14: application x: command is empty",
		"x: {command: [a, '{b']}":               "a.yaml:1:18: application x: command 2: { without }",
		"x: {command: [a, 'b}']}":               "a single }",
		"x: {command: [a, '{b?c}']}":            "a condition",
		"x: {command: ['{p}']}":                 "a.yaml:1:15: application x: command: the program is no placeholder",
		"x: {command: [sh, -c, 'f {p}']}":       "a.yaml:1:23: application x: command: a placeholder in a line for a shell",
		"x: {command: [/bin/bash, -ec, '{p}']}": "a placeholder in a line for a shell",
		"x: {comand: [a]}":                      "did you mean command?",
		"x: {command: [a], cpus: 0}":            "whole number >= 1",
		"x: {command: [a], env: {a=b: c}}":      "no name of a variable",
		"x: {command: [a], parameters: {p: 1..2}}":                    "nothing uses parameter p",
		"x: {command: [a, '{p}'], parameters: {p: {min: 3, max: 2}}}": "min 3 is above max 2",
		"x: {command: [a], timeout: soon}":                            "timeout",
	} {
		_, err := ParseApps("a.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%s\n  %v\n  want %q", text, err, want)
		}
	}
	// A value that is an argument of the line is data.
	if _, err := ParseApps("a.yaml", []byte(`x: {command: [sh, -c, 'f "$1"', sh, '{p}']}`)); err != nil {
		t.Error(err)
	}
}
