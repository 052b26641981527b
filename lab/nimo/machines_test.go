package nimo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A task that takes ten times its input on the slow machine takes half of that on a machine of twice the score:
// predictions by the scores are right, those as if the machines were the same are off by a factor of 2, and the
// benchmarks, which give 4, are off as well.
func TestMachines(t *testing.T) {
	dir := t.TempDir()
	var runs, kernels strings.Builder
	runs.WriteString("workflow,task,machine,cpu_score,io_score,task_input_B,realtime_s\n")
	for _, m := range []struct {
		name  string
		score float64
	}{{"slow", 100}, {"fast", 200}, {"unknown", 0}} {
		for n := 1; n <= 8; n++ {
			score, seconds := fmt.Sprint(m.score), 1000*float64(n)/max(m.score, 1)
			if m.score == 0 {
				score = ""
			}
			fmt.Fprintf(&runs, "w,t,%s,%s,300,%d,%g\n", m.name, score, n, seconds)
		}
		fmt.Fprintf(&runs, "w,few,%s,%g,300,1,100\n", m.name, m.score)
	}
	kernels.WriteString("workflow,task,node,realtime1,realtime2,realtime3\nw,t,slow,8,8,9\n" +
		"w,t,fast,2,2,2\nw,u,slow,-1,-1,-1\n")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, "lotaru", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "lotaru"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("data.csv", runs.String())
	write("machine_benchmarks.csv", kernels.String())
	cells, err := Machines(t.Context(), dir, Options{})
	if err != nil || len(cells) != 3 {
		t.Fatalf("%+v, %v", cells, err)
	}
	for i, want := range []struct {
		from, to string
		runs     int
		same     float64
	}{{"fast", "slow", 8, 50}, {"slow", "fast", 8, 100}, {"all", "all", 16, 75}} {
		c := cells[i]
		if c.From != want.from || c.To != want.to || c.Runs != want.runs || c.Scores > 5 || c.Kernels < 40 ||
			c.Covered < 0.9 ||
			c.Same < want.same*0.9 || c.Same > want.same*1.1 {
			t.Errorf("%+v, want %+v", c, want)
		}
	}
	write("machine_benchmarks.csv", "workflow,task\n\"")
	if _, err := Machines(t.Context(), dir, Options{}); err == nil {
		t.Error("no error for a broken file")
	}
}
