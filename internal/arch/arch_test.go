// Package arch tests the tree as a whole: the imports of packages, links and prose of the pages, and the steps of
// CONTRIBUTING.md, which are followed in a copy.
package arch

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

const module = "github.com/assay-run/assay"

// layers is a statement of policy: a package may import packages of this module
// only from layers below its own. Do not change it to fix a build.
var layers = [][]string{
	{""}, // vocabulary and contracts
	{"/internal/stats", "/model", "/internal/workereffect"},                          // mathematics
	{"/search", "/stop", "/internal/race", "/internal/prune", "/internal/costmodel"}, // decisions
	// the outside world
	{"/run", "/internal/table", "/internal/workbench", "/store", "/internal/queue", "/internal/batch"},
	// The loop; on-line tuning; databases; a carrier.
	{
		"/study", "/internal/online", "/internal/store/sqlite", "/internal/store/postgres",
		"/internal/queue/jetstream",
	},
	{"/internal/prior"}, // the knowledge base
	{"/setup"},          // a definition becomes a study
	// Many studies in one process; where their runs are made; methods compared on recorded tables.
	{"/internal/service", "/internal/worker", "/internal/bench"},
	{"/internal/rest", "/internal/rest/api"}, // on-line tuning at a distance; studies at a distance
	{"/internal/server"},                     // a server put together, and a worker
	{"/cmd/assay"},
}

// pureLayers are the layers that have no clock, file or goroutine: 0 to 2.
const pureLayers = 2

// apart is the library of workflows. It is as pure as layers 0 to 2, any package
// above them may import it, and it imports of this module only the packages here:
// mathematics, and a sub-package its parent. The sub-packages are strangers.
var apart = map[string][]string{
	"/workflow":                {"/internal/stats"},
	"/internal/workflow/trace": {"/workflow", "/internal/stats"},
	"/internal/workflow/site":  {"/workflow"},
	// The resources to ask a batch system for.
	"/internal/workflow/request": {"/workflow", "/internal/stats"},
}

// beside are packages that stand beside the layers, with the packages of this module
// that each may import. Packages of layers 0 to 2 import none of them.
var beside = map[string][]string{
	"/assaytest":       {""},
	"/bench/gate":      {},                      // recorded tables, and the results of auto on our own
	"/internal/access": {"", "/internal/files"}, // access rights on a server: roles, tokens, certificates
	"/docs":            {},                      // pages of reference that the program carries
	"/internal/arch":   {},
	// files as a whole, and by their content
	"/internal/files":   {""},
	"/internal/browser": {"/internal/testbed"}, // a browser that looks at pages, for tests
	// the products of setups, on disk; commits side by side
	"/internal/builds": {"", "/internal/files"},
	"/internal/abtest": {"", "/internal/stats", "/internal/report"}, // commands in turn; the noise of repeated runs
	// files of other tuners and benchmark tools, settings of programs
	"/internal/exchange": {"", "/internal/stats"},
	"/internal/expr":     {""},
	"/internal/ledger":   {""},                          // the attempts at runs that are made elsewhere
	"/internal/mcp":      {"/docs", "/internal/report"}, // commands of this program as tools of coding agents
	// Pages of studies, and the modules that draw them.
	"/internal/pages": {"", "/internal/stats", "/internal/abtest", "/internal/report", "/internal/result"},
	// Between the library of workflows and the command: options become plans, plans are shown.
	"/internal/planning": {
		"", "/internal/costmodel", "/internal/report", "/workflow", "/internal/workflow/request",
		"/internal/workflow/site", "/internal/workflow/trace",
	},
	"/internal/proc":   {}, // processes, control groups, the pace of this process
	"/internal/report": {},
	// The results of studies, as data and for people.
	"/internal/result": {
		"", "/model", "/internal/stats", "/internal/costmodel", "/study", "/view", "/internal/workbench", "/spec",
		"/internal/report",
	},
	"/internal/meterfs": {}, // a remote file system that counts and times
	"/internal/term":    {},
	"/internal/testbed": {"/internal/meterfs"},
	"/internal/tools":   {}, // runs the suite and the promises, counts code and licences
	// The pages of a server: a client of its API.
	"/internal/web": {
		"", "/internal/prior", "/internal/access", "/internal/pages", "/internal/planning", "/internal/report",
		"/internal/result", "/internal/rest/api", "/view",
	},
	"/spec": {"", "/internal/files", "/internal/expr", "/workflow", "/internal/workflow/site"},
	"/view": {"", "/internal/report"}, // studies and trials as others see them, people among them
}

// testOnly are the packages that only tests may import.
var testOnly = []string{"/internal/browser", "/internal/testbed"}

// owner names the packages that may import a third-party module, most often one. gonum may be imported by any, and so
// may jsontext, which becomes a part of the standard library.
var owner = map[string]string{
	"github.com/spf13/cobra":               "/cmd/assay",
	"github.com/spf13/pflag":               "/cmd/assay",
	"go.yaml.in/yaml":                      "/spec /internal/workflow/trace",
	"github.com/expr-lang/expr":            "/internal/expr",
	"modernc.org/sqlite":                   "/internal/store/sqlite",
	"github.com/jackc/pgx":                 "/internal/store/postgres",
	"github.com/nats-io":                   "/internal/queue/jetstream",
	"github.com/danielgtaylor/huma":        "/internal/rest/api",
	"github.com/modelcontextprotocol":      "/internal/mcp",
	"github.com/clipperhouse/displaywidth": "/internal/report",
	"golang.org/x/term":                    "/internal/term",
	"github.com/prometheus/procfs":         "/run",
	"github.com/prometheus/client_golang":  "/internal/server",
	"go.opentelemetry.io":                  "/internal/server",
	"google.golang.org/protobuf":           "/internal/server",
	"github.com/hanwen/go-fuse":            "/internal/meterfs",
	"github.com/google/go-cmp":             "tests",
	"github.com/chromedp":                  "/internal/browser",
	"pgregory.net/rapid":                   "tests",
	"github.com/rogpeppe/go-internal":      "tests",
	"go.uber.org/goleak":                   "/internal/testbed",
}

// databases are packages that only the assembly of a study may know: all others
// take an assay.Store.
var databases = []string{"/internal/store/sqlite", "/internal/store/postgres", "/internal/queue/jetstream"}

// assembly are the packages that may import them.
var assembly = []string{"/cmd/assay", "/setup", "/internal/server"}

// impure are packages that layers 0 to 2 must not import.
var impure = []string{
	"os", "os/exec", "os/signal", "net", "net/http", "syscall", "log", "log/slog", "sync/atomic",
	"math/rand",
}

func TestImports(t *testing.T) {
	testbed.Outside(t)
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
		me := level(rel)
		allowed, aside := beside[rel]
		own, alone := apart[rel]
		if alone {
			allowed = own
		}
		if me < 0 && !aside && !alone {
			t.Errorf("%s is in no layer", f[0])
			continue
		}
		pure := alone || !aside && me <= pureLayers
		for _, imp := range f[1:] {
			checkThirdParty(t, rel, imp)
			if pure && slices.Contains(impure, imp) {
				t.Errorf("%s must be pure but imports %s", f[0], imp)
			}
			dep, ours := strings.CutPrefix(imp, module)
			if !ours {
				continue
			}
			_, depAside := beside[dep]
			_, depAlone := apart[dep]
			switch {
			case strings.HasPrefix(dep+"/", "/lab/"):
				t.Errorf("%s imports %s, which is no part of the product", f[0], imp)
			case slices.Contains(databases, dep) && !slices.Contains(assembly, rel):
				t.Errorf("%s imports %s, which is for %v", f[0], imp, assembly)
			case slices.Contains(testOnly, dep) && !slices.Contains(testOnly, rel):
				t.Errorf("%s imports %s, which is for tests", f[0], imp)
			case (aside || alone) && !slices.Contains(allowed, dep):
				t.Errorf("%s may not import %s", f[0], imp)
			case aside || alone:
			case (depAside || depAlone) && me <= pureLayers:
				t.Errorf("%s must be pure and know its layers only, but imports %s", f[0], imp)
			case !depAside && !depAlone && level(dep) >= me:
				t.Errorf("%s (layer %d) imports %s (layer %d)", f[0], me, imp, level(dep))
			}
		}
	}
}

// An experiment of the lab stands for itself: only the command of the lab imports others. None uses test packages.
func TestLab(t *testing.T) {
	testbed.Outside(t)
	out, err := exec.Command("go", "list", "-C", "../../lab", "-f", `{{.ImportPath}} {{join .Imports " "}}`,
		"./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	experiments := 0
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		rel := strings.TrimPrefix(f[0], module)
		command := strings.HasPrefix(rel, "/lab/cmd/")
		if !command {
			experiments++
		}
		for _, imp := range f[1:] {
			dep, _ := strings.CutPrefix(imp, module)
			if strings.HasPrefix(dep, "/lab/") && !command || slices.Contains(testOnly, dep) {
				t.Errorf("%s may not import %s", f[0], imp)
			}
		}
	}
	if experiments < 6 {
		t.Errorf("%d experiments", experiments)
	}
}

// A definition becomes a study without a command line: a service and a worker use the
// same door.
func TestSetupNeedsNoCommandLine(t *testing.T) {
	testbed.Outside(t)
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
		strings.HasPrefix(imp, "gonum.org/") || strings.HasPrefix(imp, "golang.org/x/sys") ||
		imp == "github.com/go-json-experiment/json/jsontext" {
		return
	}
	for path, own := range owner {
		if strings.HasPrefix(imp, path) {
			if !slices.Contains(strings.Fields(own), rel) {
				t.Errorf("%s imports %s, which belongs behind %s", rel, imp, own)
			}
			return
		}
	}
	t.Errorf("%s imports %s, which nothing owns: see ARCHITECTURE.md, rule 5", rel, imp)
}
