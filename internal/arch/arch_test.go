// Package arch holds the import rules of the module.
package arch

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/assay-run/assay"

// layers is a statement of policy: a package may import packages of this module
// only from layers below its own. Do not change it to fix a build.
var layers = [][]string{
	{""},                         // vocabulary and contracts
	{"/stats", "/doe", "/model"}, // mathematics
	{"/search", "/stop", "/prune", "/costmodel"}, // decisions
	{"/run", "/table", "/workbench", "/store"},   // the outside world
	{"/study", "/online"},                        // the loop; on-line tuning
	{"/prior", "/internal/bench"},                // the knowledge base; methods compared on recorded tables
	{"/setup"},                                   // a definition becomes a study
	{"/rest"},                                    // on-line tuning at a distance
	{"/cmd/assay"},
}

// beside are packages that stand beside the layers: what each may import of
// this module. Packages of layers 0 to 2 import none of them.
var beside = map[string][]string{
	"/assaytest":        {""},
	"/bench/studies":    {}, // data, and tests of it
	"/internal/arch":    {},
	"/internal/cgroup":  {"/internal/mountinfo"},
	"/internal/config":  {"", "/internal/expr"},
	"/internal/expr":    {""},
	"/internal/report":  {},
	"/internal/term":    {},
	"/internal/explain": {"", "/model", "/internal/report"},
	// The experiments of papers, by the loop of /internal/bench: see docs/adr/0009-lab.md.
	"/internal/lab/jobpruner": {"", "/stats", "/search", "/prune", "/study", "/table", "/internal/bench"},
	"/internal/lab/nimo":      {"", "/stats", "/search", "/costmodel", "/study", "/table", "/internal/bench"},
	"/internal/lab/pro":       {"", "/stats", "/search", "/table", "/internal/bench"},
	"/internal/link":          {}, // an emulated network link
	"/internal/mountinfo":     {},
	"/internal/proc":          {},
	"/internal/replay":        {""}, // a record fed to a new searcher
	"/internal/rfs":           {},   // a remote file system that counts and times
	testOnly:                  {},
}

// apart are rooms that stand apart: they are pure, and import nothing of this module
// but their own sub-packages. Only the command imports them.
var apart = []string{"/workflow"}

// testOnly is what nothing but tests may import.
const testOnly = "/internal/testbed"

// owner names the one package that may import a third-party module. gonum may
// be imported by any.
var owner = map[string]string{
	"github.com/spf13/cobra":          "/cmd/assay",
	"github.com/spf13/pflag":          "/cmd/assay",
	"go.yaml.in/yaml":                 "/internal/config",
	"github.com/expr-lang/expr":       "/internal/expr",
	"modernc.org/sqlite":              "/store",
	"golang.org/x/term":               "/internal/term",
	"github.com/prometheus/procfs":    "/run",
	"github.com/hanwen/go-fuse":       "/internal/rfs",
	"github.com/google/go-cmp":        "tests",
	"pgregory.net/rapid":              "tests",
	"github.com/rogpeppe/go-internal": "tests",
	"go.uber.org/goleak":              "tests",
}

// impure are packages that layers 0 to 2 must not import.
var impure = []string{"os", "os/exec", "os/signal", "net", "net/http", "syscall", "log", "log/slog", "sync/atomic", "math/rand"}

func TestImports(t *testing.T) {
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	level := func(rel string) int {
		return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, rel) })
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		rel := strings.TrimPrefix(f[0], module)
		if strings.HasPrefix(rel, "/examples/") {
			continue
		}
		if room := roomApart(rel); room != "" {
			checkApart(t, room, f[0], f[1:])
			continue
		}
		me := level(rel)
		allowed, aside := beside[rel]
		if me < 0 && !aside {
			t.Errorf("%s is in no layer", f[0])
			continue
		}
		for _, imp := range f[1:] {
			checkThirdParty(t, rel, imp)
			if !aside && me <= 2 && slices.Contains(impure, imp) {
				t.Errorf("%s must be pure but imports %s", f[0], imp)
			}
			dep, ours := strings.CutPrefix(imp, module)
			if !ours {
				continue
			}
			_, depAside := beside[dep]
			switch {
			case dep == testOnly:
				t.Errorf("%s imports %s, which is for tests", f[0], imp)
			case aside && !slices.Contains(allowed, dep):
				t.Errorf("%s may not import %s", f[0], imp)
			case !aside && depAside && me <= 2:
				t.Errorf("%s must be pure but imports %s", f[0], imp)
			case !aside && roomApart(dep) != "" && rel != "/cmd/assay":
				t.Errorf("%s imports %s, which stands apart", f[0], imp)
			case !aside && !depAside && level(dep) >= me:
				t.Errorf("%s (layer %d) imports %s (layer %d)", f[0], me, imp, level(dep))
			}
		}
	}
}

// roomApart returns the room apart that a package belongs to, or "".
func roomApart(rel string) string {
	for _, room := range apart {
		if rel == room || strings.HasPrefix(rel, room+"/") {
			return room
		}
	}
	return ""
}

// checkApart checks the imports of a package of a room that stands apart.
func checkApart(t *testing.T, room, path string, imports []string) {
	t.Helper()
	for _, imp := range imports {
		checkThirdParty(t, strings.TrimPrefix(path, module), imp)
		if slices.Contains(impure, imp) {
			t.Errorf("%s must be pure but imports %s", path, imp)
		}
		if dep, ours := strings.CutPrefix(imp, module); ours && roomApart(dep) != room {
			t.Errorf("%s stands apart but imports %s", path, imp)
		}
	}
}

// A definition becomes a study without a command line: a service and a worker use the
// same door.
func TestSetupNeedsNoCommandLine(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"/setup").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(out)) {
		dep = strings.TrimSpace(dep)
		for _, of := range []string{"github.com/spf13/", "flag", module + "/internal/term", module + "/cmd/"} {
			if dep == of || strings.HasSuffix(of, "/") && strings.HasPrefix(dep, of) {
				t.Errorf("setup depends on %s", dep)
			}
		}
	}
}

func checkThirdParty(t *testing.T, rel, imp string) {
	t.Helper()
	if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") || strings.HasPrefix(imp, module) ||
		strings.HasPrefix(imp, "gonum.org/") || strings.HasPrefix(imp, "golang.org/x/sys") {
		return
	}
	for path, own := range owner {
		if strings.HasPrefix(imp, path) {
			if own != rel {
				t.Errorf("%s imports %s, which belongs behind %s", rel, imp, own)
			}
			return
		}
	}
	t.Errorf("%s imports %s, which nothing owns: see ARCHITECTURE.md, rule 5", rel, imp)
}
