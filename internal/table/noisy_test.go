package table

import (
	"strings"
	"testing"
)

// Each configuration has as many runs as are asked for, whose metrics have one factor together, and the table that they
// are made from stays as it is. A run that failed does so each time.
func TestNoisy(t *testing.T) {
	from, err := Read(strings.NewReader("x,s,j,ok\n1,2,8,yes\n2,4,16,yes\n2,6,24,no\n"), Spec{
		Parameters: []string{"x"}, Metrics: map[string][]string{"elapsed": {"s"}, "energy": {"j"}},
		OKColumn: "ok", OKEquals: "yes",
	})
	if err != nil {
		t.Fatal(err)
	}
	by := 0.0
	noisy := from.Noisy(4, func(k, recorded int) (int, float64) { by++; return k % recorded, by })
	for i, want := range [][]float64{{2, 4, 6, 8}, {20, 36, 28, 48}} {
		got := noisy.Measurements(noisy.Configs[i])
		if len(got) != len(want) {
			t.Fatalf("configuration %d has %d runs, want %d", i, len(got), len(want))
		}
		for k, m := range got {
			if m.Elapsed.Seconds() != want[k] || m.Metrics["energy"] != 4*want[k] || (m.ExitCode != 0) != (i == 1 && k%2 == 1) {
				t.Errorf("run %d of configuration %d: %+v, want %v s", k, i, m, want[k])
			}
		}
	}
	if m, ok := from.Mean(from.Configs[0]); !ok || m.Elapsed.Seconds() != 2 {
		t.Errorf("the first table has %v", m.Elapsed)
	}
}
