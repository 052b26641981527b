package main

import (
	"os"
	"regexp"
	"testing"
)

// The package for Python has the version of the program, which is the first with a number in the changelog.
func TestOneVersion(t *testing.T) {
	find := func(file, pattern string) string {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(pattern).FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s has no version", file)
		}
		return string(m[1])
	}
	log := find("../../CHANGELOG.md", `(?m)^## (\d+\.\d+\.\d+)\b`)
	if python := find("../../clients/python/pyproject.toml", `(?m)^version = "(.*)"`); python != log {
		t.Errorf("CHANGELOG.md says %s, pyproject.toml %s", log, python)
	}
}
