package run

import (
	"os"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if args := os.Getenv(toolEnv); args != "" {
		tool(args)
		return
	}
	if os.Getenv(pipeEnv) != "" {
		pipe()
		return
	}
	goleak.VerifyTestMain(m)
}

// modes are the ways in which a Local ends and starts processes.
var modes = []struct {
	name     string
	noCgroup bool
	direct   bool // without the launcher
}{
	{"cgroup", false, false},
	{"scan", true, false},
	{"direct", true, true},
}

// eachMode runs a test in each way that the machine has.
func eachMode(t *testing.T, test func(t *testing.T, newRunner func(LocalOptions) *Local)) {
	inModes(t, len(modes), test)
}

// bothEnds runs a test with and without cgroups.
func bothEnds(t *testing.T, test func(t *testing.T, newRunner func(LocalOptions) *Local)) {
	inModes(t, 2, test)
}

func inModes(t *testing.T, n int, test func(t *testing.T, newRunner func(LocalOptions) *Local)) {
	for _, mode := range modes[:n] {
		t.Run(mode.name, func(t *testing.T) {
			test(t, func(opts LocalOptions) *Local {
				opts.NoCgroup, opts.Direct = mode.noCgroup, mode.direct
				l := newLocal(t, opts)
				if !mode.noCgroup && l.Cgroup() == "" {
					t.Skip("SKIPPED, NOT TESTED: this machine gives us no cgroup")
				}
				return l
			})
		})
	}
}

func TestLocalContract(t *testing.T) {
	eachMode(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		assaytest.TestRunner(t, func() assay.Runner { return newRunner(LocalOptions{}) }, assaytest.RunnerOptions{})
	})
}
