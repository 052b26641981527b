package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testCommand = regexp.MustCompile("go test [^`\n]*")
	packageOf   = regexp.MustCompile(`\s\./([a-z0-9_/]+)`)
	testsOf     = regexp.MustCompile(`-(?:run|bench)[ =]'?([^' ]+)`)
	anyTest     = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`)
)

// TestNamedTests holds every `go test ./PACKAGE -run NAME` of a document to a package and a test of it.
func TestNamedTests(t *testing.T) {
	commands := 0
	documents(t, func(path, text string) {
		if filepath.Base(path) == "CONTRIBUTING.md" { // its commands test what its steps add
			return
		}
		for _, command := range testCommand.FindAllString(text, -1) {
			commands++
			for _, fault := range faultsOfCommand(t, command) {
				t.Errorf("%s: %s: %s", path, command, fault)
			}
		}
	})
	if commands < 50 {
		t.Errorf("%d commands", commands)
	}
	for command, want := range map[string]int{
		"go test ./internal/arch -run 'Links|NamedTests'":  0,
		"go test ./internal/arch -run TestLinks/a":         0,
		"go test -run xxx -bench . ./internal/arch":        0,
		"go test ./internal/arch -run 'Links|NamedTestss'": 1,
		"go test ./arch -run Links":                        1,
	} {
		if faults := faultsOfCommand(t, command); len(faults) != want {
			t.Errorf("%s: faults %q, want %d", command, faults, want)
		}
	}
}

func faultsOfCommand(t *testing.T, command string) (faults []string) {
	t.Helper()
	command = strings.ReplaceAll(command, `\|`, "|") // of a cell of a table
	for _, m := range packageOf.FindAllStringSubmatch(command, -1) {
		if strings.HasSuffix(m[1], "/") { // ./PACKAGE/...
			continue
		}
		dir := filepath.Join("../..", m[1])
		if _, err := os.Stat(dir); err != nil {
			dir = filepath.Join("../../lab", m[1])
		}
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil || len(files) == 0 {
			faults = append(faults, "no tests in "+m[1])
			continue
		}
		var names []string
		for _, file := range files {
			for _, name := range anyTest.FindAllStringSubmatch(read(t, file), -1) {
				names = append(names, name[1])
			}
		}
		for _, pattern := range testsOf.FindAllStringSubmatch(command, -1) {
			for one := range strings.SplitSeq(pattern[1], "|") {
				if one, _, _ = strings.Cut(one, "/"); strings.Trim(strings.ToLower(one), "x^$") == "" { // runs no test
					continue
				}
				is, err := regexp.Compile("(?m)" + one)
				if err != nil || !is.MatchString(strings.Join(names, "\n")) {
					faults = append(faults, "no test "+one)
				}
			}
		}
	}
	return faults
}
