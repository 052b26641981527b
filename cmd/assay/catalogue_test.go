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
				t.Skipf("%s is missing: its catalogue is not tested", needs)
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
			for _, key := range []string{"service", "files"} {
				if strings.Contains(errs, `unknown key "`+key+`"`) {
					t.Skipf("study files have no key %s yet: the study of %s is not tried", key, name)
				}
			}
			if code != 0 {
				t.Errorf("exit code %d: %s\n%s", code, errs, text)
			}
		})
	}
}
