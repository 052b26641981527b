package arch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// The list of decisions has each one with its title, and their numbers have no gap.
func TestReferenceOfDecisions(t *testing.T) {
	const dir = "../../docs/adr/"
	files, err := filepath.Glob(dir + "[0-9]*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d decisions, %v", len(files), err)
	}
	page := "# Decisions\n\nWhy things are as they are. A decision is one page: context, decision, consequences, and " +
		"what was rejected. " +
		"A changed one names the decision that changed it.\n\n"
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		number := fmt.Sprintf("%04d", i+1)
		name := filepath.Base(file)
		title, ok := strings.CutPrefix(strings.SplitN(string(text), "\n", 2)[0], "# "+number+" ")
		if !ok || !strings.HasPrefix(name, number+"-") {
			t.Errorf("%s is not number %s, or its first line is not the title", name, number)
		}
		page += fmt.Sprintf("- [%s](%s) %s\n", number, name, title)
	}
	testbed.Current(t, dir+"README.md", page, "go test ./internal/arch -run ReferenceOfDecisions")
}
