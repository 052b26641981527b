package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What an installed program says becomes a study once a command is added.
func TestCatalogue(t *testing.T) {
	for name, needs := range map[string]string{
		"gcc": "gcc", "clang": "clang", "postgresql": "pg_config", "jvm": "java", "sysctl": "sysctl", "redis": "redis-server",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(needs); err != nil {
				t.Skipf("SKIPPED, NOT TESTED: %s is missing, which the catalogue of %s needs", needs, name)
			}
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
				command = "command: [\"{setup}/prog\"]\n"
			}
			if err := os.WriteFile(h.path("s.yaml"), []byte(text+command), 0o600); err != nil {
				t.Fatal(err)
			}
			code, _, errs = h.try("tune s.yaml --dry-run", "")
			if code != 0 {
				t.Errorf("exit code %d: %s\n%s", code, errs, text)
			}
		})
	}
}
