package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/internal/proc"
	"github.com/assay-run/assay/internal/testbed"
)

// TestMain lets scripts and documentation run the command by its name.
func TestMain(m *testing.M) {
	of := func(version string) func() { return func() { release = version; main() } }
	commands := testbed.Commands()
	maps.Copy(commands, map[string]func(){
		"assay": main, "assay-1.1": of("v1.1.0"), "assay-1.2": of("v1.2.0"), "assay-1.3": of("v1.3.7"),
		"assay-far": of("v1.4.0"),
	})
	if commands[filepath.Base(os.Args[0])] == nil {
		testbed.Supervise()
		testbed.Wide(8)
	}
	proc.SetPace(0.05)
	testscript.Main(supervised{m}, commands)
}

// supervised are the tests of the package, which leave no browser, process and file.
type supervised struct{ *testing.M }

func (m supervised) Run() int {
	return testbed.Run(m.M, browser.Close, func() {
		// The sockets that sessions of one user share.
		_ = os.RemoveAll(filepath.Join(os.TempDir(), fmt.Sprint("assay-", os.Getuid())))
	})
}

// TestScripts runs the scenarios in testdata/script. A script that lacks a program ends with [!exec:NAME] skip 'missing
// NAME:', as testbed.Lacks does.
func TestScripts(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	t.Cleanup(func() { // testscript leaves its folder, empty, if -run selects some scripts only
		empty, _ := filepath.Glob(filepath.Join(os.TempDir(), "go-test-script*"))
		for _, dir := range empty {
			os.Remove(dir)
		}
	})
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			e.Setenv("HOME", e.WorkDir)
			root, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			e.Setenv("ROOT", root)
			e.Setenv("CLIENTS", root+"/clients")
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Getuid() == 0, nil
			case "fuse":
				for _, device := range []string{"/dev/fuse", "/dev/net/tun"} {
					f, err := os.OpenFile(device, os.O_RDWR, 0)
					if err != nil {
						return false, nil
					}
					f.Close()
				}
				return true, nil
			case "system":
				return testbed.IsSystem(), nil
			}
			return false, fmt.Errorf("no condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "natsd": natsd(t), "natscreds": natsCreds, "running": running, "ports": ports, "program": program(t),
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}
