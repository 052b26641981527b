package run

import (
	"os"
	"strconv"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/proc"
	"github.com/assay-run/assay/internal/testbed"
)

// spaceEnv holds the PID namespace that the runs of these tests claim to be of.
const spaceEnv = "ASSAY_TEST_SPACE"

func TestMain(m *testing.M) {
	space, err := strconv.ParseUint(os.Getenv(spaceEnv), 10, 64)
	if err != nil {
		space = proc.Namespace() + uint64(os.Getpid())<<32
		os.Setenv(spaceEnv, strconv.FormatUint(space, 10))
	}
	pidSpace = func() uint64 { return space }
	if args := os.Getenv(toolEnv); args != "" {
		tool(args)
		return
	}
	if seconds := os.Getenv(stopEnv); seconds != "" {
		stopped(seconds)
		return
	}
	if os.Getenv(pipeEnv) != "" {
		pipe()
		return
	}
	testbed.Wide(6)
	testbed.MainOutside(m, testbed.NoGoroutines)
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
		newRunner(LocalOptions{}) // a machine without cgroups skips here, not in a rule
		assaytest.TestRunner(t, func() assay.Runner { return newRunner(LocalOptions{}) }, assaytest.RunnerOptions{})
	})
}
