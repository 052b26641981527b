package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts and documentation run the command by its name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"assay": main})
}

// TestScripts runs the scenarios in testdata/script.
func TestScripts(t *testing.T) {
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
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}
