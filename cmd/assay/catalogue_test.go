package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// The catalogue of an installed program becomes a study once a command is added.
func TestCatalogue(t *testing.T) {
	for name, needs := range map[string]string{
		"gcc": "gcc", "clang": "clang", "postgresql": "pg_config", "jvm": "java", "sysctl": "sysctl", "redis": "redis-server",
	} {
		t.Run(name, func(t *testing.T) {
			if name == "clang" || name == "redis" {
				testbed.System(t) // each takes seconds, and has the form of gcc or postgresql
			}
			testbed.Program(t, needs)
			h := newHouse(t)
			code, text, errs := h.try("catalogue "+name+" --top 40", "")
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			if !strings.Contains(text, "parameters:\n") || strings.Count(text, "type: ") < 10 {
				t.Errorf("got\n%s", text)
			}
			command := "command: [\"true\"]\n"
			if strings.Contains(text, "{setup}") {
				command = "dir: " + h.dir + "\ncommand: [\"{setup}/prog\"]\n"
			}
			if err := os.WriteFile(h.path("s.yaml"), []byte(text+command), 0o600); err != nil {
				t.Fatal(err)
			}
			code, _, errs = h.try("tune s.yaml --dry-run", "")
			if code != 0 {
				t.Errorf("exit code %d: %s\n%s", code, errs, text)
			}
			if strings.Contains(text, "prog.c") && (name == "gcc" || testbed.IsSystem()) {
				buildsFlags(t, h)
			}
		})
	}
}

// buildsFlags compiles and runs a program with the flags that a study of compiler flags proposes: the
// defaults, and others at random.
func buildsFlags(t *testing.T, h *house) {
	t.Helper()
	const program = `#include <stdio.h>
double sum(const double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i]; return s; }
int main(void) { double x[64]; for (int i = 0; i < 64; i++) x[i] = i; printf("%.0f\\n", sum(x, 64)); return 0; }
`
	if err := os.WriteFile(filepath.Join(h.dir, "prog.c"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	code, text, errs := h.try("tune s.yaml --search random --trials 8 --check 0 --store memory --json "+
		"--metric sum=stdout:/([0-9]+)/ --subject-to sum==85344", "")
	if code != 0 || !strings.Contains(text, `"done":8,`) {
		t.Errorf("exit code %d: %s\n%s", code, errs, text)
	}
}
