package workbench_test

import (
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/workbench"
	"github.com/assay-run/assay/run"
)

// newBench returns a Bench of local runs, or skips the test loudly.
func newBench(t testing.TB, opts workbench.Options) *workbench.Bench {
	t.Helper()
	needs(t, workbench.RTT)
	l, err := run.NewLocal(run.LocalOptions{Owner: "workbench-test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	opts.Runner = l
	if opts.Warn == nil {
		opts.Warn = func(text string) { t.Log(text) }
	}
	b, err := workbench.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// needs skips the test loudly if this machine, or this user, cannot vary an
// attribute.
func needs(t testing.TB, name string) {
	t.Helper()
	for _, a := range workbench.Attributes() {
		if a.Name == name && !a.Available {
			t.Skipf("SKIPPED, NOT TESTED: %s: %s", name, a.Why)
		}
	}
}

// A Bench keeps the contract of runners, without a data set and with one.
func TestBenchContract(t *testing.T) {
	for name, opts := range map[string]func() workbench.Options{
		"plain": func() workbench.Options { return workbench.Options{} },
		"data":  func() workbench.Options { return workbench.Options{Data: t.TempDir()} },
	} {
		t.Run(name, func(t *testing.T) {
			newBench(t, opts()) // a machine that has none skips here, not in a rule
			assaytest.TestRunner(t, func() assay.Runner { return newBench(t, opts()) }, assaytest.RunnerOptions{})
		})
	}
}
