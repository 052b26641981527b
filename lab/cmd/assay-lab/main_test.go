package main

import (
	"io"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/assay-run/assay/internal/testbed"
)

// TestMain lets scripts and documentation run the command by its name.
func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"assay-lab": main}) }

// TestScripts runs the scenarios in testdata/script.
func TestScripts(t *testing.T) {
	testbed.Outside(t)
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}

// Each command has a description, and its help works.
func TestHelp(t *testing.T) {
	for _, c := range newRoot(streams{out: io.Discard, err: io.Discard}).Commands() {
		if c.Short == "" || c.Long == "" || c.UsageString() == "" {
			t.Errorf("%s: no help", c.Name())
		}
	}
}
