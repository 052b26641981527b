package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay/lab/pro"
)

// The command with the noise of a table: its own load without --rho, the given
// ones with it, and words where the table has no repetitions.
func TestBenchProNoiseOfTable(t *testing.T) {
	dir := t.TempDir()
	var table strings.Builder
	table.WriteString("x,y,t1,t2,t3\n")
	for x := range 6 {
		for y := range 6 {
			f := 1 + math.Hypot(float64(x-4), float64(y-1))
			fmt.Fprintf(&table, "%d,%d,%g,%g,%g\n", x, y, f, 1.2*f, 1.4*f) // mean multiple 1.2
		}
	}
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("t.csv", table.String())
	study := "name: t\nreplay: {file: t.csv, parameters: [x, y], metrics: {elapsed: %s}}\n"
	several, once := write("s.yaml", fmt.Sprintf(study, "[t1, t2, t3]")), write("o.yaml", fmt.Sprintf(study, "t1"))
	bench := func(args ...string) ([]pro.Cell, error) {
		var out bytes.Buffer
		cmd := proCommand(streams{out: &out, err: io.Discard})
		cmd.SetArgs(append([]string{
			"--experiment", "repeat", "--simulations", "20", "--repeat", "1,3", "--json", "--noise", "table",
		}, args...))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			return nil, err
		}
		var cells []pro.Cell
		return cells, json.Unmarshal(out.Bytes(), &cells)
	}
	for _, tt := range []struct {
		args []string
		rho  []float64
	}{
		{[]string{several}, []float64{1 - 1/1.2, 1 - 1/1.2}},
		{[]string{several, "--rho", "0,0.3"}, []float64{0, 0, 0.3, 0.3}},
	} {
		cells, err := bench(tt.args...)
		if err != nil || len(cells) != len(tt.rho) {
			t.Fatalf("%v: %d cells, %v", tt.args, len(cells), err)
		}
		for i, c := range cells {
			if c.Noise != "table" || !(math.Abs(c.Rho-tt.rho[i]) <= 1e-9) || !(c.NTT >= 1-c.Rho) {
				t.Errorf("%v: cell %+v, want ρ %v", tt.args, c, tt.rho[i])
			}
		}
	}
	if _, err := bench(once); err == nil || !strings.Contains(err.Error(), "one run of each configuration") {
		t.Errorf("a table without repetitions: %v", err)
	}
	if _, err := bench(several, "--rho", "1"); err == nil {
		t.Error("no error for a load of 1")
	}
}
