package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/spec"
)

// define reads a definition as from a study file of that name.
func define(t testing.TB, file, text string) *spec.Study {
	t.Helper()
	def, _, err := spec.Parse(file, []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if def.Pairs == (spec.Pairs{}) {
		def.Pairs.None = true // the runs are counted
	}
	return def
}

// A fakeRunner takes |n - 4| + 1 seconds, in no time, and counts its runs.
type fakeRunner struct {
	mu   sync.Mutex
	runs []assay.Job
	out  string
}

func (f *fakeRunner) Run(_ context.Context, j assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs = append(f.runs, j)
	n := j.Config[0]
	return assay.Measurement{Elapsed: time.Duration((1 + max(n-4, 4-n)) * 1e9), Stdout: []byte(f.out)}, nil
}

const nine = "command: [prog, '{n}']\nparameters: {n: 1..9}\nsearch: {name: random, seed: 1}\n"

// runStudy runs a study of a definition to its end, with a runner that is not there.
func runStudy(t testing.TB, s *Store, def *spec.Study, name string, r assay.Runner) (*Study, int) {
	t.Helper()
	p, err := New(def, Options{Runner: r})
	if err != nil {
		t.Fatal(err)
	}
	sd, err := p.Study(t.Context(), s, name)
	if err != nil {
		t.Fatal(err)
	}
	defer sd.Close()
	res, err := sd.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return sd, len(res.Trials)
}

// A study is made, runs, and goes on where it was with a larger budget; one that is
// another one is refused its name.
func TestStudyLife(t *testing.T) {
	s, r := memory(t), &fakeRunner{}
	first, n := runStudy(t, s, define(t, "dir/nine.yaml", nine+"budget: {trials: 4}\n"), "", r)
	if first.Name != "nine" || first.Resumed || n != 4 || len(r.runs) != 4 {
		t.Fatalf("study %q, resumed %v, of %d trials in %d runs", first.Name, first.Resumed, n, len(r.runs))
	}
	if argv := r.runs[0].Argv; len(argv) != 2 || argv[0] != "prog" || r.runs[0].ID.Study != "nine" {
		t.Errorf("the first job is %+v", r.runs[0])
	}
	again, n := runStudy(t, s, define(t, "nine.yaml", nine+"budget: {trials: 9}\nplace: {on: local}\n"), "", r)
	if !again.Resumed || n != 9 || len(r.runs) != 9 {
		t.Errorf("resumed %v, of %d trials in %d runs", again.Resumed, n, len(r.runs))
	}
	p, err := New(define(t, "nine.yaml", strings.Replace(nine, "seed: 1", "seed: 2", 1)), Options{Runner: r})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Study(t.Context(), s, "")
	if assay.ClassOf(err) != assay.ClassConflict || !strings.Contains(err.Error(), "search was") {
		t.Errorf("another study of that name: %v", err)
	}
	if _, err := p.Study(t.Context(), s, "other"); err != nil {
		t.Errorf("with a name of its own: %v", err)
	}
	def, err := s.Definition(t.Context(), "other")
	if err != nil || def.Name != "other" || def.Search.Seed != 2 {
		t.Errorf("on record: %+v and %v", def, err)
	}
}

// A study without any name has the name of its program, with the next free number if another study
// has that.
func TestUnnamedStudies(t *testing.T) {
	s := memory(t)
	of := func(command ...string) *spec.Study {
		def := define(t, "", nine+"budget: {trials: 1}\n")
		def.Command, def.Shell = command, len(command) == 1
		return def
	}
	for _, c := range []struct {
		command []string
		name    string
		resumed bool
	}{
		{[]string{"/bin/prog", "{n}"}, "prog", false},
		{[]string{"/bin/prog", "-{n}"}, "prog-2", false},
		{[]string{"/bin/prog", "-{n}"}, "prog-2", true},
		{[]string{"/opt/wc -l $n"}, "wc", false},
	} {
		if sd, _ := runStudy(t, s, of(c.command...), "", &fakeRunner{}); sd.Name != c.name || sd.Resumed != c.resumed {
			t.Errorf("%q: study %q, resumed %v", c.command, sd.Name, sd.Resumed)
		}
	}
}

// Open has everything in one: the store is closed with the study, and no other process can own the study
// while it is open.
func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assay.db")
	def := define(t, "nine.yaml", nine+"budget: {trials: 2}\n")
	o := Options{Runner: &fakeRunner{out: "hello"}}
	sd, err := Open(t.Context(), def, path, "", o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), def, path, "", o); !errors.Is(err, assay.ErrLocked) {
		t.Errorf("a second owner: %v", err)
	}
	if _, err := sd.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := sd.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := sd.store.Spec(t.Context(), "nine"); err == nil {
		t.Error("the store is open")
	}
	s, err := ReadStore(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	read := func(trial int64, stream string) string {
		f, err := s.Output(t.Context(), "nine", trial, stream)
		if err != nil {
			return err.Error()
		}
		defer f.Close()
		b := make([]byte, 100)
		n, _ := f.Read(b)
		return string(b[:n])
	}
	if got := read(2, "stdout"); got != "hello" {
		t.Errorf("the output of trial 2 is %q", got)
	}
	if got := read(2, "stderr"); got != "" {
		t.Errorf("the error output of trial 2 is %q", got)
	}
	if got := read(3, "stdout"); !strings.Contains(got, `study "nine" has no trial 3`) {
		t.Errorf("the output of trial 3 is %q", got)
	}
	if _, err := os.Stat(path + ".knowledge"); err != nil {
		t.Errorf("the knowledge base was not brought up to the study: %v", err)
	}
	if err := s.Remove(t.Context(), "nine"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Definition(t.Context(), "nine"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed study: %v", err)
	}
	if left, _ := os.ReadDir(path + ".outputs"); len(left) > 0 {
		t.Errorf("outputs of a removed study: %v", left)
	}
}

// Open reports a flaw of a definition before it makes a store.
func TestNothingIsWrittenForAFlaw(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assay.db")
	_, err := Open(t.Context(), define(t, "nine.yaml", nine), path, "", Options{})
	if assay.ClassOf(err) != assay.ClassUsage || !strings.HasPrefix(err.Error(), "nine.yaml:1:10: ") ||
		!strings.Contains(err.Error(), "prog") {
		t.Errorf("a program that is not there: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a store: %v", err)
	}
	// Any of the programs that a parameter names must be there.
	def := define(t, "p.yaml", "command: ['{p}']\nparameters: {p: [\"true\", no-such-program]}\n")
	if _, err := New(def, Options{}); err == nil || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("a program that one configuration names: %v", err)
	}
	if _, err := New(def, Options{Runner: &fakeRunner{}}); err != nil {
		t.Errorf("a program that need not be here: %v", err)
	}
}

func TestWhatMakesTheRuns(t *testing.T) {
	table := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(table, []byte("a,t\n1,2\n2,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	replay := "replay: {file: " + table + ", parameters: [a], metrics: {elapsed: t}}\n"
	command := "command: ['true', '{a}']\nparameters: {a: 1..3}\n"
	for _, c := range []struct{ text, want string }{
		{command, ""},
		{command + "place: {on: local}\n", ""},
		{command + "place: local\n", ""},
		{replay, ""},
		{replay + "place: {on: table}\n", ""},
		{command + "place: {on: moon}\n", `f.yaml:3:13: no runner "moon" (there are local, fleet, slurm, batch, table)`},
		{command + "place: table\n", "f.yaml:3:8: runner table replays a recorded table"},
		{replay + "place: {on: local}\n", "f.yaml:2:13: runner local runs commands on this machine"},
	} {
		_, err := New(define(t, "f.yaml", c.text), Options{})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.text, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want) ||
			assay.ClassOf(err) != assay.ClassUsage):
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
	if _, _, err := spec.Parse("f.yaml", []byte(command+"place: {at: local}\n"), nil); err == nil {
		t.Error("an unknown key of place is taken")
	}
}

// The runs of a command by the runner of the table: hooks, metrics and all.
func TestLocalStudy(t *testing.T) {
	testbed.Outside(t)
	dir := t.TempDir()
	def := define(t, "f.yaml", `
command: [sh, -c, 'echo "size {n}"; test -e before']
dir: `+dir+`
prepare: 'touch before; echo $N >>prepared'
cleanup: 'rm before'
parameters: {n: 1..3}
metrics: {size: {stdout: 'size ([0-9]+)'}}
objective: {maximize: size}
search: grid
check: 1
`)
	sd, err := Open(t.Context(), def, "memory", "", Options{Pin: true})
	if err != nil {
		t.Fatal(err)
	}
	defer sd.Close()
	res, err := sd.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !res.Found || res.Best.Config[0] != 3 || res.Best.Measurement.Metrics["size"] != 3 || len(res.Checks) != 2 {
		t.Errorf("found %v: %+v, %d checks", res.Found, res.Best, len(res.Checks))
	}
	// The trials, the best once more in the race, and a pair of runs.
	if b, _ := os.ReadFile(filepath.Join(dir, "prepared")); string(b) != "1\n2\n3\n3\n3\n1\n" {
		t.Errorf("prepared %q", b)
	}
}

// A recorded table takes the place of a command; its runs are not repeated at the end.
func TestTableStudy(t *testing.T) {
	dir := t.TempDir()
	rows := "x,t\n"
	for x := range 9 {
		rows += fmt.Sprintf("%d,%d\n", x, 100+(x-3)*(x-3))
	}
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	def := define(t, filepath.Join(dir, "recorded.yaml"),
		"replay: {file: t.csv, parameters: [x], metrics: {elapsed: t}}\nstop: none\ncheck: 5\n")
	sd, err := Open(t.Context(), def, "memory", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer sd.Close()
	if sd.Problem.Table == nil || sd.Problem.Program != nil || sd.Problem.Interval() != 104*time.Second/50 {
		t.Errorf("a problem %+v, observed each %v", sd.Problem, sd.Problem.Interval())
	}
	res, err := sd.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if res.Best.Value != 100 || len(res.Trials) != 9 || sd.Check != 0 || res.Spent < 900*time.Second {
		t.Errorf("the best of %d is %v, %d checks, %v spent", len(res.Trials), res.Best.Value, sd.Check, res.Spent)
	}
	def = define(t, "f.yaml", "replay: {file: "+dir+", parameters: [x], metrics: {elapsed: t}}\n")
	if _, err := New(def, Options{}); err == nil || !strings.Contains(err.Error(), "it is a directory") {
		t.Errorf("a directory for a table: %v", err)
	}
}

// A preview of the first configurations of a study does not spend them.
func TestPreview(t *testing.T) {
	def := define(t, "f.yaml",
		"command: [p, '{n}']\nparameters: {n: {type: int, min: 1, max: 9, default: 7}}\nsearch: grid\n")
	p, err := New(def, Options{Runner: &fakeRunner{}})
	if err != nil {
		t.Fatal(err)
	}
	var seen []float64
	first, err := p.Preview(3)
	for _, c := range first {
		seen = append(seen, c[0])
	}
	if err != nil || !slices.Equal(seen, []float64{7, 1, 2}) {
		t.Errorf("%v and %v", seen, err)
	}
	if again, err := p.Preview(3); err != nil || len(again) != 3 || again[1][0] != 1 {
		t.Errorf("again %v and %v", again, err)
	}
}

// The variables that a command needs are the study's, and the parameters of a
// shell line in the spelling that it uses.
func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"command: [p, '{n}']\nenv: {A: 'x{n}'}\n", []string{"A=x5"}},
		{"shell: true\ncommand: p $n\n", []string{"n=5"}},
		{"shell: true\ncommand: p ${N}\n", []string{"N=5"}},
		{"shell: true\ncommand: p $n $N\nenv: {B: b}\n", []string{"N=5", "n=5", "B=b"}},
		{"shell: true\ncommand: ./p\n", []string{"N=5", "n=5"}},
		{"command: [p, '{n}']\nmetrics: {m: {cmd: 'echo $N'}}\n", nil},
	} {
		p, err := New(define(t, "f.yaml", "parameters: {n: 1..9}\n"+c.text), Options{Runner: &fakeRunner{}})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Environment(assay.Config{5}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// A study makes the pairs of its definition.
func TestPairsOfDefinition(t *testing.T) {
	for _, tt := range []struct {
		text       string
		check      int
		sequential bool
		share      float64
	}{
		{"check: auto\nbudget: {trials: 3}\n", mostUntimed, true, 0},
		{"check: auto\nbudget: 1h\n", mostPairs, true, 0},
		{"check: {share: 30%}\nbudget: 1h\n", mostPairs, true, 0.3},
		{"check: {share: 10%, pairs: 4}\nbudget: 1h\n", 4, false, 0.1},
		{"check: none\nbudget: 1h\n", 0, false, 0},
	} {
		def, _, err := spec.Parse("f.yaml", []byte(nine+tt.text), nil)
		if err != nil {
			t.Fatal(err)
		}
		sd, err := Open(t.Context(), def, "memory", "", Options{Runner: &fakeRunner{}})
		if err != nil {
			t.Fatal(err)
		}
		if sd.Check != tt.check || sd.Sequential != tt.sequential || sd.CheckShare != tt.share {
			t.Errorf("%q: %d pairs, sequential %v, share %v", tt.text, sd.Check, sd.Sequential, sd.CheckShare)
		}
		if err := sd.Close(); err != nil {
			t.Error(err)
		}
	}
}
