// Package arch holds the import rules of the module.
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
	{""},                                   // vocabulary and contracts
	{"/stats", "/doe", "/model", "/block"}, // mathematics
	{"/search", "/stop", "/race", "/prune", "/costmodel"},          // decisions
	{"/run", "/table", "/workbench", "/store", "/queue", "/batch"}, // the outside world
	// The loop; on-line tuning; databases; a copy of a record; a carrier.
	{"/study", "/online", "/store/sqlite", "/store/postgres", "/store/mirror", "/queue/jetstream"},
	{"/prior"}, // the knowledge base
	{"/setup"}, // a definition becomes a study
	// Many studies in one process; where their runs are made; methods compared on recorded tables.
	{"/service", "/worker", "/internal/bench"},
	{"/rest", "/rest/api"}, // on-line tuning at a distance; studies at a distance
	{"/internal/server"},   // a server put together, and a worker
	{"/cmd/assay"},
}

// pureLayers are the layers that have no clock, file or goroutine: 0 to 2.
const pureLayers = 2

// apart is the library of workflows. It is as pure as layers 0 to 2, any package
// above them may import it, and it imports of this module only what stands here:
// mathematics, and a sub-package its parent. The sub-packages are strangers.
var apart = map[string][]string{
	"/workflow":       {"/stats"},
	"/workflow/trace": {"/workflow", "/stats"},
	"/workflow/site":  {"/workflow"},
	// What to ask a batch system for.
	"/workflow/request": {"/workflow", "/stats"},
}

// beside are packages that stand beside the layers: what each may import of
// this module. Packages of layers 0 to 2 import none of them.
var beside = map[string][]string{
	"/assaytest":          {""},
	"/bench/gate":         {},                      // tables of our own, and what auto comes to on them
	"/bench/studies":      {},                      // data, and tests of it
	"/internal/access":    {"", "/internal/whole"}, // who may do what on a server: roles, tokens, certificates
	"/internal/arch":      {},
	"/internal/benchfile": {"", "/stats", "/internal/jsonat"}, // what other benchmark tools have measured
	"/internal/jsonat":    {""},                               // JSON whose values know their place
	"/internal/foreign":   {"", "/internal/jsonat"},           // what other tuners have on record
	// files by their content: what a server keeps, and what a worker has of it
	"/internal/blobs":        {""},
	"/internal/builds":       {"", "/internal/whole"}, // what setups have made, on disk
	"/internal/catalogue":    {""},                    // asks installed programs what can be set
	"/internal/cgroup":       {"/internal/proc"},
	"/internal/checkout":     {""}, // commits of a repository side by side
	"/spec":                  {"", "/internal/blobs", "/internal/expr", "/workflow", "/workflow/site"},
	"/internal/duel":         {"", "/stats", "/internal/report"}, // commands in turn
	"/internal/durable":      {""},                               // what a run came to, in files that survive their writer
	"/internal/expr":         {""},
	"/internal/report":       {},
	"/internal/ledger":       {""}, // the attempts at runs that are made elsewhere
	"/internal/ledger/audit": {""}, // records of such attempts, for tests
	"/internal/term":         {},
	"/internal/fakeslurm":    {}, // a stand-in for Slurm's commands, for tests
	"/internal/explain":      {"", "/model", "/internal/report", "/internal/result"},
	"/internal/link":         {},                                 // an emulated network link
	"/internal/descriptors":  {},                                 // how many files a process may open
	"/internal/noise":        {"", "/stats", "/internal/report"}, // how noisy repeated runs are
	"/internal/proc":         {},
	"/internal/replay":       {""}, // a record fed to a new searcher
	// What studies came to, as data and for people.
	"/internal/result": {"", "/stats", "/costmodel", "/study", "/view", "/workbench", "/spec", "/internal/report"},
	"/view":            {""}, // what studies and trials look like from outside
	// Pages of studies, and the modules that draw them.
	"/internal/pages": {"", "/stats", "/internal/explain", "/internal/noise", "/internal/report", "/internal/result"},
	// The pages of a server: a client of its API.
	"/internal/web": {
		"", "/prior", "/internal/access", "/internal/pages", "/internal/planreport", "/internal/report", "/internal/result",
		"/rest/api", "/view",
	},
	"/internal/faultdisk": {"/internal/rfs"},     // a disk that fails, for tests
	"/internal/whole":     {},                    // files that are there as a whole
	"/internal/rfs":       {},                    // a remote file system that counts and times
	"/internal/browser":   {"/internal/testbed"}, // a browser that looks at pages, for tests
	"/internal/testbed":   {},
	"/internal/pace":      {}, // intervals, which tests scale
	"/internal/suite":     {}, // runs the tests, and counts what they lack
	"/internal/size":      {}, // how large the code is
	"/site":               {}, // a test of the site that was built

	"/internal/bill":       {}, // of what the program is made
	"/internal/promises":   {}, // runs the tests of what is promised
	"/internal/extensions": {}, // tests that CONTRIBUTING.md is true

	// Between the library of workflows and the command.
	// What to ask for, shown and written for workflow systems.
	"/internal/requests": {
		"", "/internal/report", "/internal/traces", "/workflow", "/workflow/request", "/workflow/trace",
	},
	"/internal/planreport": {"/internal/report", "/workflow", "/workflow/site"},           // how plans are shown
	"/internal/planning":   {"", "/workflow", "/internal/planreport", "/internal/traces"}, // options become plans
	// learned models in plans over sites
	"/internal/sitemodel": {"", "/costmodel", "/workflow", "/workflow/site"},
	"/internal/traces":    {"/workflow", "/workflow/trace"}, // workflows in files
}

// testOnly is what nothing but tests may import.
var testOnly = []string{
	"/internal/browser", "/internal/faultdisk", "/internal/fakeslurm", "/internal/testbed",
	"/internal/ledger/audit",
}

// owner names the packages that may import a third-party module, most often one. gonum may be imported by any, and so
// may jsontext, which becomes a part of the standard library.
var owner = map[string]string{
	"github.com/spf13/cobra":          "/cmd/assay",
	"github.com/spf13/pflag":          "/cmd/assay",
	"go.yaml.in/yaml":                 "/spec /workflow/trace",
	"github.com/expr-lang/expr":       "/internal/expr",
	"modernc.org/sqlite":              "/store/sqlite",
	"github.com/jackc/pgx":            "/store/postgres",
	"github.com/nats-io":              "/queue/jetstream",
	"github.com/danielgtaylor/huma":   "/rest/api",
	"golang.org/x/term":               "/internal/term",
	"github.com/prometheus/procfs":    "/run",
	"github.com/hanwen/go-fuse":       "/internal/rfs",
	"github.com/google/go-cmp":        "tests",
	"github.com/chromedp":             "/internal/browser",
	"pgregory.net/rapid":              "tests",
	"github.com/rogpeppe/go-internal": "tests",
	"go.uber.org/goleak":              "/internal/testbed",
}

// databases are packages that only the assembly of a study may know: all others
// take an assay.Store.
var databases = []string{"/store/sqlite", "/store/postgres", "/queue/jetstream"}

// assembly is what may import them.
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

// An experiment of the lab stands for itself: only the command of the lab imports others. None uses what is for tests.
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
