package spec

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/google/go-cmp/cmp"
)

const built = `
command: ["{setup}/p", "{n}", "{opt}", "{fast}"]
parameters: {opt: [-O1, -O2], n: 1..3, fast: [on, off]}
env: {CC: clang, OPT_N: "{n}", FLAGS: "{opt} -g"}
`

// A setup depends on the parameters that it uses and on no other: its command and its environment do not
// change with the others, so that they share one build.
func TestSetupUses(t *testing.T) {
	for _, tt := range []struct {
		name, setup string
		argv, env   []string // of -O2, 3, off
	}{
		{
			"a list", `["cc", "{opt}", "-o", "{setup}/p"]`,
			[]string{"cc", "-O2", "-o", assay.SetupDir + "/p"},
			[]string{"SETUP=" + assay.SetupDir, "OPT=-O2", "opt=-O2", "CC=clang", "FLAGS=-O2 -g"},
		},
		{
			"a line", `cc $OPT ${FAST:+-x} '$other' -o "$SETUP/p"`,
			[]string{"sh", "-c", `cc $OPT ${FAST:+-x} '$other' -o "$SETUP/p"`},
			[]string{
				"SETUP=" + assay.SetupDir, "OPT=-O2", "opt=-O2", "FAST=off", "fast=off", "CC=clang", "FLAGS=-O2 -g",
			},
		},
		{
			"uses", `{command: ./build.sh, uses: n}`,
			[]string{"sh", "-c", "./build.sh"},
			[]string{"SETUP=" + assay.SetupDir, "N=3", "n=3", "CC=clang", "OPT_N=3"},
		},
		{"nothing", `[make, "{fast?FAST=1}"]`, []string{"make"}, []string{
			"SETUP=" + assay.SetupDir, "FAST=off", "fast=off", "CC=clang",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := parse(t, built+"setup: "+tt.setup+"\n")
			p, err := s.Program()
			if err != nil {
				t.Fatal(err)
			}
			got := p.Setup(assay.Config{1, 3, 0})
			if d := cmp.Diff(tt.argv, got.Argv) + cmp.Diff(tt.env, got.Env); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			// A parameter that is not given as a variable changes nothing.
			other := assay.Config{0, 1, 1}
			for i, name := range []string{"OPT=", "N=", "FAST="} {
				if slices.ContainsFunc(got.Env, func(e string) bool { return strings.HasPrefix(e, name) }) {
					other[i] = assay.Config{1, 3, 0}[i]
				}
			}
			if d := cmp.Diff(got, p.Setup(other)); d != "" {
				t.Errorf("%v has another build (-want +got)\n%s", other, d)
			}
		})
	}
}

func TestSetupKeys(t *testing.T) {
	s := parse(t, built+`setup: {command: [make], inputs: ["src/**"], uses: [n], timeout: 5m, parallel: true}`+"\n")
	want := Setup{
		Hook: Hook{Argv: []string{"make"}}, Inputs: []string{"src/**"}, Uses: []string{"n"}, Timeout: 5 * time.Minute,
		Parallel: true,
	}
	if d := cmp.Diff(want, s.Setup); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	p, err := s.Program()
	if err != nil {
		t.Fatal(err)
	}
	got := p.Setup(assay.Config{0, 1, 0})
	if got.Limit != 5*time.Minute || !got.Parallel || !slices.Equal(got.Inputs, want.Inputs) {
		t.Errorf("got %+v", got)
	}
	if argv := p.Argv(assay.Config{0, 1, 0}); argv[0] != assay.SetupDir+"/p" {
		t.Errorf("the command is %q", argv)
	}
	again := parse(t, built+`setup: {command: [make], inputs: ["src/**"], uses: [n]}`+"\n")
	if d := s.Diff(again); d != nil {
		t.Errorf("the timeout of a setup is part of what the study is: %q", d)
	}
	if d := s.Diff(parse(t, built+"setup: [make]\n")); len(d) != 1 || !strings.HasPrefix(d[0], "setup was") {
		t.Errorf("got %q", d)
	}
}

// A study without a setup has no folder of one, in no environment.
func TestNoSetup(t *testing.T) {
	p, err := parse(t, "command: [p, '{a}']\nparameters: {a: 1..3}\nprepare: x\n").Program()
	if err != nil {
		t.Fatal(err)
	}
	c := assay.Config{1}
	if s := p.Setup(c); s != nil {
		t.Errorf("got %+v", s)
	}
	if env := p.Env(c); slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "SETUP=") }) {
		t.Errorf("got %q", env)
	}
}
