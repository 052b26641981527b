package run

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// A function that is given the output may take long, as a write to a busy disk does, and it may be at the last words of
// a program that has ended. The measurement is of the program. A busy machine may delay the notice of an end as well,
// so that one try of five counts.
func TestTeeIsNotMeasured(t *testing.T) {
	t.Parallel()
	const held = 300 * time.Millisecond
	l := newLocal(t, LocalOptions{})
	var over time.Duration
	for range 5 {
		var release time.Time
		ctx := Tee(t.Context(), func(p []byte) {
			pid := strings.TrimSpace(string(p))
			for range 1000 {
				stat, err := os.ReadFile("/proc/" + pid + "/stat")
				if _, after, _ := strings.Cut(string(stat), ") "); err != nil || strings.HasPrefix(after, "Z") {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(held)
			release = time.Now()
		}, nil)
		job := assay.Job{ID: assay.RunID{Study: "s", Trial: 1, Attempt: 1}, Argv: []string{"sh", "-c", "echo $$"}}
		began := time.Now()
		m, err := l.Run(ctx, job, nil)
		if err != nil || release.IsZero() {
			t.Fatalf("%v, output %q", err, m.Stdout)
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(m.Stdout))); err != nil || pid <= 0 {
			t.Fatalf("output %q", m.Stdout)
		}
		if over = m.Elapsed - release.Sub(began) + held/2; over < 0 {
			return
		}
	}
	t.Errorf("a run is measured until its output is taken, by %v of %v", over+held/2, held)
}
