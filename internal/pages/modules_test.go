package pages

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/spec"
)

// A checker of types finds nothing wrong with any module, by the types in their comments.
func TestTypes(t *testing.T) {
	testbed.System(t) // of make lint too
	t.Parallel()
	node, err := exec.LookPath("node")
	tsc := testbed.Installed("typescript", "node_modules", "typescript", "bin", "tsc")
	if _, missing := os.Stat(tsc); err != nil || missing != nil {
		testbed.Lacks(t, "typescript")
	}
	out, err := exec.CommandContext(t.Context(), node, tsc, "-p", "tsconfig.json").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// It is the strict checker, and it sees the modules.
	broken := filepath.Join(t.TempDir(), "broken.js")
	config := filepath.Join(filepath.Dir(broken), "tsconfig.json")
	if err := os.WriteFile(broken, []byte("export function f(x) { return x.y; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("tsconfig.json")
	if err != nil {
		t.Fatal(err)
	}
	text := `{"extends": "` + filepath.ToSlash(here) + `", "include": ["broken.js"]}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err = exec.CommandContext(t.Context(), node, tsc, "-p", config).CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("TS7006")) {
		t.Errorf("a parameter without a type is accepted: %v\n%s", err, out)
	}
	list, err := exec.CommandContext(t.Context(), node, tsc, "-p", "tsconfig.json", "--listFilesOnly").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range modules(t) {
		if !bytes.Contains(list, []byte("/web/"+name)) {
			t.Errorf("%s is not checked", name)
		}
	}
}

// The values that earlier studies pruned are data of a page, with the threshold in the format of the metric.
func TestCutsAreData(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("least", definition, 20, 1)
	f.add("most", strings.Replace(definition, "minimize: elapsed", "maximize: size", 1), 20, 1)
	for name, want := range map[string]result.Real{"least": 50, "most": -50} {
		s, err := Read(t.Context(), f, name, Options{Now: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		if c := s.Cuts; len(c) != 2 || c[0].Threshold != want || c[0].Restored || !c[1].Restored || c[1].Values[0] != "256M" {
			t.Errorf("%s: %+v", name, c)
		}
		b, err := json.Marshal(s.Cuts[0])
		if err != nil || !strings.Contains(string(b), `"param":"buffer"`) || strings.Count(string(b), "threshold") != 1 {
			t.Errorf("%s: %s %v", name, b, err)
		}
	}
}

// A parameter that is not in force has no value on a page, and a permutation the orders that
// trials have had, each under its own name.
func TestConditionsAndOrders(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	def, _, err := spec.Parse("f.yaml", []byte(`
command: [fit, "{solver}", "{trees}", "{passes}"]
parameters:
  solver: {type: categorical, values: [svm, forest]}
  trees: {type: int, min: 10, max: 500, when: "solver == 'forest'"}
  passes: {type: permutation, values: [a, b, c, d, e, f, g, h, i, j, k, l, m, n]}
objective: {minimize: elapsed}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(def)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Create(t.Context(), "fit", stored); err != nil {
		t.Fatal(err)
	}
	space, err := def.Space()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var events []assay.Event
	var texts []map[string]any
	for i := range 40 {
		c, ok := space.Draw(rng)
		if !ok {
			t.Fatal("no configuration")
		}
		texts = append(texts, space.Values(c))
		tr := &assay.Trial{
			Proposal: assay.Proposal{ID: int64(i + 1), Config: c}, State: assay.Done, Value: float64(i),
			Started: at, Ended: at,
		}
		tr.Measurement = assay.Measurement{Elapsed: time.Second}
		events = append(events, assay.Event{At: at, Asked: &tr.Proposal}, assay.Event{At: at, Spent: time.Second, Told: tr})
	}
	if _, err := f.Append(t.Context(), "fit", 0, events...); err != nil {
		t.Fatal(err)
	}
	s, err := Read(t.Context(), f, "fit", Options{Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	without := 0
	for k, want := range texts {
		if trees, inForce := want["trees"]; !inForce {
			without++
			if x := s.Trials.Config["trees"][k]; x != nil || s.param(1, s.Trials.ID[k]) != "–" {
				t.Errorf("trial %d: trees %v", k+1, x)
			}
		} else if got := s.param(1, s.Trials.ID[k]); got != fmt.Sprint(trees) {
			t.Errorf("trial %d: trees %s, want %v", k+1, got, trees)
		}
		if got := s.param(2, s.Trials.ID[k]); got != want["passes"] {
			t.Errorf("trial %d: %s, want %v", k+1, got, want["passes"])
		}
	}
	if without == 0 || without == len(texts) {
		t.Errorf("%d of %d have no trees", without, len(texts))
	}
	b := browser.Open(t)
	b.Page(f.page(Options{Now: time.Now()}, "fit"))
	b.Frame()
	for _, c := range b.Canvases() {
		if c.Box.Width > 0 && c.Share < 0.005 { // nothing was run twice, so that noise has no chart
			t.Errorf("blank: %+v", c)
		}
	}
	b.Picture("orders")
}

// The tests of modules without a page, by node.
func TestModulesByNode(t *testing.T) {
	t.Parallel()
	node := testbed.Program(t, "node")
	files, err := filepath.Glob("webtest/*.test.js")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	out, err := exec.CommandContext(t.Context(), node, append([]string{"--test"}, files...)...).CombinedOutput()
	count := regexp.MustCompile(`# pass (\d+)`).FindSubmatch(out)
	if err != nil || count == nil || string(count[1]) == "0" {
		t.Errorf("%v\n%s", err, out)
	}
}

// modules returns the modules as they are sent.
func modules(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	names, err := fs.Glob(Files(), "*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if out[name], err = fs.ReadFile(Files(), name); err != nil {
			t.Fatal(err)
		}
	}
	if len(out) < 15 {
		t.Fatalf("%d modules", len(out))
	}
	return out
}

// mostSent is how many bytes all modules may have as they are sent, each packed for itself.
const mostSent = 60_000

// All modules together are few bytes for who waits for them, and have nothing that only their
// readers need.
func TestModulesAreSmall(t *testing.T) {
	t.Parallel()
	raw, sent := 0, 0
	for name, text := range modules(t) {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		raw, sent = raw+len(text), sent+b.Len()
		if bytes.Contains(text, []byte("@param")) || bytes.Contains(text, []byte("\n// ")) {
			t.Errorf("%s is sent with comments", name)
		}
		t.Logf("%-16s %6d bytes, %6d as sent", name, len(text), b.Len())
	}
	t.Logf("all modules      %6d bytes, %6d as sent", raw, sent)
	if sent > mostSent {
		t.Errorf("%d bytes are sent, at most %d may be", sent, mostSent)
	}
}

// A module without its comments is the same program: Bare removes comments only.
func TestBare(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"// a\nconst x = 1; // b\n":             "const x = 1;\n",
		"/** @type {A} */\nlet a;\n":            "let a;\n",
		"f(/** @type {A} */ x);\n":              "f(x);\n",
		"/**\n * a\n */\nconst u = \"x//y\";\n": "const u = \"x//y\";\n",
		"  // a\n    b();\n\n":                  "  b();\n",
		"const r = /^https:\\/\\//;\n":          "const r = /^https:\\/\\//;\n",
	} {
		if got := string(Bare([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	names, err := fs.Glob(web, "web/*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(web, name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if strings.Count(line, "`")%2 != 0 {
				t.Errorf("%s:%d: a text runs over lines, of which Bare may take one away", name, i+1)
			}
			if len(line) > 160 {
				t.Errorf("%s:%d: %d bytes in a line", name, i+1, len(line))
			}
		}
	}
}
