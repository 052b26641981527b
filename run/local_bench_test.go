package run

import (
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

func newLocal(t testing.TB, opts LocalOptions) *Local {
	t.Helper()
	l, err := NewLocal(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func runTrue(b testing.TB, l *Local) {
	m, err := l.Run(b.Context(), assay.Job{Argv: []string{"/bin/true"}}, nil)
	if err != nil || m.ExitCode != 0 {
		b.Fatal(m, err)
	}
}

// benchTrue measures runs of true, and in turn with them the bare fork, exec and
// wait, without output and measurement. The metric x-bare is the ratio of the
// medians, which is steadier than the times on a machine with other work; ns/op
// is the time of one of each.
func benchTrue(b *testing.B, opts LocalOptions) {
	l := newLocal(b, opts)
	n := l.null.Fd()
	c := command{path: "/bin/true", argv: []string{"true"}, env: l.env, files: [3]uintptr{n, n, n}}
	var ours, bare []time.Duration
	for b.Loop() {
		began := time.Now()
		runTrue(b, l)
		ours = append(ours, time.Since(began))
		began = time.Now()
		family.starting.RLock() // not to be taken for an orphan
		pid, _, err := c.direct()
		if err == nil {
			wait4(pid, 0, nil)
		}
		family.starting.RUnlock()
		bare = append(bare, time.Since(began))
	}
	b.ReportMetric(float64(median(ours))/float64(median(bare)), "x-bare")
	b.ReportMetric(float64(median(ours).Microseconds()), "median-us")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func BenchmarkLocalTrue(b *testing.B)         { benchTrue(b, LocalOptions{}) }
func BenchmarkLocalTrueDirect(b *testing.B)   { benchTrue(b, LocalOptions{Direct: true}) }
func BenchmarkLocalTrueNoCgroup(b *testing.B) { benchTrue(b, LocalOptions{NoCgroup: true}) }

// BenchmarkLocalTrueParallel is the throughput of as many runs at once as there
// are processors.
func BenchmarkLocalTrueParallel(b *testing.B) {
	l := newLocal(b, LocalOptions{})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			runTrue(b, l)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}
