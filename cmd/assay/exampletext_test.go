package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// The line and the script that commands print of each example start the programs of the trial with its arguments, its
// environment and its working directory, in an environment with PATH alone. Stand-ins that record how they were started
// take the place of the programs, so that every example is tried wherever it could not run.
func TestExampleTexts(t *testing.T) {
	testbed.Outside(t)
	h := newHouse(t)
	path := os.Getenv("PATH")
	n := 0
	for _, file := range exampleStudies(t) {
		t.Run(strings.TrimPrefix(file, "../../examples/"), func(t *testing.T) {
			n++
			t.Setenv("PATH", path)
			exampleText(&house{t, h.dir}, file, fmt.Sprint("example-", n))
		})
	}
	if n < 20 {
		t.Errorf("%d examples only", n)
	}
}

// exampleStudies returns the files of examples that define runs of a command.
func exampleStudies(t *testing.T) (studies []string) {
	t.Helper()
	files, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		def, _, err := spec.Load(file, nil)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a table that is to be computed first
		}
		if _, other := spec.LoadSystem(file); err != nil && other == nil {
			continue // the commands of a batch system
		}
		if err != nil {
			t.Error(err)
		} else if len(def.Command) > 0 && def.Workbench == nil { // a workbench does not change the command
			studies = append(studies, file)
		}
	}
	return studies
}

// A stage is a directory with an example and stand-ins for its programs.
type stage struct {
	*house
	dir, bin, log string
	own           []string // the environment of this process
	beside        []string // the variables that the program does not need
}

// exampleText runs two configurations of an example, and the texts that commands print of them.
func exampleText(h *house, file, name string) {
	t := h.t
	s := &stage{house: h, dir: t.TempDir(), bin: t.TempDir(), own: os.Environ()}
	s.log = filepath.Join(s.bin, "log")
	exampleCopy(t, s.dir, filepath.Dir(file))
	def, _, err := spec.Load(filepath.Join(s.dir, filepath.Base(file)), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.fill(def)
	s.beside = []string{"SETUP"}
	for _, p := range def.Params {
		s.beside = append(s.beside, p.Name, strings.ToUpper(p.Name))
	}
	s.beside = slices.DeleteFunc(s.beside, func(name string) bool {
		_, given := def.Env[name]
		return given || def.Shell && strings.Contains(def.Command[0], "$"+name)
	})
	t.Setenv("PATH", s.bin+":"+os.Getenv("PATH"))
	s.own = append(s.own, "PATH="+os.Getenv("PATH"))
	of, outputs := s.tuned(def, name)
	line, trial := s.shown(name)
	s.printed("the line", line, of[trial], outputs[trial])
	s.printed("the script", h.run("study apply "+name+" --trial 2 --store "+s.store()), of[2], outputs[2])
	if slices.Equal(of[1], of[2]) && outputs[1] == outputs[2] {
		t.Errorf("both configurations start %s", of[1])
	}
}

func (s *stage) store() string { return filepath.Join(s.house.dir, "examples.db") }

// shown returns the line of the recommended configuration, and its trial.
func (s *stage) shown(name string) (line string, trial int64) {
	var shown result.Shown
	decode(s.t, s.run("study show "+name+" --json --store "+s.store()), &shown)
	if line = shown.Answer.Run; strings.HasPrefix(line, "assay study apply ") { // it has files, or a service
		line = s.run("study apply " + name + " --store " + s.store())
	}
	return line, shown.Answer.Trial
}

// kept are programs without a stand-in: they make files, or join programs.
var kept = strings.Fields("cd rm sh test [ exec echo wc env mktemp mkdir cat chmod")

// aProgram is a name or a path below the directory that a shell can start.
var aProgram = regexp.MustCompile(`^(\./|\.[a-z]+/[a-z/]*)?[A-Za-z][A-Za-z0-9_.+-]*$`)

// fill empties the scripts and sources of the example, and makes stand-ins for its programs. Metrics and checks are
// left out: stand-ins print nothing.
func (s *stage) fill(def *spec.Study) {
	t := s.t
	def.Verify, def.Metrics, def.SubjectTo, def.Objective = spec.Hook{}, nil, nil, spec.Objective{}
	def.Placement, def.Repeat, def.Timeout = spec.Placement{}, spec.Repeat{}, 0
	def.Stop, def.Budget, def.Pairs = spec.Stop{Rule: "none"}, spec.Budget{Trials: 2}, spec.Pairs{None: true}
	def.Parallel, def.Dir = 1, s.dir
	hooks := []spec.Hook{{Argv: def.Command, Shell: def.Shell}, def.Setup.Hook, def.Prepare, def.Cleanup}
	var service []string
	if s := def.Service; s != nil {
		s.Ready = spec.Ready{Command: spec.Hook{Argv: []string{"test", "-e", "served"}}}
		def.Cleanup = spec.Hook{Argv: []string{"rm", "-f", "served"}}
		hooks, service = append(hooks, s.Start, s.Stop), s.Start.Argv[:2]
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.WriteFile(filepath.Join(s.dir, e.Name()), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, hook := range hooks {
		words := hook.Argv[:min(1, len(hook.Argv))]
		if hook.Shell {
			words = regexp.MustCompile(`&&|\|\||[;|]|\bexec\b`).Split(hook.Argv[0], -1)
		}
		for _, w := range words {
			w, _, _ = strings.Cut(strings.TrimSpace(w), " ")
			if aProgram.MatchString(w) && !slices.Contains(kept, w) {
				s.standIn(w, service)
			}
		}
	}
}

// standIn makes a program that records how it is started. The service, which is known by its program and first
// argument, stays; with -o a program leaves itself, as a compiler does.
func (s *stage) standIn(name string, service []string) {
	at := filepath.Join(s.bin, name)
	if strings.Contains(name, "/") {
		at = filepath.Join(s.dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		s.t.Fatal(err)
	}
	stays := ""
	if len(service) > 0 && service[0] == name {
		stays = `[ "$1" != ` + service[1] + ` ] || { >served; exec sleep 60; }`
	}
	testbed.WriteProgram(s.t, at, []byte(`#!/bin/sh
{ echo "== ${0##*/} in $PWD"; for a; do echo "[$a]"; done; echo --; env; } >>`+s.log+`
`+stays+`
while [ $# -gt 1 ]; do [ "$1" != -o ] || cat <"$0" >"$2"; [ "$1" != -o ] || chmod +x "$2"; shift; done
`))
}

// tuned returns the programs that each trial has started, and their outputs.
func (s *stage) tuned(def *spec.Study, name string) (of map[int64][]string, outputs map[int64]string) {
	t := s.t
	sd, err := setup.Open(t.Context(), def, s.store(), name, setup.Options{Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	defer sd.Close()
	of, outputs = map[int64][]string{}, map[int64]string{}
	sd.Output = func(trial assay.Trial) {
		if trial.State != assay.Done {
			t.Errorf("trial %d: %s %s\n%s", trial.ID, trial.State, trial.Reason, trial.Measurement.Stderr)
		}
		of[trial.ID], outputs[trial.ID] = s.started(), string(trial.Measurement.Stdout)
	}
	if _, err := sd.Run(t.Context()); err != nil || len(of) != 2 {
		t.Fatalf("%d trials, %v", len(of), err)
	}
	return of, outputs
}

// started returns the programs that were started since it was last called, each with its arguments and the part of its
// environment that is not the test's own.
func (s *stage) started() (all []string) {
	b, _ := os.ReadFile(s.log) // there is none before the first program
	text := string(b)
	if err := os.WriteFile(s.log, nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
	for _, one := range strings.Split(text, "== ")[1:] {
		how, env, _ := strings.Cut(one, "\n--\n")
		var vars []string
		for v := range strings.Lines(env) {
			name, _, _ := strings.Cut(v, "=")
			if v = strings.TrimSuffix(v, "\n"); !slices.Contains(s.own, v) && !strings.HasPrefix(name, "ASSAY_") &&
				!slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_"}, name) && !slices.Contains(s.beside, name) {
				vars = append(vars, v)
			}
		}
		slices.Sort(vars)
		all = append(all, strings.ReplaceAll(how, "\n", " ")+" "+strings.Join(vars, " "))
	}
	return all
}

// printed runs a text that a command has printed. It starts the same programs as the trial, and prints the same.
func (s *stage) printed(what, text string, want []string, output string) {
	s.t.Helper()
	out, err := os.Create(filepath.Join(s.bin, "out"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer out.Close()
	_ = os.Remove(filepath.Join(s.dir, "served"))
	cmd := exec.CommandContext(s.t.Context(), "/bin/sh", "-c", text)
	cmd.Env, cmd.Dir, cmd.Stdout = []string{"PATH=" + os.Getenv("PATH")}, "/", out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Run()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the service
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", what, err, text)
	}
	got := s.started()
	// The trial may have made its setup first.
	if len(got) > len(want) || !slices.Equal(got, want[len(want)-len(got):]) || s.read(out.Name()) != output {
		s.t.Errorf("%s starts\n%s\nand prints %q; the trial has started\n%s\nand has printed %q", what,
			strings.Join(got, "\n"), s.read(out.Name()), strings.Join(want, "\n"), output)
	}
}
